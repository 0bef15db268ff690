/*
 * What follows from what doctor found. See diagnosis.h.
 *
 * Details may hold untrusted text, as a line of a program's complaint: it passes through
 * error_visible() on its way out.
 */
#include "guard/diagnosis.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum {
	SCHEMA = 1,  /* a new key does not change it, a key's new meaning does */
	LINE = 2048, /* more than error_line() can make of an error */
};

static const char *const tier_names[] = {
    [TIER_NAMESPACE] = "namespace", [TIER_LANDLOCK] = "landlock", [TIER_NONE] = "none"};

static const char *const tier_uses[] = {[TIER_NAMESPACE] = "legguard run -- COMMAND: the default",
    [TIER_LANDLOCK] = "legguard run --isolation landlock -- COMMAND",
    [TIER_NONE] = "legguard run --isolation none -- COMMAND: nothing is confined"};

static const char *const state_names[] = {
    [TRIAL_UNKNOWN] = "unknown",
    [TRIAL_OK] = "ok",
    [TRIAL_MISSING] = "missing",
    [TRIAL_YES] = "yes",
    [TRIAL_NO] = "no",
};

enum tier
diagnosis_tier(const struct diagnosis *d)
{
	enum tier tier = TIER_NAMESPACE;

	while (tier < TIER_NONE && d->tiers[tier].state != TRIAL_OK)
		tier++;
	return tier;
}

/* As a word of a shell command. */
static void
print_word(FILE *out, const char *word)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-@%:,=";

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word != '\0'; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

/* Add a command: `parts`, ended by NULL, with the program's path for each "". */
static void
add_command(struct fix *fix, const char *program, const char *const *parts)
{
	char *to = fix->commands[fix->n_commands];
	FILE *out = fmemopen(to, DIAGNOSIS_COMMAND_MAX, "w");

	if (out == NULL)
		return;
	for (; *parts != NULL; parts++)
		if ((*parts)[0] == '\0')
			print_word(out, program);
		else
			fputs(*parts, out);
	if (fclose(out) == 0 && to[0] != '\0')
		fix->n_commands++;
}

#define ADD_COMMAND(fix, d, ...)                                                                   \
	add_command(fix, (d)->program, (const char *const[]){__VA_ARGS__, NULL})

/* What to type against what stands in the way of the namespaces. */
static void
add_commands(struct fix *fix, const struct diagnosis *d)
{
	switch (d->obstacle) {
	case USERNS_APPARMOR:
		ADD_COMMAND(fix, d, "", " doctor --apparmor-profile ", "",
		    " | sudo tee /etc/apparmor.d/legguard >/dev/null");
		ADD_COMMAND(fix, d, "sudo apparmor_parser -r /etc/apparmor.d/legguard");
		break;
	case USERNS_SWITCH:
		ADD_COMMAND(fix, d, "sudo sysctl -w kernel.unprivileged_userns_clone=1");
		break;
	case USERNS_LIMIT:
		ADD_COMMAND(fix, d,
		    "sudo sysctl -w user.max_user_namespaces=10000 user.max_mnt_namespaces=10000 "
		    "user.max_pid_namespaces=10000");
		break;
	case USERNS_PROFILE:
	case USERNS_FILTER:
		ADD_COMMAND(fix, d,
		    "docker run --security-opt seccomp=unconfined --security-opt "
		    "apparmor=unconfined --security-opt systempaths=unconfined ...");
		break;
	}
}

static size_t
add_fix(struct fix *fixes, size_t n, const struct diagnosis *d, const char *cure)
{
	if (cure[0] == '\0' || n == DIAGNOSIS_FIXES_MAX)
		return n;
	for (size_t i = 0; i < n; i++)
		if (strcmp(fixes[i].text, cure) == 0)
			return n;
	fixes[n] = (struct fix){.text = cure};
	if (strcmp(cure, userns_cure_text(d->obstacle)) == 0)
		add_commands(&fixes[n], d);
	return n + 1;
}

/* Started as root there is a way around what stops an ordinary user. */
static size_t
add_other_user(struct fix *fixes, size_t n, const struct diagnosis *d)
{
	if (d->other_user.state != TRIAL_OK || n == DIAGNOSIS_FIXES_MAX)
		return n;
	fixes[n] = (struct fix){.text = "start legguard as root, with a user for the leg: that was "
					"tried, and works here"};
	if (d->through_sudo)
		ADD_COMMAND(&fixes[n], d, "sudo -E ", "", " run --user ", d->user, " -- COMMAND");
	else
		ADD_COMMAND(&fixes[n], d, "", " run --user ", d->user, " -- COMMAND");
	return n + 1;
}

