/* One line of an audit record. See line.h. */
#include "guard/audit/line.h"

#include "bindmount/error.h"
#include "guard/audit/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MEMBERS = 14 }; /* of one event at the most, and an end of the list */

static const char *const names[EVENTS] = {
    [EVENT_START] = "start",
    [EVENT_SNAPSHOT] = "snapshot",
    [EVENT_LEG_START] = "leg-start",
    [EVENT_TIMEOUT] = "timeout",
    [EVENT_CANCEL] = "cancel",
    [EVENT_OVERFLOW] = "overflow",
    [EVENT_CONTENDED] = "contended",
    [EVENT_LEG_END] = "leg-end",
    [EVENT_SURVIVOR] = "survivor",
    [EVENT_SWEEP] = "sweep",
    [EVENT_TAMPER] = "tamper",
    [EVENT_ATTEMPTED] = "attempted",
    [EVENT_COMMAND] = "command",
    [EVENT_IMPORT] = "import",
    [EVENT_PUBLISH] = "publish",
    [EVENT_END] = "end",
};

/*
 * The members of each event that somebody here reads, in the order in which they are written. One that is not required may
 * be missing, or null, which says the same; of another type it may not be.
 */
static const struct member {
	const char *name;
	json_type type; /* JSON_TRUE: a truth value */
	bool required;
} members[EVENTS][MEMBERS] = {
    [EVENT_START] =
	{
	    {"tool", JSON_STRING, true},
	    {"kernel", JSON_STRING, false},
	    {"isolation", JSON_STRING, false},
	    {"view", JSON_STRING, false},
	    {"promises", JSON_OBJECT, false},
	    {"workflow", JSON_OBJECT, false},
	    {"executable", JSON_OBJECT, false},
	    {"argc", JSON_INTEGER, false},
	    {"argv", JSON_ARRAY, false},
	    {"env", JSON_ARRAY, false},
	    {"parents", JSON_ARRAY, false},
	},
    [EVENT_SNAPSHOT] =
	{
	    {"path", JSON_STRING, true},
	    {"size", JSON_INTEGER, false},
	},
    [EVENT_LEG_START] =
	{
	    {"pid", JSON_INTEGER, false},
	},
    [EVENT_TIMEOUT] =
	{
	    {"limit_ms", JSON_INTEGER, false},
	    {"signal", JSON_STRING, false},
	},
    [EVENT_CANCEL] =
	{
	    {"signal", JSON_STRING, false},
	},
    [EVENT_OVERFLOW] =
	{
	    {"limit", JSON_INTEGER, false},
	},
    [EVENT_LEG_END] =
	{
	    {"exit_code", JSON_INTEGER, false},
	    {"signal", JSON_STRING, false},
	    {"exec_errno", JSON_STRING, false},
	    {"rusage", JSON_OBJECT, false},
	    {"out_bytes", JSON_INTEGER, false},
	    {"err_bytes", JSON_INTEGER, false},
	},
    [EVENT_SURVIVOR] =
	{
	    {"pid", JSON_INTEGER, false},
	    {"name", JSON_STRING, true},
	    {"how", JSON_STRING, false},
	},
    [EVENT_SWEEP] =
	{
	    {"mode", JSON_STRING, false},
	    {"clean", JSON_TRUE, false},
	    {"found", JSON_ARRAY, false},
	    {"total", JSON_INTEGER, false},
	},
    [EVENT_TAMPER] =
	{
	    {"kind", JSON_STRING, true},
	    {"path", JSON_STRING, true},
	    {"restored", JSON_TRUE, true},
	    {"detail", JSON_STRING, false},
	    {"before", JSON_OBJECT, false},
	    {"after", JSON_OBJECT, false},
	},
    [EVENT_ATTEMPTED] =
	{
	    {"file", JSON_STRING, true},
	    {"names", JSON_ARRAY, false},
	    {"total", JSON_INTEGER, false},
	},
    [EVENT_COMMAND] =
	{
	    {"name", JSON_STRING, true},
	    {"count", JSON_INTEGER, false},
	    {"action", JSON_STRING, true},
	},
    [EVENT_IMPORT] =
	{
	    {"kind", JSON_STRING, true},
	    {"name", JSON_STRING, false},
	    {"result", JSON_STRING, true},
	    {"reason", JSON_STRING, false},
	},
    [EVENT_PUBLISH] =
	{
	    {"outputs", JSON_ARRAY, true},
	},
    [EVENT_END] =
	{
	    {"class", JSON_STRING, true},
	    {"exit_status", JSON_INTEGER, true},
	    {"origin", JSON_STRING, true},
	    {"tampered", JSON_TRUE, true},
	    {"reaped", JSON_TRUE, false},
	    {"proof", JSON_STRING, false},
	    {"survivors", JSON_INTEGER, false},
	    {"restored", JSON_TRUE, false},
	    {"published", JSON_TRUE, false},
	    {"duration_us", JSON_INTEGER, false},
	    {"error", JSON_STRING, false},
	},
};

