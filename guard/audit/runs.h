/*
 * A record's runs, each put together from its lines, in memory that is bounded for each and in number.
 *
 * A run is handed on when its final line has come, and those without one at the end of the file, or when too many others
 * have had a line since its last one.
 */
#ifndef GUARD_AUDIT_RUNS_H
#define GUARD_AUDIT_RUNS_H

#include "bindmount/error.h"
#include "guard/audit/arguments.h"
#include "guard/audit/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum {
	RUNS_OPEN_MAX = 128,         /* that are put together at the same time */
	RUNS_EVENTS_MAX = 64,        /* of one kind that are kept of a run */
	RUNS_BYTES_MAX = 128 * 1024, /* of all of them, as they were written */
};

/* What happened in a run. A snapshot is only counted. */
struct run_event {
	enum audit_event event;
	int64_t mono_us;
	json_t *root; /* owned; text in it is anybody's */
};

struct run {
	unsigned char id[LINE_RUN];
	uint64_t first_line, last_line;
	char started[LINE_TIME],
	    ended[LINE_TIME]; /* of the first and the last line that was seen */
	int64_t first_us, last_us;
	json_t *start, *end;           /* owned; NULL: that line was not seen */
	unsigned char head[LINE_HASH]; /* if there is an end */
	struct run_event events[EVENTS * RUNS_EVENTS_MAX];
	size_t n_events, bytes;
	uint64_t count[EVENTS]; /* of its lines, kept or not */
	uint64_t left_out;      /* events that were not kept */
	bool tampered, unwanted;
	struct run *older, *newer;
};

/* Zero but for what the caller sets. */
struct runs {
	const struct audit_choice *choice;
	int (*finished)(void *arg, const struct run *r, struct error *e);
	void *arg;

	struct run *oldest, *newest; /* by the last line */
	size_t count;
	uint64_t shown;
};

/* A line with its content, which is taken over where it is kept. */
int runs_add(struct runs *rs, uint64_t number, struct audit_line *l, const unsigned char *hash,
    struct error *e);

/* The file has ended. */
int runs_end(struct runs *rs, struct error *e);

void runs_free(struct runs *rs);

/* The first event of that kind, or NULL. */
const struct run_event *run_find(const struct run *r, enum audit_event event);

#endif
