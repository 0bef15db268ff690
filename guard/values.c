/* What the options' values mean. See values.h. */
#include "guard/values.h"

#include "bindmount/cleanup.h"
#include "guard/outputs.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <bsd/stdlib.h>

static const char duration[] = "write a number with s, m, h or d after it, as in 90s, 10m or 1.5h";

static int
no_memory(struct error *e)
{
	return error_set(e, errno, NULL, "can't keep the options");
}

static int
check_not_empty(const char *option, const char *what, const char *value, struct error *e)
{
	char cure[96];

	if (value[0] != '\0')
		return 0;
	snprintf(cure, sizeof cure, "write %s %s, or leave the option out", option, what);
	return error_set(e, 0, cure, "%s: the value is empty", option);
}

int
value_keep(
    struct words *w, const char *option, const char *what, const char *value, struct error *e)
{
	const char **list;

	if (check_not_empty(option, what, value, e) != 0)
		return -1;
	list = reallocarray(w->list, w->count + 1, sizeof *list);
	if (list == NULL)
		return no_memory(e);
	w->list = list;
	list[w->count++] = value;
	return 0;
}

/* strtonum(3) that takes digits only, without blanks or a sign. */
static int
parse_number(const char *text, int low, int high, int *number)
{
	const char *problem = NULL;

	if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
		return -1;
	*number = (int)strtonum(text, low, high, &problem);
	return problem == NULL ? 0 : -1;
}

int
value_isolation(struct options *o, const char *value, struct error *e)
{
	static const char tiers[] = "use namespace, landlock, or none to run the leg unconfined";

	if (strcmp(value, "namespace") == 0)
		o->isolation = ISOLATION_NAMESPACE;
	else if (strcmp(value, "none") == 0)
		o->isolation = ISOLATION_NONE;
	else if (strcmp(value, "landlock") == 0)
		o->isolation = ISOLATION_LANDLOCK;
	else
		return error_set(e, 0, tiers, "--isolation %s is unknown", value);
	return 0;
}

int
value_file_commands(struct options *o, const char *value, struct error *e)
{
	if (strcmp(value, "decoy") != 0 && strcmp(value, "readonly") != 0)
		return error_set(
		    e, 0, "use readonly or decoy", "--file-commands %s is unknown", value);
	o->decoys = strcmp(value, "decoy") == 0;
	return 0;
}

int
value_import(struct options *o, const char *value, struct error *e)
{
	struct import *list = reallocarray(o->imports, o->n_imports + 1, sizeof *list);

	if (list == NULL)
		return no_memory(e);
	o->imports = list;
	if (import_parse(&list[o->n_imports], value, e) != 0)
		return -1;
	o->n_imports++;
	return 0;
}

int
value_workflow_commands(struct options *o, const char *value, struct error *e)
{
	if (strcmp(value, "neutralize") == 0)
		o->workflow_commands = WORKFLOW_COMMANDS_NEUTRALIZE;
	else if (strcmp(value, "pass") == 0)
		o->workflow_commands = WORKFLOW_COMMANDS_PASS;
	else
		return error_set(
		    e, 0, "use neutralize or pass", "--workflow-commands %s is unknown", value);
	return 0;
}

static int
check_output(const struct options *o, const char *name, struct error *e)
{
	if (outputs_check_name(name, "--set-output", e) != 0)
		return -1;
	if (outputs_reserved(name))
		return error_set(e, 0, "choose another name; legguard publishes this one itself",
		    "--set-output: the name %s is reserved", name);
	/* For the runner names that differ in case are one, and the last value would win. */
	for (size_t i = 0; i < o->n_outputs; i++)
		if (strcasecmp(o->outputs[i].name, name) == 0)
			return error_set(e, 0, "keep one of the two; output names ignore case",
			    "--set-output: %s is set twice", name);
	return 0;
}

int
value_set_output(struct options *o, const char *value, struct error *e)
{
	const char *equals = strchr(value, '=');
	struct output *list;

	if (equals == NULL)
		return error_set(
		    e, 0, "write --set-output NAME=VALUE", "--set-output %s: no = in it", value);
	AUTO_FREE char *name = strndup(value, (size_t)(equals - value));
	if (name == NULL)
		return no_memory(e);
	if (check_output(o, name, e) != 0)
		return -1;
	list = reallocarray(o->outputs, o->n_outputs + 1, sizeof *list);
	if (list == NULL)
		return no_memory(e);
	o->outputs = list;
	list[o->n_outputs++] = (struct output){.name = ptr_take(&name), .value = equals + 1};
	return 0;
}

