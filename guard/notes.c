/* The notes about a run. See notes.h. */
#include "guard/notes.h"

#include "bindmount/cleanup.h"
#include "guard/text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAMES_NOTED = 8, /* survivors named in a note */
	LINE = 2048,     /* more than error_line() can make of an error */
};

/*
 * What a line that is to be an annotation begins with until all are rendered: untrusted text is visible and has no such
 * bytes. See annotate().
 */
#define NOTICE  "\1"
#define WARNING "\2"
#define ERROR   "\3"

static void
note_findings(FILE *out, const struct findings *f, bool quiet)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];
		AUTO_FREE char *path = text_visible(one->path);
		AUTO_FREE char *detail = one->detail != NULL ? text_visible(one->detail) : NULL;

		if (quiet && one->restored)
			continue;
		fprintf(out, ERROR "legguard: tampered: %s %s%s%s%s, %s\n", finding_name(one->kind),
		    path != NULL ? path : "?", detail != NULL ? " (" : "",
		    detail != NULL ? detail : "", detail != NULL ? ")" : "",
		    one->restored ? "restored" : "NOT restored");
	}
}

static void
note_leftovers(FILE *out, const struct leftovers *l)
{
	for (size_t i = 0; i < l->count; i++) {
		AUTO_FREE char *path = text_visible(l->list[i].path);

		fprintf(out, "legguard: %s was %s %s\n", path != NULL ? path : "?",
		    leftover_text(l->list[i].kind),
		    l->list[i].kind == LEFTOVER_CHANGED ? "while the leg ran"
		    : l->list[i].before                 ? "before the leg started"
							: "after the leg had ended");
	}
}

static void
note_cancel(FILE *out, int sig)
{
	char text[TEXT_SIGNAL];

	if (sig == SIGPIPE)
		fputs("legguard: cancelled: nobody takes the leg's output any more\n", out);
	else if (sig != 0)
		fprintf(out, "legguard: cancelled by %s\n", text_signal(text, sig));
}

static void
note_limits(FILE *out, const struct outcome *o)
{
	char text[LIMITS_TEXT];

	if (o->timed_out)
		fprintf(out, ERROR "legguard: the leg was ended after %s (--timeout)\n",
		    limits_duration_text(text, o->limits.timeout));
	if (o->overflowed)
		fprintf(out,
		    ERROR "legguard: the leg was ended after %s of output (--max-output)\n",
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
	fprintf(out, NOTICE "legguard: killed %zu process%s the leg left running",
	    o->survivors_total, o->survivors_total == 1 ? "" : "es");
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
		fprintf(out, ERROR "legguard: leg left %zu process%s running after it ended",
		    o->swept_total, es);
	else if (o->sweep == SWEEP_KILL)
		fprintf(out, NOTICE "legguard: killed %zu process%s that had left the leg's tree",
		    o->swept_total, es);
	else
		fprintf(out,
		    WARNING "legguard: found %zu process%s that may have left the leg's tree",
		    o->swept_total, es);
	for (size_t i = 0; i < o->swept.count; i++)
		note_process(out, i, o->swept.list[i].pid, o->swept.list[i].name);
	note_rest(out, o->swept.count, o->swept_total);
}

static void
note_brought_out(FILE *out, const struct brought_out *b)
{
	AUTO_FREE char *where = b->where != NULL ? text_visible(b->where) : NULL;
	AUTO_FREE char *first = b->first != NULL ? text_visible(b->first) : NULL;

	if (where == NULL)
		return;
	fprintf(out,
	    "legguard: %s%zu of what the leg left in RUNNER_TEMP %s not brought out but in %s",
	    b->left >= BRINGOUT_LEFT_MAX ? "at least " : "", b->left, b->left == 1 ? "is" : "are",
	    where);
	if (first != NULL && b->why != NULL)
		fprintf(out, " (%s: %s)", first, b->why);
	fputc('\n', out);
}

static void
note_imports(FILE *out, const struct importing *all, bool quiet)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct imported *one = &all->list[i];
		AUTO_FREE char *name = one->name != NULL ? text_visible(one->name) : NULL;

		if (quiet && one->why == NULL)
			continue;
		fprintf(out, "legguard: %s %s%s%s%s%s\n",
		    one->why == NULL ? "imported" : "not imported:", import_kind_name(one->kind),
		    name != NULL ? ":" : "", name != NULL ? name : "", one->why != NULL ? ": " : "",
		    one->why != NULL ? one->why : "");
	}
}

static void
note_neutralized(FILE *out, const struct outcome *o)
{
	const char *before = ": ";
	uint64_t total = 0;

	if (!o->neutralizes)
		return;
	for (size_t i = 0; neutralize_name(i) != NULL; i++)
		total += o->neutralizer[0].count[i] + o->neutralizer[1].count[i];
	if (total == 0)
		return;
	fprintf(out, "legguard: made %" PRIu64 " workflow command%s in the leg's output inert",
	    total, total == 1 ? "" : "s");
	for (size_t i = 0; neutralize_name(i) != NULL; i++) {
		uint64_t n = o->neutralizer[0].count[i] + o->neutralizer[1].count[i];

		if (n == 0)
			continue;
		fprintf(out, "%s%s (%" PRIu64 ")", before, neutralize_name(i), n);
		before = ", ";
	}
	putc('\n', out);
}

