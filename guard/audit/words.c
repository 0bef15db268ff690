/* What is said about a run. See words.h. */
#include "guard/audit/words.h"

#include "bindmount/cleanup.h"
#include "guard/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that grows; what is wrong with it shows at the end. */
struct words {
	FILE *out;
	char *text;
	size_t size;
};

static void
begin(struct words *w)
{
	*w = (struct words){0};
	w->out = open_memstream(&w->text, &w->size);
}

static void __attribute__((format(printf, 2, 3))) say(struct words *w, const char *format, ...)
{
	va_list ap;

	if (w->out == NULL)
		return;
	va_start(ap, format);
	vfprintf(w->out, format, ap);
	va_end(ap);
}

static char *
end(struct words *w)
{
	AUTO_FREE char *text = NULL;
	bool good = w->out != NULL && fclose(w->out) == 0;
	char *visible;

	text = w->text;
	if (!good)
		return NULL;
	visible = text_visible(text);
	if (visible != NULL && strlen(visible) > WORDS_MAX)
		snprintf(visible + WORDS_MAX - 3, 4, "...");
	return visible;
}

/* --- members, which may be missing */

static const char *
string(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text != NULL ? text : "";
}

static bool
is_true(const json_t *o, const char *name)
{
	return json_is_true(json_object_get(o, name));
}

static long long
number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

static bool
has(const json_t *o, const char *name)
{
	const json_t *value = json_object_get(o, name);

	return value != NULL && !json_is_null(value);
}

/* Strings, or of each object the string of that name, and how many more there were. */
static void
say_list(struct words *w, const json_t *list, const char *name, long long total)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);
		const char *text = name != NULL ? string(item, name) : json_string_value(item);

		say(w, "%s%s", i > 0 ? ", " : "", text != NULL ? text : "?");
	}
	if (total > 0 && (size_t)total > n)
		say(w, " and %lld more", total - (long long)n);
}

/* --- events */

const char *
words_label(enum audit_event event)
{
	static const char *const labels[EVENTS] = {
	    [EVENT_START] = "start",
	    [EVENT_SNAPSHOT] = "guarded",
	    [EVENT_LEG_START] = "leg began",
	    [EVENT_TIMEOUT] = "time-out",
	    [EVENT_CANCEL] = "cancelled",
	    [EVENT_OVERFLOW] = "overflow",
	    [EVENT_CONTENDED] = "contended",
	    [EVENT_LEG_END] = "leg ended",
	    [EVENT_SURVIVOR] = "survivor",
	    [EVENT_SWEEP] = "sweep",
	    [EVENT_TAMPER] = "tampering",
	    [EVENT_ATTEMPTED] = "tried to set",
	    [EVENT_COMMAND] = "command",
	    [EVENT_IMPORT] = "import",
	    [EVENT_PUBLISH] = "published",
	    [EVENT_END] = "end",
	};

	return labels[event];
}

bool
words_alarming(const struct run_event *event)
{
	switch (event->event) {
	case EVENT_TIMEOUT:
	case EVENT_CANCEL:
	case EVENT_OVERFLOW:
	case EVENT_CONTENDED:
	case EVENT_SURVIVOR:
	case EVENT_TAMPER:
		return true;
	case EVENT_SWEEP:
		return json_array_size(json_object_get(event->root, "found")) > 0 ||
		       json_is_false(json_object_get(event->root, "clean"));
	case EVENT_IMPORT:
		return strcmp(string(event->root, "result"), "carried") != 0;
	default:
		return false;
	}
}

static void
say_leg_end(struct words *w, const json_t *o)
{
	if (has(o, "exec_errno"))
		say(w, "it could not be started: %s", string(o, "exec_errno"));
	else if (has(o, "signal"))
		say(w, "ended by %s", string(o, "signal"));
	else if (has(o, "exit_code"))
		say(w, "exit status %lld", number(o, "exit_code"));
	else
		say(w, "nobody knows how");
	if (has(o, "out_bytes") || has(o, "err_bytes"))
		say(w, "; %lld bytes on its output, %lld on its errors", number(o, "out_bytes"),
		    number(o, "err_bytes"));
}

