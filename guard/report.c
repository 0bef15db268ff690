/* legguard outcome. See report.h. */
#include "guard/report.h"

#include "guard/environment.h"
#include "guard/options.h"
#include "guard/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "see legguard outcome --help";

struct reporting {
	struct verdict_job key, subscription;
	bool help;
};

struct option {
	const char *name;
	struct verdict_job *job;
	int (*parse)(struct verdict_job *job, const char *text);
	const char *values;
	bool required, given;
};

/* The words of lane.h; an empty one says that there is no output. */
#define CLASSES                                                                                    \
	"a lane class (ok, credit-stop, auth, rate-limit, overloaded, max-turns, budget, "         \
	"timeout, overflow, cancelled, tampered, survivors, error), or nothing"
#define RESULTS "success, failure, cancelled or skipped"

/* The value of argv[*at], which is the option of that name: behind "=", or the next argument. NULL if it is another. */
static const char *
value_of(const char *name, int argc, char **argv, int *at)
{
	size_t n = strlen(name);
	const char *arg = argv[*at];

	if (strncmp(arg, name, n) != 0 || (arg[n] != '\0' && arg[n] != '='))
		return NULL;
	if (arg[n] == '=')
		return arg + n + 1;
	return *at + 1 < argc ? argv[++*at] : NULL;
}

static int
read_one(struct option *options, size_t count, int argc, char **argv, int *at, struct error *e)
{
	const char *arg = argv[*at];

	for (size_t i = 0; i < count; i++) {
		struct option *o = &options[i];
		const char *value = value_of(o->name, argc, argv, at);

		if (value == NULL)
			continue;
		if (o->given)
			return error_set(e, 0, usage, "%s is given twice", o->name);
		o->given = true;
		if (o->parse(o->job, value) != 0)
			return error_set(
			    e, 0, NULL, "%s: '%s' is not %s", o->name, value, o->values);
		return 0;
	}
	return error_set(e, 0, usage, "%s is not understood, or lacks a value", arg);
}

static int
read_arguments(struct reporting *r, int argc, char **argv, struct error *e)
{
	struct verdict_job *key = &r->key, *subscription = &r->subscription;
	struct option options[] = {
	    {"--key-class", key, verdict_parse_class, CLASSES, true, false},
	    {"--subscription-class", subscription, verdict_parse_class, CLASSES, true, false},
	    {"--key-empty", key, verdict_parse_empty, "true, false or nothing", false, false},
	    {"--subscription-empty", subscription, verdict_parse_empty, "true, false or nothing",
		false, false},
	    {"--key-result", key, verdict_parse_result, RESULTS, false, false},
	    {"--subscription-result", subscription, verdict_parse_result, RESULTS, false, false},
	};
	size_t count = sizeof options / sizeof options[0];

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0)
			r->help = true;
		else if (read_one(options, count, argc, argv, &i, e) != 0)
			return -1;
	}
	for (size_t i = 0; i < count && !r->help; i++)
		if (options[i].required && !options[i].given)
			return error_set(e, 0, usage, "%s is missing", options[i].name);
	return 0;
}

/* An annotation for the runner, which finds it in standard error, too; text for all others. */
static bool
for_runner(char *const *env)
{
	const char *actions = environment_get(env, "GITHUB_ACTIONS");

	return actions != NULL && strcmp(actions, "true") == 0;
}

int
report_command(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    char **notes, int *status, struct error *e)
{
	struct reporting r = {0};
	struct verdict v;
	char line[300];

	/* There is nothing to settle: a signal may end it. */
	(void)sigprocmask(SIG_SETMASK, &startup->mask, NULL);
	if (read_arguments(&r, argc, argv, e) != 0)
		return -1;
	*status = 0;
	if (r.help) {
		*text = strdup(options_outcome_help);
		*notes = strdup("");
	} else {
		verdict_decide(&v, &r.key, &r.subscription);
		*status = v.ok ? 0 : 1;
		verdict_annotation(line, sizeof line, &v, for_runner(env));
		*notes = strdup(line);
		snprintf(line, sizeof line, "%s\n", v.outcome);
		*text = strdup(line);
	}
	return *text != NULL && *notes != NULL ? 0 : error_set(e, errno, NULL, "can't report");
}
