/*
 * What is said about a run afterwards: the status object for programs, the notes for people.
 *
 * Paths, details and process names are the leg's choice of bytes. They pass through error_visible(),
 * which leaves plain ASCII, so that they neither make the JSON invalid nor reach a terminal as they are.
 */
#include "guard/status.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jansson.h>

enum {
	SCHEMA = 1,       /* a new key does not change it, a key's new meaning does */
	NAMES_NOTED = 8,  /* survivors named in a note */
	SIGNAL_TEXT = 16, /* "SIGVTALRM" and a number that has no name */
	LINE = 2048,      /* more than error_line() can make of an error */
};

/* src encoded for printing; malloc'd, NULL without memory. */
static char *
visible(const char *src)
{
	size_t size = 4 * strlen(src) + 1; /* strnvis(3): four for one at the most */
	char *text = malloc(size);

	return text != NULL ? error_visible(text, size, src) : NULL;
}

static const char *
signal_text(char text[SIGNAL_TEXT], int sig)
{
	const char *name = sigabbrev_np(sig);

	if (name != NULL)
		snprintf(text, SIGNAL_TEXT, "SIG%s", name);
	else
		snprintf(text, SIGNAL_TEXT, "SIG%d", sig); /* a real-time signal */
	return text;
}

/*
 * The parts of the object. Each returns NULL without memory, which json_pack() and
 * json_array_append_new() take as their own failure.
 */

static json_t *
untrusted(const char *text)
{
	AUTO_FREE char *encoded = NULL;

	if (text == NULL)
		return json_null();
	encoded = visible(text);
	return encoded != NULL ? json_string(encoded) : NULL;
}

static json_t *
signal_or_null(int sig)
{
	char text[SIGNAL_TEXT];

	return sig != 0 ? json_string(signal_text(text, sig)) : json_null();
}

static json_t *
errno_or_null(int errnum)
{
	const char *name = strerrorname_np(errnum);

	if (errnum == 0)
		return json_null();
	return json_string(name != NULL ? name : strerror(errnum));
}

static json_t *
error_or_null(const struct error *e)
{
	char line[LINE];

	return e->what[0] != '\0' ? untrusted(error_line(line, sizeof line, e)) : json_null();
}

static json_t *
leg_or_null(const struct outcome *o)
{
	if (!o->leg_ended)
		return json_null();
	if (WIFSIGNALED(o->wait_status))
		return json_pack(
		    "{s:n, s:o}", "exit", "signal", signal_or_null(WTERMSIG(o->wait_status)));
	return json_pack("{s:i, s:n}", "exit", WEXITSTATUS(o->wait_status), "signal");
}

/* The list with item at its end, or NULL without memory: then there is no object at all. */
static json_t *
append(json_t *list, json_t *item)
{
	if (json_array_append_new(list, item) == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *
process(pid_t pid, pid_t ppid, unsigned long long start, const char *name)
{
	return json_pack("{s:i, s:i, s:I, s:o}", "pid", (int)pid, "ppid", (int)ppid, "start",
	    (json_int_t)start, "name", untrusted(name));
}

static json_t *
survivors(const struct outcome *o)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < o->n_survivors; i++) {
		const struct survivor *s = &o->survivors[i];
		json_t *item = process(s->pid, s->ppid, s->start, s->name);

		list = append(list, item);
	}
	return json_pack("{s:I, s:o}", "count", (json_int_t)o->survivors_total, "list", list);
}

static json_t *
sweep_or_null(const struct outcome *o)
{
	json_t *list;

	if (o->sweep == SWEEP_DEFAULT)
		return json_null();
	list = json_array();
	for (size_t i = 0; list != NULL && i < o->swept.count; i++) {
		const struct process *p = &o->swept.list[i];

		if (json_array_append_new(list, process(p->pid, p->ppid, p->start, p->name)) != 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return json_pack("{s:s, s:I, s:o, s:b}", "mode", o->sweep == SWEEP_KILL ? "kill" : "report",
	    "count", (json_int_t)o->swept_total, "found", list, "clean", o->sweep_clean);
}

static json_t *
findings(const struct findings *f)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < f->count; i++) {
		const struct finding *one = &f->list[i];
		json_t *item = json_pack("{s:s, s:o, s:b, s:o}", "kind", finding_name(one->kind),
		    "path", untrusted(one->path), "restored", one->restored, "detail",
		    untrusted(one->detail));

		list = append(list, item);
	}
	return list;
}

