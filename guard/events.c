/* What is recorded of a run. See events.h; the start is in startevent.c. */
#include "guard/events.h"

#include "bindmount/cleanup.h"
#include "guard/attempted.h"
#include "guard/bounded.h"
#include "guard/carry.h"
#include "guard/fingerprint.h"
#include "guard/jsontext.h"
#include "guard/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum {
	LIST_ROOM = 32 * 1024, /* of names in one line */
	OUTPUTS_LISTED = 256,  /* as many as a line has room for */
	TAMPER_LISTED = 256,   /* findings */
	SWEPT_LISTED = 128,    /* processes */
	OUTPUTS_ROOM = 24 * 1024,
};

int64_t
events_now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* What happens while the leg lives is written at once, if nobody else is just writing. */
static void
write_now(struct job *j)
{
	(void)record_write(&j->record, bounded_now());
}

static json_t *
fingerprint(const struct fingerprint *f)
{
	return json_pack("{s:I, s:s, s:s}", "size", (json_int_t)f->size, "xxh3_128", f->xxh3_128,
	    "sha256", f->sha256);
}

/* Of the file as it was recorded. */
static void
fingerprint_recorded(const struct snapshot *s, size_t index, struct fingerprint *f)
{
	size_t size;
	const void *bytes = snapshot_bytes(s, index, &size);

	fingerprint_of(f, bytes != NULL ? bytes : "", size);
}

static json_t *
snapshot_event(const struct snapshot *s, size_t index)
{
	const struct stat *st = snapshot_stat(s, index);
	struct fingerprint f;
	char mode[8];

	fingerprint_recorded(s, index, &f);
	snprintf(mode, sizeof mode, "%04o", (unsigned)st->st_mode & 07777);
	return json_pack("{s:o, s:I, s:s, s:s, s:I, s:I, s:s}", "path",
	    jsontext(snapshot_path(s, index)), "size", (json_int_t)f.size, "xxh3_128", f.xxh3_128,
	    "sha256", f.sha256, "dev", (json_int_t)st->st_dev, "ino", (json_int_t)st->st_ino,
	    "mode", mode);
}

void
events_snapshot(struct job *j)
{
	if (!record_wanted(&j->record))
		return;
	for (size_t i = 0; i < j->plan.n_requests; i++) {
		size_t index = snapshot_index(j->snapshot, i), k = 0;

		/* Two variables may name one file. */
		while (k < i && snapshot_index(j->snapshot, k) != index)
			k++;
		if (k == i)
			record_event(&j->record, "snapshot", snapshot_event(j->snapshot, index));
	}
}

void
events_life(struct job *j, enum life_event event)
{
	char text[TEXT_SIGNAL];

	switch (event) {
	case LIFE_STARTED:
		record_event(&j->record, "leg-start", json_object());
		break;
	case LIFE_TIMEOUT:
		record_event(&j->record, "timeout",
		    json_pack("{s:I}", "limit_ms", (json_int_t)j->options->limits.timeout));
		break;
	case LIFE_CANCEL:
	case LIFE_READER_GONE:
		record_event(&j->record, "cancel",
		    json_pack("{s:s}", "signal", text_signal(text, j->out->cancel_signal)));
		break;
	case LIFE_OVERFLOW:
		record_event(&j->record, "overflow",
		    json_pack("{s:I}", "limit", (json_int_t)j->options->limits.max_output));
		break;
	case LIFE_CONTENDED:
		record_event(&j->record, "contended", json_object());
		break;
	default:
		return;
	}
	write_now(j);
}

static json_t *
set_end(json_t *o, const struct outcome *out)
{
	char text[TEXT_SIGNAL];

	if (out->exec_errno != 0)
		return jsontext_set(o, "exec_errno", json_string(strerrorname_np(out->exec_errno)));
	if (!out->leg_ended)
		return jsontext_set(o, "lost", json_true());
	if (WIFSIGNALED(out->wait_status))
		return jsontext_set(
		    o, "signal", json_string(text_signal(text, WTERMSIG(out->wait_status))));
	return jsontext_set(o, "exit_code", json_integer(WEXITSTATUS(out->wait_status)));
}

static json_int_t
microseconds(const struct timeval *t)
{
	return (json_int_t)t->tv_sec * 1000000 + t->tv_usec;
}

