/* The last bytes of a stream. See tail.h. */
#include "guard/tail.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool
open_pipe(struct tail *t)
{
	if (t->has_pipe || t->has_ended)
		return t->has_pipe;
	t->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (t->null < 0 || pipe2(t->pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
		fd_drop(&t->null);
		t->has_ended = true;
		return false;
	}
	/* As large as the relay's own, or else the relay moves less at a time. */
	(void)fcntl(t->pipe[1], F_SETPIPE_SZ, 256 * 1024);
	t->has_pipe = true;
	return true;
}

/* Room for size more, the oldest bytes making way. */
static char *
make_room(struct tail *t, size_t size)
{
	if (t->bytes == NULL)
		t->bytes = malloc((size_t)2 * TAIL_BYTES);
	if (t->bytes == NULL)
		return NULL;
	if (t->used + size > (size_t)2 * TAIL_BYTES) {
		size_t keep = TAIL_BYTES;

		memmove(t->bytes, t->bytes + t->used - keep, keep);
		t->used = keep;
	}
	return t->bytes + t->used;
}

void
tail_add(struct tail *t, const char *bytes, size_t size)
{
	size_t keep = size < TAIL_BYTES ? size : TAIL_BYTES;
	char *room;

	if (t->has_ended)
		return;
	if (keep < size)
		t->used = 0; /* what was before does not join what is kept */
	room = make_room(t, keep);
	if (room == NULL)
		return;
	memcpy(room, bytes + size - keep, keep);
	t->used += keep;
}

/* Take `size` bytes out of our pipe without looking at them. */
static bool
skip(const struct tail *t, size_t size)
{
	while (size > 0) {
		ssize_t n = splice(t->pipe[0], NULL, t->null, NULL, size, 0);

		if (n <= 0)
			return false;
		size -= (size_t)n;
	}
	return true;
}

static bool
take(struct tail *t, size_t size)
{
	while (size > 0) {
		char *room = make_room(t, size);
		ssize_t n = room != NULL ? read(t->pipe[0], room, size) : -1;

		if (n <= 0)
			return false;
		t->used += (size_t)n;
		size -= (size_t)n;
	}
	return true;
}

size_t
tail_unseen(struct tail *t, int from, size_t limit)
{
	int available = 0;
	size_t unseen;

	if (t->has_ended || ioctl(from, FIONREAD, &available) != 0 || available <= 2 * TAIL_BYTES)
		return 0;
	t->used = 0; /* what was before does not join what is to come */
	t->known = 0;
	unseen = (size_t)available - TAIL_BYTES;
	return unseen < limit ? unseen : limit;
}

size_t
tail_peek(struct tail *t, int from, size_t limit)
{
	size_t fresh, passed_over;
	ssize_t n;

	if (!open_pipe(t))
		return 0;
	n = tee(from, t->pipe[1], limit, SPLICE_F_NONBLOCK);
	if (n <= 0)
		return 0;
	passed_over = t->known < (size_t)n ? t->known : (size_t)n;
	fresh = (size_t)n - passed_over;
	if (fresh > TAIL_BYTES) {
		passed_over += fresh - TAIL_BYTES;
		fresh = TAIL_BYTES;
		t->used = 0; /* what was before does not join that */
	}
	if (!skip(t, passed_over) || !take(t, fresh)) {
		tail_end(t);
		return 0;
	}
	return (size_t)n;
}

void
tail_moved(struct tail *t, size_t peeked, size_t moved)
{
	if (peeked > t->known)
		t->known = peeked;
	t->known -= moved < t->known ? moved : t->known;
}

void
tail_end(struct tail *t)
{
	t->has_ended = true;
	if (!t->has_pipe)
		return;
	t->has_pipe = false;
	fd_drop(&t->pipe[0]);
	fd_drop(&t->pipe[1]);
	fd_drop(&t->null);
}

void
tail_free(struct tail *t)
{
	tail_end(t);
	free(t->bytes);
	*t = (struct tail){0};
}
