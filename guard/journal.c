/* A file of lines that several processes append to. See journal.h. */
#include "guard/journal.h"

#include "bindmount/cleanup.h"
#include "guard/bounded.h"
#include "guard/chain.h"
#include "guard/content.h"
#include "guard/ownfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char elsewhere[] = "name a regular file of its own";

static int
refuse_kind(const struct journal *j, const char *name, const struct stat *st, struct error *e)
{
	const char *kind = chain_kind(st);

	if (kind == NULL)
		return 0;
	return error_set(e, 0,
	    S_ISLNK(st->st_mode) ? "name the file that the link leads to" : elsewhere,
	    "%s: %s is %s", j->option, name, kind);
}

/* What is open may be used: j->fd and j->path are set. */
static int
check(struct journal *j, const struct guard_request *requests, size_t n, struct error *e)
{
	char first = '{';

	if (fstat(j->fd, &j->st) != 0)
		return error_set(e, errno, NULL, "%s: can't examine %s", j->option, j->path);
	if (refuse_kind(j, j->path, &j->st, e) != 0)
		return -1;
	if (!journal_is_in_place(j))
		return error_set(e, 0, "name a file in a directory that nobody else may write",
		    "%s: %s is being replaced", j->option, j->path);
	if (ownfile_check(j->option, j->path, false, requests, n, &j->st, e) != 0)
		return -1;
	if (pread(j->fd, &first, 1, 0) < 0)
		return error_set(e, errno, elsewhere, "%s: can't read %s", j->option, j->path);
	/* Named by mistake: nobody wants lines at the end of that. */
	if (first != '{')
		return error_set(e, 0, elsewhere, "%s: %s holds something else than records",
		    j->option, j->path);
	return 0;
}

static int
use_path(struct journal *j, const char *path, const struct guard_request *requests, size_t n,
    struct error *e)
{
	struct stat st;
	struct sink sink;
	int result;

	/* To open it would be an event to who reads a FIFO. */
	if (lstat(path, &st) == 0 && refuse_kind(j, path, &st, e) != 0)
		return -1;
	result = sink_open(&sink, path, O_RDWR | O_APPEND | O_NOFOLLOW, 0600, j->option, e);
	if (result == 0) {
		(void)fcntl(sink.fd, F_SETFL, O_APPEND);
		j->path = realpath(path, NULL);
		result = j->path != NULL
		             ? 0
		             : error_set(e, errno, NULL, "%s: can't find %s", j->option, path);
	}
	if (result == 0) {
		j->fd = fd_take(&sink.fd);
		result = check(j, requests, n, e);
		if (result != 0 && j->st.st_size == 0)
			sink_remove(&sink, j->path);
	}
	if (result == 0 && sink.made) {
		j->made = sink;
		sink = JOURNAL_NONE.made;
	}
	sink_close(&sink);
	return result;
}

/* Anew: the lock belongs to the open file, which others may share, and this has to be able to read as well. */
static int
use_descriptor(
    struct journal *j, int fd, const struct guard_request *requests, size_t n, struct error *e)
{
	char name[PATH_MAX], link[32];
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(e, 0, "open it for writing, as in 3>>audit.jsonl",
		    "%s: descriptor %d is not open for writing", j->option, fd);
	if (fstat(fd, &st) != 0)
		return error_set(e, errno, NULL, "can't examine descriptor %d", fd);
	snprintf(name, sizeof name, "descriptor %d", fd);
	if (refuse_kind(j, name, &st, e) != 0)
		return -1;
	if (!ownfile_find(fd, &st, name))
		return error_set(e, 0, "open a file that has its name, or say --audit FILE",
		    "%s: the file behind descriptor %d can't be found by its name, to hide it",
		    j->option, fd);
	j->path = strdup(name);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	j->fd = open(link, O_RDWR | O_APPEND | O_NOCTTY | O_CLOEXEC);
	if (j->path == NULL || j->fd < 0)
		return error_set(e, errno, "see that its owner may read and write it",
		    "%s: can't open %s", j->option, name);
	return check(j, requests, n, e);
}

int
journal_open(struct journal *j, const char *option, const char *path, int fd,
    const struct guard_request *requests, size_t n, struct error *e)
{
	*j = JOURNAL_NONE;
	j->option = option;
	return path != NULL ? use_path(j, path, requests, n, e)
	                    : use_descriptor(j, fd, requests, n, e);
}

int
journal_lock(struct journal *j, int64_t until, bool *ours)
{
	struct stat st;

	if (bounded_lock(j->fd, until) != 0)
		return -1;
	j->locked = true;
	if (fstat(j->fd, &st) != 0) {
		journal_unlock(j);
		return -1;
	}
	*ours = j->end > 0 && st.st_size == j->end;
	j->ended = *ours && j->ended;
	j->end = st.st_size;
	return 0;
}

void
journal_unlock(struct journal *j)
{
	if (j->locked)
		(void)flock(j->fd, LOCK_UN);
	j->locked = false;
}