static json_t *
leftovers(const struct leftovers *l)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < l->count; i++) {
		const struct leftover *one = &l->list[i];

		list = append(
		    list, json_pack("{s:o, s:s, s:s}", "path", untrusted(one->path), "what",
			      leftover_text(one->kind), "when", one->before ? "before" : "after"));
	}
	return list;
}

static json_t *
object(const struct outcome *o)
{
	bool confined = o->isolation == ISOLATION_NAMESPACE;

	/* A key and its value to a line. */
	/* clang-format off */
	return json_pack("{s:s, s:i, s:s, s:i, s:s, s:o, s:o, s:o, s:b, s:b, s:s, "
			 "s:b, s:b, s:b, s:s, s:o, s:o, s:b, s:o, s:o, s:b, s:o}",
	    "version", LEGGUARD_VERSION,
	    "schema", SCHEMA,
	    "class", lane_name(o->lane),
	    "exit_status", o->exit_status,
	    "origin", o->guard_origin ? "guard" : "leg",
	    "leg", leg_or_null(o),
	    "exec_error", errno_or_null(o->exec_errno),
	    "cancelled", signal_or_null(o->cancel_signal),
	    "timed_out", o->timed_out,
	    "overflowed", o->overflowed,
	    "isolation", confined ? "namespace" : "none",
	    "confined", confined,
	    "landlock_scopes", o->scopes,
	    "held", o->held,
	    "proof", proof_name(o->proof),
	    "survivors", survivors(o),
	    "sweep", sweep_or_null(o),
	    "tampered", o->findings.count > 0,
	    "findings", findings(&o->findings),
	    "leftovers", leftovers(&o->leftovers),
	    "published", o->published,
	    "error", error_or_null(&o->error));
	/* clang-format on */
}

char *
status_render(const struct outcome *o, struct error *e)
{
	json_t *root = object(o);
	AUTO_FREE char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
	char *line = NULL;

	json_decref(root);
	if (text == NULL || asprintf(&line, "%s\n", text) < 0) {
		error_set(e, ENOMEM, NULL, "can't render the status object");
		return NULL;
	}
	return line;
}

static void
note_findings(FILE *out, const struct findings *f, bool quiet)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];
		AUTO_FREE char *path = visible(one->path);
		AUTO_FREE char *detail = one->detail != NULL ? visible(one->detail) : NULL;

		if (quiet && one->restored)
			continue;
		fprintf(out, "legguard: tampered: %s %s%s%s%s, %s\n", finding_name(one->kind),
		    path != NULL ? path : "?", detail != NULL ? " (" : "",
		    detail != NULL ? detail : "", detail != NULL ? ")" : "",
		    one->restored ? "restored" : "NOT restored");
	}
}

static void
note_leftovers(FILE *out, const struct leftovers *l)
{
	for (size_t i = 0; i < l->count; i++) {
		AUTO_FREE char *path = visible(l->list[i].path);

		fprintf(out, "legguard: %s was %s %s\n", path != NULL ? path : "?",
		    leftover_text(l->list[i].kind),
		    l->list[i].before ? "before the leg started" : "after the leg had ended");
	}
}

static void
note_cancel(FILE *out, int sig)
{
	char text[SIGNAL_TEXT];

	if (sig == SIGPIPE)
		fputs("legguard: cancelled: nobody takes the leg's output any more\n", out);
	else if (sig != 0)
		fprintf(out, "legguard: cancelled by %s\n", signal_text(text, sig));
}

static void
note_limits(FILE *out, const struct outcome *o)
{
	char text[LIMITS_TEXT];

	if (o->timed_out)
		fprintf(out, "legguard: the leg was ended after %s (--timeout)\n",
		    limits_duration_text(text, o->limits.timeout));
	if (o->overflowed)
		fprintf(out, "legguard: the leg was ended after %s of output (--max-output)\n",
		    limits_size_text(text, o->limits.max_output));
}

