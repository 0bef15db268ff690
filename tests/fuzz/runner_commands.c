/* The runner's search for workflow commands. See runner_commands.h. */
#include "tests/fuzz/runner_commands.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/ucol.h>
#include <unicode/ucoleitr.h>
#include <unicode/usearch.h>
#include <unicode/ustring.h>

enum { IGNORABLE = 0 }; /* a collation element that counts for nothing */

static const char *const cultures[RUNNER_CULTURES] = {"en", "", "ja_JP", "th_TH", "th_TH"};
static UCollator *collators[RUNNER_CULTURES];

/* "token" stands for what an enclosing stop-commands has registered. */
static const char *const names[] = {"set-output", "save-state", "add-mask", "add-matcher",
    "remove-matcher", "warning", "error", "notice", "debug", "group", "endgroup", "echo",
    "stop-commands", "set-env", "add-path", "token"};

bool
runner_commands_open(void)
{
	for (size_t i = 0; i < RUNNER_CULTURES; i++) {
		UErrorCode status = U_ZERO_ERROR;

		collators[i] = ucol_open(cultures[i], &status);
		if (i == RUNNER_CULTURES - 1)
			ucol_setAttribute(
			    collators[i], UCOL_ALTERNATE_HANDLING, UCOL_NON_IGNORABLE, &status);
		if (U_FAILURE(status))
			return false;
	}
	return true;
}

void
runner_commands_close(void)
{
	for (size_t i = 0; i < RUNNER_CULTURES; i++)
		ucol_close(collators[i]);
}

const char *
runner_culture(size_t culture)
{
	return cultures[culture][0] != '\0' ? cultures[culture] : "invariant";
}

/* Char.IsWhiteSpace */
static bool
is_white_space(UChar c)
{
	return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

/* Length of the registered name at text, compared without case, which is followed by one of `ends` or the end; or 0. */
static int32_t
name_at(const UChar *text, int32_t size)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		int32_t n = (int32_t)strlen(names[i]), k = 0;

		while (k < n && k < size && (text[k] | 0x20) == (UChar)(names[i][k] | 0x20))
			k++;
		if (k == n)
			return n;
	}
	return 0;
}

/* String.IndexOf(string), or -1. */
static int32_t
index_of(const UChar *text, int32_t size, const UChar *pattern, int32_t n, size_t culture)
{
	UErrorCode status = U_ZERO_ERROR;
	UStringSearch *search =
	    usearch_openFromCollator(pattern, n, text, size, collators[culture], NULL, &status);
	int32_t found = U_SUCCESS(status) ? usearch_first(search, &status) : USEARCH_DONE;

	if (search != NULL)
		usearch_close(search);
	return U_SUCCESS(status) && found != USEARCH_DONE ? found : -1;
}

/* String.StartsWith(string): by collation elements, the ignorable ones left out. */
static bool
starts_with(const UChar *text, int32_t size, const UChar *pattern, int32_t n, size_t culture)
{
	UErrorCode status = U_ZERO_ERROR;
	UCollationElements *p = ucol_openElements(collators[culture], pattern, n, &status);
	UCollationElements *t = ucol_openElements(collators[culture], text, size, &status);
	bool move_p = true, move_t = true, result;
	int32_t a = 0, b = 0;

	for (;;) {
		a = move_p ? ucol_next(p, &status) : a;
		b = move_t ? ucol_next(t, &status) : b;
		move_p = move_t = true;
		if (a == UCOL_NULLORDER) {
			bool combines = (ucol_primaryOrder(b) == 0) && ucol_secondaryOrder(b) != 0;

			result = b == UCOL_NULLORDER || (b != IGNORABLE && !combines);
			break;
		}
		if (a == IGNORABLE)
			move_t = false;
		else if (b == IGNORABLE)
			move_p = false;
		else if (a != b) {
			result = false;
			break;
		}
	}
	ucol_closeElements(p);
	ucol_closeElements(t);
	return result && U_SUCCESS(status);
}

/* ::name ...::data */
static bool
is_newer_command(const UChar *line, int32_t size, size_t culture)
{
	static const UChar sign[] = {':', ':'};
	int32_t n, end;

	while (size > 0 && is_white_space(*line)) {
		line++;
		size--;
	}
	n = size > 2 ? name_at(line + 2, size - 2) : 0;
	if (n == 0 || !starts_with(line, size, sign, 2, culture))
		return false;
	end = index_of(line + 2, size - 2, sign, 2, culture);
	return end >= 0 && (end == n || (end > n && line[2 + n] == ' '));
}

/* ##[name ...]data */
static bool
is_older_command(const UChar *line, int32_t size, size_t culture)
{
	static const UChar sign[] = {'#', '#', '['}, close[] = {']'};
	bool possible = false;
	int32_t at, end, n;

	for (int32_t i = 0; i + 3 < size && !possible; i++)
		possible = (line[i] | 0x20) >= 'a' && name_at(line + i + 3, size - i - 3) > 0;
	for (int32_t i = 3; i < size && !possible; i++)
		possible = name_at(line + i, size - i) > 0;
	if (!possible || (at = index_of(line, size, sign, 3, culture)) < 0 || at + 3 > size)
		return false;
	n = name_at(line + at + 3, size - at - 3);
	if (n == 0)
		return false;
	end = index_of(line + at, size - at, close, 1, culture);
	return end >= 0 && end - 3 >= n && (end - 3 == n || line[at + 3 + n] == ' ');
}

bool
runner_finds_command(const char *stream, size_t size, size_t culture)
{
	UErrorCode status = U_ZERO_ERROR;
	int32_t n = 0, start = 0, room = (int32_t)size + 1;
	UChar *text = malloc((size_t)room * sizeof *text);
	bool found = false;

	if (size >= 2 &&
	    (memcmp(stream, "\xff\xfe", 2) == 0 || memcmp(stream, "\xfe\xff", 2) == 0)) {
		free(text);
		return true; /* it would be read as something else altogether */
	}
	if (size >= 3 && memcmp(stream, "\xef\xbb\xbf", 3) == 0) {
		stream += 3;
		size -= 3;
	}
	u_strFromUTF8WithSub(text, room, &n, stream, (int32_t)size, 0xfffd, NULL, &status);
	for (int32_t i = 0; i <= n && !found; i++)
		if (i == n || text[i] == '\n' || text[i] == '\r') {
			found = is_newer_command(text + start, i - start, culture) ||
			        is_older_command(text + start, i - start, culture);
			start = i + 1;
		}
	free(text);
	return found;
}
