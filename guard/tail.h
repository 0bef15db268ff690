/*
 * The last bytes of a stream that passes through without being read.
 *
 * Of what goes by in pipes only the end is duplicated (tee(2)) and copied out, so a stream of gigabytes costs
 * next to nothing. To be looked at when the stream has ended.
 */
#ifndef GUARD_TAIL_H
#define GUARD_TAIL_H

#include <stdbool.h>
#include <stddef.h>

enum { TAIL_BYTES = 16 * 1024 }; /* that much is kept at least, if there was as much */

struct tail {
	char *bytes; /* owned; NULL: nothing yet */
	size_t used;
	size_t known;   /* so many bytes at the head of the stream have been looked at before */
	int pipe[2];    /* for tee(2), empty between two calls */
	int null;       /* for what need not be copied */
	bool has_pipe;  /* and null */
	bool has_ended; /* no memory or descriptor: what is there stays as it is */
};

/*
 * So many bytes at the head of the pipe `from`, at most limit, can be moved on unseen, since enough come after them.
 * 0: look first.
 */
size_t tail_unseen(struct tail *t, int from, size_t limit);

/*
 * Look at the first bytes of the pipe `from`, at most limit, before they are moved on. Returns how many were
 * looked at, 0 if that can't be told or there are none. Tell with tail_moved() how many of them have been
 * moved then.
 */
size_t tail_peek(struct tail *t, int from, size_t limit);
void tail_moved(struct tail *t, size_t peeked, size_t moved);

/* Bytes that were read anyway. */
void tail_add(struct tail *t, const char *bytes, size_t size);

/* Close its descriptors; the bytes stay. */
void tail_end(struct tail *t);
void tail_free(struct tail *t);

#endif
