/* Whether a record is one chain. See verify.h. */
#include "guard/audit/verify.h"

#include "bindmount/cleanup.h"
#include "guard/jsontext.h"
#include "guard/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INCOMPLETE_MAX = 100 }; /* runs without an end that are listed */

int
verify_status(enum walk_verdict verdict)
{
	return verdict == WALK_SOUND ? 0 : verdict == WALK_BROKEN ? 1 : 2;
}

/* --- for people */

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void
print_faults(FILE *out, const struct walk *w)
{
	char text[LINKS_TEXT], head[2 * LINE_HASH + 1];

	for (size_t i = 0; i < w->n_faults; i++)
		fprintf(out, "%s\n", links_text(text, &w->faults[i]));
	if (w->links.faults > w->n_faults)
		fprintf(out, "and %" PRIu64 " faults more\n", w->links.faults - w->n_faults);
	for (size_t i = 0; i < w->n_heads; i++)
		if (w->heads[i].line == 0)
			fprintf(out,
			    "head %s is the end of no run here: its line was changed or removed\n",
			    line_hex(head, w->heads[i].hash, LINE_HASH));
}

static void
print_incomplete(FILE *out, const struct walk *w)
{
	size_t listed = 0;
	char id[2 * LINE_RUN + 1];

	for (const struct links_run *r = w->links.oldest; r != NULL && listed < INCOMPLETE_MAX;
	     r = r->after, listed++)
		fprintf(out,
		    "run %.8s has no end: it begins in line %" PRIu64 ", and line %" PRIu64
		    " is its last; it is going on, or legguard was killed%s\n",
		    line_hex(id, r->id, LINE_RUN), r->first_line, r->last_line,
		    w->anchored > r->last_line ? "" : ", or the rest was cut off");
	if (w->links.open > listed)
		fprintf(out, "and %zu runs more without an end\n", w->links.open - listed);
}

static void
print_verdict(FILE *out, const struct walk *w)
{
	switch (w->verdict) {
	case WALK_SOUND:
		fputs("sound: nothing was changed, added or removed", out);
		break;
	case WALK_BROKEN:
		fputs("broken", out);
		break;
	case WALK_UNANCHORED:
		fputs("sound as far as it goes, but not anchored: ", out);
		if (w->anchored != 0)
			fprintf(out, "behind line %" PRIu64 " something may have been cut off",
			    w->anchored);
		else
			fputs("without --head nobody can tell what was cut off at its end", out);
		break;
	}
	fprintf(out, " (%" PRIu64 " line%s, %" PRIu64 " run%s)\n", w->lines, plural(w->lines),
	    w->links.runs, plural(w->links.runs));
}

static char *
finish(FILE *out, char **text, struct error *e)
{
	if (out != NULL && fclose(out) == 0)
		return *text;
	free(*text);
	error_set(e, ENOMEM, NULL, "can't print what was found");
	return NULL;
}

char *
verify_text(const struct walk *w, struct error *e)
{
	char *text = NULL;
	size_t size;
	AUTO_FREE char *path = text_visible(w->path);
	FILE *out = path != NULL ? open_memstream(&text, &size) : NULL;

	if (out != NULL) {
		print_faults(out, w);
		print_incomplete(out, w);
		fprintf(out, "%s: ", path);
		print_verdict(out, w);
	}
	return finish(out, &text, e);
}

/* --- for programs. Each part is NULL without memory, which json_pack() takes as its own failure. */

static json_t *
line_or_null(uint64_t line)
{
	return line != 0 ? json_integer((json_int_t)line) : json_null();
}

static json_t *
faults(const struct walk *w)
{
	json_t *list = json_array();
	char text[LINKS_TEXT];

	for (size_t i = 0; list != NULL && i < w->n_faults; i++) {
		const struct links_fault *f = &w->faults[i];

		list = jsontext_append_item(
		    list, json_pack("{s:s, s:o, s:o, s:b, s:s}", "kind", links_kind_name(f->kind),
			      "line", line_or_null(f->line), "at", line_or_null(f->at), "doubtful",
			      f->doubtful, "text", links_text(text, f)));
	}
	return list;
}

static json_t *
heads(const struct walk *w)
{
	json_t *list = json_array();
	char head[2 * LINE_HASH + 1];

	for (size_t i = 0; list != NULL && i < w->n_heads; i++)
		list = jsontext_append_item(list,
		    json_pack("{s:s, s:o}", "head", line_hex(head, w->heads[i].hash, LINE_HASH),
			"line", line_or_null(w->heads[i].line)));
	return list;
}

static json_t *
incomplete(const struct walk *w)
{
	json_t *list = json_array();
	char id[2 * LINE_RUN + 1];
	size_t n = 0;

	for (const struct links_run *r = w->links.oldest;
	     list != NULL && r != NULL && n < INCOMPLETE_MAX; r = r->after, n++)
		list = jsontext_append_item(list,
		    json_pack("{s:s, s:I, s:I}", "run", line_hex(id, r->id, LINE_RUN), "first_line",
			(json_int_t)r->first_line, "last_line", (json_int_t)r->last_line));
	return list;
}

char *
verify_json(const struct walk *w, struct error *e)
{
	AUTO_FREE char *path = text_visible(w->path);
	json_t *root = json_pack("{s:s?, s:s, s:I, s:I, s:o, s:o, s:I, s:o, s:I, s:o}", "file",
	    path, "verdict", walk_verdict_name(w->verdict), "lines", (json_int_t)w->lines, "runs",
	    (json_int_t)w->links.runs, "anchored_line", line_or_null(w->anchored), "heads",
	    heads(w), "faults_total", (json_int_t)w->links.faults, "faults", faults(w),
	    "incomplete_total", (json_int_t)w->links.open, "incomplete", incomplete(w));
	AUTO_FREE char *dumped = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
	char *line = NULL;

	json_decref(root);
	if (dumped != NULL && asprintf(&line, "%s\n", dumped) >= 0)
		return line;
	error_set(e, ENOMEM, NULL, "can't print what was found");
	return NULL;
}