static void
say_tamper(struct words *w, const json_t *o)
{
	const json_t *before = json_object_get(o, "before"), *after = json_object_get(o, "after");

	say(w, "%s: %s", string(o, "kind"), string(o, "path"));
	if (has(o, "detail"))
		say(w, ", %s", string(o, "detail"));
	else if (has(before, "size") && has(after, "size"))
		say(w, ", %lld bytes before, %lld after", number(before, "size"),
		    number(after, "size"));
	say(w, is_true(o, "restored") ? "; put back" : "; NOT PUT BACK");
}

static void
say_sweep(struct words *w, const json_t *o)
{
	const json_t *found = json_object_get(o, "found");

	if (json_array_size(found) == 0)
		say(w, "nothing was found");
	else {
		say(w, "found ");
		say_list(w, found, "name", number(o, "total"));
	}
	if (has(o, "clean") && !is_true(o, "clean"))
		say(w, "; something is left");
}

static void
say_timeout(struct words *w, const json_t *o)
{
	say(w, "the time was up");
	if (has(o, "limit_ms"))
		say(w, " after %lld.%03lld s", number(o, "limit_ms") / 1000,
		    number(o, "limit_ms") % 1000);
	if (has(o, "signal"))
		say(w, "; it was sent %s", string(o, "signal"));
}

/* Names, or of what has none how much it was. */
static void
say_attempted(struct words *w, const json_t *o)
{
	const json_t *names = json_object_get(o, "names");

	say(w, "%s: ", string(o, "file"));
	if (json_array_size(names) == 0)
		say(w, "%lld without a name", number(o, "total"));
	else
		say_list(w, names, NULL, number(o, "total"));
	if (has(o, "error"))
		say(w, "; the runner would refuse it: %s", string(o, "error"));
}

static void
say_event(struct words *w, enum audit_event event, const json_t *o)
{
	switch (event) {
	case EVENT_TIMEOUT:
		say_timeout(w, o);
		break;
	case EVENT_CANCEL:
		say(w, "legguard was told to end%s%s", has(o, "signal") ? " by " : "",
		    string(o, "signal"));
		break;
	case EVENT_OVERFLOW:
		say(w, "more than %lld bytes of output", number(o, "limit"));
		break;
	case EVENT_CONTENDED:
		say(w, "a guarded file was about to be opened around its mount%s%s",
		    has(o, "path") ? ": " : "", string(o, "path"));
		break;
	case EVENT_LEG_START:
		if (has(o, "pid"))
			say(w, "pid %lld", number(o, "pid"));
		break;
	case EVENT_LEG_END:
		say_leg_end(w, o);
		break;
	case EVENT_SURVIVOR:
		say(w, "%s", string(o, "name"));
		if (has(o, "pid"))
			say(w, " (pid %lld)", number(o, "pid"));
		say(w, "%s%s", has(o, "how") ? ": " : "", string(o, "how"));
		break;
	case EVENT_SWEEP:
		say_sweep(w, o);
		break;
	case EVENT_TAMPER:
		say_tamper(w, o);
		break;
	case EVENT_ATTEMPTED:
		say_attempted(w, o);
		break;
	case EVENT_COMMAND:
		say(w, "%s, ", string(o, "name"));
		say(w, number(o, "count") == 1 ? "once" : "%lld times", number(o, "count"));
		say(w, ": %s", string(o, "action"));
		break;
	case EVENT_IMPORT:
		say(w, "%s %s: %s%s%s", string(o, "kind"), string(o, "name"), string(o, "result"),
		    has(o, "reason") ? ", " : "", string(o, "reason"));
		break;
	case EVENT_PUBLISH:
		say_list(w, json_object_get(o, "outputs"), "name", 0);
		break;
	case EVENT_START:
	case EVENT_SNAPSHOT:
	case EVENT_END:
	case EVENTS:
		break;
	}
}

