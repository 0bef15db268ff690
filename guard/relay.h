/*
 * The leg's output on its way to the step: one pipe each for stdout and stderr, emptied by the launcher.
 *
 * The leg never holds the step's own descriptors, so nothing it leaves behind can keep them open or
 * write to them later. Bytes stay in the kernel (splice(2)) where the other side allows it. No more
 * than RELAY_PIPE_BYTES is under way a stream, after which the leg has to wait, as it would for the
 * reader itself.
 */
#ifndef GUARD_RELAY_H
#define GUARD_RELAY_H

#include "bindmount/error.h"
#include "guard/classify.h"
#include "guard/neutralize.h"
#include "guard/tail.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RELAY_PIPE_BYTES = 256 * 1024 };

struct relay {
	int from;    /* our end of the leg's pipe, non-blocking; -1 at its end */
	int leg_end; /* the leg's end, until relay_started() */
	int to;      /* where it goes; not ours to close unless own_to */
	bool own_to;
	bool splices;    /* `to` takes splice(2) without blocking */
	bool socket;     /* `to` is one */
	bool may_wait;   /* a write to it can wait although there is room: see bounded.h */
	bool wants_room; /* `to` was full: wait for it, not for the leg */
	bool discard;    /* read and drop */
	char *held;      /* where bytes can't be spliced: read, and not written yet; owned */
	size_t held_at, held_size, held_room;
	struct tail *tail; /* gets the end of what passes, unless NULL; the caller's */
	struct neutralizer
	    *neutralizer;            /* what passes goes through it, unless NULL; the caller's */
	struct neutralizer *counter; /* instead of that: counts what would be made inert */
	uint64_t bytes;              /* read from the leg */
	struct classifier
	    *classifier; /* reads it all, and nothing is passed on; unless NULL; the caller's */
	char *raw;       /* what goes into the neutralizer, or what the counter makes; owned */
	bool finished;   /* it has been told of the end */
	int failures;    /* of reading from the leg */
	bool cut;        /* some of what it made was dropped: see relay_mend() */
	int stage
	    [2]; /* a pipe of our own, where writing to `to` would block and splicing does not */
	size_t staged;
};

enum relay_result {
	RELAY_AGAIN,       /* nothing more to do now */
	RELAY_END,         /* the leg's end is closed and everything was passed on */
	RELAY_LIMIT,       /* the limit is used up and there is more */
	RELAY_READER_GONE, /* nobody takes it: EPIPE, or an error of the write, in errno */
};

/* Make the pipe for output that goes to descriptor `to`. */
int relay_open(struct relay *r, int to, struct error *e);

/*
 * Likewise for output that is only read: a pair of sockets instead of a pipe, since nobody can open a socket anew through
 * /proc/PID/fd, to write into it or to read what is in it (proc(5)).
 */
int relay_open_to_read(struct relay *r, struct classifier *classifier, struct error *e);

/* The leg has its end now: close ours of it. */
void relay_started(struct relay *r);

/* What to wait for, in one or two entries; returns how many (0 at the end). */
int relay_poll(const struct relay *r, struct pollfd p[2]);

/* Pass on what is there. *left is what may still pass, both streams together; it is counted down. */
enum relay_result relay_pump(struct relay *r, uint64_t *left);

/*
 * After a discard the other side may have half of what was made inert. End its line, waiting for the reader until `until`
 * (bounded.h), so that what others write there does not continue it.
 */
void relay_mend(struct relay *r, int64_t until);

/* How many bytes the leg has written: those that were read, and those that wait to be. */
uint64_t relay_bytes(const struct relay *r);

void relay_close(struct relay *r);

#endif
