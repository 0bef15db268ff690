/* The limits of a leg. See limits.h. */
#include "guard/limits.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct limits limits_default = {
    .timeout = 0, .signal = SIGTERM, .kill_after = 3000, .max_output = UINT64_MAX};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Take digits from *text on. False if there are too many for 64 bits; they are taken all the same. */
static bool
take_number(const char **text, uint64_t *number)
{
	bool fits = true;

	*number = 0;
	for (; is_digit(**text); ++*text)
		fits = fits && !__builtin_mul_overflow(*number, 10, number) &&
		       !__builtin_add_overflow(*number, (uint64_t)(**text - '0'), number);
	return fits;
}

/* Milliseconds of one unit of time, or 0 if it is none. */
static uint64_t
unit_of_time(const char *text)
{
	if (text[0] == '\0' || strcmp(text, "s") == 0)
		return 1000;
	if (strcmp(text, "m") == 0)
		return 60 * 1000;
	if (strcmp(text, "h") == 0)
		return 60 * 60 * 1000;
	return strcmp(text, "d") == 0 ? 24 * 60 * 60 * 1000 : 0;
}

/* The digits after the point in billionths, and one more for what is left beyond those. */
static uint64_t
take_fraction(const char **text)
{
	uint64_t billionths = 0;
	bool rest = false;

	for (int i = 0; i < 9; i++)
		billionths = billionths * 10 + (uint64_t)(is_digit(**text) ? *(*text)++ - '0' : 0);
	for (; is_digit(**text); ++*text)
		rest |= **text != '0';
	return billionths + rest;
}

int
limits_parse_duration(const char *text, int64_t *ms)
{
	const char *at = text;
	uint64_t whole, part = 0, unit, total;
	bool fits = take_number(&at, &whole);
	bool digits = at > text;

	if (*at == '.') {
		at++;
		digits |= is_digit(*at);
		part = take_fraction(&at);
	}
	unit = unit_of_time(at);
	if (!digits || unit == 0)
		return -1;
	part = (part * unit + 999999999) / 1000000000;
	if (!fits || __builtin_mul_overflow(whole, unit, &total) ||
	    __builtin_add_overflow(total, part, &total) || total > INT64_MAX)
		total = INT64_MAX;
	*ms = (int64_t)total;
	return 0;
}

/* Bytes of one unit of size, or 0 if it is none. */
static uint64_t
unit_of_size(const char *text)
{
	static const char prefixes[] = "KMGT";
	char letter = text[0] == 'k' ? 'K' : text[0];
	const char *prefix = letter != '\0' ? strchr(prefixes, letter) : NULL;
	uint64_t base, unit = 1;

	if (letter == '\0')
		return 1;
	if (prefix == NULL)
		return 0;
	if (text[1] == '\0' || strcmp(text + 1, "iB") == 0)
		base = 1024;
	else if (strcmp(text + 1, "B") == 0)
		base = 1000;
	else
		return 0;
	for (const char *p = prefixes; p <= prefix; p++)
		unit *= base;
	return unit;
}

int
limits_parse_size(const char *text, uint64_t *size)
{
	const char *at = text;
	uint64_t number, unit;
	bool fits = take_number(&at, &number);

	unit = unit_of_size(at);
	if (at == text || unit == 0 || !fits || __builtin_mul_overflow(number, unit, size))
		return -1;
	return 0;
}

/* Digits that are all of the text, with a result from low to high. */
static int
parse_within(const char *text, int low, int high, int *number)
{
	const char *at = text;
	uint64_t value;

	if (!take_number(&at, &value) || at == text || *at != '\0' || value > (uint64_t)high ||
	    (int)value < low)
		return -1;
	*number = (int)value;
	return 0;
}

/* What follows RTMIN or RTMAX: nothing, or a number of steps in one direction. */
static int
parse_real_time(const char *rest, int from, char direction, int *sig)
{
	int steps = 0;

	if (rest[0] != '\0' &&
	    (rest[0] != direction || parse_within(rest + 1, 0, SIGRTMAX - SIGRTMIN, &steps) != 0))
		return -1;
	*sig = direction == '+' ? from + steps : from - steps;
	return 0;
}

int
limits_parse_signal(const char *text, int *sig)
{
	static const struct {
		const char *name;
		int sig;
	} second_names[] = {{"IOT", SIGABRT}, {"CLD", SIGCHLD}, {"IO", SIGIO}};

	if (is_digit(text[0]))
		return parse_within(text, 1, SIGSYS, sig) == 0
		           ? 0
		           : parse_within(text, SIGRTMIN, SIGRTMAX, sig);
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	if (strncasecmp(text, "RTMIN", 5) == 0)
		return parse_real_time(text + 5, SIGRTMIN, '+', sig);
	if (strncasecmp(text, "RTMAX", 5) == 0)
		return parse_real_time(text + 5, SIGRTMAX, '-', sig);
	for (int i = 1; i < SIGRTMIN; i++) {
		const char *name = sigabbrev_np(i);

		if (name != NULL && strcasecmp(text, name) == 0) {
			*sig = i;
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof second_names / sizeof second_names[0]; i++)
		if (strcasecmp(text, second_names[i].name) == 0) {
			*sig = second_names[i].sig;
			return 0;
		}
	return -1;
}

const char *
limits_duration_text(char text[LIMITS_TEXT], int64_t ms)
{
	static const struct {
		char letter;
		int64_t ms;
	} units[] = {{'d', 86400000}, {'h', 3600000}, {'m', 60000}, {'s', 1000}};
	int part = (int)(ms % 1000), digits = 3;

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (ms % units[i].ms == 0 && ms > 0) {
			snprintf(
			    text, LIMITS_TEXT, "%" PRId64 "%c", ms / units[i].ms, units[i].letter);
			return text;
		}
	for (; digits > 1 && part % 10 == 0; digits--)
		part /= 10;
	snprintf(text, LIMITS_TEXT, "%" PRId64 ".%0*ds", ms / 1000, digits, part);
	return text;
}

const char *
limits_size_text(char text[LIMITS_TEXT], uint64_t size)
{
	static const char prefixes[] = "TGMK";

	for (int i = 0; prefixes[i] != '\0'; i++) {
		int shift = 10 * (4 - i);

		if (size != 0 && size % (UINT64_C(1) << shift) == 0) {
			snprintf(text, LIMITS_TEXT, "%" PRIu64 "%c", size >> shift, prefixes[i]);
			return text;
		}
	}
	snprintf(text, LIMITS_TEXT, "%" PRIu64, size);
	return text;
}
