/* Whether the lines of a record are one chain. See links.h. */
#include "guard/audit/links.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char no_hash[LINE_HASH];

static bool
same(const unsigned char *a, const unsigned char *b)
{
	return memcmp(a, b, LINE_HASH) == 0;
}

static bool
is_run(const unsigned char *a, const unsigned char *b)
{
	return memcmp(a, b, LINE_RUN) == 0;
}

/* --- the open runs */

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, LINE_RUN);
}

struct links_run *
links_find(const struct links *k, const unsigned char run[LINE_RUN])
{
	struct links_run **found;

	if (k->newest != NULL && is_run(k->newest->id, run))
		return k->newest;
	found = tfind(run, &k->tree, compare);
	return found != NULL ? *found : NULL;
}

static struct links_run *
open_run(struct links *k, uint64_t number, const struct audit_line *l)
{
	struct links_run *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	memcpy(r->id, l->run, sizeof r->id);
	r->first_line = number;
	r->begun = l->seq == 0;
	if (tsearch(r, &k->tree, compare) == NULL) {
		free(r);
		return NULL;
	}
	r->before = k->newest;
	*(k->newest != NULL ? &k->newest->after : &k->oldest) = r;
	k->newest = r;
	k->open++;
	k->runs++;
	return r;
}

static void
close_run(struct links *k, struct links_run *r)
{
	tdelete(r, &k->tree, compare);
	*(r->before != NULL ? &r->before->after : &k->oldest) = r->after;
	*(r->after != NULL ? &r->after->before : &k->newest) = r->before;
	k->open--;
	free(r);
}

/* --- faults */

static struct links_fault
fault_at(enum links_kind kind, uint64_t line, uint64_t at, const struct audit_line *l)
{
	struct links_fault f = {.kind = kind, .line = line, .at = at};

	if (l != NULL) {
		f.seq = l->seq;
		line_hex(f.run, l->run, LINE_RUN);
	}
	return f;
}

static void
report(struct links *k, struct links_fault f)
{
	k->faults++;
	k->fault(k->arg, &f);
}

/* To be reported when the next line has said whether the one that it was found at is what it was. */
static void
doubt(struct links *k, struct links_fault f, const unsigned char wanted[LINE_HASH])
{
	struct links_doubt *d = &k->doubts[k->n_doubts++];

	d->fault = f;
	memcpy(d->wanted, wanted, LINE_HASH);
}

static void
settle(struct links *k, bool vouched)
{
	for (size_t i = 0; i < k->n_doubts; i++) {
		k->doubts[i].fault.doubtful = !vouched;
		report(k, k->doubts[i].fault);
	}
	k->n_doubts = 0;
}

/* --- a line in its run, and in the file */

static bool
vouches(const struct links *k, const struct audit_line *l)
{
	if (!k->previous.there || !k->previous.readable)
		return false;
	if (l->has_file_prev)
		return same(l->file_prev, k->previous.hash);
	return is_run(l->run, k->previous.run) && l->has_prev && same(l->prev, k->previous.hash);
}

/* It says that it comes right before the previous line, which was looked for in vain there. */
static bool
is_swapped(const struct links *k, const unsigned char hash[LINE_HASH])
{
	for (size_t i = 0; i < k->n_doubts; i++)
		if (same(k->doubts[i].wanted, hash))
			return true;
	return false;
}

/* A run's line without a run. *r stays NULL if there are too many. */
static int
begin_run(struct links *k, uint64_t number, const struct audit_line *l, struct links_run **r)
{
	if (k->open == LINKS_OPEN_MAX) {
		if (!k->full)
			report(k, fault_at(LINKS_TOO_MANY, number, number, l));
		k->full = true;
		return 0;
	}
	*r = open_run(k, number, l);
	if (*r == NULL)
		return -1;
	if (l->seq > k->streak && !k->full)
		doubt(k, fault_at(LINKS_MISSING, 0, number, l), l->prev);
	return 0;
}

/* The next line of a run that is there, which it does not continue as it should. False if this is not its place. */
static bool
join_run(struct links *k, uint64_t number, const struct audit_line *l, const struct links_run *r,
    bool linked)
{
	struct links_fault f = fault_at(LINKS_MISPLACED, r->last_line, number, l);

	f.count = r->next - 1;
	if (linked || l->seq < r->next) {
		report(k, f);
		return linked;
	}
	f.kind = l->seq == r->next ? LINKS_CHANGED : LINKS_MISSING;
	f.count = l->seq - r->next;
	if (f.kind == LINKS_CHANGED || f.count > k->unreadable - r->unreadable)
		doubt(k, f, l->prev);
	return true;
}