void
events_leg_end(struct job *j, const uint64_t bytes[2])
{
	const struct outcome *out = j->out;
	json_t *o = set_end(json_object(), out);

	if (out->leg_ended)
		o = jsontext_set(o, "rusage",
		    json_pack("{s:I, s:I, s:I}", "utime_us", microseconds(&out->usage.ru_utime),
			"stime_us", microseconds(&out->usage.ru_stime), "maxrss_kib",
			(json_int_t)out->usage.ru_maxrss));
	o = jsontext_set(o, "out_bytes", json_integer((json_int_t)bytes[0]));
	o = jsontext_set(o, "err_bytes", json_integer((json_int_t)bytes[1]));
	record_event(&j->record, "leg-end", o);
	write_now(j);
}

/* What ended those that were alive; only PID 1's end is known to have ended them all. */
static const char *
how(const struct outcome *out)
{
	if (out->proof == PROOF_PID_NAMESPACE)
		return "namespace-ended";
	return out->proof == PROOF_NONE ? "unknown" : "killed";
}

void
events_survivors(struct job *j)
{
	const struct outcome *out = j->out;

	for (size_t i = 0; i < out->n_survivors; i++)
		record_event(&j->record, "survivor",
		    json_pack("{s:i, s:o, s:s}", "pid", (int)out->survivors[i].pid, "name",
			jsontext(out->survivors[i].name), "how", how(out)));
}

void
events_sweep(struct job *j)
{
	const struct outcome *out = j->out;
	json_t *list = json_array();

	if (out->sweep == SWEEP_DEFAULT) {
		json_decref(list);
		return;
	}
	for (size_t i = 0; i < out->swept.count && i < SWEPT_LISTED; i++)
		list = jsontext_append_item(
		    list, json_pack("{s:i, s:o}", "pid", (int)out->swept.list[i].pid, "name",
			      jsontext(out->swept.list[i].name)));
	record_event(&j->record, "sweep",
	    json_pack("{s:s, s:b, s:o, s:I}", "mode", out->sweep == SWEEP_KILL ? "kill" : "report",
		"clean", out->sweep_clean, "found", list, "total", (json_int_t)out->swept_total));
	write_now(j);
}

static void
commands_of(struct job *j, size_t stream)
{
	static const char *const streams[] = {"stdout", "stderr"};
	const struct neutralizer *n = &j->out->neutralizer[stream];

	for (size_t i = 0; neutralize_name(i) != NULL; i++)
		if (n->count[i] > 0)
			record_event(&j->record, "command",
			    json_pack("{s:s, s:I, s:s, s:s}", "name", neutralize_name(i), "count",
				(json_int_t)n->count[i], "action",
				j->out->neutralizes ? "neutralized" : "passed", "stream",
				streams[stream]));
}

void
events_commands(struct job *j)
{
	commands_of(j, 0);
	commands_of(j, 1);
}

/* The file of the snapshot that has this path, or SIZE_MAX. */
static size_t
recorded_at(const struct snapshot *s, const char *path)
{
	for (size_t i = 0; i < snapshot_count(s); i++)
		if (strcmp(snapshot_path(s, i), path) == 0)
			return i;
	return SIZE_MAX;
}

static void
attempted_in(struct job *j, enum import_kind kind, size_t index, const char *bytes, size_t size)
{
	bool lines = kind == IMPORT_PATH || kind == IMPORT_SUMMARY;
	size_t n_before, room = LIST_ROOM;
	const char *before = snapshot_bytes(j->snapshot, index, &n_before);
	json_t *names = json_array(), *o;
	struct attempted a;

	if (attempted_read(
		&a, lines ? GRAMMAR_LINES : GRAMMAR_PAIRS, before, n_before, bytes, size) != 0) {
		json_decref(names);
		names = NULL;
	}
	if (names != NULL && a.total == 0 && a.error == GRAMMAR_OK) {
		json_decref(names);
		return; /* nothing was */
	}
	for (size_t i = 0; i < a.count; i++)
		names = jsontext_append(names, &room, a.names[i]);
	o = json_pack("{s:s, s:o, s:I}", "file", import_kind_name(kind), "names", names, "total",
	    (json_int_t)a.total);
	if (a.error != GRAMMAR_OK)
		o = jsontext_set(o, "error", json_string(attempted_error(a.error)));
	record_event(&j->record, "attempted", o);
	attempted_free(&a);
}