const char *
line_event_name(enum audit_event event)
{
	return names[event];
}

static int __attribute__((format(printf, 3, 4)))
complain(struct line_problem *p, enum line_fault fault, const char *format, ...)
{
	char text[sizeof p->text];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	p->fault = fault;
	error_visible(p->text, sizeof p->text, text);
	return -1;
}

/* A digit's value and one; 0: it is none. */
static const unsigned char hex_values[256] = {
    ['0'] = 1,
    ['1'] = 2,
    ['2'] = 3,
    ['3'] = 4,
    ['4'] = 5,
    ['5'] = 6,
    ['6'] = 7,
    ['7'] = 8,
    ['8'] = 9,
    ['9'] = 10,
    ['a'] = 11,
    ['b'] = 12,
    ['c'] = 13,
    ['d'] = 14,
    ['e'] = 15,
    ['f'] = 16,
};

int
line_parse_hex(unsigned char *out, size_t size, const char *text)
{
	for (size_t i = 0; i < size; i++) {
		unsigned high = hex_values[(unsigned char)text[2 * i]];
		unsigned low = high > 0 ? hex_values[(unsigned char)text[2 * i + 1]] : 0;

		if (low == 0)
			return -1;
		out[i] = (unsigned char)((high - 1) << 4 | (low - 1));
	}
	return 0;
}

char *
line_hex(char *text, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * size] = '\0';
	return text;
}

/* A line's members, by either way of reading it. */
struct source {
	struct scan scan;
	json_t *root; /* if jansson read it, else NULL */
	struct scan_value value;
};

/* NULL if there is none. Valid until the next call. */
static const struct scan_value *
get(struct source *s, const char *name)
{
	const json_t *value;

	if (s->root == NULL)
		return scan_get(&s->scan, name);
	value = json_object_get(s->root, name);
	if (value == NULL)
		return NULL;
	s->value = (struct scan_value){json_typeof(value), json_string_value(value),
	    json_string_length(value), json_integer_value(value)};
	return &s->value;
}

static bool
is_text(const struct scan_value *v)
{
	return v != NULL && v->type == JSON_STRING && v->text != NULL;
}

/* A member that is a string of as many hexadecimal digits; *has tells whether it is there, if it need not be. */
static int
read_hex(struct source *s, const char *name, unsigned char *out, size_t size, bool *has,
    struct line_problem *p)
{
	const struct scan_value *v = get(s, name);

	if (has != NULL)
		*has = v != NULL;
	if (v == NULL && has != NULL)
		return 0;
	if (!is_text(v) || v->size != 2 * size || line_parse_hex(out, size, v->text) != 0)
		return complain(p, LINE_NO_EVENT, "\"%s\" is not %zu lower-case hexadecimal digits",
		    name, 2 * size);
	return 0;
}

/* No more than the form: a record is not the place to argue about leap seconds. */
static int
read_time(struct audit_line *l, struct source *s, struct line_problem *p)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";
	const struct scan_value *v = get(s, "time");
	bool good = is_text(v) && v->size == sizeof form - 1;

	for (size_t i = 0; good && i < sizeof form - 1; i++)
		good =
		    form[i] == 'd' ? v->text[i] >= '0' && v->text[i] <= '9' : v->text[i] == form[i];
	if (!good)
		return complain(
		    p, LINE_NO_EVENT, "\"time\" is not as in 2026-11-29T23:38:50.123456Z");
	memcpy(l->time, v->text, sizeof form - 1);
	return 0;
}

static int
read_number(struct source *s, const char *name, int64_t *number, struct line_problem *p)
{
	const struct scan_value *v = get(s, name);

	if (v == NULL || v->type != JSON_INTEGER || v->number < 0)
		return complain(p, LINE_NO_EVENT, "\"%s\" is not a number from 0", name);
	*number = v->number;
	return 0;
}

static int
read_event(struct audit_line *l, struct source *s, struct line_problem *p)
{
	const struct scan_value *v = get(s, "event");

	if (!is_text(v))
		return complain(p, LINE_NO_EVENT, "\"event\" is no string");
	for (l->event = 0; l->event < EVENTS; l->event++)
		if (strlen(names[l->event]) == v->size &&
		    memcmp(names[l->event], v->text, v->size) == 0)
			return 0;
	return complain(p, LINE_NO_EVENT, "the event %.*s is not known",
	    v->size < 40 ? (int)v->size : 40, v->text);
}

