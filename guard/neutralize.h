/*
 * Making workflow commands in the leg's output inert.
 *
 * The runner reads each line of a step's stdout and stderr and acts on `::name ...::data` at a line's start and on
 * `##[name ...]data` anywhere in one (actions/runner 2.336). This lets every byte through and inserts a backslash where
 * one of these could begin:
 *
 * - At a line's start, after white space as .NET trims it, behind two colons (":" or the full-width one, which some
 *   cultures take for one), unless white space follows. In what looks like an IPv6 address, as in "::1 " or
 *   "::ffff:192.0.2.1", nothing is inserted unless two colons follow in the same line: then one goes between these.
 * - Behind "##[" wherever it is, each sign in ASCII or full-width.
 * - A byte-order mark of UTF-16 or UTF-32 at the stream's start, which would switch the runner's decoder, becomes U+FFFD.
 * - A stream that ends within what could begin one, or within a code point, gets a newline, so that what is written
 *   next can't complete it.
 *
 * It goes by shape and not by a list of names, since the token of an enclosing stop-commands is a name, too. The result
 * does not depend on how the stream is cut. Pure.
 */
#ifndef GUARD_NEUTRALIZE_H
#define GUARD_NEUTRALIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NEUTRALIZE_NAMES = 16, /* registered names, and at index 0 all others */
	NEUTRALIZE_NAME = 24,  /* longer than the longest */
	NEUTRALIZE_HELD = 4,   /* bytes that can be held back at the most */
};

/* Zero is the beginning of a stream. All the module's own but count. */
struct neutralizer {
	uint64_t
	    count[NEUTRALIZE_NAMES]; /* how many were made inert, by index of neutralize_name() */
	bool begun;                  /* the byte-order mark has been looked for */
	unsigned char held[NEUTRALIZE_HELD];
	size_t n_held;
	int state;
	unsigned char sequence[3]; /* the beginning of a code point that may matter */
	size_t n_sequence;
	int hashes;  /* that were just before: 0, 1, or 2 for more */
	bool colon;  /* in an address: one was just before */
	int digits;  /* of what may be an address */
	bool naming; /* the name behind an inserted backslash is being read */
	char name[NEUTRALIZE_NAME];
	size_t name_size;
};

/* How much room the result of size bytes, or of the end, may take. */
#define NEUTRALIZE_ROOM(size) ((size) + (size) / 2 + 16)

/* Pass size bytes through, into out. Returns how many that made. */
size_t neutralize(struct neutralizer *n, const void *in, size_t size, char *out);

/* The stream ends: what was held back, and what the end itself takes. */
size_t neutralize_end(struct neutralizer *n, char *out);

/* "set-output"; "other" at index 0, NULL behind the last. */
const char *neutralize_name(size_t index);

#endif
