/*
 * A record read from its beginning to its end, and what there is to say of it as a whole.
 */
#ifndef GUARD_AUDIT_WALK_H
#define GUARD_AUDIT_WALK_H

#include "bindmount/error.h"
#include "guard/audit/line.h"
#include "guard/audit/links.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WALK_FAULTS = 100, /* that are kept; the others are only counted */
	WALK_HEADS = 64,
};

/* A head that somebody has kept elsewhere: the hash of a run's final line. */
struct walk_head {
	unsigned char hash[LINE_HASH];
	uint64_t line; /* where it is; 0: nowhere */
};

enum walk_verdict {
	/* One chain, and its last line is the end of a run whose head was given: nothing can be missing. */
	WALK_SOUND,
	WALK_BROKEN, /* it is not one chain, or a head that was given is not in it */
	/* One chain as far as it goes; but what comes behind the last head, if there is one, nobody vouches for. */
	WALK_UNANCHORED,
};

/* Zero but for what the caller sets. */
struct walk {
	/* Set by the caller. */
	const char *path;
	bool content; /* lines are wanted with all that is in them */
	int (*line)(void *arg, uint64_t number, struct audit_line *l, const unsigned char *hash,
	    struct error *e); /* for each line that can be read; or NULL */
	void *arg;
	struct walk_head heads[WALK_HEADS];
	size_t n_heads;

	/* What was found. */
	struct links links; /* the runs in links.oldest are those without an end */
	uint64_t lines;
	uint64_t
	    anchored; /* the last line that a head vouches for, and with it all before it; 0: none */
	struct links_fault faults[WALK_FAULTS];
	size_t n_faults; /* of links.faults */
	enum walk_verdict verdict;
};

/* Reads w->path, or standard input if that is "-". */
int walk_file(struct walk *w, struct error *e);
void walk_free(struct walk *w);

/* "sound", "broken", "unanchored" */
const char *walk_verdict_name(enum walk_verdict verdict);

#endif
