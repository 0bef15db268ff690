/* What is said about a fault of the chain. See links.h. */
#include "guard/audit/links.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[LINKS_KINDS] = {
    [LINKS_UNREADABLE] = "unreadable",
    [LINKS_VERSION] = "version",
    [LINKS_CUT] = "cut",
    [LINKS_CHANGED] = "changed",
    [LINKS_GAP] = "changed-or-missing",
    [LINKS_MISSING] = "missing",
    [LINKS_SWAPPED] = "swapped",
    [LINKS_REPEATED] = "repeated",
    [LINKS_MISPLACED] = "misplaced",
    [LINKS_APART] = "apart",
    [LINKS_TOO_MANY] = "too-many-open",
};

const char *
links_kind_name(enum links_kind kind)
{
	return names[kind];
}

static void __attribute__((format(printf, 2, 3)))
say(char text[LINKS_TEXT], const char *format, ...)
{
	size_t size = strlen(text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text + size, LINKS_TEXT - size, format, ap);
	va_end(ap);
}

static void
say_missing(char text[LINKS_TEXT], const struct links_fault *f)
{
	if (f->line == 0)
		say(text,
		    "line %" PRIu64 " has seq %" PRIu64
		    " of run %.8s, and nothing of that run is open before it: "
		    "lines are missing, or it has ended",
		    f->at, f->seq, f->run);
	else if (f->count == 0)
		say(text,
		    "lines of another run are missing between line %" PRIu64 " and line %" PRIu64,
		    f->line, f->at);
	else
		say(text,
		    "%" PRIu64 " line%s of run %.8s %s missing between line %" PRIu64
		    " and line %" PRIu64,
		    f->count, f->count == 1 ? "" : "s", f->run, f->count == 1 ? "is" : "are",
		    f->line, f->at);
}

static void
say_what(char text[LINKS_TEXT], const struct links_fault *f)
{
	switch (f->kind) {
	case LINKS_UNREADABLE:
		say(text, "line %" PRIu64 " is no line of a record: %s", f->line, f->why);
		break;
	case LINKS_VERSION:
		say(text, "line %" PRIu64 " can't be checked: %s", f->line, f->why);
		break;
	case LINKS_CUT:
		say(text, "line %" PRIu64 " is cut off: the file ends in it", f->line);
		break;
	case LINKS_CHANGED:
		say(text,
		    "line %" PRIu64 " was changed: line %" PRIu64
		    " holds the hash of something else",
		    f->line, f->at);
		break;
	case LINKS_GAP:
		if (f->line == 0)
			say(text, "what stood before line %" PRIu64 " is missing", f->at);
		else
			say(text,
			    "line %" PRIu64
			    " was changed, or what stood between it and line %" PRIu64
			    " is missing",
			    f->line, f->at);
		break;
	case LINKS_MISSING:
		say_missing(text, f);
		break;
	case LINKS_SWAPPED:
		say(text, "line %" PRIu64 " and line %" PRIu64 " have changed places", f->line,
		    f->at);
		break;
	case LINKS_REPEATED:
		say(text, "line %" PRIu64 " is a copy of line %" PRIu64, f->at, f->line);
		break;
	case LINKS_MISPLACED:
		say(text,
		    "line %" PRIu64 " is out of place: it has seq %" PRIu64
		    " of run %.8s, which has come to seq %" PRIu64 " with line %" PRIu64,
		    f->at, f->seq, f->run, f->count, f->line);
		break;
	case LINKS_APART:
		say(text,
		    "line %" PRIu64 " can't come right after line %" PRIu64
		    ": something between them was put in, moved or "
		    "taken out",
		    f->at, f->line);
		break;
	case LINKS_TOO_MANY:
		say(text,
		    "more than %d runs have no end at line %" PRIu64 ": the rest can't be checked",
		    LINKS_OPEN_MAX, f->line);
		break;
	case LINKS_KINDS:
		break;
	}
}

const char *
links_text(char text[LINKS_TEXT], const struct links_fault *f)
{
	text[0] = '\0';
	say_what(text, f);
	if (f->doubtful)
		say(text, ", unless line %" PRIu64 " was changed itself", f->at);
	return text;
}