int
value_directory(struct options *o, const char *value, struct error *e)
{
	o->directory = value;
	return check_not_empty("-C", "DIR", value, e);
}

/* Keep a change of the environment: its name are the first n bytes of name. */
static int
change_environment(
    struct options *o, const char *name, size_t n, const char *value, struct error *e)
{
	AUTO_FREE char *copy = strndup(name, n);
	struct env_change *list;

	if (copy == NULL)
		return no_memory(e);
	list = reallocarray(o->env, o->n_env + 1, sizeof *list);
	if (list == NULL)
		return no_memory(e);
	o->env = list;
	list[o->n_env++] = (struct env_change){.name = ptr_take(&copy), .value = value};
	return 0;
}

int
value_setenv(struct options *o, const char *value, struct error *e)
{
	const char *equals = strchr(value, '=');

	/* What has no = may be a value whose name was forgotten, so it is not repeated. */
	if (equals == NULL)
		return error_set(
		    e, 0, "write --setenv NAME=VALUE", "--setenv: no = in the argument");
	if (equals == value)
		return error_set(e, 0, "write --setenv NAME=VALUE", "--setenv: the name is empty");
	return change_environment(o, value, (size_t)(equals - value), equals + 1, e);
}

int
value_unset(struct options *o, const char *value, struct error *e)
{
	if (value[0] == '\0')
		return error_set(e, 0, "name a variable", "--unset: the name is empty");
	if (strchr(value, '=') != NULL)
		return error_set(e, 0, "give the name alone, or use --setenv",
		    "--unset: there is a = in the name");
	return change_environment(o, value, strlen(value), NULL, e);
}

int
value_on_tamper(struct options *o, const char *value, struct error *e)
{
	o->keep_status_on_tamper = strcmp(value, "keep-status") == 0;
	if (o->keep_status_on_tamper || strcmp(value, "fail") == 0)
		return 0;
	return error_set(e, 0, "use fail or keep-status", "--on-tamper %s is unknown", value);
}

int
value_on_survivors(struct options *o, const char *value, struct error *e)
{
	o->fail_on_survivors = strcmp(value, "fail") == 0;
	if (o->fail_on_survivors || strcmp(value, "kill") == 0)
		return 0;
	return error_set(e, 0, "use kill or fail", "--on-survivors %s is unknown", value);
}

int
value_status_path(struct options *o, const char *value, struct error *e)
{
	o->status_path = value;
	return check_not_empty("--status", "FILE", value, e);
}

int
value_status_fd(struct options *o, const char *value, struct error *e)
{
	if (parse_number(value, 1, INT_MAX, &o->status_fd) == 0)
		return 0;
	return error_set(e, 0, "give the number of one that is open for writing, from 1",
	    "--status-fd %s is no such descriptor", value);
}

/* "fd:N", or a path; a file of that name is "./fd:N". */
int
value_audit(struct options *o, const char *value, struct error *e)
{
	if (strncmp(value, "fd:", 3) != 0) {
		o->audit_path = value;
		return check_not_empty("--audit", "FILE", value, e);
	}
	if (parse_number(value + 3, STDERR_FILENO + 1, INT_MAX, &o->audit_fd) == 0)
		return 0;
	return error_set(e, 0, "give the number of one that is open for writing, from 3",
	    "--audit %s is no such descriptor", value);
}

int
value_audit_otlp(struct options *o, const char *value, struct error *e)
{
	o->audit_otlp = value;
	return check_not_empty("--audit-otlp", "FILE", value, e);
}

/* What only the launcher can know, no exit status of a leg may claim. */
static bool
is_guard_fact(enum lane lane)
{
	return lane == LANE_TIMEOUT || lane == LANE_OVERFLOW || lane == LANE_CANCELLED ||
	       lane == LANE_TAMPERED || lane == LANE_SURVIVORS;
}