/* A write(2) that is all there or not at all. */
static int
append(struct journal *j, const char *data, size_t size)
{
	ssize_t n = write(j->fd, data, size);

	if (n == (ssize_t)size) {
		j->end += n;
		return 0;
	}
	if (n < 0)
		return -1;
	/* Where it can't be taken back the line is ended before the next one. */
	j->ended = ftruncate(j->fd, j->end) == 0;
	errno = ENOSPC;
	return -1;
}

static int
end_line(struct journal *j)
{
	char last = '\n';

	if (j->ended)
		return 0;
	if (j->end > 0 && pread(j->fd, &last, 1, j->end - 1) != 1)
		return -1;
	if (last != '\n' && append(j, "\n", 1) != 0)
		return -1;
	j->ended = true;
	return 0;
}

/* Keep a copy of what is in the file now, in front of its end. Without memory it will not be compared. */
static void
remember(struct journal *j, const char *text, size_t size)
{
	char *written = realloc(j->written, j->written_size + size);
	struct journal_piece *pieces = reallocarray(j->pieces, j->n_pieces + 1, sizeof *pieces);
	struct journal_piece *last;

	if (written != NULL)
		j->written = written;
	if (pieces != NULL)
		j->pieces = pieces;
	if (written == NULL || pieces == NULL)
		return;
	memcpy(written + j->written_size, text, size);
	j->written_size += size;
	last = j->n_pieces > 0 ? &pieces[j->n_pieces - 1] : NULL;
	if (last != NULL && last->offset + (off_t)last->size == j->end - (off_t)size)
		last->size += size;
	else
		pieces[j->n_pieces++] = (struct journal_piece){j->end - (off_t)size, size};
}

int
journal_append(struct journal *j, const char *lines, size_t size)
{
	if (end_line(j) != 0 || append(j, lines, size) != 0)
		return -1;
	remember(j, lines, size);
	return 0;
}

int
journal_last(const struct journal *j, char text[DIGEST_TEXT])
{
	size_t room = j->end < JOURNAL_LINE_MAX + 1 ? (size_t)j->end : JOURNAL_LINE_MAX + 1;
	AUTO_FREE char *buffer = malloc(room + 1);
	const char *start;
	ssize_t n;

	memset(text, '0', DIGEST_TEXT - 1);
	text[DIGEST_TEXT - 1] = '\0';
	if (j->end == 0)
		return 0;
	n = buffer != NULL ? content_read(j->fd, buffer, room, j->end - (off_t)room) : -1;
	if (n <= 0)
		return -1;
	/* A line that has no end will get one. */
	if (buffer[n - 1] == '\n')
		n--;
	start = memrchr(buffer, '\n', (size_t)n);
	start = start != NULL ? start + 1 : buffer;
	digest_of(start, (size_t)(buffer + n - start), text);
	return 0;
}

void
journal_reserve(const struct journal *j, size_t size)
{
	struct stat st;

	/* A run before may have left some. */
	if (fstat(j->fd, &st) == 0 && st.st_blocks * 512 - st.st_size >= (off_t)size / 2)
		return;
	(void)fallocate(j->fd, FALLOC_FL_KEEP_SIZE, j->end, (off_t)size);
}

bool
journal_is_in_place(const struct journal *j)
{
	struct stat st;

	return lstat(j->path, &st) == 0 && chain_same(&st, &j->st);
}

static bool
is_there(const struct journal *j, const struct journal_piece *piece, const char *bytes)
{
	AUTO_FREE char *now = malloc(piece->size);

	return now != NULL &&
	       content_read(j->fd, now, piece->size, piece->offset) == (ssize_t)piece->size &&
	       memcmp(now, bytes, piece->size) == 0;
}

bool
journal_is_intact(const struct journal *j)
{
	const char *bytes = j->written;

	for (size_t i = 0; i < j->n_pieces; i++) {
		if (!is_there(j, &j->pieces[i], bytes))
			return false;
		bytes += j->pieces[i].size;
	}
	return true;
}

int
journal_reopen(struct journal *j)
{
	struct error e = {0};
	struct sink sink;
	struct stat st;
	int result = -1;

	if (sink_open(&sink, j->path, O_RDWR | O_APPEND | O_NOFOLLOW, 0600, j->option, &e) == 0 &&
	    !sink.made && fstat(sink.fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1) {
		(void)fcntl(sink.fd, F_SETFL, O_APPEND);
		fd_drop(&j->fd);
		j->fd = fd_take(&sink.fd);
		j->st = st;
		result = 0;
	}
	sink_close(&sink);
	return result;
}

void
journal_unmake(const struct journal *j)
{
	struct stat st;

	/* Another run may have found it and be about to write: then there is no such lease to be had. */
	if (j->fd < 0 || !j->made.made || fcntl(j->fd, F_SETLEASE, F_WRLCK) != 0)
		return;
	if (fstat(j->fd, &st) == 0 && st.st_size == 0 && journal_is_in_place(j))
		sink_remove(&j->made, j->path);
	(void)fcntl(j->fd, F_SETLEASE, F_UNLCK);
}

void
journal_close(struct journal *j)
{
	sink_close(&j->made);
	fd_drop(&j->fd);
	free(j->path);
	free(j->written);
	free(j->pieces);
	*j = JOURNAL_NONE;
}
