/* A file's lines with their hashes. See reader.h. */
#include "guard/audit/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
reader_begin(struct reader *r, int fd, const char *path, struct error *e)
{
	*r = (struct reader){.fd = fd, .path = path, .buffer = malloc(READER_BUFFER)};
	if (r->buffer == NULL)
		return error_set(e, errno, NULL, "can't read %s", path);
	return 0;
}

/* Make room behind what is there, and read as much as fits. */
static int
fill(struct reader *r, struct error *e)
{
	ssize_t n;

	memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
	r->end -= r->begin;
	r->begin = 0;
	do
		n = read(r->fd, r->buffer + r->end, READER_BUFFER - r->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(e, errno, NULL, "can't read %s", r->path);
	r->end += (size_t)n;
	r->ended = n == 0;
	return 0;
}

/* The LF that ends the line at r->begin, if it comes in time; NULL if not, or the file ends before. */
static int
find_end(struct reader *r, const char **lf, struct error *e)
{
	size_t searched = 0;

	for (;;) {
		size_t there = r->end - r->begin;

		if (there > LINE_MAX_SIZE)
			there = LINE_MAX_SIZE;
		*lf = memchr(r->buffer + r->begin + searched, '\n', there - searched);
		if (*lf != NULL || there == LINE_MAX_SIZE || r->ended)
			return 0;
		searched = there;
		if (fill(r, e) != 0)
			return -1;
	}
}

/* A line that is too long goes into the hash piece by piece, and is not kept. */
static int
hash_long_line(struct reader *r, struct reader_line *line, struct error *e)
{
	for (;;) {
		const char *from = r->buffer + r->begin;
		size_t there = r->end - r->begin;
		const char *lf = memchr(from, '\n', there);
		size_t size = lf != NULL ? (size_t)(lf - from) : there;

		sha256_update(&r->hash, size, (const uint8_t *)from);
		r->begin += size + (lf != NULL);
		line->cut = lf == NULL && r->ended;
		if (lf != NULL || r->ended)
			return 0;
		if (fill(r, e) != 0)
			return -1;
	}
}

int
reader_next(struct reader *r, struct reader_line *line, struct error *e)
{
	const char *lf;
	size_t size;

	if (find_end(r, &lf, e) != 0)
		return -1;
	if (r->begin == r->end)
		return 0;
	*line = (struct reader_line){.number = ++r->lines, .text = r->buffer + r->begin};
	size = lf != NULL ? (size_t)(lf - line->text) : r->end - r->begin;
	sha256_init(&r->hash);
	if (lf == NULL && size >= LINE_MAX_SIZE) {
		line->too_long = true;
		if (hash_long_line(r, line, e) != 0)
			return -1;
	} else {
		line->size = size;
		line->cut = lf == NULL;
		sha256_update(&r->hash, size, (const uint8_t *)line->text);
		r->begin += size + (lf != NULL);
	}
	sha256_digest(&r->hash, LINE_HASH, line->hash);
	return 1;
}

void
reader_free(struct reader *r)
{
	free(r->buffer);
	r->buffer = NULL;
}
