/*
 * Whether the lines of a record are one chain, and where they are not.
 *
 * Each line holds the hash of the line before it in the file: as "prev" where that is of its own run, else as "file_prev".
 * So a line vouches for the one before it, and "prev" for the run's own last line as well, wherever that is. Fed line
 * by line, with an entry of memory for each run that has not ended yet and nothing else.
 *
 * A line that disagrees with the one before it may be the changed one itself. The line after it decides that: so a
 * fault is reported one line later than it was found. Pure.
 */
#ifndef GUARD_AUDIT_LINKS_H
#define GUARD_AUDIT_LINKS_H

#include "guard/audit/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINKS_OPEN_MAX = 65536, /* runs that have begun and not ended; some 10 MB */
	LINKS_TEXT = 512,
};

enum links_kind {
	LINKS_UNREADABLE, /* `line` is no line of a record */
	LINKS_VERSION,    /* `line` is of a version that is not known */
	LINKS_CUT,        /* `line` has no end */
	LINKS_CHANGED,    /* `line` is not what `at` holds the hash of */
	LINKS_GAP, /* `line` is not what `at` holds the hash of, or there were others in between */
	LINKS_MISSING, /* `count` lines of the run are missing between `line` (0: there is none) and `at` */
	LINKS_SWAPPED,  /* `line` and `at` have changed places */
	LINKS_REPEATED, /* `at` is a copy of `line` */
	LINKS_MISPLACED, /* `at` says that it is number `seq` of its run, which has come to `count` with `line` */
	LINKS_APART,    /* `at` can't come directly after `line` */
	LINKS_TOO_MANY, /* more runs are open at `line` than can be followed */
	LINKS_KINDS,
};

struct links_fault {
	enum links_kind kind;
	uint64_t line, at; /* from 1 */
	uint64_t seq, count;
	bool doubtful; /* unless `at` was changed itself */
	char run[2 * LINE_RUN + 1];
	char why[192]; /* of LINKS_UNREADABLE and LINKS_VERSION */
};

/* A run that has begun and has not ended. */
struct links_run {
	unsigned char id[LINE_RUN]; /* first: what the tree compares */
	uint64_t next;              /* seq of its next line */
	unsigned char last[LINE_HASH];
	uint64_t first_line, last_line;
	uint64_t unreadable;              /* lines that could not be read before its last one */
	bool begun;                       /* its start was seen; else a fault says so */
	struct links_run *before, *after; /* in the order in which they came */
};

/* Zero but for fault and arg is where it begins. */
struct links {
	void (*fault)(void *arg, const struct links_fault *f);
	void *arg;

	uint64_t faults, runs;
	uint64_t unreadable,
	    streak; /* lines that could not be read: of the file, and right before the next line */
	struct links_run *oldest, *newest; /* the open ones */
	size_t open;
	void *tree; /* of tsearch(3) */
	bool full;
	struct {
		bool there, readable;
		unsigned char run[LINE_RUN], hash[LINE_HASH];
		uint64_t line;
	} previous; /* the file's last line that was in its place */
	struct links_doubt {
		struct links_fault fault;
		unsigned char
		    wanted[LINE_HASH]; /* what the line before it should have had as its hash */
	} doubts[2];                   /* about what is before the previous line */
	size_t n_doubts;
};

/* A line that could be read. -1 without memory. */
int links_add(struct links *k, uint64_t number, const struct audit_line *l,
    const unsigned char hash[LINE_HASH]);

/* One that could not. */
void links_add_unreadable(struct links *k, uint64_t number, const struct line_problem *p,
    const unsigned char hash[LINE_HASH]);

/* The file has ended. Vouched: the last line is known to be what it was. */
void links_end(struct links *k, bool vouched);

/* The run, if it is open. */
struct links_run *links_find(const struct links *k, const unsigned char run[LINE_RUN]);

void links_free(struct links *k);

/* "changed", "missing", ... */
const char *links_kind_name(enum links_kind kind);

/* A sentence about a fault, in printable ASCII. Returns text. */
const char *links_text(char text[LINKS_TEXT], const struct links_fault *f);

#endif
