/* One outcome of two lanes. See verdict.h. */
#include "guard/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a job comes down to. */
enum state {
	STATE_CLASS,         /* its class can be gone by */
	STATE_NOT_RUN,       /* nothing says that it ran */
	STATE_CANCELLED,     /* and left no class */
	STATE_NO_CREDENTIAL, /* it ran, and had nothing to run the leg with */
	STATE_LOST,          /* it ran, and left no class */
	STATE_FAILED,        /* after a leg that was ok */
	STATE_CONTRADICTORY,
};

static const char *const complaints[] = {
    [STATE_NOT_RUN] = "did not run",
    [STATE_LOST] = "ran, but left no class: it failed before the leg, or the runner dropped its "
		   "outputs because of a mask",
    [STATE_FAILED] = "failed although its leg was ok",
    [STATE_CONTRADICTORY] = "says two things that can't both be true",
};

int
verdict_parse_class(struct verdict_job *job, const char *text)
{
	job->has_class = text[0] != '\0';
	return job->has_class ? lane_parse(text, &job->lane) : 0;
}

static int
find(const char *const *words, int count, const char *text)
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

int
verdict_parse_empty(struct verdict_job *job, const char *text)
{
	static const char *const words[] = {
	    [EMPTY_UNTOLD] = "", [EMPTY_FALSE] = "false", [EMPTY_TRUE] = "true"};
	int i = find(words, 3, text);

	job->empty = i < 0 ? EMPTY_UNTOLD : (enum verdict_empty)i;
	return i < 0 ? -1 : 0;
}

int
verdict_parse_result(struct verdict_job *job, const char *text)
{
	static const char *const words[] = {"success", "failure", "cancelled", "skipped"};
	int i = find(words, 4, text);

	job->result = i < 0 ? RESULT_UNTOLD : (enum verdict_result)(RESULT_SUCCESS + i);
	return i < 0 ? -1 : 0;
}

static enum state
state_of_class(const struct verdict_job *job)
{
	if (job->empty == EMPTY_TRUE || job->result == RESULT_SKIPPED)
		return STATE_CONTRADICTORY;
	/* A leg that was ok is not all of a job; another class stands, whatever came after. */
	if (job->lane != LANE_OK)
		return STATE_CLASS;
	if (job->result == RESULT_CANCELLED)
		return STATE_CANCELLED;
	return job->result == RESULT_FAILURE ? STATE_FAILED : STATE_CLASS;
}

static enum state
state_of(const struct verdict_job *job)
{
	if (job->has_class)
		return state_of_class(job);
	if (job->result == RESULT_SKIPPED)
		return job->empty == EMPTY_UNTOLD ? STATE_NOT_RUN : STATE_CONTRADICTORY;
	if (job->empty == EMPTY_TRUE)
		return STATE_NO_CREDENTIAL;
	if (job->result == RESULT_CANCELLED)
		return STATE_CANCELLED;
	return job->result == RESULT_UNTOLD && job->empty == EMPTY_UNTOLD ? STATE_NOT_RUN
	                                                                  : STATE_LOST;
}

static void __attribute__((format(printf, 4, 5)))
say(struct verdict *v, enum lane lane, enum verdict_level level, const char *fmt, ...)
{
	va_list args;

	v->outcome = lane_name(lane);
	v->ok = lane == LANE_OK;
	v->level = level;
	va_start(args, fmt);
	vsnprintf(v->why, sizeof v->why, fmt, args);
	va_end(args);
}

/* Something of it ran: whether it may have done anything does not matter. */
static bool
was_entered(const struct verdict_job *job)
{
	return job->has_class || job->empty != EMPTY_UNTOLD || job->result == RESULT_SUCCESS ||
	       job->result == RESULT_FAILURE;
}

/* The key's job is what decides: the other one must not have been entered. */
static void
by_key(struct verdict *v, enum state state, const struct verdict_job *key,
    const struct verdict_job *subscription)
{
	if (was_entered(subscription))
		say(v, LANE_ERROR, VERDICT_ERROR,
		    "the subscription's lane was entered although the key's had not ended with "
		    "credit-stop: look at the gate of that job");
	else if (state == STATE_CLASS)
		say(v, key->lane, key->lane == LANE_OK ? VERDICT_NOTICE : VERDICT_ERROR,
		    key->lane == LANE_OK ? "the API key's lane did the work"
					 : "the API key's lane ended with %s",
		    lane_name(key->lane));
	else if (state == STATE_CANCELLED)
		say(v, LANE_CANCELLED, VERDICT_ERROR, "the API key's job was cancelled");
	else
		say(v, LANE_ERROR, VERDICT_ERROR, "the API key's job %s", complaints[state]);
}

static void
by_subscription(
    struct verdict *v, const struct verdict_job *key, const struct verdict_job *subscription)
{
	bool had_key = key->has_class;
	enum state state = state_of(subscription);
	bool cancelled =
	    state == STATE_CANCELLED || (state == STATE_NOT_RUN && key->result == RESULT_CANCELLED);
	const char *why = had_key ? "the API key is out of credit" : "there is no API key";

	switch (cancelled ? STATE_CANCELLED : state) {
	case STATE_CLASS:
		if (subscription->lane == LANE_OK)
			say(v, LANE_OK, had_key ? VERDICT_WARNING : VERDICT_NOTICE,
			    "%s; the subscription's lane did the work", why);
		else
			say(v, subscription->lane, VERDICT_ERROR,
			    "%s; the subscription's lane ended with %s", why,
			    lane_name(subscription->lane));
		break;
	case STATE_NO_CREDENTIAL:
		say(v, had_key ? LANE_CREDIT_STOP : LANE_AUTH, VERDICT_ERROR,
		    "%s, and no subscription's token", why);
		if (!had_key)
			v->outcome = "no-credential";
		break;
	case STATE_CANCELLED:
		say(v, LANE_CANCELLED, VERDICT_ERROR,
		    "%s; before the subscription's lane had ended the job was cancelled", why);
		break;
	case STATE_NOT_RUN:
	case STATE_LOST:
	case STATE_FAILED:
	case STATE_CONTRADICTORY:
		say(v, LANE_ERROR, VERDICT_ERROR, "%s; the subscription's job %s", why,
		    complaints[state]);
		break;
	}
}

void
verdict_decide(
    struct verdict *v, const struct verdict_job *key, const struct verdict_job *subscription)
{
	enum state state = state_of(key);

	if (state == STATE_NO_CREDENTIAL || (state == STATE_CLASS && key->lane == LANE_CREDIT_STOP))
		by_subscription(v, key, subscription);
	else
		by_key(v, state, key, subscription);
}

void
verdict_annotation(char *line, size_t size, const struct verdict *v, bool for_runner)
{
	static const char *const levels[] = {
	    [VERDICT_NOTICE] = "notice", [VERDICT_WARNING] = "warning", [VERDICT_ERROR] = "error"};

	if (for_runner)
		snprintf(line, size, "::%s title=legguard::%s: %s\n", levels[v->level], v->outcome,
		    v->why);
	else
		snprintf(line, size, "legguard: %s\n", v->why);
}
