/* The battery. See battery.h. */
#include "guard/attack/battery.h"

#include "bindmount/cleanup.h"
#include "guard/attack/registry.h"
#include "guard/attack/stage.h"
#include "guard/attack/table.h"
#include "guard/identity.h"
#include "guard/options.h"
#include "guard/outcome.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char attack_help[] =
    "usage: legguard attack [--only NAME[,NAME]...] [--json] [RUN OPTION]...\n"
    "       legguard attack [--only NAME[,NAME]...] [--json] -- WRAPPER [ARG]... {}\n"
    "       legguard attack --list [--json]\n"
    "\n"
    "Runs every attack that legguard knows as a leg, on this machine, against decoys of\n"
    "a CI step's files, and prints what came of it, as seen from outside:\n"
    "  blocked    nothing changed at any moment; the attack's own calls failed\n"
    "  repaired   something changed while the leg ran; afterwards all is as it was\n"
    "  THROUGH    afterwards something differs, is held, is hurt, or is alive\n"
    "  n/a        the machine lacks what the attack needs, or refuses it to everybody\n"
    "\n"
    "The battery's own options come first; the first word that is none of them begins\n"
    "the options of legguard run (as --share-pid), which are passed on. After -- comes\n"
    "another wrapper: its word {} becomes the attack's command, and in other words\n"
    "{file}, {dir}, {temp} and {workspace} become a decoy's GITHUB_OUTPUT, its\n"
    "directory, RUNNER_TEMP and the workspace:\n"
    "  legguard attack -- bwrap --dev-bind / / --ro-bind {file} {file} {}\n"
    "\n"
    "  --list             what the attacks are\n"
    "  --only NAME,NAME   only these\n"
    "  --json             the results as a JSON object\n"
    "\n"
    "Exit status: 0 if nothing got through, 1 if something did, 125 if the battery\n"
    "could not be run.\n";

struct battery {
	const char *only;
	bool list, json, help;
	struct stage_plan plan;
	const char **wrapper; /* its words, which the plan points to */
	char program[PATH_MAX];
	struct results results;
};

/* --- the command line */

static int
check_only(const char *names, struct error *e)
{
	for (const char *name = names;; name += strcspn(name, ",") + 1) {
		size_t n = strcspn(name, ",");

		if (attack_find(name, n) == NULL)
			return error_set(e, 0, "see legguard attack --list",
			    "--only: there is no attack %.*s", (int)n, name);
		if (name[n] == '\0')
			return 0;
	}
}

static bool
is_wanted(const struct battery *b, const struct attack *a)
{
	for (const char *name = b->only; name != NULL; name = strchr(name, ',')) {
		name += name[0] == ',';
		if (attack_find(name, strcspn(name, ",")) == a)
			return true;
	}
	return b->only == NULL;
}

/* The battery's own options; *next is left at the first word that is none. */
static int
read_own(struct battery *b, char ***next, struct error *e)
{
	for (; **next != NULL; (*next)++) {
		const char *word = **next;

		if (strcmp(word, "--list") == 0)
			b->list = true;
		else if (strcmp(word, "--json") == 0)
			b->json = true;
		else if (strcmp(word, "--help") == 0)
			b->help = true;
		else if (strncmp(word, "--only=", 7) == 0)
			b->only = word + 7;
		else if (strcmp(word, "--only") == 0 && (b->only = *++*next) == NULL)
			return error_set(
			    e, 0, "write --only NAME[,NAME]...", "--only has no argument");
		else if (strcmp(word, "--only") != 0)
			break;
	}
	return b->only != NULL ? check_only(b->only, e) : 0;
}

static int
read_foreign(struct battery *b, char **words, struct error *e)
{
	size_t n = 0;
	bool place = false;

	while (words[n] != NULL)
		place |= strcmp(words[n++], "{}") == 0;
	if (n == 0)
		return error_set(e, 0, "write legguard attack -- WRAPPER [ARG]... {}",
		    "no wrapper given after --");
	if (!place)
		return error_set(e, 0, "add a word {} where the wrapper's command belongs",
		    "the wrapper has no place for the attack");
	b->plan.wrapper = (const char *const *)words;
	return 0;
}

