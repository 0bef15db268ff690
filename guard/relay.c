/* The leg's output on its way to the step. See relay.h. */
#include "guard/relay.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "guard/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is passed on before others have their turn. */
enum { ROUNDS = 16, FAILURES = 8 };

/*
 * A descriptor on the same terminal that does not block: O_NONBLOCK belongs to the open file, which the
 * step's other processes share. -1 where it can't be opened anew.
 */
static int
reopen_terminal(int fd)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * How `to` can be written without ever waiting in the write. SPLICE_F_NONBLOCK holds for pipes only; a
 * file never makes one wait; a socket has MSG_DONTWAIT; for the rest poll(2) says that there is room, if
 * not how much, and the write is bounded.
 */
static int
choose_way(struct relay *r, int to)
{
	struct stat st;
	int again = -1;

	if (fstat(to, &st) != 0)
		return -1;
	r->splices = S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode);
	r->socket = S_ISSOCK(st.st_mode);
	if (S_ISCHR(st.st_mode))
		again = reopen_terminal(to);
	r->own_to = again >= 0;
	r->may_wait = !S_ISREG(st.st_mode) && again < 0;
	r->to = again >= 0 ? again : to;
	r->held_room = S_ISREG(st.st_mode) ? RELAY_PIPE_BYTES : PIPE_BUF;
	return 0;
}

int
relay_open(struct relay *r, int to, struct error *e)
{
	int ends[2];

	*r = (struct relay){.from = -1, .leg_end = -1, .to = -1, .stage = {-1, -1}};
	if (choose_way(r, to) != 0)
		return error_set(e, errno, NULL, "can't examine descriptor %d", to);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set(e, errno, NULL, "can't make a pipe for the leg's output");
	r->from = ends[0];
	r->leg_end = ends[1];
	if (fcntl(r->from, F_SETFL, O_NONBLOCK) != 0)
		return error_set(e, errno, NULL, "can't set up a pipe for the leg's output");
	/* An unprivileged user's pipes may be used up (pipe(7)): the default size works too. */
	(void)fcntl(r->from, F_SETPIPE_SZ, RELAY_PIPE_BYTES);
	return 0;
}

int
relay_open_to_read(struct relay *r, struct classifier *classifier, struct error *e)
{
	int ends[2];

	*r = (struct relay){
	    .from = -1, .leg_end = -1, .to = -1, .stage = {-1, -1}, .classifier = classifier};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return error_set(e, errno, NULL, "can't make sockets for the leg's output");
	r->from = ends[0];
	r->leg_end = ends[1];
	/* Linux 6.16: then nobody can send a descriptor there. Before, see read_on(). */
	(void)setsockopt(r->from, SOL_SOCKET, SYS_SO_PASSRIGHTS, &(int){0}, sizeof(int));
	/* Only one way: the leg gets nothing to read there. */
	if (fcntl(r->from, F_SETFL, O_NONBLOCK) != 0 || shutdown(r->from, SHUT_WR) != 0)
		return error_set(e, errno, NULL, "can't set up sockets for the leg's output");
	return 0;
}

void
relay_started(struct relay *r)
{
	fd_drop(&r->leg_end);
}

int
relay_poll(const struct relay *r, struct pollfd p[2])
{
	if (r->from < 0)
		return 0;
	p[0] = (struct pollfd){.fd = r->from, .events = POLLIN};
	if (r->discard || r->classifier != NULL)
		return 1;
	if (r->wants_room) {
		p[0] = (struct pollfd){.fd = r->to, .events = POLLOUT};
		return 1;
	}
	/* A reader that goes away is noticed while the leg is silent. */
	p[1] = (struct pollfd){.fd = r->to, .events = 0};
	return 2;
}

static short
ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

/*
 * To a pipe that others share, and that is blocking for all of them: no write can be told not to wait, but a splice
 * from a pipe of our own can.
 */
static ssize_t
write_staged(struct relay *r, const char *bytes, size_t size)
{
	ssize_t n;

	if (r->stage[0] < 0) {
		if (pipe2(r->stage, O_CLOEXEC | O_NONBLOCK) != 0)
			return -1;
		(void)fcntl(r->stage[1], F_SETPIPE_SZ, RELAY_PIPE_BYTES);
	}
	if (r->staged == 0) {
		n = write(r->stage[1], bytes, size);
		if (n < 0)
			return -1;
		r->staged = (size_t)n;
	}
	n = splice(r->stage[0], NULL, r->to, NULL, r->staged, SPLICE_F_NONBLOCK);
	if (n > 0)
		r->staged -= (size_t)n;
	return n;
}

