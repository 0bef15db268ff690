/*
 * The one outcome of a workflow that does its work in one of two lanes: with an API key, or with a subscription's token
 * when the key has run out of credit or there is none.
 *
 * Each lane is a job; a third one is told what the runner knows of the two and has to fail unless one of them did the
 * work. What it is told may be incomplete: the runner drops every output of a job in which a masked word occurs, and a
 * job that was skipped, cancelled or lost has none. So nothing that is missing counts as good. Pure.
 */
#ifndef GUARD_VERDICT_H
#define GUARD_VERDICT_H

#include "guard/lane.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the job had no credential: a boolean output of its own. */
enum verdict_empty { EMPTY_UNTOLD, EMPTY_FALSE, EMPTY_TRUE };

/* What the runner calls the result of a job. */
enum verdict_result {
	RESULT_UNTOLD,
	RESULT_SUCCESS,
	RESULT_FAILURE,
	RESULT_CANCELLED,
	RESULT_SKIPPED,
};

/* What there is to know of one lane's job. */
struct verdict_job {
	bool has_class; /* its output lane-class is there */
	enum lane lane; /* then */
	enum verdict_empty empty;
	enum verdict_result result;
};

enum verdict_level { VERDICT_NOTICE, VERDICT_WARNING, VERDICT_ERROR };

struct verdict {
	const char *outcome; /* a lane class, or "no-credential"; constant */
	bool ok;             /* one of the lanes did the work */
	enum verdict_level level;
	char why[200]; /* a sentence for people, of fixed words and names of classes */
};

/* The values as they come from the workflow; -1 for anything else. An empty text is "not told", but for results. */
int verdict_parse_class(struct verdict_job *job, const char *text);
int verdict_parse_empty(struct verdict_job *job, const char *text);
int verdict_parse_result(struct verdict_job *job, const char *text);

/*
 * The outcome is the key's class, if that is anything but credit-stop, and the subscription's if it is that or there is
 * no key. A subscription that was used otherwise, a job that ran without leaving a class, and what contradicts itself,
 * are an error.
 */
void verdict_decide(
    struct verdict *v, const struct verdict_job *key, const struct verdict_job *subscription);

/* The sentence in a line: a workflow command that makes it an annotation, or for a terminal. */
void verdict_annotation(char *line, size_t size, const struct verdict *v, bool for_runner);

#endif
