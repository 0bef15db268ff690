/*
 * The chain of an audit record (guard/audit.schema.json): what makes a line of an event, so that nobody can change one
 * later without its being noticed.
 *
 * A line holds the SHA-256 of the run's line before it ("prev"). Several runs write one file; a line that does not follow
 * the run's own directly, and the run's first, hold the hash of the line before it in the file ("file_prev"). So the file
 * is one chain as well, and the hash of its last line stands for all of it.
 */
#ifndef GUARD_AUDIT_H
#define GUARD_AUDIT_H

#include "bindmount/error.h"
#include "guard/digest.h"
#include "guard/journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AUDIT_RUN = 33 };

/* Lines that are not in the file yet, of which the hashes are known. */
struct audit_prepared {
	char *text; /* owned */
	size_t size;
	size_t count; /* of the events, from the first */
	/* What was so before: */
	uint64_t seq;
	char prev[DIGEST_TEXT];
	bool follows;
};

struct audit {
	struct journal journal;
	char run[AUDIT_RUN];    /* 32 random hex digits */
	uint64_t seq;           /* of the next line */
	char prev[DIGEST_TEXT]; /* of the line before it; empty before the first */
	char **events;          /* that are not in the file yet; owned */
	size_t n_events;
	bool follows; /* with the lock: the last line of the file is the run's */
	struct audit_prepared prepared;
	struct error why; /* why the record could not be written the last time, or empty */
};

#define AUDIT_NONE ((struct audit){.journal = JOURNAL_NONE})

/* Begin a run's record: the run's number. -1 with *e. */
int audit_begin(struct audit *a, struct error *e);

/*
 * Pure: the line of an event, an object as jansson dumps it, malloc'd, with a newline. prev and file_prev may be NULL. NULL
 * without memory.
 */
char *audit_render(
    const char *run, uint64_t seq, const char *prev, const char *file_prev, const char *event);

/* Add an event, an object's text, malloc'd, which becomes the record's; to be written at the next chance. */
int audit_add(struct audit *a, char *event);

/*
 * Write what was added. The lock is waited for until the clock of bounded.h says so, and is kept if `keep`. -1 and a->why:
 * what is not in the file is still there to be written.
 */
int audit_write(struct audit *a, int64_t until, bool keep);

/*
 * With the lock kept and nothing left to be written: make the lines of what is added next, but don't write them. Then the hash
 * of the last of them is known: head gets it. audit_commit() writes them; audit_discard() forgets them, and of events that could
 * not be prepared all but the first n.
 */
int audit_prepare(struct audit *a, char head[DIGEST_TEXT]);
int audit_commit(struct audit *a);
void audit_discard(struct audit *a, size_t n);

/* Give back a lock that was kept. */
void audit_release(struct audit *a);

void audit_close(struct audit *a);

#endif