static void
update_run(struct links *k, uint64_t number, const struct audit_line *l, const unsigned char *hash,
    struct links_run *r)
{
	if (l->final) {
		close_run(k, r);
		return;
	}
	r->next =
	    r->last_line != 0 && l->has_prev && same(l->prev, r->last) ? r->next + 1 : l->seq + 1;
	r->last_line = number;
	r->unreadable = k->unreadable;
	memcpy(r->last, hash, LINE_HASH);
}

/* *placed: it is where it belongs in its run, or may be. */
static int
place_in_run(struct links *k, uint64_t number, const struct audit_line *l,
    const unsigned char *hash, bool *placed)
{
	struct links_run *r = links_find(k, l->run);

	*placed = true;
	if (r == NULL) {
		if (begin_run(k, number, l, &r) != 0)
			return -1;
	} else {
		bool linked = l->has_prev && same(l->prev, r->last);

		*placed = (linked && l->seq == r->next) || join_run(k, number, l, r, linked);
	}
	if (r != NULL && *placed)
		update_run(k, number, l, hash, r);
	return 0;
}

/* What a line says of the one before it in the file, which can be read or is not there. */
static void
check_file(struct links *k, uint64_t number, const struct audit_line *l)
{
	bool own = k->previous.there && is_run(l->run, k->previous.run);
	enum links_kind kind = LINKS_GAP;

	if (!l->has_file_prev) {
		if (k->previous.there && !own)
			doubt(k, fault_at(LINKS_APART, k->previous.line, number, l), no_hash);
		return;
	}
	if (same(l->file_prev, k->previous.hash))
		return;
	if (own && l->has_prev && same(l->prev, k->previous.hash))
		kind = LINKS_MISSING; /* of other runs, since that line is what it was */
	if (k->n_doubts == 0 || k->doubts[0].fault.line != k->previous.line)
		doubt(k, fault_at(kind, k->previous.line, number, l), l->file_prev);
}

static void
set_previous(struct links *k, uint64_t number, const struct audit_line *l,
    const unsigned char hash[LINE_HASH])
{
	k->previous.there = true;
	k->previous.readable = l != NULL;
	k->previous.line = number;
	memcpy(k->previous.hash, hash, LINE_HASH);
	if (l != NULL)
		memcpy(k->previous.run, l->run, LINE_RUN);
}

/* The line that belongs before the previous one. */
static int
add_swapped(struct links *k, uint64_t number, const struct audit_line *l,
    const unsigned char hash[LINE_HASH])
{
	struct links_run *r = links_find(k, l->run);
	bool placed;

	k->n_doubts = 0;
	report(k, fault_at(LINKS_SWAPPED, k->previous.line, number, l));
	if (r != NULL && l->seq == 0)
		r->begun = true;
	return is_run(l->run, k->previous.run) ? 0 : place_in_run(k, number, l, hash, &placed);
}

int
links_add(struct links *k, uint64_t number, const struct audit_line *l,
    const unsigned char hash[LINE_HASH])
{
	bool placed;

	if (k->previous.there && same(hash, k->previous.hash)) {
		report(k, fault_at(LINKS_REPEATED, k->previous.line, number, l));
		return 0;
	}
	if (is_swapped(k, hash))
		return add_swapped(k, number, l, hash);
	settle(k, vouches(k, l));
	if (place_in_run(k, number, l, hash, &placed) != 0)
		return -1;
	if (!placed)
		return 0;
	if (!k->previous.there || k->previous.readable) /* else that is a fault already */
		check_file(k, number, l);
	set_previous(k, number, l, hash);
	k->streak = 0;
	return 0;
}

void
links_add_unreadable(struct links *k, uint64_t number, const struct line_problem *p,
    const unsigned char hash[LINE_HASH])
{
	enum links_kind kind = p->fault == LINE_CUT       ? LINKS_CUT
	                       : p->fault == LINE_UNKNOWN ? LINKS_VERSION
	                                                  : LINKS_UNREADABLE;
	struct links_fault f = fault_at(kind, number, number, NULL);

	settle(k, false);
	snprintf(f.why, sizeof f.why, "%s", p->text);
	report(k, f);
	set_previous(k, number, NULL, hash);
	k->unreadable++;
	k->streak++;
}

void
links_end(struct links *k, bool vouched)
{
	settle(k, vouched);
}

static void
keep(void *node)
{
	(void)node;
}

void
links_free(struct links *k)
{
	tdestroy(k->tree, keep);
	for (struct links_run *r = k->oldest, *after; r != NULL; r = after) {
		after = r->after;
		free(r);
	}
	k->tree = NULL;
	k->oldest = k->newest = NULL;
}
