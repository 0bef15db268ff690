/* The timeline of a run. See timeline.h. */
#include "guard/audit/timeline.h"

#include "bindmount/cleanup.h"
#include "guard/audit/html.h"
#include "guard/audit/words.h"

#include <inttypes.h>

enum { WHOLE = 10000, SEEN = 60 }; /* a run's length, and what of it is wide enough to be seen */

/* Where on the run's length that is; a clock that went back or ran away is cut off. */
static int
place(const struct run *r, int64_t us)
{
	int64_t length = r->last_us - r->first_us, at = us - r->first_us;

	if (length <= 0 || at <= 0)
		return 0;
	return at >= length ? WHOLE : (int)((double)at * WHOLE / (double)length);
}

/* From begin to end; where both are one, a mark. The text beside it says all of it, so a screen reader passes over it. */
static void
bar(FILE *out, const char *class, int begin, int end)
{
	fputs("<svg aria-hidden=\"true\" focusable=\"false\"><rect class=\"track\" y=\"40%\" "
	      "width=\"100%\" height=\"20%\" rx=\"1\"/>",
	    out);
	if (begin < end) {
		/* Wide enough to be seen. */
		if (end - begin < SEEN)
			begin = end >= SEEN ? end - SEEN : 0;
		if (end < SEEN)
			end = SEEN;
		fprintf(out,
		    "<rect class=\"%s\" x=\"%d.%02d%%\" width=\"%d.%02d%%\" height=\"100%%\" "
		    "rx=\"3\"/>",
		    class, begin / 100, begin % 100, (end - begin) / 100, (end - begin) % 100);
	} else {
		/* A few pixels wide, and all of it inside. */
		fprintf(out,
		    "<svg x=\"%d.%02d%%\" overflow=\"visible\"><rect class=\"mark\" x=\"%d\" "
		    "width=\"4\" height=\"14\" rx=\"1\"/></svg>",
		    begin / 100, begin % 100, begin > WHOLE / 2 ? -4 : 0);
	}
	fputs("</svg>", out);
}

static int
row(FILE *out, const char *name, bool alarm, const char *class, const struct run *r, int64_t begin,
    int64_t end, char *text)
{
	AUTO_FREE char *what = text, *from = words_duration(begin - r->first_us);
	AUTO_FREE char *took = words_duration(end - begin);

	if (what == NULL || from == NULL || took == NULL)
		return -1;
	fprintf(out, "<li%s><span class=\"name\">%s</span>", alarm ? " class=\"alarm\"" : "", name);
	bar(out, class, place(r, begin), place(r, end));
	fprintf(out, "<span class=\"when\">%s%s</span>", end > begin ? "" : "at ",
	    end > begin ? took : from);
	if (*what != '\0') {
		fputs("<span class=\"what\">", out);
		if (html_text(out, what) != 0)
			return -1;
		fputs("</span>", out);
	}
	fputs("</li>\n", out);
	return 0;
}

static char *
nothing(void)
{
	return calloc(1, 1);
}

/* Between the run's first line and the leg, the leg, and what came behind it. */
static int
phases(FILE *out, const struct run *r)
{
	const struct run_event *begin = run_find(r, EVENT_LEG_START),
			       *end = run_find(r, EVENT_LEG_END);
	int64_t began = begin != NULL ? begin->mono_us : r->last_us,
		ended = end != NULL ? end->mono_us : r->last_us;

	if (row(out, "prepared", false, "settle", r, r->first_us, began, nothing()) != 0)
		return -1;
	if (begin == NULL)
		return 0;
	if (row(out, "leg", false, "phase", r, began, ended,
		end != NULL ? words_event(end) : nothing()) != 0)
		return -1;
	return end == NULL ? 0
	                   : row(out, "settled", false, "settle", r, ended, r->last_us, nothing());
}

static bool
is_phase(const struct run_event *event)
{
	return event->event == EVENT_LEG_START || event->event == EVENT_LEG_END;
}

/* Events of one kind that come one after another are one row, from the first of them to the last. */
static int
events(FILE *out, const struct run *r)
{
	for (size_t i = 0, n; i < r->n_events; i += n) {
		const struct run_event *first = &r->events[i];
		bool alarm = false;
		char *text;

		for (n = 0; i + n < r->n_events && r->events[i + n].event == first->event; n++)
			alarm = alarm || words_alarming(&r->events[i + n]);
		/* What the leg tried, printed and imported has no time of its own. */
		if (is_phase(first) || first->event == EVENT_ATTEMPTED ||
		    first->event == EVENT_COMMAND || first->event == EVENT_IMPORT)
			continue;
		text = words_event(first);
		if (n > 1 && text != NULL) {
			char *more;

			if (asprintf(&more, "%zu, the first: %s", n, text) < 0)
				more = NULL;
			free(text);
			text = more;
		}
		if (row(out, words_label(first->event), alarm, "settle", r, first->mono_us,
			first->mono_us, text) != 0)
			return -1;
	}
	return 0;
}

int
timeline_put(FILE *out, const struct run *r)
{
	AUTO_FREE char *took = words_duration(r->last_us - r->first_us);

	if (took == NULL)
		return -1;
	fprintf(out,
	    "<h4>Timeline <span class=\"soft\">of %s</span></h4>\n<ol class=\"timeline\">\n", took);
	if (phases(out, r) != 0 || events(out, r) != 0)
		return -1;
	fputs("</ol>\n", out);
	return 0;
}
