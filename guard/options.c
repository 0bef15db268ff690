/*
 * The command line of `legguard run`.
 *
 * One table says which options there are; each has a small function that looks at its value and keeps
 * it. The words are read here and not by getopt_long(3), which accepts abbreviations (a script that
 * uses one breaks when a later version adds an option) and keeps its state in globals.
 */
#include "guard/options.h"

#include "bindmount/cleanup.h"
#include "guard/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <bsd/stdlib.h>

/* The runner drops the outputs of a job beyond this. */
enum { OUTPUTS_MAX = 1024 * 1024 };

struct option {
	const char *name;
	char letter;     /* of the short form, or 0 */
	bool repeatable; /* more than once makes sense; else a second value would hide the first */
	const char *argument; /* what the value is called, NULL if there is none */
	int (*apply)(struct options *o, const char *value, struct error *e);
	size_t flag; /* without an argument: offset of the bool in struct options to set */
};

static int
no_memory(struct error *e)
{
	return error_set(e, errno, NULL, "can't keep the options");
}

static int
keep_word(struct words *w, const char *word, struct error *e)
{
	const char **list = reallocarray(w->list, w->count + 1, sizeof *list);

	if (list == NULL)
		return no_memory(e);
	w->list = list;
	list[w->count++] = word;
	return 0;
}

