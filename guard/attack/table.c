/* How a battery's results are printed. See table.h. */
#include "guard/attack/table.h"

#include "bindmount/error.h"

#include <jansson.h>
#include <string.h>

static const char *const words[] = {
    [VERDICT_UNTRIED] = "not tried",
    [VERDICT_LACKING] = "n/a",
    [VERDICT_BLOCKED] = "blocked",
    [VERDICT_REPAIRED] = "repaired",
    [VERDICT_THROUGH] = "THROUGH",
};

static const char *
word(const struct result *r)
{
	return r->documented ? "through, as documented" : words[r->verdict.kind];
}

size_t
results_count(const struct results *r, enum verdict_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].verdict.kind == kind && !r->list[i].documented)
			n++;
	return n;
}

static size_t
count_documented(const struct results *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->list[i].documented;
	return n;
}

/* The tier, for legguard; "wrapper" for another's. */
static const char *
tier(const struct results *r)
{
	const char *value = "namespace";

	if (!r->own)
		return "wrapper";
	for (size_t i = 0; r->wrapper[i] != NULL; i++) {
		if (strncmp(r->wrapper[i], "--isolation=", 12) == 0)
			value = r->wrapper[i] + 12;
		else if (strcmp(r->wrapper[i], "--isolation") == 0 && r->wrapper[i + 1] != NULL)
			value = r->wrapper[i + 1];
	}
	return value;
}

static void
print_wrapper(FILE *out, const struct results *r)
{
	char text[1024];

	if (r->own)
		fprintf(out, "legguard");
	for (size_t i = r->own ? 1 : 0; r->wrapper[i] != NULL; i++)
		fprintf(
		    out, "%s%s", i > 0 ? " " : "", error_visible(text, sizeof text, r->wrapper[i]));
	fprintf(out, "\n");
}

void
table_list(FILE *out, bool json)
{
	json_t *all = json ? json_array() : NULL;

	for (size_t i = 0; attack_groups[i] != NULL; i++)
		for (size_t k = 0; k < attack_groups[i]->count; k++) {
			const struct attack *a = &attack_groups[i]->list[k];

			if (json)
				json_array_append_new(
				    all, json_pack("{s:s, s:s, s:s, s:s}", "attack", a->name,
					     "group", attack_groups[i]->name, "what", a->what,
					     "stopped_by", a->stopped_by));
			else
				fprintf(out, "%-20s  %-9s  %s\n", a->name, attack_groups[i]->name,
				    a->what);
		}
	if (json) {
		json_dumpf(all, out, JSON_INDENT(2));
		fprintf(out, "\n");
		json_decref(all);
	}
}

void
table_print(FILE *out, const struct results *r)
{
	const struct attack_group *group = NULL;
	char text[1024];
	const char *tier_word = tier(r);

	fprintf(out, "under: ");
	print_wrapper(out, r);
	for (size_t i = 0; i < r->count; i++) {
		const struct result *one = &r->list[i];

		if (one->group != group)
			fprintf(out, "\n%s: %s\n", one->group->name, one->group->title);
		group = one->group;
		fprintf(out, "  %-20s  %-9s  %-9s %s%s\n", one->attack->name, tier_word, word(one),
		    error_visible(text, sizeof text, one->verdict.detail),
		    !r->own || one->verdict.kind < VERDICT_REPAIRED ? ""
		    : one->verdict.reported                         ? " (reported)"
								    : " (not reported)");
	}
	fprintf(out, "\n%zu blocked, %zu repaired, %zu THROUGH", results_count(r, VERDICT_BLOCKED),
	    results_count(r, VERDICT_REPAIRED), results_count(r, VERDICT_THROUGH));
	if (count_documented(r) > 0)
		fprintf(out, ", %zu through as documented", count_documented(r));
	fprintf(out, ", %zu n/a, %zu not tried\n", results_count(r, VERDICT_LACKING),
	    results_count(r, VERDICT_UNTRIED));
}

/* What the leg or the wrapper said may be no UTF-8. */
static json_t *
visible(const char *text)
{
	char safe[4096];

	return json_string(error_visible(safe, sizeof safe, text));
}

static json_t *
one_result(const struct result *r, const char *tier_word)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:i, s:o, s:o}", "attack",
	    r->attack->name, "group", r->group->name, "what", r->attack->what, "stopped_by",
	    r->attack->stopped_by, "tier", tier_word, "verdict",
	    r->verdict.kind == VERDICT_THROUGH ? "through" : words[r->verdict.kind], "documented",
	    r->documented, "reported", r->verdict.reported, "status", r->verdict.status, "detail",
	    visible(r->verdict.detail), "stderr", visible(r->verdict.said));
}

int
table_print_json(FILE *out, const struct results *r)
{
	json_t *attacks = json_array(), *wrapper = json_array(), *all;
	int result;

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(attacks, one_result(&r->list[i], tier(r)));
	for (size_t i = 0; r->wrapper[i] != NULL; i++)
		json_array_append_new(
		    wrapper, i == 0 && r->own ? json_string("legguard") : visible(r->wrapper[i]));
	all = json_pack("{s:o, s:s, s:o, s:{s:i, s:i, s:i, s:i, s:i, s:i}}", "under", wrapper,
	    "tier", tier(r), "attacks", attacks, "summary", "blocked",
	    (int)results_count(r, VERDICT_BLOCKED), "repaired",
	    (int)results_count(r, VERDICT_REPAIRED), "through",
	    (int)results_count(r, VERDICT_THROUGH), "documented", (int)count_documented(r), "n/a",
	    (int)results_count(r, VERDICT_LACKING), "not tried",
	    (int)results_count(r, VERDICT_UNTRIED));
	result = all != NULL && json_dumpf(all, out, JSON_INDENT(2)) == 0 ? 0 : -1;
	fprintf(out, "\n");
	json_decref(all);
	return result;
}