static void
note_head(FILE *out, const struct outcome_audit *a)
{
	AUTO_FREE char *path = a->path != NULL ? text_visible(a->path) : NULL;

	if (a->head[0] != '\0')
		fprintf(out, "legguard: audit-head %s (%s)\n", a->head, path != NULL ? path : "?");
}

/* With --quiet as well: an anchor of the record in the step's log is what it is asked for. */
static void
note_audit(FILE *out, const struct outcome_audit *a)
{
	char text[LINE];

	if (a->why.what[0] != '\0')
		fprintf(out, WARNING "legguard: the audit record is not whole: %s\n",
		    error_line(text, sizeof text, &a->why));
	note_head(out, a);
}

/* See terminal.h. */
static void
note_terminal(FILE *out, const struct outcome *o)
{
	if (o->stdin_shut)
		fputs("legguard: the leg's standard input was /dev/null: a terminal can be "
		      "written to (--workflow-commands pass leaves it)\n",
		    out);
	if (o->on_terminal && o->isolation == ISOLATION_NONE)
		fputs("legguard: the leg could write workflow commands to the terminal "
		      "(--isolation none)\n",
		    out);
}

/* What --quiet leaves out as well as what it does not, in the order in which it happened. */
static void
note_all(FILE *out, const struct outcome *o, bool quiet)
{
	char text[LINE];

	if (!quiet && o->isolation == ISOLATION_NONE)
		fputs("legguard: the leg ran unconfined (--isolation none)\n", out);
	if (!quiet && o->isolation == ISOLATION_LANDLOCK && !o->truncation_denied)
		fputs("legguard: the leg could empty guarded files: this kernel's Landlock can't "
		      "deny it (Linux 6.2), and there is no seccomp filter\n",
		    out);
	if (!quiet && o->classifies && o->traceable)
		fputs(
		    "legguard: a child of the client could have printed in its place: processes of "
		    "one user may trace each other here (sysctl kernel.yama.ptrace_scope=1)\n",
		    out);
	if (o->exec_errno != 0)
		fprintf(out, "legguard: can't execute the command: %s\n", strerror(o->exec_errno));
	if (!quiet) {
		note_limits(out, o);
		note_cancel(out, o->cancel_signal);
		note_survivors(out, o);
	}
	if (!quiet)
		note_leftovers(out, &o->leftovers);
	if (!quiet)
		note_brought_out(out, &o->brought_out);
	if (!quiet)
		note_neutralized(out, o);
	if (!quiet)
		note_terminal(out, o);
	note_sweep(out, o, quiet);
	if (o->proof == PROOF_NONE)
		fputs(ERROR "legguard: there is no proof that everything the leg started is dead\n",
		    out);
	note_findings(out, &o->findings, quiet);
	note_imports(out, &o->importing, quiet);
	if (!quiet && o->hint != NULL)
		fprintf(out, "legguard: this may be why it failed: %s\n", o->hint);
	if (o->error.what[0] != '\0')
		fprintf(out, ERROR "legguard: %s\n", error_line(text, sizeof text, &o->error));
	note_audit(out, &o->audit);
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

/* Data of a workflow command: the runner reads these as escapes. Line ends do not occur. */
static void
put_data(FILE *out, const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (line[i] == '%')
			fputs("%25", out);
		else
			putc(line[i], out);
}

/* Lines that matter become annotations in a step, and are lines like the others elsewhere. */
static void
annotate(FILE *out, const char *text, bool annotates)
{
	static const char *const commands[] = {"", "notice", "warning", "error"};

	while (*text != '\0') {
		size_t level = *text >= *NOTICE && *text <= *ERROR ? (size_t)*text++ : 0;
		size_t size = strcspn(text, "\n");

		if (annotates && level > 0) {
			fprintf(out, "::%s title=legguard::", commands[level]);
			put_data(out, text, size);
		} else {
			fwrite(text, 1, size, out);
		}
		putc('\n', out);
		text += size + (text[size] == '\n');
	}
}

/* Where the leg's last line has no end, what follows would be a part of it, and no command of its own. */
static bool
is_within_a_line(const struct outcome *o)
{
	const struct tail *t = &o->output[o->one_stream ? 0 : 1];

	return t->used > 0 && t->bytes[t->used - 1] != '\n';
}

static void
note_only_audit(FILE *out, const struct outcome *o, bool quiet)
{
	(void)quiet;
	note_head(out, &o->audit);
}

static char *
render(void (*note)(FILE *, const struct outcome *, bool), const struct outcome *o, bool quiet,
    struct error *e)
{
	AUTO_FREE char *lines = NULL, *text = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	if (out != NULL) {
		note(out, o, quiet);
		if (fclose(out) == 0 && (out = open_memstream(&text, &size)) != NULL) {
			if (*lines != '\0' && is_within_a_line(o))
				putc('\n', out);
			annotate(out, lines, o->annotates && !quiet);
			if (fclose(out) == 0)
				return ptr_take(&text);
		}
	}
	error_set(e, errno, NULL, "can't render the notes");
	return NULL;
}

char *
notes_render(const struct outcome *o, bool quiet, struct error *e)
{
	return render(note_all, o, quiet, e);
}

char *
notes_render_refused(const struct outcome *o, struct error *e)
{
	return render(note_only_audit, o, false, e);
}

char *
notes_render_janitor(const struct outcome *o, struct error *e)
{
	return render(note_janitor, o, false, e);
}
