/*
 * One line of an audit record, read strictly.
 *
 * A line is one JSON object in UTF-8, with its LF at most LINE_MAX_SIZE bytes. A key that is there twice, bytes after the
 * object, ill-formed UTF-8, a NUL or a nesting beyond jansson's limit make it unreadable, as does a member that is missing,
 * or of another type than it has to be. Members that are not known are left alone; an event that is not known is an error,
 * since nobody could say what it means. Pure.
 */
#ifndef GUARD_AUDIT_LINE_H
#define GUARD_AUDIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum {
	LINE_VERSION = 1,
	LINE_MAX_SIZE = 64 * 1024, /* with the LF */
	LINE_RUN = 16,             /* bytes of a run's id */
	LINE_HASH = 32,            /* bytes of a SHA-256 */
	LINE_TIME = 28,            /* "2026-11-29T23:38:50.123456Z" and its end */
};

enum audit_event {
	EVENT_START,
	EVENT_SNAPSHOT,
	EVENT_LEG_START,
	EVENT_TIMEOUT,
	EVENT_CANCEL,
	EVENT_OVERFLOW,
	EVENT_CONTENDED,
	EVENT_LEG_END,
	EVENT_SURVIVOR,
	EVENT_SWEEP,
	EVENT_TAMPER,
	EVENT_ATTEMPTED,
	EVENT_COMMAND,
	EVENT_IMPORT,
	EVENT_PUBLISH,
	EVENT_END,
	EVENTS,
};

/* What every line has, and all of it as it was written. Zero is a line that holds nothing. */
struct audit_line {
	unsigned char run[LINE_RUN];
	uint64_t seq;
	bool has_prev, has_file_prev;
	bool final;
	unsigned char prev[LINE_HASH], file_prev[LINE_HASH];
	enum audit_event event;
	int64_t mono_us;
	char time[LINE_TIME]; /* sorts as text as it does as time */
	size_t size;          /* as it was written, without the LF */
	json_t *
	    root; /* owned; NULL unless the content was asked for. Text in it is anybody's: see text.h */
};

enum line_fault {
	LINE_READABLE,
	LINE_NO_JSON,  /* not one JSON object and nothing else */
	LINE_UNKNOWN,  /* of another version of the format */
	LINE_NO_EVENT, /* a member is missing or of another type, or the event is not known */
	LINE_CUT,      /* the file ends in it: said by whoever reads the file */
};

struct line_problem {
	enum line_fault fault;
	char text[192]; /* why, in plain printable ASCII */
};

/*
 * Read a line without its LF, with all that is in it or only what every line has, which is quicker and as strict. -1 with *p
 * if it can't be read; then there is nothing to free.
 */
int line_read(
    struct audit_line *l, const char *text, size_t size, bool content, struct line_problem *p);
void line_free(struct audit_line *l);

/* "leg-start", ... */
const char *line_event_name(enum audit_event event);

/* From 2 * size lower-case hexadecimal digits; -1 if text holds anything else. */
int line_parse_hex(unsigned char *out, size_t size, const char *text);

/* The other way round; text has room for 2 * size + 1. Returns text. */
char *line_hex(char *text, const unsigned char *bytes, size_t size);

#endif