/* They are legguard run's to understand; what is wrong with them is better said here, and once. */
static int
check_run_options(struct battery *b, int argc, struct error *e)
{
	struct identity id = {0};
	struct options o;
	int result = options_parse(&o, argc, (char **)b->wrapper + 1, e);

	if (result == 0 && (o.help || o.version || o.dry_run))
		result = error_set(e, 0, "leave out --help, --version or --dry-run",
		    "nothing would be run under these options");
	/* The decoys belong to whoever the leg is. */
	if (result == 0)
		result = identity_find(&id, &o, e);
	b->plan.uid = id.uid;
	b->plan.gid = id.gid;
	identity_free(&id);
	options_free(&o);
	return result;
}

/* program run OPTION... -- {}: what the launcher itself would tell people is not to be taken for a leg's. */
static int
read_run_options(struct battery *b, char **words, struct error *e)
{
	size_t n = 0;

	for (; words[n] != NULL; n++)
		if (strcmp(words[n], "--") == 0)
			return error_set(e, 0, "leave out the options before --, or what follows",
			    "options of legguard run and another wrapper are both given");
	b->wrapper = calloc(n + 6, sizeof *b->wrapper);
	if (b->wrapper == NULL)
		return error_set(e, errno, NULL, "can't keep the options");
	b->wrapper[0] = b->program;
	b->wrapper[1] = "run";
	b->wrapper[2] = "--no-summary";
	for (size_t i = 0; i < n; i++)
		b->wrapper[3 + i] = words[i];
	b->wrapper[3 + n] = "--";
	b->wrapper[4 + n] = "{}";
	b->plan.own = true;
	b->plan.wrapper = b->wrapper;
	return check_run_options(b, (int)n + 4, e);
}

/* --- the run */

/* The wrapper that does not even start the leg proves nothing. */
static int
check_wrapper(struct battery *b, struct error *e)
{
	struct verdict v;

	if (stage_run(&v, &b->plan, NULL, e) != 0)
		return -1;
	if (v.kind != VERDICT_UNTRIED)
		return 0;
	return error_set(e, 0, NULL, "the wrapper does not run the leg, status %d: %s", v.status,
	    v.said[0] != '\0' ? v.said : v.detail);
}

static const char *
find_lacking(const struct battery *b, const struct attack *a)
{
	if ((a->wants & ATTACK_OWN) != 0 && !b->plan.own)
		return "only legguard publishes what this would forge";
	return a->lacking != NULL ? a->lacking(b->plan.uid) : NULL;
}

/* Is it one of the words of the wrapper, or what comes after an equals sign in one? */
static bool
has_word(const struct battery *b, const char *word, size_t length)
{
	for (size_t i = 0; b->plan.wrapper[i] != NULL; i++) {
		const char *w = b->plan.wrapper[i], *value = strchr(w, '=');

		if (strlen(w) == length && strncmp(w, word, length) == 0)
			return true;
		if (value != NULL && strlen(value + 1) == length &&
		    strncmp(value + 1, word, length) == 0)
			return true;
	}
	return false;
}

static bool
is_documented(const struct battery *b, const struct attack *a)
{
	if (!b->plan.own || a->documented == NULL)
		return false;
	for (const char *word = a->documented; word[0] != '\0'; word += word[0] == ',') {
		size_t length = strcspn(word, ",");

		if (has_word(b, word, length))
			return true;
		word += length;
	}
	return a->documented[0] == '\0';
}

static int
try_one(
    struct battery *b, const struct attack_group *group, const struct attack *a, struct error *e)
{
	struct result *r = &b->results.list[b->results.count];
	const char *lacking = find_lacking(b, a);

