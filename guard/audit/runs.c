/* A record's runs. See runs.h. */
#include "guard/audit/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
unlink_run(struct runs *rs, struct run *r)
{
	*(r->older != NULL ? &r->older->newer : &rs->oldest) = r->newer;
	*(r->newer != NULL ? &r->newer->older : &rs->newest) = r->older;
	r->older = r->newer = NULL;
	rs->count--;
}

static void
link_newest(struct runs *rs, struct run *r)
{
	r->older = rs->newest;
	r->newer = NULL;
	*(rs->newest != NULL ? &rs->newest->newer : &rs->oldest) = r;
	rs->newest = r;
	rs->count++;
}

static void
free_run(struct run *r)
{
	json_decref(r->start);
	json_decref(r->end);
	for (size_t i = 0; i < r->n_events; i++)
		json_decref(r->events[i].root);
	free(r);
}

static bool
is_wanted(const struct runs *rs, const struct run *r)
{
	return !r->unwanted && (!rs->choice->tampered || r->tampered);
}

static int
finish(struct runs *rs, struct run *r, struct error *e)
{
	int result = 0;

	unlink_run(rs, r);
	if (is_wanted(rs, r)) {
		rs->shown++;
		result = rs->finished(rs->arg, r, e);
	}
	free_run(r);
	return result;
}

static bool
has_id(const struct run *r, const char *beginning)
{
	char id[2 * LINE_RUN + 1];

	return beginning == NULL ||
	       strncmp(line_hex(id, r->id, LINE_RUN), beginning, strlen(beginning)) == 0;
}

static struct run *
begin(struct runs *rs, uint64_t number, const struct audit_line *l, struct error *e)
{
	struct run *r;

	if (rs->count == RUNS_OPEN_MAX && finish(rs, rs->oldest, e) != 0)
		return NULL;
	r = calloc(1, sizeof *r);
	if (r == NULL) {
		error_set(e, errno, NULL, "can't keep a run");
		return NULL;
	}
	memcpy(r->id, l->run, sizeof r->id);
	r->first_line = number;
	r->first_us = l->mono_us;
	memcpy(r->started, l->time, sizeof r->started);
	r->unwanted = !has_id(r, rs->choice->run) || strcmp(r->started, rs->choice->since) < 0;
	link_newest(rs, r);
	return r;
}

static struct run *
find(const struct runs *rs, const struct audit_line *l)
{
	struct run *r = rs->newest;

	while (r != NULL && memcmp(r->id, l->run, sizeof r->id) != 0)
		r = r->older;
	return r;
}

static void
keep(struct run *r, struct audit_line *l)
{
	if (l->event == EVENT_SNAPSHOT)
		return;
	if (r->count[l->event] > RUNS_EVENTS_MAX ||
	    r->n_events == sizeof r->events / sizeof r->events[0] ||
	    l->size > RUNS_BYTES_MAX - r->bytes) {
		r->left_out++;
		return;
	}
	r->events[r->n_events++] = (struct run_event){l->event, l->mono_us, l->root};
	r->bytes += l->size;
	l->root = NULL;
}

static void
take(struct run *r, uint64_t number, struct audit_line *l, const unsigned char *hash)
{
	r->last_line = number;
	r->last_us = l->mono_us;
	memcpy(r->ended, l->time, sizeof r->ended);
	r->count[l->event]++;
	r->tampered = r->tampered || l->event == EVENT_TAMPER ||
	              (l->event == EVENT_END && json_is_true(json_object_get(l->root, "tampered")));
	if (r->unwanted)
		return;
	if (l->event == EVENT_START && r->start == NULL) {
		r->start = l->root;
		l->root = NULL;
	} else if (l->event == EVENT_END) {
		r->end = l->root;
		memcpy(r->head, hash, sizeof r->head);
		l->root = NULL;
	} else {
		keep(r, l);
	}
}

int
runs_add(struct runs *rs, uint64_t number, struct audit_line *l, const unsigned char *hash,
    struct error *e)
{
	struct run *r = find(rs, l);

	if (r == NULL)
		r = begin(rs, number, l, e);
	if (r == NULL)
		return -1;
	unlink_run(rs, r);
	link_newest(rs, r);
	take(r, number, l, hash);
	return l->final ? finish(rs, r, e) : 0;
}

int
runs_end(struct runs *rs, struct error *e)
{
	while (rs->oldest != NULL)
		if (finish(rs, rs->oldest, e) != 0)
			return -1;
	return 0;
}

void
runs_free(struct runs *rs)
{
	while (rs->oldest != NULL) {
		struct run *r = rs->oldest;

		unlink_run(rs, r);
		free_run(r);
	}
}

const struct run_event *
run_find(const struct run *r, enum audit_event event)
{
	for (size_t i = 0; i < r->n_events; i++)
		if (r->events[i].event == event)
			return &r->events[i];
	return NULL;
}