size_t
diagnosis_fixes(const struct diagnosis *d, struct fix fixes[DIAGNOSIS_FIXES_MAX])
{
	const struct trial_result *run = &d->tiers[TIER_NAMESPACE];
	size_t n = 0;

	if (run->state == TRIAL_OK)
		return 0;
	n = add_fix(fixes, n, d, run->error.cure);
	for (size_t i = 0; i < d->n_checks; i++)
		if (d->checks[i].needed && d->checks[i].result.state == TRIAL_MISSING)
			n = add_fix(fixes, n, d, d->checks[i].result.error.cure);
	return add_other_user(fixes, n, d);
}

/* What is to be said about it: the reason where it is missing, else the detail. */
static const char *
explain(char text[LINE], const struct trial_result *r)
{
	struct error reason = r->error;
	char line[LINE / 4];

	if (r->error.what[0] == '\0')
		return error_visible(text, LINE, r->detail);
	reason.cure[0] = '\0';
	error_line(text, LINE, &reason);
	if (r->detail[0] != '\0') {
		size_t n = strlen(text);

		error_visible(line, sizeof line, r->detail);
		snprintf(text + n, LINE - n, " (%s)", line);
	}
	return text;
}

static void
print_checks(FILE *out, const struct diagnosis *d)
{
	char text[LINE];

	for (size_t i = 0; i < d->n_checks; i++) {
		const struct check *c = &d->checks[i];
		bool bad = c->needed && c->result.state == TRIAL_MISSING;

		fprintf(out, "  %-8s %-18s %s\n", bad ? "MISSING" : state_names[c->result.state],
		    c->name, explain(text, &c->result));
	}
}

/* src encoded for printing; malloc'd, NULL without memory. */
static char *
visible(const char *src)
{
	size_t size = 4 * strlen(src) + 2; /* strnvis(3): four for one at the most */
	char *text = malloc(size);

	return text != NULL ? error_visible(text, size, src) : NULL;
}

static void
print_doors(FILE *out, const struct diagnosis *d)
{
	if (d->n_doors > 0)
		fprintf(out, "Doors, which the default tier closes for the leg:\n");
	for (size_t i = 0; i < d->n_doors; i++) {
		AUTO_FREE char *path = visible(d->doors[i].path);

		fprintf(out, "  %-8s %-18s %s\n", d->doors[i].open ? "open" : "shut",
		    path != NULL ? path : "", d->doors[i].why);
	}
}

static bool
was_tried(const struct trial_result *r)
{
	return r->state != TRIAL_UNKNOWN || r->error.what[0] != '\0';
}

static void
print_tiers(FILE *out, const struct diagnosis *d)
{
	enum tier strongest = diagnosis_tier(d);
	bool around = d->other_user.state == TRIAL_OK;
	char text[LINE];

	fprintf(out, "Tiers, each by a whole run:\n");
	for (int i = 0; i < TIERS; i++) {
		bool works = d->tiers[i].state == TRIAL_OK;

		fprintf(out, "  %-8s %-18s %s\n",
		    works                 ? "ok"
		    : i == TIER_NAMESPACE ? "MISSING"
					  : state_names[d->tiers[i].state],
		    tier_names[i], works ? tier_uses[i] : explain(text, &d->tiers[i]));
	}
	if (was_tried(&d->other_user))
		fprintf(out, "  %-8s %-18s %s\n", state_names[d->other_user.state],
		    d->through_sudo ? "namespace, sudo" : "namespace, --user",
		    around ? "started as root, with a user for the leg"
			   : explain(text, &d->other_user));
	fprintf(out, "The strongest tier that works here: %s%s\n", tier_names[strongest],
	    strongest == TIER_NAMESPACE ? ", the default"
	    : around                    ? "; started as root, with --user, namespace"
					: "");
}

static bool
is_listed(const struct fix *fixes, size_t n, const char *cure)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(fixes[i].text, cure) == 0)
			return true;
	return false;
}

static void
print_further(FILE *out, const struct diagnosis *d, const struct fix *fixes, size_t n)
{
	bool begun = false;

	for (size_t i = 0; i < d->n_checks; i++) {
		const struct check *c = &d->checks[i];
		const char *cure = c->result.error.cure;

		if (c->needed || c->result.state != TRIAL_MISSING || cure[0] == '\0' ||
		    is_listed(fixes, n, cure))
			continue;
		if (!begun)
			fprintf(out, "Not needed for the default tier:\n");
		begun = true;
		fprintf(out, "  %s: %s\n", c->name, cure);
	}
}

static void
print_fixes(FILE *out, const struct diagnosis *d)
{
	AUTO_FREE struct fix *fixes = calloc(DIAGNOSIS_FIXES_MAX, sizeof *fixes);
	size_t n = fixes != NULL ? diagnosis_fixes(d, fixes) : 0;

	if (n > 0)
		fprintf(out, "For the default tier:\n");
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "  %s\n", fixes[i].text);
		for (size_t k = 0; k < fixes[i].n_commands; k++)
			fprintf(out, "      %s\n", fixes[i].commands[k]);
	}
	print_further(out, d, fixes, n);
}

