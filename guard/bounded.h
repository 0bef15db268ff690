/*
 * Writing to somebody who may not be reading, and reading from somebody who may do harm.
 *
 * O_NONBLOCK belongs to the open file, which other processes share, and poll(2) is no promise: a terminal
 * has room for a byte and waits for the second. So a write that may wait is interrupted by a timer's
 * signal: SIGALRM, which is blocked but for that time, as all signals are in the launcher.
 */
#ifndef GUARD_BOUNDED_H
#define GUARD_BOUNDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	BOUNDED_LAST_MS = 1000, /* for a reader after the launcher was told to end */
};

#define BOUNDED_NEVER INT64_MAX

/* CLOCK_MONOTONIC in milliseconds. */
int64_t bounded_now(void);

/* One write(2) that ends after a short while; EAGAIN if nothing could be written until then. */
ssize_t bounded_write(int fd, const void *data, size_t size);

/*
 * One recv(2) that does not wait, and close(2). A message may bring descriptors that nobody asked for (unix(7)), and the
 * last close of a socket waits for its peer as long as its SO_LINGER says: so these end after a short while, too.
 * bounded_recv() sets *brought if there were any.
 */
ssize_t bounded_recv(int fd, void *data, size_t size, bool *brought);
void bounded_close(int fd);

/*
 * Write all of it, in order. It waits for room until the clock says `until`, or BOUNDED_LAST_MS after
 * SIGINT, SIGTERM or SIGHUP has become pending; what has room at once is written in any case.
 * -1 with errno, ETIMEDOUT if nobody took it.
 */
int bounded_write_all(int fd, const char *data, size_t size, int64_t until);

/*
 * flock(2) for one alone. Waits for others until the clock says `until`, or at the most one tick after SIGINT, SIGTERM or
 * SIGHUP has become pending. -1 with errno, EWOULDBLOCK if it could not be had.
 */
int bounded_lock(int fd, int64_t until);

#endif
