/* The parts of a report. See page.h. */
#include "guard/audit/page.h"

#include "bindmount/cleanup.h"
#include "guard/audit/html.h"
#include "guard/audit/timeline.h"
#include "guard/audit/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text that is freed, between two pieces of markup. */
static int
put(FILE *out, const char *before, char *text, const char *after)
{
	AUTO_FREE char *owned = text;

	if (owned == NULL)
		return -1;
	fputs(before, out);
	if (html_text(out, owned) != 0)
		return -1;
	fputs(after, out);
	return 0;
}

/* --- the record */

static const char *
verdict_class(const struct walk *w)
{
	return w->verdict == WALK_SOUND ? "good" : w->verdict == WALK_BROKEN ? "bad" : "warn";
}

static void
verdict_text(FILE *out, const struct walk *w)
{
	static const char *const texts[] = {
	    [WALK_SOUND] = "<strong>The record is sound.</strong> Nothing in it was changed, added "
			   "or removed.",
	    [WALK_BROKEN] =
		"<strong>The record is broken.</strong> What it says can't be relied on.",
	    [WALK_UNANCHORED] = "<strong>The record is sound as far as it goes.</strong> Whether "
				"something was cut off at its "
				"end is told by <code>legguard audit verify --head</code>, with a "
				"head that was kept elsewhere.",
	};

	fprintf(out, "<p>%s</p>\n", texts[w->verdict]);
}

static int
faults(FILE *out, const struct walk *w)
{
	char text[LINKS_TEXT];

	if (w->n_faults == 0)
		return 0;
	fputs("<ul>\n", out);
	for (size_t i = 0; i < w->n_faults; i++) {
		fputs("<li>", out);
		if (html_text(out, links_text(text, &w->faults[i])) != 0)
			return -1;
		fputs("</li>\n", out);
	}
	if (w->links.faults > w->n_faults)
		fprintf(
		    out, "<li>and %" PRIu64 " faults more</li>\n", w->links.faults - w->n_faults);
	fputs("</ul>\n", out);
	return 0;
}

int
page_top(FILE *out, const struct walk *w, uint64_t runs)
{
	const char *name = strrchr(w->path, '/');

	name = strcmp(w->path, "-") == 0 ? "standard input" : name != NULL ? name + 1 : w->path;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>Audit report: ",
	    out);
	if (html_text(out, name) != 0)
		return -1;
	fprintf(out,
	    "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>Audit report</h1>\n<p "
	    "class=\"soft\">",
	    html_style);
	if (html_text(out, name) != 0)
		return -1;
	fprintf(out, ": %" PRIu64 " line%s, %" PRIu64 " run%s shown of %" PRIu64 "</p>\n", w->lines,
	    w->lines == 1 ? "" : "s", runs, runs == 1 ? "" : "s", w->links.runs);
	fprintf(out, "<div class=\"verdict %s\" role=\"status\">\n", verdict_class(w));
	verdict_text(out, w);
	if (faults(out, w) != 0)
		return -1;
	fputs("</div>\n</header>\n<main>\n", out);
	return 0;
}

/* --- the list of runs */

void
page_rows_begin(FILE *out)
{
	fputs("<section aria-labelledby=\"runs\">\n<h2 id=\"runs\">Runs</h2>\n<table "
	      "class=\"overview\">\n"
	      "<caption>All runs, in the order in which they ended</caption>\n<thead><tr><th "
	      "scope=\"col\">Run</th>"
	      "<th scope=\"col\">Class</th><th scope=\"col\">Began</th><th "
	      "scope=\"col\">Took</th><th scope=\"col\">Where</th></tr>"
	      "</thead>\n<tbody>\n",
	    out);
}

void
page_rows_end(FILE *out)
{
	fputs("</tbody>\n</table>\n</section>\n<section aria-labelledby=\"each\">\n<h2 "
	      "id=\"each\">What happened in each</h2>\n",
	    out);
}

static const char *
chip_class(const struct run *r)
{
	const char *class = json_string_value(json_object_get(r->end, "class"));

	if (r->tampered)
		return "bad";
	return class == NULL ? "warn" : strcmp(class, "ok") == 0 ? "good" : "bad";
}

static int
chip(FILE *out, const struct run *r)
{
	fprintf(out, "<span class=\"chip %s\">", chip_class(r));
	return put(out, "", words_class(r), "</span>");
}

static char *
where_or_nothing(const struct run *r)
{
	return json_object_size(json_object_get(r->start, "workflow")) > 0
	           ? words_where(r)
	           : strdup("not in a workflow");
}