char *
diagnosis_table(const struct diagnosis *d, struct error *e)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out != NULL) {
		fprintf(out, "legguard " LEGGUARD_VERSION ": what this machine can do\n");
		print_checks(out, d);
		print_doors(out, d);
		print_tiers(out, d);
		print_fixes(out, d);
	}
	if (out == NULL || fclose(out) != 0) {
		error_set(e, errno, NULL, "can't write the table");
		free(text);
		return NULL;
	}
	return text;
}

/* The parts of the object. Each returns NULL without memory, which the whole then does. */

static json_t *
string_or_null(const char *text)
{
	return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *
errno_or_null(int errnum)
{
	const char *name = errnum != 0 ? strerrorname_np(errnum) : NULL;

	return name != NULL ? json_string(name) : json_null();
}

static json_t *
check_object(const struct check *c)
{
	const struct trial_result *r = &c->result;
	char text[LINE];

	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "state", state_names[r->state], "needed",
	    c->needed, "value", r->value != TRIAL_NO_VALUE ? json_integer(r->value) : json_null(),
	    "errno", errno_or_null(r->error.errnum), "detail", string_or_null(explain(text, r)),
	    "fix", string_or_null(r->state == TRIAL_MISSING ? r->error.cure : ""));
}

static json_t *
checks_object(const struct diagnosis *d)
{
	json_t *all = json_object();

	for (size_t i = 0; all != NULL && i < d->n_checks; i++)
		if (json_object_set_new(all, d->checks[i].name, check_object(&d->checks[i])) != 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}

static json_t *
doors_array(const struct diagnosis *d)
{
	json_t *all = json_array();

	for (size_t i = 0; all != NULL && i < d->n_doors; i++) {
		const struct door *door = &d->doors[i];
		AUTO_FREE char *path = visible(door->path);

		if (json_array_append_new(all, json_pack("{s:s, s:s, s:b}", "path", path, "why",
						   door->why, "open", door->open)) != 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static json_t *
tiers_object(const struct diagnosis *d)
{
	json_t *all = json_object();
	char text[LINE];

	for (int i = 0; all != NULL && i < TIERS; i++) {
		bool works = d->tiers[i].state == TRIAL_OK;
		json_t *tier = json_pack("{s:b, s:o}", "works", works, "error",
		    works ? json_null() : string_or_null(explain(text, &d->tiers[i])));

		if (json_object_set_new(all, tier_names[i], tier) != 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static json_t *
fixes_array(const struct diagnosis *d)
{
	AUTO_FREE struct fix *fixes = calloc(DIAGNOSIS_FIXES_MAX, sizeof *fixes);
	size_t n = fixes != NULL ? diagnosis_fixes(d, fixes) : 0;
	json_t *all = fixes != NULL ? json_array() : NULL;

	for (size_t i = 0; all != NULL && i < n; i++) {
		json_t *commands = json_array();

		for (size_t k = 0; commands != NULL && k < fixes[i].n_commands; k++)
			(void)json_array_append_new(commands, json_string(fixes[i].commands[k]));
		if (json_array_append_new(all, json_pack("{s:s, s:o}", "text", fixes[i].text,
						   "commands", commands)) != 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static json_t *
other_user_or_null(const struct diagnosis *d)
{
	bool works = d->other_user.state == TRIAL_OK;
	char text[LINE];

	if (!was_tried(&d->other_user))
		return json_null();
	return json_pack("{s:b, s:b, s:s, s:o}", "works", works, "sudo", d->through_sudo, "user",
	    d->user, "error", works ? json_null() : string_or_null(explain(text, &d->other_user)));
}

char *
diagnosis_json(const struct diagnosis *d, struct error *e)
{
	enum tier tier = diagnosis_tier(d);
	json_t *object =
	    json_pack("{s:s, s:i, s:b, s:s, s:o, s:o, s:o, s:o, s:o}", "version", LEGGUARD_VERSION,
		"schema", SCHEMA, "default_works", tier == TIER_NAMESPACE, "strongest_tier",
		tier_names[tier], "tiers", tiers_object(d), "other_user", other_user_or_null(d),
		"checks", checks_object(d), "doors", doors_array(d), "fixes", fixes_array(d));
	AUTO_FREE char *text =
	    object != NULL ? json_dumps(object, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
	char *lines = NULL;

	json_decref(object);
	if (text == NULL || asprintf(&lines, "%s\n", text) < 0) {
		error_set(e, ENOMEM, NULL, "can't write the JSON object");
		return NULL;
	}
	return lines;
}
