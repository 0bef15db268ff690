/* The record of a run. See record.h. */
#include "guard/record.h"

#include "bindmount/cleanup.h"
#include "guard/jsontext.h"
#include "guard/otlp.h"
#include "guard/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS_MAX = 4096 }; /* that are kept while they can't be written */

static int
open_otlp(struct record *r, const struct options *o, const struct guard_request *requests, size_t n,
    struct error *e)
{
	struct guard_request *all = calloc(n + 1, sizeof *all);
	int result;

	if (all == NULL)
		return error_set(e, errno, NULL, "--audit-otlp");
	memcpy(all, requests, n * sizeof *all);
	if (r->audit.journal.fd >= 0)
		all[n++] = (struct guard_request){
		    .path = r->audit.journal.path, .source = r->audit.journal.option};
	result = journal_open(&r->otlp, "--audit-otlp", o->audit_otlp, -1, all, n, e);
	free(all);
	return result;
}

int
record_open(struct record *r, const struct options *o, const struct guard_request *requests,
    size_t n, struct error *e)
{
	*r = RECORD_NONE;
	if (!options_audits(o))
		return 0;
	if (audit_begin(&r->audit, e) != 0)
		return -1;
	if ((o->audit_path != NULL || o->audit_fd >= 0) &&
	    journal_open(
		&r->audit.journal, "--audit", o->audit_path, o->audit_fd, requests, n, e) != 0)
		return -1;
	return o->audit_otlp != NULL ? open_otlp(r, o, requests, n, e) : 0;
}

bool
record_wanted(const struct record *r)
{
	return r->audit.journal.fd >= 0 || r->otlp.fd >= 0;
}

void
record_resource(struct record *r, json_t *attributes)
{
	json_decref(r->resource);
	r->resource = attributes;
}

static json_t *
stamp(const char *event, const struct timespec *now)
{
	struct timespec mono;
	struct tm utc;
	char text[40];
	int n;

	(void)clock_gettime(CLOCK_MONOTONIC, &mono);
	if (gmtime_r(&now->tv_sec, &utc) == NULL)
		return NULL;
	n = (int)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + n, sizeof text - (size_t)n, ".%06ldZ", now->tv_nsec / 1000);
	return json_pack("{s:s, s:I, s:s}", "time", text, "mono_us",
	    (json_int_t)mono.tv_sec * 1000000 + mono.tv_nsec / 1000, "event", event);
}

static int
add_line(struct record *r, const char *event, json_t *members, const struct timespec *now)
{
	json_t *object = stamp(event, now);
	char *text = NULL;

	if (object != NULL && json_object_update(object, members) == 0)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return text != NULL ? audit_add(&r->audit, text) : -1;
}

static int
add_request(struct record *r, const char *event, json_t *members, const struct timespec *now)
{
	const struct otlp_run run = {.id = r->audit.run, .attributes = r->resource};
	char **requests = reallocarray(r->requests, r->n_requests + 1, sizeof *requests);
	AUTO_FREE char *text =
	    otlp_render(&run, event, members, (int64_t)now->tv_sec * 1000000000 + now->tv_nsec);

	if (requests != NULL)
		r->requests = requests;
	if (requests == NULL || text == NULL ||
	    asprintf(&requests[r->n_requests], "%s\n", text) < 0)
		return -1;
	r->n_requests++;
	return 0;
}

void
record_event(struct record *r, const char *event, json_t *members)
{
	struct timespec now;

	if (!record_wanted(r)) {
		json_decref(members);
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (members == NULL || r->audit.n_events > EVENTS_MAX || r->n_requests > EVENTS_MAX)
		r->lost = true;
	else if ((r->audit.journal.fd >= 0 && add_line(r, event, members, &now) != 0) ||
		 (r->otlp.fd >= 0 && add_request(r, event, members, &now) != 0))
		r->lost = true;
	json_decref(members);
}

static int
write_requests(struct record *r, int64_t until)
{
	size_t done = 0;
	bool ours;
	int result;

	if (r->n_requests == 0)
		return 0;
	result = journal_lock(&r->otlp, until, &ours);
	for (; done < r->n_requests && result == 0; done += result == 0)
		result = journal_append(&r->otlp, r->requests[done], strlen(r->requests[done]));
	r->why = (struct error){0};
	if (result != 0)
		error_set(&r->why, errno, NULL, "can't write %s (--audit-otlp)", r->otlp.path);
	journal_unlock(&r->otlp);
	r->n_requests = text_drop(r->requests, r->n_requests, 0, done);
	return result;
}

int
record_write(struct record *r, int64_t until)
{
	int result = r->audit.journal.fd >= 0 ? audit_write(&r->audit, until, false) : 0;

	return write_requests(r, until) != 0 ? -1 : result;
}

int
record_hold(struct record *r, int64_t until)
{
	int result = r->audit.journal.fd >= 0 ? audit_write(&r->audit, until, true) : 0;

	if (write_requests(r, until) != 0)
		result = -1;
	r->n_kept = r->n_requests;
	r->n_events_kept = r->audit.n_events;
	return result;
}

int
record_prepare(struct record *r, char head[DIGEST_TEXT])
{
	head[0] = '\0';
	return r->audit.journal.locked ? audit_prepare(&r->audit, head) : 0;
}

int
record_commit(struct record *r, int64_t until)
{
	int result = r->audit.journal.locked    ? audit_commit(&r->audit)
	             : r->audit.journal.fd >= 0 ? audit_write(&r->audit, until, false)
	                                        : 0;

	return write_requests(r, until) != 0 ? -1 : result;
}

void
record_discard(struct record *r)
{
	audit_discard(&r->audit, r->n_events_kept);
	r->n_requests = text_drop(r->requests, r->n_requests, r->n_kept, r->n_requests - r->n_kept);
}

bool
record_finish(struct record *r)
{
	if (r->audit.journal.fd >= 0)
		audit_release(&r->audit);
	if (r->lost && r->audit.why.what[0] == '\0' && r->why.what[0] == '\0')
		error_set(&r->why, ENOMEM, NULL, "can't make the audit record");
	return !r->lost && r->audit.why.what[0] == '\0' && r->why.what[0] == '\0';
}

const struct error *
record_error(const struct record *r)
{
	return r->audit.why.what[0] != '\0' ? &r->audit.why : &r->why;
}

void
record_close(struct record *r)
{
	r->n_requests = text_drop(r->requests, r->n_requests, 0, r->n_requests);
	free(r->requests);
	json_decref(r->resource);
	journal_close(&r->otlp);
	audit_close(&r->audit);
	*r = RECORD_NONE;
}
