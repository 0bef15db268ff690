/* A record from its beginning to its end. See walk.h. */
#include "guard/audit/walk.h"

#include "guard/audit/reader.h"
#include "guard/infile.h"

#include <errno.h>
#include <string.h>

static void
keep_fault(void *arg, const struct links_fault *f)
{
	struct walk *w = arg;

	if (w->n_faults < WALK_FAULTS)
		w->faults[w->n_faults++] = *f;
}

static void
look_for_heads(struct walk *w, uint64_t number, const unsigned char *hash)
{
	for (size_t i = 0; i < w->n_heads; i++)
		if (memcmp(w->heads[i].hash, hash, LINE_HASH) == 0) {
			w->heads[i].line = number;
			w->anchored = number;
		}
}

static int
take_line(struct walk *w, const struct reader_line *line, struct error *e)
{
	struct audit_line l;
	struct line_problem p = {.fault = LINE_CUT};
	/* A line that is cut may look whole, but nobody has ever written it like that. */
	size_t size = line->too_long ? LINE_MAX_SIZE : line->size;
	int result = 0;

	if (line->cut || line_read(&l, line->text, size, w->content, &p) != 0) {
		links_add_unreadable(&w->links, line->number, &p, line->hash);
		return 0;
	}
	if (l.final)
		look_for_heads(w, line->number, line->hash);
	if (links_add(&w->links, line->number, &l, line->hash) != 0)
		result = error_set(e, ENOMEM, NULL, "can't read %s", w->path);
	else if (w->line != NULL)
		result = w->line(w->arg, line->number, &l, line->hash, e);
	line_free(&l);
	return result;
}

static enum walk_verdict
judge(const struct walk *w)
{
	for (size_t i = 0; i < w->n_heads; i++)
		if (w->heads[i].line == 0)
			return WALK_BROKEN;
	if (w->links.faults > 0)
		return WALK_BROKEN;
	return w->anchored != 0 && w->anchored == w->lines ? WALK_SOUND : WALK_UNANCHORED;
}

static int
read_lines(struct walk *w, int fd, struct error *e)
{
	struct reader r;
	struct reader_line line;
	int more;

	if (reader_begin(&r, fd, w->path, e) != 0)
		return -1;
	while ((more = reader_next(&r, &line, e)) > 0)
		if (take_line(w, &line, e) != 0) {
			more = -1;
			break;
		}
	w->lines = r.lines;
	reader_free(&r);
	return more;
}

int
walk_file(struct walk *w, struct error *e)
{
	int fd, result;

	w->links = (struct links){.fault = keep_fault, .arg = w};
	if (infile_open(w->path, &fd, e) != 0)
		return -1;
	result = read_lines(w, fd, e);
	infile_close(fd);
	if (result != 0)
		return -1;
	links_end(&w->links, w->anchored == w->lines);
	w->verdict = judge(w);
	return 0;
}

void
walk_free(struct walk *w)
{
	links_free(&w->links);
}

const char *
walk_verdict_name(enum walk_verdict verdict)
{
	static const char *const names[] = {
	    [WALK_SOUND] = "sound",
	    [WALK_BROKEN] = "broken",
	    [WALK_UNANCHORED] = "unanchored",
	};

	return names[verdict];
}