	*r = (struct result){.group = group, .attack = a};
	if (lacking != NULL) {
		r->verdict.kind = VERDICT_LACKING;
		snprintf(r->verdict.detail, sizeof r->verdict.detail, "%s", lacking);
	} else if (stage_run(&r->verdict, &b->plan, a, e) != 0) {
		if (e->errnum == ECANCELED)
			return -1;
		/* A small file system is all that a machine may lack of what a stage is made of. */
		r->verdict.kind =
		    (a->wants & ATTACK_SMALL_FS) != 0 ? VERDICT_LACKING : VERDICT_UNTRIED;
		error_line(r->verdict.detail, sizeof r->verdict.detail, e);
		*e = (struct error){0};
	}
	r->documented = r->verdict.kind == VERDICT_THROUGH && is_documented(b, a);
	b->results.count++;
	return 0;
}

static int
try_all(struct battery *b, struct error *e)
{
	b->results.list = calloc(attack_count(), sizeof *b->results.list);
	if (b->results.list == NULL)
		return error_set(e, errno, NULL, "can't keep the results");
	for (size_t i = 0; attack_groups[i] != NULL; i++)
		for (size_t k = 0; k < attack_groups[i]->count; k++) {
			const struct attack *a = &attack_groups[i]->list[k];

			if (is_wanted(b, a) && try_one(b, attack_groups[i], a, e) != 0)
				return -1;
		}
	return 0;
}

static int
print_results(const struct battery *b, FILE *out, int *status, struct error *e)
{
	const struct results *r = &b->results;

	if (!b->json)
		table_print(out, r);
	else if (table_print_json(out, r) != 0)
		return error_set(e, ENOMEM, NULL, "can't write the results");
	*status = results_count(r, VERDICT_THROUGH) > 0 ? BATTERY_THROUGH : 0;
	/* What was not tried is not known to be stopped. */
	if (*status == 0 && results_count(r, VERDICT_UNTRIED) > 0)
		*status = EXIT_GUARD;
	return 0;
}

static int
carry_out(struct battery *b, FILE *out, int *status, struct error *e)
{
	ssize_t n = readlink("/proc/self/exe", b->program, sizeof b->program - 1);

	if (n < 0)
		return error_set(
		    e, errno, "mount a proc file system there", "can't find this program");
	b->program[n] = '\0';
	b->plan.program = b->program;
	b->results.own = b->plan.own;
	b->results.wrapper = b->plan.wrapper;
	if (check_wrapper(b, e) != 0 || try_all(b, e) != 0)
		return -1;
	return print_results(b, out, status, e);
}

static int
do_as_told(struct battery *b, char **words, FILE *out, int *status, struct error *e)
{
	*status = 0;
	if (read_own(b, &words, e) != 0)
		return -1;
	if (b->help)
		return fputs(attack_help, out) < 0 ? -1 : 0;
	if (b->list && *words != NULL)
		return error_set(e, 0, "leave it out", "--list and %s are both given", *words);
	if (b->list) {
		table_list(out, b->json);
		return 0;
	}
	if (*words != NULL && strcmp(*words, "--") == 0) {
		if (read_foreign(b, words + 1, e) != 0)
			return -1;
	} else if (read_run_options(b, words, e) != 0) {
		return -1;
	}
	return carry_out(b, out, status, e);
}

int
battery_run(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e)
{
	struct battery b = {
	    .plan = {.env = env, .startup = startup, .uid = geteuid(), .gid = getegid()}};
	size_t size;
	FILE *out = open_memstream(text, &size);
	int result;

	(void)argc;
	if (out == NULL)
		return error_set(e, errno, NULL, "can't write the results");
	result = do_as_told(&b, argv + 1, out, status, e);
	if (fclose(out) != 0 && result == 0)
		result = error_set(e, errno, NULL, "can't write the results");
	free(b.wrapper);
	free(b.results.list);
	return result;
}
