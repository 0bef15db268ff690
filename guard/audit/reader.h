/*
 * A file's lines one after another, each with its hash, in memory that does not depend on the file or its lines.
 */
#ifndef GUARD_AUDIT_READER_H
#define GUARD_AUDIT_READER_H

#include "bindmount/error.h"
#include "guard/audit/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nettle/sha2.h>

enum { READER_BUFFER = 256 * 1024 };

struct reader {
	int fd;           /* not owned */
	const char *path; /* for messages; not owned */
	char *buffer;     /* owned */
	size_t begin, end;
	bool ended;
	uint64_t lines; /* that were read */
	struct sha256_ctx
	    hash; /* nettle uses the processor's instructions: nine times as fast as libmd */
};

/* Valid until the next one is read. */
struct reader_line {
	uint64_t number; /* from 1 */
	const char *text;
	size_t size;   /* without the LF; 0 of a line that is too long, which is not kept */
	bool too_long; /* more than LINE_MAX_SIZE bytes with the LF */
	bool cut;      /* the file ends without an LF */
	unsigned char hash[LINE_HASH]; /* of all of it */
};

int reader_begin(struct reader *r, int fd, const char *path, struct error *e);

/* 1 with the next line, 0 at the end, -1 with *e. */
int reader_next(struct reader *r, struct reader_line *line, struct error *e);

void reader_free(struct reader *r);

#endif