char *
words_event(const struct run_event *event)
{
	struct words w;

	begin(&w);
	say_event(&w, event->event, event->root);
	return end(&w);
}

/* --- runs */

char *
words_class(const struct run *r)
{
	struct words w;

	begin(&w);
	say(&w, "%s", r->end != NULL ? string(r->end, "class") : "no end");
	return end(&w);
}

char *
words_end(const struct run *r)
{
	struct words w;

	begin(&w);
	if (r->end == NULL)
		say(&w, "the record has no end of it: it is going on, or legguard was killed");
	else
		say(&w, "exit status %lld, %s%s%s", number(r->end, "exit_status"),
		    strcmp(string(r->end, "origin"), "leg") == 0 ? "the leg's own"
								 : "given by legguard",
		    has(r->end, "error") ? ": " : "", string(r->end, "error"));
	return end(&w);
}

char *
words_where(const struct run *r)
{
	static const struct {
		const char *name, *before;
	} parts[] = {{"repository", ""}, {"workflow", ""}, {"job", "job "}, {"step", "step "},
	    {"run_id", "run "}, {"run_attempt", "attempt "}};
	const json_t *o = json_object_get(r->start, "workflow");
	struct words w;
	size_t n = 0;

	if (json_object_size(o) == 0)
		return NULL;
	begin(&w);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (has(o, parts[i].name))
			say(&w, "%s%s%s", n++ > 0 ? ", " : "", parts[i].before,
			    string(o, parts[i].name));
	return end(&w);
}

char *
words_confinement(const struct run *r)
{
	struct words w;

	begin(&w);
	if (r->start == NULL)
		say(&w, "its start is not in the record");
	else
		say(&w, "isolation %s, view %s", string(r->start, "isolation"),
		    string(r->start, "view"));
	if (has(r->end, "proof"))
		say(&w, "; proof that all of it is dead: %s", string(r->end, "proof"));
	return end(&w);
}

char *
words_files(const struct run *r)
{
	struct words w;

	begin(&w);
	say(&w, "%" PRIu64 " guarded", r->count[EVENT_SNAPSHOT]);
	if (has(r->end, "restored"))
		say(&w, is_true(r->end, "restored") ? "; they read as before"
						    : "; NOT ALL ARE AS BEFORE");
	if (has(r->end, "published"))
		say(&w, is_true(r->end, "published") ? "; outputs published"
						     : "; no outputs published");
	return end(&w);
}

char *
words_program(const struct run *r)
{
	const json_t *program = json_object_get(r->start, "executable");
	struct words w;

	begin(&w);
	say(&w, "%s", has(program, "path") ? string(program, "path") : "not recorded");
	if (has(r->start, "argc"))
		say(&w, ", %lld argument%s", number(r->start, "argc"),
		    number(r->start, "argc") == 1 ? "" : "s");
	if (has(program, "sha256"))
		say(&w, ", SHA-256 %s", string(program, "sha256"));
	return end(&w);
}

/* Its form was checked when the line was read. */
char *
words_time(const char time[LINE_TIME])
{
	struct words w;

	begin(&w);
	say(&w, "%.10s %.8s UTC", time, time + 11);
	return end(&w);
}

char *
words_duration(int64_t us)
{
	struct words w;
	int64_t seconds = us / 1000000;

	begin(&w);
	if (us < 0)
		say(&w, "unknown");
	else if (us < 1000)
		say(&w, "%" PRId64 " us", us);
	else if (seconds < 1)
		say(&w, "%" PRId64 " ms", us / 1000);
	else if (seconds < 60)
		say(&w, "%" PRId64 ".%03" PRId64 " s", seconds, us % 1000000 / 1000);
	else if (seconds < 3600)
		say(&w, "%" PRId64 " min %" PRId64 " s", seconds / 60, seconds % 60);
	else
		say(&w, "%" PRId64 " h %" PRId64 " min", seconds / 3600, seconds / 60 % 60);
	return end(&w);
}