int
value_exit_class(struct options *o, const char *value, struct error *e)
{
	static const char classes[] = "use one of ok, credit-stop, auth, rate-limit, overloaded, "
				      "max-turns, budget, error";
	const char *equals = strchr(value, '=');
	enum lane lane;
	int code;

	if (equals == NULL)
		return error_set(
		    e, 0, "write --exit-class CODE=CLASS", "--exit-class %s: no = in it", value);
	AUTO_FREE char *number = strndup(value, (size_t)(equals - value));
	if (number == NULL)
		return no_memory(e);
	if (parse_number(number, 0, 255, &code) != 0)
		return error_set(e, 0, "give a number from 0 to 255",
		    "--exit-class %s: %s is no exit status", value, number);
	if (lane_parse(equals + 1, &lane) != 0)
		return error_set(e, 0, classes, "--exit-class %s: unknown class", value);
	if (is_guard_fact(lane))
		return error_set(e, 0, classes, "--exit-class %s: only legguard itself says %s",
		    value, equals + 1);
	if (o->exit_class_set[code])
		return error_set(
		    e, 0, "keep one of the two", "--exit-class: %d is given twice", code);
	o->exit_class_set[code] = true;
	o->exit_class[code] = lane;
	return 0;
}

int
value_classify(struct options *o, const char *value, struct error *e)
{
	o->classify = strcmp(value, "claude-json") == 0;
	return o->classify ? 0
	                   : error_set(e, 0, "use claude-json", "--classify %s is unknown", value);
}

int
value_managed_settings(struct options *o, const char *value, struct error *e)
{
	o->managed_settings = value;
	return check_not_empty("--managed-settings", "FILE", value, e);
}

/* Names as they can be given, one of them at least. */
int
value_exactly_one_env(struct options *o, const char *value, struct error *e)
{
	o->exactly_one_env = value;
	for (const char *at = value;; at++) {
		size_t n = strcspn(at, ",");

		if (n == 0 || memchr(at, '=', n) != NULL || strcspn(at, " \t\r\n") < n)
			return error_set(e, 0, "write --exactly-one-env NAME,NAME",
			    "--exactly-one-env: a name is empty, or has a blank or = in it");
		at += n;
		if (*at == '\0')
			return 0;
	}
}

int
value_timeout(struct options *o, const char *value, struct error *e)
{
	if (limits_parse_duration(value, &o->limits.timeout) == 0)
		return 0;
	return error_set(e, 0, duration, "--timeout %s is no duration", value);
}

/* timeout(1) takes 0 for never. A leg has to end, so here it can't mean that, nor anything else. */
int
value_kill_after(struct options *o, const char *value, struct error *e)
{
	if (limits_parse_duration(value, &o->limits.kill_after) != 0)
		return error_set(e, 0, duration, "--kill-after %s is no duration", value);
	if (o->limits.kill_after == 0)
		return error_set(e, 0, "give a duration above 0, or use --signal KILL",
		    "--kill-after %s: a leg that takes no notice would never end", value);
	return 0;
}

int
value_signal(struct options *o, const char *value, struct error *e)
{
	static const char cure[] = "use one that asks a process to end, as in TERM, INT or KILL";

	if (limits_parse_signal(value, &o->limits.signal) != 0)
		return error_set(e, 0, cure, "--signal %s is no signal", value);
	switch (o->limits.signal) {
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
		return error_set(e, 0, cure, "--signal %s does not end a process", value);
	default:
		return 0;
	}
}

int
value_max_output(struct options *o, const char *value, struct error *e)
{
	if (limits_parse_size(value, &o->limits.max_output) == 0)
		return 0;
	return error_set(e, 0,
	    "write bytes, or a number with K, M, G, T (powers of 1024), or KB, MB, GB, TB (of "
	    "1000)",
	    "--max-output %s is no size", value);
}

int
value_user(struct options *o, const char *value, struct error *e)
{
	o->user = value;
	return check_not_empty("--user", "USER[:GROUP]", value, e);
}

int
value_cgroup(struct options *o, const char *value, struct error *e)
{
	o->cgroup = value;
	return check_not_empty("--cgroup", "DIR", value, e);
}

int
value_sweep(struct options *o, const char *value, struct error *e)
{
	if (strcmp(value, "kill") == 0)
		o->sweep = SWEEP_KILL;
	else if (strcmp(value, "report") == 0)
		o->sweep = SWEEP_REPORT;
	else if (strcmp(value, "off") == 0)
		o->sweep = SWEEP_OFF;
	else
		return error_set(e, 0, "use kill, report or off", "--sweep %s is unknown", value);
	return 0;
}
