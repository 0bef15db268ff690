/*
 * The limits of a leg, and how they are written on the command line.
 *
 * Pure. The parsers return 0, or -1 for what is no such value; they take decimal digits only, never a
 * sign, blanks, an exponent, "inf" or "nan".
 */
#ifndef GUARD_LIMITS_H
#define GUARD_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* When the leg is ended. Times in milliseconds. */
struct limits {
	int64_t timeout;     /* 0: none */
	int signal;          /* what the leg is asked with */
	int64_t kill_after;  /* from then to SIGKILL; 0: at once */
	uint64_t max_output; /* bytes of stdout and stderr together; UINT64_MAX: no limit */
};

/* As long as nothing is asked for. */
extern const struct limits limits_default;

/*
 * A duration as timeout(1) takes it: a number, which may have a fraction, and s, m, h, d, or nothing for
 * seconds. Rounded up to the next millisecond, so that only what is 0 becomes 0; a time that can't be
 * counted becomes INT64_MAX, which never comes.
 */
int limits_parse_duration(const char *text, int64_t *ms);

/*
 * A number of bytes: digits, and k, K, M, G or T for powers of 1024, the same with iB, or with B for
 * powers of 1000. What does not fit is no size.
 */
int limits_parse_size(const char *text, uint64_t *size);

/*
 * A signal by its name with or without SIG, in any case, RTMIN+n and RTMAX-n among them, or by its
 * number. 0 is none, nor are the numbers that the C library keeps to itself.
 */
int limits_parse_signal(const char *text, int *sig);

enum { LIMITS_TEXT = 32 }; /* room for either of these */

/* As a parser would take it, in the largest unit that leaves no remainder: "10m", "90s", "0.25s". */
const char *limits_duration_text(char text[LIMITS_TEXT], int64_t ms);
const char *limits_size_text(char text[LIMITS_TEXT], uint64_t size);

#endif
