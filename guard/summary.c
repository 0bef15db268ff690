/* The step's summary. See summary.h. */
#include "guard/summary.h"

#include "bindmount/cleanup.h"
#include "guard/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ten rows of ten items, each at most TEXT_MAX signs of at most SIGN bytes, stay far below SUMMARY_ROOM. */
enum { ITEMS = 8, TEXT_MAX = 96 };

/* Those that only write to the log say nothing about the step's results. */
static bool
changes_the_step(const char *command)
{
	static const char *const names[] = {"set-output", "save-state", "set-env", "add-path",
	    "add-mask", "add-matcher", "stop-commands"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(command, names[i]) == 0)
			return true;
	return false;
}

static uint64_t
count_of(const struct outcome *o, size_t command)
{
	return o->neutralizer[0].count[command] + o->neutralizer[1].count[command];
}

bool
summary_is_wanted(const struct options *o, const struct outcome *out)
{
	bool found = out->findings.count > 0 || out->survivors_total > 0 || out->swept_total > 0 ||
	             out->proof == PROOF_NONE || out->importing.refused > 0 || out->timed_out ||
	             out->overflowed;

	if (o->no_summary || (o->no_outputs && !o->summary))
		return false;
	for (size_t i = 0; neutralize_name(i) != NULL; i++)
		found |= count_of(out, i) > 0 && changes_the_step(neutralize_name(i));
	return o->summary || found;
}

/* Text that is not ours. */
static void
put_code(FILE *out, const char *text)
{
	AUTO_FREE char *visible = text_visible(text);
	size_t n = 0;

	fputs("<code>", out);
	for (const char *at = visible != NULL ? visible : "?"; *at != '\0' && n < TEXT_MAX;
	     at++, n++)
		if (isalnum((unsigned char)*at) || *at == '/' || *at == '.' || *at == '-')
			putc(*at, out);
		else
			fprintf(out, "&#%d;", (unsigned char)*at);
	fputs(n == TEXT_MAX ? "...</code>" : "</code>", out);
}

static void
put_rest(FILE *out, size_t listed, size_t total)
{
	if (total > listed)
		fprintf(out, "%sand %zu more", listed > 0 ? ", " : "", total - listed);
	fputs(" |\n", out);
}

static void
row_result(FILE *out, const struct outcome *o)
{
	char text[LIMITS_TEXT];

	fprintf(out, "| Class | `%s` |\n", lane_name(o->lane));
	fprintf(out, "| Exit status | %d, %s |\n", o->exit_status,
	    o->guard_origin ? "legguard's word" : "the command's own");
	fprintf(out, "| Duration | %.1f s%s%s |\n", (double)o->duration_ms / 1000,
	    o->timed_out ? ", ended at --timeout " : "",
	    o->timed_out ? limits_duration_text(text, o->limits.timeout) : "");
	if (o->overflowed)
		fprintf(out, "| Output | more than --max-output %s |\n",
		    limits_size_text(text, o->limits.max_output));
	fprintf(out, "| Isolation | %s, %s view |\n", isolation_name(o->isolation),
	    outcome_view_name(o->view));
	fprintf(out, "| All dead | %s%s |\n",
	    o->proof == PROOF_NONE ? "**not proven**" : "proven by ",
	    o->proof == PROOF_NONE ? "" : proof_name(o->proof));
}

static void
row_findings(FILE *out, const struct findings *f)
{
	size_t n = f->count < ITEMS ? f->count : ITEMS;

	if (f->count == 0)
		return;
	fputs("| Tampering | ", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s%s ", i > 0 ? ", " : "", finding_name(f->list[i].kind));
		put_code(out, f->list[i].path);
		fputs(f->list[i].restored ? " (restored)" : " (**not restored**)", out);
	}
	put_rest(out, n, f->count);
}

static void
row_survivors(FILE *out, const struct outcome *o)
{
	size_t n = o->n_survivors < ITEMS ? o->n_survivors : ITEMS;

	if (o->survivors_total == 0)
		return;
	fprintf(out, "| Left running, and killed | %zu: ", o->survivors_total);
	for (size_t i = 0; i < n; i++) {
		fputs(i > 0 ? ", " : "", out);
		put_code(out, o->survivors[i].name);
	}
	put_rest(out, n, o->survivors_total);
}

static void
row_swept(FILE *out, const struct outcome *o)
{
	size_t n = o->swept.count < ITEMS ? o->swept.count : ITEMS;

	if (o->swept_total == 0)
		return;
	fprintf(out, "| Outside of its tree, %s | %zu: ",
	    o->sweep_failed          ? "still running"
	    : o->sweep == SWEEP_KILL ? "killed"
				     : "left alone",
	    o->swept_total);
	for (size_t i = 0; i < n; i++) {
		fputs(i > 0 ? ", " : "", out);
		put_code(out, o->swept.list[i].name);
	}
	put_rest(out, n, o->swept_total);
}

static void
row_commands(FILE *out, const struct outcome *o)
{
	const char *before = "| Workflow commands made inert | ";

	for (size_t i = 0; neutralize_name(i) != NULL; i++) {
		if (count_of(o, i) == 0)
			continue;
		fprintf(out, "%s%s (%" PRIu64 ")", before, neutralize_name(i), count_of(o, i));
		before = ", ";
	}
	if (before[0] == ',')
		fputs(" |\n", out);
}

static void
row_imports(FILE *out, const struct importing *all)
{
	size_t listed = 0;

	if (all->refused == 0)
		return;
	fputs("| Not imported | ", out);
	for (size_t i = 0; i < all->count && listed < ITEMS; i++) {
		if (all->list[i].why == NULL)
			continue;
		fprintf(out, "%s%s", listed > 0 ? ", " : "", import_kind_name(all->list[i].kind));
		if (all->list[i].name != NULL) {
			putc(' ', out);
			put_code(out, all->list[i].name);
		}
		listed++;
	}
	put_rest(out, listed, all->refused);
}

char *
summary_render(const struct outcome *o, struct error *e)
{
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out != NULL) {
		fputs("\n### legguard\n\n| The run | |\n|---|---|\n", out);
		row_result(out, o);
		row_findings(out, &o->findings);
		row_survivors(out, o);
		row_swept(out, o);
		row_commands(out, o);
		row_imports(out, &o->importing);
		if (fclose(out) == 0)
			return ptr_take(&text);
	}
	error_set(e, errno, NULL, "can't render the summary");
	return NULL;
}
