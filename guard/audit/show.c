/* A record's runs for people. See show.h. */
#include "guard/audit/show.h"

#include "bindmount/cleanup.h"
#include "guard/audit/runs.h"
#include "guard/audit/runjson.h"
#include "guard/audit/words.h"
#include "guard/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABEL = 13 }; /* columns */

struct showing {
	struct runs runs;
	bool json, colour;
};

/* SGR parameters: see console_codes(4). */
static const char bold[] = "1", dim[] = "2", red[] = "31", green[] = "32", yellow[] = "33";

static bool
wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) == 1 && (no == NULL || *no == '\0') && term != NULL &&
	       strcmp(term, "dumb") != 0;
}

static void
print(const struct showing *s, const char *colour, const char *text)
{
	if (s->colour && colour != NULL)
		printf("\033[%sm%s\033[0m", colour, text);
	else
		fputs(text, stdout);
}

/* A row of the table; text is freed. */
static int
row(const struct showing *s, const char *label, const char *colour, char *text)
{
	AUTO_FREE char *owned = text;
	char padded[LABEL + 1];

	if (owned == NULL)
		return -1;
	snprintf(padded, sizeof padded, "%-*s", LABEL, label);
	fputs("  ", stdout);
	print(s, dim, padded);
	print(s, colour, owned);
	putchar('\n');
	return 0;
}

static int
print_title(const struct showing *s, const struct run *r)
{
	char id[2 * LINE_RUN + 1];
	AUTO_FREE char *time = words_time(r->started);

	if (time == NULL)
		return -1;
	fputs(s->runs.shown > 1 ? "\nrun " : "run ", stdout);
	print(s, bold, line_hex(id, r->id, LINE_RUN));
	printf("  %s  lines %" PRIu64 " to %" PRIu64 "\n", time, r->first_line, r->last_line);
	return 0;
}

static const char *
class_colour(const struct run *r)
{
	const char *class = json_string_value(json_object_get(r->end, "class"));

	if (r->tampered)
		return red;
	return class == NULL ? yellow : strcmp(class, "ok") == 0 ? green : red;
}

static int
print_events(const struct showing *s, const struct run *r)
{
	for (size_t i = 0; i < r->n_events; i++) {
		const struct run_event *event = &r->events[i];

		if (event->event != EVENT_LEG_START &&
		    row(s, words_label(event->event), words_alarming(event) ? red : NULL,
			words_event(event)) != 0)
			return -1;
	}
	if (r->left_out > 0)
		printf("  %-*s%" PRIu64 " events more, which are in the record\n", LABEL, "...",
		    r->left_out);
	return 0;
}

static char *
head_of(const struct run *r)
{
	char head[2 * LINE_HASH + 1];

	return strdup(line_hex(head, r->head, LINE_HASH));
}

static int
print_run(const struct showing *s, const struct run *r)
{
	if (print_title(s, r) != 0 || row(s, "class", class_colour(r), words_class(r)) != 0 ||
	    row(s, "end", NULL, words_end(r)) != 0)
		return -1;
	if (json_object_size(json_object_get(r->start, "workflow")) > 0 &&
	    row(s, "where", NULL, words_where(r)) != 0)
		return -1;
	if (row(s, "program", NULL, words_program(r)) != 0 ||
	    row(s, "confined", NULL, words_confinement(r)) != 0 ||
	    row(s, "files", NULL, words_files(r)) != 0 ||
	    row(s, "took", NULL, words_duration(r->last_us - r->first_us)) != 0 ||
	    print_events(s, r) != 0)
		return -1;
	return r->end != NULL ? row(s, "audit-head", NULL, head_of(r)) : 0;
}

static int
print_json(const struct run *r)
{
	json_t *object = runjson_object(r);
	AUTO_FREE char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (text == NULL)
		return -1;
	text_put_json(stdout, text);
	return 0;
}

static int
show_run(void *arg, const struct run *r, struct error *e)
{
	const struct showing *s = arg;

	errno = 0;
	if ((s->json ? print_json(r) : print_run(s, r)) != 0)
		return error_set(e, ENOMEM, NULL, "can't show a run");
	if (ferror(stdout))
		return error_set(e, errno, NULL, "can't write to standard output");
	return 0;
}

static int
take_line(
    void *arg, uint64_t number, struct audit_line *l, const unsigned char *hash, struct error *e)
{
	struct showing *s = arg;

	return runs_add(&s->runs, number, l, hash, e);
}

char *
show_broken(const struct walk *w)
{
	char text[LINKS_TEXT];
	AUTO_FREE char *path = text_visible(w->path);
	char *line;

	if (path == NULL || w->verdict != WALK_BROKEN ||
	    asprintf(&line, "%s: broken: %s%s; see legguard audit verify", path,
		links_text(text, &w->faults[0]), w->links.faults > 1 ? ", and more" : "") < 0)
		return NULL;
	return line;
}

int
show(struct audit_arguments *a, int *status, struct error *e)
{
	struct showing s = {.json = a->json, .colour = !a->json && wants_colour()};
	AUTO_FREE char *broken = NULL;
	int result;

	s.runs = (struct runs){.choice = &a->choice, .finished = show_run, .arg = &s};
	a->walk.content = true;
	a->walk.line = take_line;
	a->walk.arg = &s;
	result = walk_file(&a->walk, e);
	if (result == 0)
		result = runs_end(&s.runs, e);
	if (result == 0 && fflush(stdout) != 0)
		result = error_set(e, errno, NULL, "can't write to standard output");
	broken = result == 0 ? show_broken(&a->walk) : NULL;
	if (broken != NULL)
		fprintf(stderr, "legguard: %s\n", broken);
	*status = result == 0 && a->walk.verdict == WALK_BROKEN;
	runs_free(&s.runs);
	walk_free(&a->walk);
	return result;
}
