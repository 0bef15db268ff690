/*
 * --classify claude-json: the class of a leg by the result message of an agent's command-line client, as version 2.1.304
 * of Claude Code prints it with --output-format json (one object, or with --verbose an array of objects) or stream-json
 * (an object a line).
 *
 * The text is the leg's and hostile. One result, the last of all messages, has to agree with the exit status; anything
 * else, whatever it is, is LANE_ERROR. Each message is read strictly (no key twice, no number that does not fit); none
 * may be longer, deeper or made of more values than below, so that memory is bounded. Pure.
 */
#ifndef GUARD_CLASSIFY_H
#define GUARD_CLASSIFY_H

#include "bindmount/error.h"
#include "guard/lane.h"

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

enum {
	CLASSIFY_MESSAGE = 16 * 1024 * 1024,
	CLASSIFY_DEPTH = 64,      /* of arrays and objects in each other */
	CLASSIFY_VALUES = 250000, /* some 250 bytes each at most, apart from their text */
	CLASSIFY_WORD = 40,
};

/* What of the result may be told: fixed fields, never text of the model's. */
struct classify_result {
	bool found;
	char subtype[CLASSIFY_WORD]; /* of those that are known, else "other" */
	bool is_error;
	bool has_status;
	int api_error_status; /* an HTTP status, if has_status */
	bool has_num_turns, has_duration, has_cost;
	long long num_turns, duration_ms;
	double total_cost_usd;
	enum lane lane; /* by the message alone */
};

/* Zero is the beginning of a stream. All the module's own but result. */
struct classifier {
	struct classify_result result;
	bool failed;   /* the stream is not what it has to be */
	char *message; /* the one that is being read */
	size_t size, room;
	int depth; /* in it; 0: between messages */
	bool in_string, escaped;
	enum { CLASSIFY_BEGINNING, CLASSIFY_LINES, CLASSIFY_ARRAY, CLASSIFY_ARRAY_ENDED } form;
	bool separated; /* in an array: a comma was read */
	size_t messages;
};

/* The stream is not what it has to be, for a reason that its bytes do not show. */
void classify_fail(struct classifier *c);

void classify_feed(struct classifier *c, const char *data, size_t size);

/*
 * The stream has ended, and the leg with wait_status as of waitpid(2). Returns the class; c->result is complete then.
 */
enum lane classify_end(struct classifier *c, int wait_status);

/*
 * What may be told of a result that was found: its fixed fields, null where it has none; the rest is the model's text. A
 * new object, or NULL without memory.
 */
json_t *classify_fields(const struct classify_result *r);

void classify_free(struct classifier *c);

#endif
