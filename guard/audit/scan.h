/*
 * The quick way through a line: whether it is certainly one JSON object, and where its members are.
 *
 * A record is read far more often than it is looked into, and building jansson's objects takes ten times as long as
 * hashing the bytes. So this walks over the line once and keeps nothing but spans. It accepts less than jansson does, and
 * never more (with duplicate keys rejected): whatever is out of the ordinary (a key with an escape or with many neighbours, a
 * fraction, a surrogate, a deep nesting) it leaves to jansson, which alone says that a line is wrong. Pure.
 */
#ifndef GUARD_AUDIT_SCAN_H
#define GUARD_AUDIT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum {
	SCAN_MEMBERS = 32, /* of one object */
	SCAN_DEPTH = 8,
};

/* A value. Only a string without escapes has a text, and only an integer a number. */
struct scan_value {
	json_type type;
	const char *text; /* in the line, not terminated; NULL if it would have to be decoded */
	size_t size;
	int64_t number;
};

struct scan {
	struct scan_member {
		const char *name;
		size_t size;
		struct scan_value value;
	} list[SCAN_MEMBERS];
	size_t count;
	size_t
	    next; /* where the next search begins: members are asked for in the order in which they come */
};

/* True if text is an object; *s then points into it. False: ask jansson. */
bool scan_object(struct scan *s, const char *text, size_t size);

/* The member of that name; NULL if there is none. */
const struct scan_value *scan_get(struct scan *s, const char *name);

#endif
