/* The record of a run in its course. See recording.h. */
#include "guard/recording.h"

#include "bindmount/cleanup.h"
#include "guard/bounded.h"
#include "guard/events.h"
#include "guard/hide.h"
#include "guard/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROOM = 64 * 1024, /* what the rest of a run is likely to write at the most */
	FILES = 2,
};

/* The files, of which any may be missing. */
static struct journal *
file(struct job *j, size_t i)
{
	struct journal *journal = i == 0 ? &j->record.audit.journal : &j->record.otlp;

	return journal->fd >= 0 ? journal : NULL;
}

int
recording_open(struct job *j, struct error *e)
{
	const struct options *o = j->options;
	const struct journal *first;

	if (!options_audits(o) || o->dry_run)
		return 0;
	j->out->audit.asked = true;
	if (record_open(&j->record, o, j->plan.requests, j->plan.n_requests, e) != 0)
		return -1;
	first = file(j, 0) != NULL ? file(j, 0) : file(j, 1);
	j->out->audit.path = strdup(first->path);
	if (j->out->audit.path == NULL)
		return error_set(e, errno, NULL, "%s", first->option);
	return 0;
}

struct guard_request *
recording_requests(const struct job *j, size_t *n)
{
	struct guard_request *all = calloc(j->plan.n_requests + FILES, sizeof *all);

	*n = j->plan.n_requests;
	if (all == NULL)
		return NULL;
	memcpy(all, j->plan.requests, *n * sizeof *all);
	for (size_t i = 0; i < FILES; i++) {
		const struct journal *one = file((struct job *)(uintptr_t)j, i);

		if (one != NULL)
			all[(*n)++] =
			    (struct guard_request){.path = one->path, .source = one->option};
	}
	return all;
}

static int
hide(struct job *j, const char *path, const struct stat *st, struct error *e)
{
	struct view_paths *read_only = &j->plan.view.read_only;

	if (hide_path(&j->plan, path, st, "the audit record", e) != 0)
		return -1;
	/* What is above a hidden path is not pinned and may be writable; what is above a read-only one is held. */
	if ((j->options->pin || j->options->writable.count > 0) &&
	    view_paths_add(read_only, path, st->st_dev, st->st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	return 0;
}

/* Nothing is opened for a dry run. */
static int
hide_unopened(struct job *j, const char *given, struct error *e)
{
	AUTO_FREE char *path = given != NULL ? realpath(given, NULL) : NULL;
	struct stat st;

	return path != NULL && stat(path, &st) == 0 ? hide(j, path, &st, e) : 0;
}

int
recording_hide(struct job *j, struct error *e)
{
	const struct options *o = j->options;

	if (o->isolation == ISOLATION_NONE)
		return 0;
	for (size_t i = 0; i < FILES; i++) {
		const struct journal *one = file(j, i);

		if (one != NULL && hide(j, one->path, &one->st, e) != 0)
			return -1;
	}
	if (!o->dry_run)
		return 0;
	return hide_unopened(j, o->audit_path, e) != 0 ? -1 : hide_unopened(j, o->audit_otlp, e);
}

static int
keep(struct job *j, struct error *e)
{
	for (size_t i = 0; i < FILES && j->options->isolation != ISOLATION_NONE; i++) {
		const struct journal *one = file(j, i);

		if (one != NULL &&
		    snapshot_keep(j->snapshot, one->path, &one->st, KEEP_LOG, e) != 0)
			return -1;
	}
	return 0;
}

int
recording_begin(struct job *j, struct error *e)
{
	const struct error *why;

	if (!record_wanted(&j->record))
		return 0;
	if (keep(j, e) != 0)
		return -1;
	snapshot_keep_found(j->snapshot);
	events_start(j);
	events_snapshot(j);
	j->recorded = true;
	if (record_write(&j->record, bounded_now() + RECORD_FIRST_MS) == 0) {
		for (size_t i = 0; i < FILES; i++)
			if (file(j, i) != NULL)
				journal_reserve(file(j, i), ROOM);
		return 0;
	}
	/* What can't be locked is somebody's, for who knows how long; a disk may have room again. */
	why = record_error(&j->record);
	if (why->errnum != EWOULDBLOCK && !j->options->audit_required)
		return 0;
	j->recorded = false;
	*e = *why;
	return -1;
}

static void
find(struct job *j, const struct journal *one, enum finding_kind kind, const char *detail)
{
	struct outcome *out = j->out;

	if (findings_add(&out->findings, kind, false, one->path, detail) != 0)
		error_set(&out->error, errno, NULL, "can't report that %s was changed", one->path);
	error_set(&out->error, 0,
	    one == &j->record.audit.journal ? "see what legguard audit verify says of it"
					    : "see what its reader has got of it",
	    "the audit record %s was changed", one->path);
	out->audit.changed = true;
	out->unrestored = out->restore_failed = true;
}

void
recording_check(struct job *j)
{
	for (size_t i = 0; i < FILES; i++) {
		struct journal *one = file(j, i);

		/* What had lost its name was made anew, with all that was in it. */
		if (one != NULL && !journal_is_in_place(one) && journal_reopen(one) != 0)
			find(j, one, FINDING_REPLACED, "it is not where it was");
		if (one != NULL && !journal_is_intact(one))
			find(j, one, FINDING_REWRITTEN, "what this run had written is not there");
	}
}

static int64_t
last_moment(const struct job *j)
{
	int64_t ms = life_is_cut_short(&j->life) ? BOUNDED_LAST_MS : RECORD_LAST_MS;

	return bounded_now() + ms;
}

bool
recording_hold(struct job *j)
{
	return !record_wanted(&j->record) || record_hold(&j->record, last_moment(j)) == 0;
}

const char *
recording_prepare(
    struct job *j, const struct output *list, size_t n, const struct outputs_facts *facts)
{
	bool published = j->out->published;
	char *head = j->out->audit.head;

	if (!record_wanted(&j->record))
		return NULL;
	j->out->published = facts != NULL;
	if (facts != NULL)
		events_publish(j, list, n, facts);
	events_end(j);
	j->out->published = published;
	if (record_prepare(&j->record, head) != 0)
		head[0] = '\0';
	return head[0] != '\0' ? head : NULL;
}

/* What could not be locked before is tried once more, and not waited for again. */
static void
finish(struct job *j)
{
	struct outcome *out = j->out;
	const struct audit *audit = &j->record.audit;

	(void)record_commit(&j->record, audit->journal.locked ? last_moment(j) : bounded_now());
	if (!record_finish(&j->record))
		out->audit.why = *record_error(&j->record);
	/* The head of what is in the file; or none, if that line is not there. */
	out->audit.head[0] = '\0';
	if (audit->journal.fd >= 0 && audit->why.what[0] == '\0')
		memcpy(out->audit.head, audit->prev, sizeof out->audit.head);
}

void
recording_end(struct job *j)
{
	if (record_wanted(&j->record))
		finish(j);
}

void
recording_unpublished(struct job *j)
{
	if (!record_wanted(&j->record))
		return;
	record_discard(&j->record);
	(void)recording_prepare(j, NULL, 0, NULL);
}

void
recording_refused(struct job *j)
{
	if (!j->recorded) {
		for (size_t i = 0; i < FILES; i++)
			if (file(j, i) != NULL)
				journal_unmake(file(j, i));
		return;
	}
	(void)recording_hold(j);
	(void)recording_prepare(j, NULL, 0, NULL);
	finish(j);
}