static bool
fits(const struct scan_value *v, const struct member *m)
{
	if (v == NULL || v->type == JSON_NULL)
		return !m->required;
	return v->type == m->type || (m->type == JSON_TRUE && v->type == JSON_FALSE);
}

static int
check_members(const struct audit_line *l, struct source *s, struct line_problem *p)
{
	for (const struct member *m = members[l->event]; m->name != NULL; m++)
		if (!fits(get(s, m->name), m))
			return complain(p, LINE_NO_EVENT, "\"%s\" of the event %s is %s", m->name,
			    names[l->event],
			    get(s, m->name) == NULL ? "missing" : "of the wrong type");
	return 0;
}

/* What its place in the chain says of the line itself. */
static int
check_place(const struct audit_line *l, struct line_problem *p)
{
	const char *wrong = NULL;

	if (l->has_prev != (l->seq > 0))
		wrong = l->has_prev ? "a first line has \"prev\"" : "\"prev\" is missing";
	else if (l->seq == 0 && !l->has_file_prev)
		wrong = "\"file_prev\" is missing";
	else if (l->final != (l->event == EVENT_END))
		wrong = l->final ? "it is final and no end" : "it is an end and not final";
	else if ((l->event == EVENT_START) != (l->seq == 0))
		wrong = "a run's first line is its start, and no other is";
	return wrong == NULL ? 0 : complain(p, LINE_NO_EVENT, "%s", wrong);
}

static int
read_place(struct audit_line *l, struct source *s, struct line_problem *p)
{
	const struct scan_value *final;
	int64_t seq = 0;

	if (read_hex(s, "run", l->run, LINE_RUN, NULL, p) != 0 ||
	    read_number(s, "seq", &seq, p) != 0 ||
	    read_hex(s, "prev", l->prev, LINE_HASH, &l->has_prev, p) != 0 ||
	    read_hex(s, "file_prev", l->file_prev, LINE_HASH, &l->has_file_prev, p) != 0 ||
	    read_time(l, s, p) != 0 || read_number(s, "mono_us", &l->mono_us, p) != 0 ||
	    read_event(l, s, p) != 0)
		return -1;
	l->seq = (uint64_t)seq;
	final = get(s, "final");
	l->final = final != NULL;
	if (final != NULL && final->type != JSON_TRUE)
		return complain(p, LINE_NO_EVENT, "\"final\" is not true");
	return check_place(l, p);
}

static int
read_members(struct audit_line *l, struct source *s, struct line_problem *p)
{
	const struct scan_value *v = get(s, "v");

	if (v == NULL || v->type != JSON_INTEGER)
		return complain(p, LINE_NO_EVENT, "\"v\", the version, is no number");
	if (v->number != LINE_VERSION)
		return complain(p, LINE_UNKNOWN, "version %lld of the format is not known, only %d",
		    (long long)v->number, LINE_VERSION);
	return read_place(l, s, p) != 0 ? -1 : check_members(l, s, p);
}

static int
read_slowly(
    struct audit_line *l, struct source *s, const char *text, size_t size, struct line_problem *p)
{
	json_error_t error;

	s->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (s->root == NULL)
		return complain(p, LINE_NO_JSON, "byte %d: %s", error.position, error.text);
	*l = (struct audit_line){.size = size, .root = s->root};
	if (read_members(l, s, p) == 0)
		return 0;
	line_free(l);
	return -1;
}

int
line_read(struct audit_line *l, const char *text, size_t size, bool content, struct line_problem *p)
{
	struct source s;

	*l = (struct audit_line){.size = size};
	*p = (struct line_problem){.fault = LINE_READABLE};
	if (size >= LINE_MAX_SIZE)
		return complain(p, LINE_NO_JSON, "it is longer than %d bytes", LINE_MAX_SIZE);
	/* Blanks around it are what jansson would allow. */
	if (size < 2 || text[0] != '{' || text[size - 1] != '}')
		return complain(p, LINE_NO_JSON, "it does not begin with { and end with }");
	s.root = NULL;
	if (!content && scan_object(&s.scan, text, size) && read_members(l, &s, p) == 0)
		return 0;
	/* Also where the quick way found something wrong: an escape may have been in its way. */
	*p = (struct line_problem){.fault = LINE_READABLE};
	if (read_slowly(l, &s, text, size, p) != 0)
		return -1;
	if (!content) {
		json_decref(l->root);
		l->root = NULL;
	}
	return 0;
}

void
line_free(struct audit_line *l)
{
	json_decref(l->root);
	*l = (struct audit_line){0};
}