static void
note_process(FILE *out, size_t index, pid_t pid, const char *name)
{
	char text[4 * sizeof((struct process *)NULL)->name + 1];

	if (index < NAMES_NOTED)
		fprintf(out, "%s %s (pid %d)", index == 0 ? ":" : ",",
		    error_visible(text, sizeof text, name), (int)pid);
}

/* The end of a line that names those of the first that were listed. */
static void
note_rest(FILE *out, size_t listed, size_t total)
{
	size_t named = listed < NAMES_NOTED ? listed : NAMES_NOTED;

	fprintf(out, "%s\n", named > 0 && named < total ? ", ..." : "");
}

static void
note_survivors(FILE *out, const struct outcome *o)
{
	if (o->survivors_total == 0)
		return;
	fprintf(out, "legguard: killed %zu process%s the leg left running", o->survivors_total,
	    o->survivors_total == 1 ? "" : "es");
	for (size_t i = 0; i < o->n_survivors; i++)
		note_process(out, i, o->survivors[i].pid, o->survivors[i].name);
	note_rest(out, o->n_survivors, o->survivors_total);
}

/* What the sweep could not end is an error; what it found and ended, or only found, is not. */
static void
note_sweep(FILE *out, const struct outcome *o, bool quiet)
{
	const char *es = o->swept_total == 1 ? "" : "es";

	if (o->swept_total == 0 || (quiet && !o->sweep_failed))
		return;
	if (o->sweep_failed)
		fprintf(out, "legguard: leg left %zu process%s running after it ended",
		    o->swept_total, es);
	else if (o->sweep == SWEEP_KILL)
		fprintf(out, "legguard: killed %zu process%s that had left the leg's tree",
		    o->swept_total, es);
	else
		fprintf(out, "legguard: found %zu process%s that may have left the leg's tree",
		    o->swept_total, es);
	for (size_t i = 0; i < o->swept.count; i++)
		note_process(out, i, o->swept.list[i].pid, o->swept.list[i].name);
	note_rest(out, o->swept.count, o->swept_total);
}

/* What --quiet leaves out as well as what it does not, in the order in which it happened. */
static void
note_all(FILE *out, const struct outcome *o, bool quiet)
{
	char text[LINE];

	if (!quiet && o->isolation == ISOLATION_NONE)
		fputs("legguard: the leg ran unconfined (--isolation none)\n", out);
	if (o->exec_errno != 0)
		fprintf(out, "legguard: can't execute the command: %s\n", strerror(o->exec_errno));
	if (!quiet) {
		note_limits(out, o);
		note_cancel(out, o->cancel_signal);
		note_survivors(out, o);
	}
	if (!quiet)
		note_leftovers(out, &o->leftovers);
	note_sweep(out, o, quiet);
	if (o->proof == PROOF_NONE)
		fputs("legguard: there is no proof that everything the leg started is dead\n", out);
	note_findings(out, &o->findings, quiet);
	if (o->error.what[0] != '\0')
		fprintf(out, "legguard: %s\n", error_line(text, sizeof text, &o->error));
}

/* After the launcher's death: that is what there is to say, and what was put back. */
static void
note_janitor(FILE *out, const struct outcome *o, bool quiet)
{
	char text[LINE];

	(void)quiet;
	fputs("legguard: the launcher was killed; nothing is published\n", out);
	note_findings(out, &o->findings, false);
	if (o->error.what[0] != '\0')
		fprintf(out, "legguard: %s\n", error_line(text, sizeof text, &o->error));
}

static char *
render_notes(void (*note)(FILE *, const struct outcome *, bool), const struct outcome *o,
    bool quiet, struct error *e)
{
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out != NULL) {
		note(out, o, quiet);
		if (fclose(out) == 0)
			return ptr_take(&text);
	}
	error_set(e, errno, NULL, "can't render the notes");
	return NULL;
}

char *
status_notes(const struct outcome *o, bool quiet, struct error *e)
{
	return render_notes(note_all, o, quiet, e);
}

char *
status_janitor_notes(const struct outcome *o, struct error *e)
{
	return render_notes(note_janitor, o, false, e);
}