static ssize_t
write_some(struct relay *r)
{
	const char *bytes = r->held + r->held_at;

	if (r->socket)
		return send(r->to, bytes, r->held_size, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r->splices && r->may_wait)
		return write_staged(r, bytes, r->held_size);
	if (ready(r->to, POLLOUT) == 0) {
		errno = EAGAIN;
		return -1;
	}
	return r->may_wait
	           ? bounded_write(r->to, bytes, r->held_size < PIPE_BUF ? r->held_size : PIPE_BUF)
	           : write(r->to, bytes, r->held_size);
}

/* Write what is held. -1 with errno if something is still held then. */
static int
write_held(struct relay *r)
{
	while (r->held_size > 0) {
		ssize_t n = write_some(r);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			r->held_size -= (size_t)n;
			r->held_at += (size_t)n;
		}
	}
	r->held_at = 0;
	return 0;
}

/* Room for what is read and for what it becomes. */
static int
make_room(struct relay *r)
{
	if (r->held == NULL)
		r->held = malloc(
		    r->neutralizer != NULL ? NEUTRALIZE_ROOM(RELAY_PIPE_BYTES) : r->held_room);
	if ((r->neutralizer != NULL || r->counter != NULL) && r->raw == NULL)
		r->raw = malloc(
		    r->counter != NULL ? NEUTRALIZE_ROOM(RELAY_PIPE_BYTES) : RELAY_PIPE_BYTES);
	return r->held == NULL || ((r->neutralizer != NULL || r->counter != NULL) && r->raw == NULL)
	           ? -1
	           : 0;
}

/* Read a little into what is held. Returns like read(2). */
static ssize_t
take(struct relay *r, size_t limit)
{
	size_t room = r->neutralizer != NULL ? RELAY_PIPE_BYTES : r->held_room;
	char *into = r->neutralizer != NULL ? r->raw : r->held;
	ssize_t n = read(r->from, into, limit < room ? limit : room);

	/* Nothing is wrong with the leg's end: once may be chance, and no reader has gone. */
	if (n < 0 && errno != EAGAIN && errno != EINTR && r->failures++ < FAILURES)
		errno = EAGAIN;
	if (n <= 0)
		return n;
	r->bytes += (uint64_t)n;
	if (r->tail != NULL)
		tail_add(r->tail, into, (size_t)n);
	if (r->counter != NULL)
		(void)neutralize(r->counter, into, (size_t)n, r->raw);
	r->held_size = r->neutralizer != NULL ? neutralize(r->neutralizer, into, (size_t)n, r->held)
	                                      : (size_t)n;
	return n;
}

/* The stream has ended: what that makes. -1 with errno if it can't be written now. */
static int
finish(struct relay *r)
{
	if (r->neutralizer != NULL && !r->finished) {
		r->finished = true;
		if (make_room(r) != 0)
			return -1;
		r->held_size = neutralize_end(r->neutralizer, r->held);
	}
	if (r->counter != NULL && !r->finished && r->raw != NULL) {
		r->finished = true;
		(void)neutralize_end(r->counter, r->raw);
	}
	return write_held(r);
}

/* Read a little and write it. Returns like splice(2), counting what was read. */
static ssize_t
copy(struct relay *r, size_t limit)
{
	ssize_t n;

	if (make_room(r) != 0 || write_held(r) != 0)
		return -1;
	n = take(r, limit);
	if (n > 0 && write_held(r) != 0 && errno != EAGAIN)
		return -1;
	return n == 0 ? finish(r) : n;
}

/* splice(2), and the tail knows what passes. */
static ssize_t
splice_on(struct relay *r, size_t limit)
{
	size_t unseen = r->tail != NULL ? tail_unseen(r->tail, r->from, limit) : 0;
	size_t peeked = r->tail != NULL && unseen == 0 ? tail_peek(r->tail, r->from, limit) : 0;
	ssize_t n;

	if (unseen > 0 || peeked > 0)
		limit = unseen + peeked;
	n = splice(r->from, NULL, r->to, NULL, limit, SPLICE_F_NONBLOCK);
	if (n > 0)
		r->bytes += (uint64_t)n;
	if (peeked > 0)
		tail_moved(r->tail, peeked, n > 0 ? (size_t)n : 0);
	return n;
}

static ssize_t
move(struct relay *r, size_t limit)
{
	if (r->splices && r->neutralizer == NULL && r->counter == NULL) {
		ssize_t n = splice_on(r, limit);

		if (n >= 0 || errno == EAGAIN || errno == EINTR || errno == EPIPE)
			return n;
		/* EINVAL: a file opened for appending. What else it is, write(2) says as well. */
		r->splices = false;
	}
	return copy(r, limit);
}