/* One event for each, and one for what was found in it, if that is one of the step's files. */
static void
finding_event(struct job *j, const struct finding *one)
{
	size_t index = recorded_at(j->snapshot, one->path);
	json_t *o = json_pack("{s:s, s:o, s:b, s:o}", "kind", finding_name(one->kind), "path",
	    jsontext(one->path), "restored", one->restored, "detail", jsontext(one->detail));
	struct fingerprint before;

	if (index != SIZE_MAX && one->found.known) {
		fingerprint_recorded(j->snapshot, index, &before);
		o = jsontext_set(o, "before", fingerprint(&before));
		o = jsontext_set(o, "after", fingerprint(&one->found.print));
	}
	record_event(&j->record, "tamper", o);
	for (size_t kind = 0; kind < IMPORT_KINDS && index != SIZE_MAX && one->found.known; kind++)
		if (carry_index(&j->plan, j->snapshot, (enum import_kind)kind) == index)
			attempted_in(j, (enum import_kind)kind, index, one->found.bytes,
			    (size_t)one->found.print.size);
}

void
events_tampering(struct job *j)
{
	const struct findings *f = &j->out->findings;

	for (size_t i = 0; i < f->count && i < TAMPER_LISTED; i++)
		finding_event(j, &f->list[i]);
}

void
events_attempted(struct job *j)
{
	for (size_t kind = 0; kind < IMPORT_KINDS && j->out->has_decoys; kind++) {
		size_t size, index = carry_index(&j->plan, j->snapshot, (enum import_kind)kind);
		AUTO_FREE char *bytes = NULL;

		if (index == SIZE_MAX)
			continue;
		bytes = carry_read(&j->plan, j->snapshot, j->out, (enum import_kind)kind, &size);
		if (bytes != NULL)
			attempted_in(j, (enum import_kind)kind, index, bytes, size);
	}
}

void
events_imports(struct job *j)
{
	const struct importing *all = &j->out->importing;

	for (size_t i = 0; i < all->count; i++) {
		const struct imported *one = &all->list[i];

		record_event(&j->record, "import",
		    json_pack("{s:s, s:o, s:s, s:o}", "kind", import_kind_name(one->kind), "name",
			jsontext(one->name), "result", one->why == NULL ? "carried" : "refused",
			"reason", jsontext(one->why)));
	}
}

static json_t *
add_output(json_t *list, size_t *room, const char *name, const char *value)
{
	char hash[DIGEST_TEXT];
	json_t *text = jsontext(name);
	/* Twice the length: each byte may take two in JSON. */
	size_t size = 2 * json_string_length(text) + DIGEST_TEXT + 32;

	if (size > *room) {
		json_decref(text);
		return list;
	}
	*room -= size;
	return jsontext_append_item(list,
	    json_pack("{s:o, s:s}", "name", text, "sha256", digest_of(value, strlen(value), hash)));
}

void
events_publish(
    struct job *j, const struct output *list, size_t n, const struct outputs_facts *facts)
{
	const struct outputs_facts own = {.exit_code = facts->exit_code,
	    .tampered = facts->tampered,
	    .reaped = facts->reaped,
	    .lane = facts->lane};
	struct outputs_pair pairs[OUTPUTS_FACTS];
	char number[OUTPUTS_NUMBER];
	size_t n_pairs = outputs_facts_pairs(&own, number, pairs), room = OUTPUTS_ROOM;
	json_t *outputs = json_array();

	for (size_t i = 0; i < n; i++)
		outputs = add_output(outputs, &room, list[i].name, list[i].value);
	room += OUTPUTS_LISTED * n_pairs;
	for (size_t i = 0; i < n_pairs; i++)
		outputs = add_output(outputs, &room, pairs[i].name, pairs[i].value);
	record_event(&j->record, "publish",
	    json_pack("{s:o, s:I}", "outputs", outputs, "total", (json_int_t)(n + n_pairs)));
}

void
events_end(struct job *j)
{
	const struct outcome *out = j->out;

	record_event(&j->record, "end",
	    json_pack("{s:s, s:i, s:s, s:b, s:b, s:s, s:I, s:b, s:b, s:I, s:I, s:I, s:o, s:b}",
		"class", lane_name(out->lane), "exit_status", out->exit_status, "origin",
		out->guard_origin ? "guard" : "leg", "tampered", out->tampered, "reaped",
		out->proof != PROOF_NONE, "proof", proof_name(out->proof), "survivors",
		(json_int_t)out->survivors_total, "restored", !out->unrestored, "published",
		out->published, "duration_us", (json_int_t)(events_now_us() - j->began_us),
		"out_bytes", (json_int_t)out->bytes[0], "err_bytes", (json_int_t)out->bytes[1],
		"error", jsontext(out->error.what[0] != '\0' ? out->error.what : NULL), "final",
		1));
}