static int
check_not_empty(const char *option, const char *value, struct error *e)
{
	if (value[0] != '\0')
		return 0;
	return error_set(
	    e, 0, "name a path, or leave the option out", "%s: the path is empty", option);
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

static int
guard(struct options *o, const char *value, struct error *e)
{
	return check_not_empty("--guard", value, e) == 0 ? keep_word(&o->guard, value, e) : -1;
}

static int
read_only(struct options *o, const char *value, struct error *e)
{
	return check_not_empty("--read-only", value, e) == 0 ? keep_word(&o->read_only, value, e)
	                                                     : -1;
}

static int
isolation(struct options *o, const char *value, struct error *e)
{
	static const char tiers[] = "use namespace, or none to run the leg unconfined";

	if (strcmp(value, "namespace") == 0)
		o->isolation = ISOLATION_NAMESPACE;
	else if (strcmp(value, "none") == 0)
		o->isolation = ISOLATION_NONE;
	else if (strcmp(value, "landlock") == 0)
		return error_set(
		    e, 0, tiers, "--isolation landlock is not supported by this version");
	else
		return error_set(e, 0, tiers, "--isolation %s is unknown", value);
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

static int
set_output(struct options *o, const char *value, struct error *e)
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

static int
directory(struct options *o, const char *value, struct error *e)
{
	o->directory = value;
	return check_not_empty("-C", value, e);
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

static int
setenv_option(struct options *o, const char *value, struct error *e)
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

static int
unset(struct options *o, const char *value, struct error *e)
{
	if (value[0] == '\0')
		return error_set(e, 0, "name a variable", "--unset: the name is empty");
	if (strchr(value, '=') != NULL)
		return error_set(e, 0, "give the name alone, or use --setenv",
		    "--unset: there is a = in the name");
	return change_environment(o, value, strlen(value), NULL, e);
}

static int
on_tamper(struct options *o, const char *value, struct error *e)
{
	o->keep_status_on_tamper = strcmp(value, "keep-status") == 0;
	if (o->keep_status_on_tamper || strcmp(value, "fail") == 0)
		return 0;
	return error_set(e, 0, "use fail or keep-status", "--on-tamper %s is unknown", value);
}

static int
on_survivors(struct options *o, const char *value, struct error *e)
{
	o->fail_on_survivors = strcmp(value, "fail") == 0;
	if (o->fail_on_survivors || strcmp(value, "kill") == 0)
		return 0;
	return error_set(e, 0, "use kill or fail", "--on-survivors %s is unknown", value);
}

static int
status_path(struct options *o, const char *value, struct error *e)
{
	o->status_path = value;
	return check_not_empty("--status", value, e);
}

static int
status_fd(struct options *o, const char *value, struct error *e)
{
	if (parse_number(value, 1, INT_MAX, &o->status_fd) == 0)
		return 0;
	return error_set(e, 0, "give the number of one that is open for writing, from 1",
	    "--status-fd %s is no such descriptor", value);
}

/* What only the launcher can know, no exit status of a leg may claim. */
static bool
is_guard_fact(enum lane lane)
{
	return lane == LANE_TIMEOUT || lane == LANE_OVERFLOW || lane == LANE_CANCELLED ||
	       lane == LANE_TAMPERED || lane == LANE_SURVIVORS;
}

static int
exit_class(struct options *o, const char *value, struct error *e)
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

#define FLAG(field) offsetof(struct options, field)

static const struct option options[] = {
    {"--guard", 0, true, "PATH", guard, 0},
    {"--allow-hard-links", 0, true, NULL, NULL, FLAG(allow_hard_links)},
    {"--read-only", 0, true, "PATH", read_only, 0},
    {"--isolation", 0, false, "TIER", isolation, 0},
    {"--set-output", 0, true, "NAME=VALUE", set_output, 0},
    {"--no-outputs", 0, true, NULL, NULL, FLAG(no_outputs)},
    {"-C", 'C', false, "DIR", directory, 0},
    {"--setenv", 0, true, "NAME=VALUE", setenv_option, 0},
    {"--unset", 'u', true, "NAME", unset, 0},
    {"--clear-env", 'i', true, NULL, NULL, FLAG(clear_env)},
    {"--on-tamper", 0, false, "ACTION", on_tamper, 0},
    {"--on-survivors", 0, false, "ACTION", on_survivors, 0},
    {"--status", 0, false, "FILE", status_path, 0},
    {"--status-fd", 0, false, "N", status_fd, 0},
    {"--dry-run", 'n', true, NULL, NULL, FLAG(dry_run)},
    {"--quiet", 'q', true, NULL, NULL, FLAG(quiet)},
    {"--exit-class", 0, true, "CODE=CLASS", exit_class, 0},
    {"--help", 0, true, NULL, NULL, FLAG(help)},
    {"--version", 0, true, NULL, NULL, FLAG(version)},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static const char see_help[] = "see legguard run --help";

/* What is left to read of the command line. */
struct reading {
	struct options *o;
	char **next;
	bool given[OPTIONS];
};

/* The value is text after the option in the same word, or else the next word. */
static int
apply(struct reading *r, const struct option *option, const char *text, struct error *e)
{
	size_t index = (size_t)(option - options);

	if (r->given[index] && !option->repeatable)
		return error_set(e, 0, "keep one of the two", "%s is given twice", option->name);
	r->given[index] = true;
	if (option->argument == NULL) {
		*(bool *)((char *)r->o + option->flag) = true;
		return 0;
	}
	if (text != NULL)
		return option->apply(r->o, text, e);
	/* "--" there is more likely the end of the options than a value. */
	if (*r->next == NULL || strcmp(*r->next, "--") == 0) {
		char cure[64];

		snprintf(cure, sizeof cure, "write %s %s", option->name, option->argument);
		return error_set(e, 0, cure, "%s has no argument", option->name);
	}
	return option->apply(r->o, *r->next++, e);
}

/* --name, --name=value, or --name value */
static int
read_long(struct reading *r, const char *word, struct error *e)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < OPTIONS; i++) {
		if (strncmp(options[i].name, word, n) != 0 || options[i].name[n] != '\0')
			continue;
		if (word[n] == '\0')
			return apply(r, &options[i], NULL, e);
		if (options[i].argument == NULL)
			return error_set(e, 0, "leave out the = and what follows",
			    "%s takes no argument", options[i].name);
		return apply(r, &options[i], word + n + 1, e);
	}
	return error_set(e, 0, see_help, "unknown option %.*s", (int)n, word);
}

/* -x, -xyz, -Xvalue, or -X value */
static int
read_short(struct reading *r, const char *word, struct error *e)
{
	for (const char *letter = word + 1; *letter != '\0'; letter++) {
		const struct option *option = NULL;
		const char *text = NULL;

		for (size_t i = 0; i < OPTIONS; i++)
			if (options[i].letter == *letter)
				option = &options[i];
		if (option == NULL)
			return error_set(e, 0, see_help, "unknown option -%c in %s", *letter, word);
		if (option->argument != NULL && letter[1] != '\0')
			text = letter + 1;
		if (apply(r, option, text, e) != 0)
			return -1;
		if (option->argument != NULL)
			return 0;
	}
	return 0;
}

/* Read options up to the first operand, or to one that ends it all. */
static int
read_options(struct reading *r, struct error *e)
{
	while (*r->next != NULL && !r->o->help && !r->o->version) {
		const char *word = *r->next;

		if (word[0] != '-' || word[1] == '\0')
			return 0;
		r->next++;
		if (strcmp(word, "--") == 0)
			return 0;
		if ((word[1] == '-' ? read_long(r, word, e) : read_short(r, word, e)) != 0)
			return -1;
	}
	return 0;
}

/* What is wrong only when all words are taken together. */
static int
check_whole(const struct options *o, struct error *e)
{
	size_t size = 0;

	if (o->status_path != NULL && o->status_fd >= 0)
		return error_set(
		    e, 0, "keep one of the two", "--status and --status-fd are both given");
	if (o->n_outputs > 0 && o->no_outputs)
		return error_set(e, 0, "leave out one of the two",
		    "--set-output can't be published with --no-outputs");
	for (size_t i = 0; i < o->n_outputs; i++)
		size += strlen(o->outputs[i].name) + strlen(o->outputs[i].value);
	if (size > OUTPUTS_MAX)
		return error_set(e, 0, "pass large values in a file or an artifact",
		    "--set-output: %zu bytes in all are more than the runner's 1 MiB for a job",
		    size);
	if (o->command[0] == NULL && !o->dry_run)
		return error_set(
		    e, 0, "write legguard run [OPTION]... -- COMMAND [ARG]...", "no command given");
	if (o->command[0] != NULL && o->command[0][0] == '\0')
		return error_set(e, 0, "see whether a variable in its place is unset",
		    "the command is an empty word");
	return 0;
}

int
options_parse(struct options *o, int argc, char **argv, struct error *e)
{
	struct reading r = {.o = o, .next = argv + 1};

	*o = (struct options){.isolation = ISOLATION_NAMESPACE, .status_fd = -1};
	o->command = argv + argc;
	if (read_options(&r, e) != 0)
		return -1;
	if (o->help || o->version)
		return 0;
	o->command = r.next;
	return check_whole(o, e);
}

void
options_free(struct options *o)
{
	for (size_t i = 0; i < o->n_outputs; i++)
		free(o->outputs[i].name);
	for (size_t i = 0; i < o->n_env; i++)
		free(o->env[i].name);
	free(o->outputs);
	free(o->env);
	free(o->guard.list);
	free(o->read_only.list);
	*o = (struct options){.status_fd = -1};
}