int
page_row(FILE *out, const struct run *r)
{
	char id[2 * LINE_RUN + 1];

	line_hex(id, r->id, LINE_RUN);
	/* By line: a run that was handed on in two parts has two sections. */
	fprintf(out,
	    "<tr><th scope=\"row\"><a class=\"mono\" href=\"#line-%" PRIu64 "\">%.8s</a></th><td>",
	    r->first_line, id);
	if (chip(out, r) != 0 || put(out, "</td><td>", words_time(r->started), "</td>") != 0 ||
	    put(out, "<td>", words_duration(r->last_us - r->first_us), "</td>") != 0)
		return -1;
	return put(out, "<td>", where_or_nothing(r), "</td></tr>\n");
}

/* --- a run */

static int
facts(FILE *out, const struct run *r)
{
	char head[2 * LINE_HASH + 1];

	fputs("<dl>\n", out);
	if (put(out, "<dt>End</dt><dd>", words_end(r), "</dd>\n") != 0 ||
	    put(out, "<dt>Where</dt><dd>", where_or_nothing(r), "</dd>\n") != 0 ||
	    put(out, "<dt>Program</dt><dd>", words_program(r), "</dd>\n") != 0 ||
	    put(out, "<dt>Confined</dt><dd>", words_confinement(r), "</dd>\n") != 0 ||
	    put(out, "<dt>Files</dt><dd>", words_files(r), "</dd>\n") != 0)
		return -1;
	if (r->end != NULL)
		fprintf(out, "<dt>Audit head</dt><dd><code>%s</code></dd>\n",
		    line_hex(head, r->head, LINE_HASH));
	fputs("</dl>\n", out);
	return 0;
}

/* What is a finding, and no step that every run takes. */
static bool
is_finding(const struct run_event *event)
{
	return event->event != EVENT_LEG_START && event->event != EVENT_LEG_END &&
	       event->event != EVENT_PUBLISH &&
	       (event->event != EVENT_SWEEP || words_alarming(event));
}

static int
finding(FILE *out, const struct run_event *event)
{
	fprintf(out, "<tr%s><th scope=\"row\">%s</th>",
	    words_alarming(event) ? " class=\"alarm\"" : "", words_label(event->event));
	return put(out, "<td>", words_event(event), "</td></tr>\n");
}

static int
findings(FILE *out, const struct run *r)
{
	size_t n = 0;

	fputs("<h4>Findings</h4>\n", out);
	for (size_t i = 0; i < r->n_events; i++) {
		if (!is_finding(&r->events[i]))
			continue;
		if (n++ == 0)
			fputs("<table class=\"findings\">\n<caption>What was found, kept out or "
			      "put back</caption>\n<tbody>\n",
			    out);
		if (finding(out, &r->events[i]) != 0)
			return -1;
	}
	fputs(n > 0 ? "</tbody>\n</table>\n" : "<p class=\"soft\">None.</p>\n", out);
	if (r->left_out > 0)
		fprintf(out,
		    "<p class=\"soft\">%" PRIu64
		    " events more are in the record, and not shown here.</p>\n",
		    r->left_out);
	return 0;
}

int
page_run(FILE *out, const struct run *r)
{
	char id[2 * LINE_RUN + 1];

	line_hex(id, r->id, LINE_RUN);
	fprintf(out,
	    "<article class=\"run\" id=\"line-%" PRIu64 "\" aria-labelledby=\"title-%" PRIu64
	    "\">\n",
	    r->first_line, r->first_line);
	fprintf(out,
	    "<div class=\"title\"><h3 id=\"title-%" PRIu64
	    "\">Run <span class=\"mono\" title=\"%s\">%.8s</span></h3>",
	    r->first_line, id, id);
	if (chip(out, r) != 0 || put(out, "<span class=\"soft\">", words_time(r->started), "") != 0)
		return -1;
	fprintf(
	    out, ", lines %" PRIu64 " to %" PRIu64 "</span></div>\n", r->first_line, r->last_line);
	if (facts(out, r) != 0 || timeline_put(out, r) != 0 || findings(out, r) != 0)
		return -1;
	fputs("</article>\n", out);
	return 0;
}

void
page_end(FILE *out)
{
	fputs("</section>\n</main>\n<footer><p>Written by legguard " LEGGUARD_VERSION
	      ". Names and paths are shown as strnvis(3) encodes "
	      "them.</p></footer>\n</body>\n</html>\n",
	    out);
}