/* The leg's messages may hold descriptors whose last close waits. */
static void
drop_source(struct relay *r)
{
	if (r->from >= 0 && r->classifier != NULL)
		bounded_close(fd_take(&r->from));
	fd_drop(&r->from);
}

static enum relay_result
end(struct relay *r)
{
	drop_source(r);
	return RELAY_END;
}

/* A leg that never stops writing must not keep the launcher here: a bounded number of reads. */
static enum relay_result
drop(struct relay *r)
{
	char buffer[16 * 1024];
	bool brought = false;
	ssize_t n = 1;

	r->wants_room = false;
	if (r->held_size > 0 || r->staged > 0) {
		r->cut = r->neutralizer != NULL;
		r->held_size = r->held_at = r->staged = 0;
		fd_drop(&r->stage[0]);
		fd_drop(&r->stage[1]);
	}
	for (int i = 0; i < ROUNDS && n > 0 && !brought; i++) {
		n = r->classifier != NULL ? bounded_recv(r->from, buffer, sizeof buffer, &brought)
		                          : read(r->from, buffer, sizeof buffer);
		r->bytes += n > 0 ? (uint64_t)n : 0;
	}
	if (n != 0 && !brought)
		return RELAY_AGAIN;
	if (!r->cut)
		(void)finish(r); /* as far as somebody takes it */
	return end(r);
}

/* Why nothing could be moved. */
static enum relay_result
stuck(struct relay *r)
{
	short now;

	if (errno != EAGAIN && errno != EINTR)
		return RELAY_READER_GONE;
	if ((ready(r->to, 0) & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
		errno = EPIPE;
		return RELAY_READER_GONE;
	}
	now = ready(r->from, POLLIN);
	r->wants_room = r->held_size > 0 || (now & POLLIN) != 0;
	/* splice(2) says EAGAIN for a full pipe before it looks whether there is anything to move. */
	return !r->wants_room && (now & POLLHUP) != 0 ? end(r) : RELAY_AGAIN;
}

/* The limit is used up: one more byte is too much, the end is not. */
static enum relay_result
at_limit(struct relay *r)
{
	short now = ready(r->from, POLLIN);

	if ((now & POLLIN) != 0)
		return RELAY_LIMIT;
	if ((now & POLLHUP) == 0)
		return RELAY_AGAIN;
	return finish(r) == 0 ? end(r) : stuck(r);
}

/* Nothing of it goes anywhere else. */
static enum relay_result
read_on(struct relay *r, uint64_t *left)
{
	char buffer[16 * 1024];

	for (int i = 0; i < ROUNDS; i++) {
		bool brought;
		ssize_t n;

		if (*left == 0)
			return at_limit(r);
		n = bounded_recv(r->from, buffer,
		    *left < sizeof buffer ? (size_t)*left : sizeof buffer, &brought);
		/* No client does that; each one more would be a short while. */
		if (brought) {
			classify_fail(r->classifier);
			return end(r);
		}
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return end(r);
		if (n < 0)
			return RELAY_AGAIN;
		r->bytes += (uint64_t)n;
		classify_feed(r->classifier, buffer, (size_t)n);
		*left -= (uint64_t)n;
	}
	return RELAY_AGAIN;
}

enum relay_result
relay_pump(struct relay *r, uint64_t *left)
{
	if (r->from < 0)
		return RELAY_END;
	if (r->discard)
		return drop(r);
	if (r->classifier != NULL)
		return read_on(r, left);
	r->wants_room = false;
	for (int i = 0; i < ROUNDS; i++) {
		size_t limit = *left < RELAY_PIPE_BYTES ? (size_t)*left : RELAY_PIPE_BYTES;
		ssize_t n;

		if (r->held_size > 0 && write_held(r) != 0)
			return stuck(r);
		if (limit == 0)
			return at_limit(r);
		n = move(r, limit);
		if (n == 0)
			return end(r);
		if (n < 0)
			return stuck(r);
		*left -= (uint64_t)n;
	}
	return RELAY_AGAIN;
}

void
relay_mend(struct relay *r, int64_t until)
{
	if (r->cut)
		(void)bounded_write_all(r->to, "\n", 1, until);
	r->cut = false;
}

uint64_t
relay_bytes(const struct relay *r)
{
	int waiting = 0;

	if (r->from < 0 || ioctl(r->from, FIONREAD, &waiting) != 0)
		waiting = 0;
	return r->bytes + (uint64_t)waiting;
}

void
relay_close(struct relay *r)
{
	drop_source(r);
	fd_drop(&r->leg_end);
	if (r->own_to)
		fd_drop(&r->to);
	fd_drop(&r->stage[0]);
	fd_drop(&r->stage[1]);
	free(r->held);
	free(r->raw);
	r->held = r->raw = NULL;
}
