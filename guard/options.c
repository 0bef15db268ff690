/*
 * The command line of `legguard run`.
 *
 * One table says which options there are; each has a small function, in values.c, that looks at its
 * value and keeps it. The words are read here and not by getopt_long(3), which accepts abbreviations
 * (a script that uses one breaks when a later version adds an option) and keeps its state in globals.
 */
#include "guard/options.h"

#include "guard/values.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The runner drops the outputs of a job beyond this. */
enum { OUTPUTS_MAX = 1024 * 1024 };

struct option {
	const char *name;
	char letter;     /* of the short form, or 0 */
	bool repeatable; /* more than once makes sense; else a second value would hide the first */
	const char *argument;  /* what the value is called, NULL if there is none */
	value_function *apply; /* NULL: the value is kept as it is */
	size_t
	    field; /* without apply: offset in struct options of the bool to set, or of the list of
	                 words that the value is added to */
};

#define FIELD(field) offsetof(struct options, field)

static const struct option options[] = {
    {"--guard", 0, true, "PATH", NULL, FIELD(guard)},
    {"--allow-hard-links", 0, true, NULL, NULL, FIELD(allow_hard_links)},
    {"--read-only", 0, true, "PATH", NULL, FIELD(read_only)},
    {"--unprotect", 0, true, "PATH", NULL, FIELD(unprotect)},
    {"--hide", 0, true, "PATH", NULL, FIELD(hide)},
    {"--allow-socket", 0, true, "PATH", NULL, FIELD(allow_socket)},
    {"--pin", 0, true, NULL, NULL, FIELD(pin)},
    {"--writable", 0, true, "PATH", NULL, FIELD(writable)},
    {"--isolation", 0, false, "TIER", value_isolation, 0},
    {"--user", 0, false, "USER[:GROUP]", value_user, 0},
    {"--root-leg", 0, true, NULL, NULL, FIELD(root_leg)},
    {"--share-pid", 0, true, NULL, NULL, FIELD(share_pid)},
    {"--cgroup", 0, false, "DIR", value_cgroup, 0},
    {"--timeout", 't', false, "DURATION", value_timeout, 0},
    {"--signal", 's', false, "SIGNAL", value_signal, 0},
    {"--kill-after", 'k', false, "DURATION", value_kill_after, 0},
    {"--max-output", 0, false, "SIZE", value_max_output, 0},
    {"--sweep", 0, false, "MODE", value_sweep, 0},
    {"--strict-files", 0, true, NULL, NULL, FIELD(strict_files)},
    {"--file-commands", 0, false, "MODE", value_file_commands, 0},
    {"--import", 0, true, "ENTRY", value_import, 0},
    {"--import-unsafe", 0, true, NULL, NULL, FIELD(import_unsafe)},
    {"--import-strict", 0, true, NULL, NULL, FIELD(import_strict)},
    {"--workflow-commands", 0, false, "ACTION", value_workflow_commands, 0},
    {"--set-output", 0, true, "NAME=VALUE", value_set_output, 0},
    {"--no-outputs", 0, true, NULL, NULL, FIELD(no_outputs)},
    {"--summary", 0, true, NULL, NULL, FIELD(summary)},
    {"--no-summary", 0, true, NULL, NULL, FIELD(no_summary)},
    {"-C", 'C', false, "DIR", value_directory, 0},
    {"--setenv", 0, true, "NAME=VALUE", value_setenv, 0},
    {"--unset", 'u', true, "NAME", value_unset, 0},
    {"--clear-env", 'i', true, NULL, NULL, FIELD(clear_env)},
    {"--managed-settings", 0, false, "FILE", value_managed_settings, 0},
    {"--exactly-one-env", 0, false, "NAMES", value_exactly_one_env, 0},
    {"--keep-env", 0, true, "NAME", NULL, FIELD(keep_env)},
    {"--on-tamper", 0, false, "ACTION", value_on_tamper, 0},
    {"--on-survivors", 0, false, "ACTION", value_on_survivors, 0},
    {"--status", 0, false, "FILE", value_status_path, 0},
    {"--status-fd", 0, false, "N", value_status_fd, 0},
    {"--audit", 0, false, "FILE", value_audit, 0},
    {"--audit-argv", 0, true, NULL, NULL, FIELD(audit_argv)},
    {"--audit-required", 0, true, NULL, NULL, FIELD(audit_required)},
    {"--audit-otlp", 0, false, "FILE", value_audit_otlp, 0},
    {"--dry-run", 'n', true, NULL, NULL, FIELD(dry_run)},
    {"--quiet", 'q', true, NULL, NULL, FIELD(quiet)},
    {"--classify", 0, false, "FORMAT", value_classify, 0},
    {"--exit-class", 0, true, "CODE=CLASS", value_exit_class, 0},
    {"--help", 0, true, NULL, NULL, FIELD(help)},
    {"--version", 0, true, NULL, NULL, FIELD(version)},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static const char see_help[] = "see legguard run --help";

/* What is left to read of the command line. */
struct reading {
	struct options *o;
	char **next;
	bool given[OPTIONS];
};

static int
take_value(struct options *o, const struct option *option, const char *value, struct error *e)
{
	if (option->apply != NULL)
		return option->apply(o, value, e);
	return value_keep(
	    (struct words *)((char *)o + option->field), option->name, option->argument, value, e);
}

/* The value is text after the option in the same word, or else the next word. */
static int
apply(struct reading *r, const struct option *option, const char *text, struct error *e)
{
	size_t index = (size_t)(option - options);

	if (r->given[index] && !option->repeatable)
		return error_set(e, 0, "keep one of the two", "%s is given twice", option->name);
	r->given[index] = true;
	if (option->argument == NULL) {
		*(bool *)((char *)r->o + option->field) = true;
		return 0;
	}
	if (text != NULL)
		return take_value(r->o, option, text, e);
	/* "--" there is more likely the end of the options than a value. */
	if (*r->next == NULL || strcmp(*r->next, "--") == 0) {
		char cure[64];

		snprintf(cure, sizeof cure, "write %s %s", option->name, option->argument);
		return error_set(e, 0, cure, "%s has no argument", option->name);
	}
	return take_value(r->o, option, *r->next++, e);
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

/* Options that ask for what only some tiers have. */
static int
check_tier(const struct options *o, struct error *e)
{
	static const char leave_out[] = "leave out one of the two";

	if (o->isolation == ISOLATION_NAMESPACE)
		return 0;
	if (o->pin || o->writable.count > 0)
		return error_set(e, 0, leave_out, "%s needs --isolation namespace",
		    o->pin ? "--pin" : "--writable");
	if (o->share_pid)
		return error_set(e, 0, "leave out --share-pid",
		    "--share-pid: only with --isolation namespace is there another pid namespace");
	if (o->isolation != ISOLATION_NONE)
		return 0;
	if (o->read_only.count > 0 || o->hide.count > 0)
		return error_set(e, 0, leave_out, "%s can't be held with --isolation none",
		    o->read_only.count > 0 ? "--read-only" : "--hide");
	return 0;
}

static int
check_import(const struct options *o, size_t index, struct error *e)
{
	const struct import *i = &o->imports[index];

	if (import_is_unsafe(i) && !o->import_unsafe)
		return error_set(e, 0, "leave it out, or add --import-unsafe",
		    "--import %s%s%s can make later steps run code or trust somebody else",
		    import_kind_name(i->kind), i->name != NULL ? ":" : "",
		    i->name != NULL ? i->name : "");
	for (size_t k = 0; k < index; k++)
		if (i->kind != IMPORT_PATH && i->kind == o->imports[k].kind &&
		    (i->name == NULL || strcasecmp(i->name, o->imports[k].name) == 0))
			return error_set(e, 0, "keep one of the two",
			    "--import %s%s%s is given twice", import_kind_name(i->kind),
			    i->name != NULL ? ":" : "", i->name != NULL ? i->name : "");
	for (size_t k = 0; i->kind == IMPORT_OUTPUT && k < o->n_outputs; k++)
		if (strcasecmp(i->name, o->outputs[k].name) == 0)
			return error_set(e, 0, "leave out one of the two; output names ignore case",
			    "--import output:%s: --set-output publishes this one", i->name);
	return 0;
}

static int
check_imports(const struct options *o, struct error *e)
{
	if (o->n_imports == 0 && (o->import_unsafe || o->import_strict))
		return error_set(e, 0, "leave it out", "%s says nothing without --import",
		    o->import_unsafe ? "--import-unsafe" : "--import-strict");
	if (o->n_imports > 0 && !o->decoys)
		return error_set(e, 0, "add --file-commands decoy",
		    "--import: the leg has no files of its own to import from");
	if (o->decoys && o->isolation != ISOLATION_NAMESPACE)
		return error_set(
		    e, 0, "leave it out", "--file-commands decoy needs --isolation namespace");
	if (o->n_imports > 0 && o->no_outputs)
		return error_set(e, 0, "leave out one of the two",
		    "--import can't be published with --no-outputs");
	for (size_t i = 0; i < o->n_imports; i++)
		if (check_import(o, i, e) != 0)
			return -1;
	return 0;
}

static bool
is_in_list(const char *names, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = names; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == size && strncmp(at, name, size) == 0)
			return true;
	return false;
}

/* Whoever sees the process reads its command line (/proc/PID/cmdline), and the environment not (proc(5)). */
static int
check_credentials(const struct options *o, struct error *e)
{
	for (size_t i = 0; i < o->n_env && o->exactly_one_env != NULL; i++)
		if (o->env[i].value != NULL && is_in_list(o->exactly_one_env, o->env[i].name))
			return error_set(e, 0, "set it in the environment of legguard",
			    "--setenv %s puts a credential on the command line, for others to read",
			    o->env[i].name);
	return 0;
}

bool
options_audits(const struct options *o)
{
	return o->audit_path != NULL || o->audit_fd >= 0 || o->audit_otlp != NULL;
}

static int
check_audit(const struct options *o, struct error *e)
{
	if ((o->audit_argv || o->audit_required) && !options_audits(o))
		return error_set(e, 0, "add --audit FILE", "%s says nothing without --audit",
		    o->audit_argv ? "--audit-argv" : "--audit-required");
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
	if (o->summary && o->no_summary)
		return error_set(
		    e, 0, "keep one of the two", "--summary and --no-summary are both given");
	if (o->pin && o->writable.count > 0)
		return error_set(e, 0, "leave out --pin",
		    "--pin: with --writable nothing above a guarded file can be renamed anyway");
	if (o->user != NULL && o->root_leg)
		return error_set(e, 0, "keep --user", "--user and --root-leg are both given");
	for (size_t i = 0; o->classify && i < 256; i++)
		if (o->exit_class_set[i])
			return error_set(e, 0, "leave out one of the two",
			    "--classify and --exit-class are both given");
	if (check_tier(o, e) != 0 || check_imports(o, e) != 0 || check_credentials(o, e) != 0 ||
	    check_audit(o, e) != 0)
		return -1;
	if (o->cgroup != NULL && !o->share_pid && o->isolation == ISOLATION_NAMESPACE)
		return error_set(e, 0, "leave it out, or add --share-pid",
		    "--cgroup: the leg's pid namespace makes it needless");
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

	*o = (struct options){.isolation = ISOLATION_NAMESPACE,
	    .limits = limits_default,
	    .status_fd = -1,
	    .audit_fd = -1};
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
	for (size_t i = 0; i < o->n_imports; i++)
		import_free(&o->imports[i]);
	free(o->imports);
	free(o->outputs);
	free(o->env);
	free(o->guard.list);
	free(o->read_only.list);
	free(o->unprotect.list);
	free(o->hide.list);
	free(o->allow_socket.list);
	free(o->writable.list);
	free(o->keep_env.list);
	*o = (struct options){.status_fd = -1, .audit_fd = -1};
}
