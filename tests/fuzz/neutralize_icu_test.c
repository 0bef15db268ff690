/*
 * What comes out of the neutraliser holds no command for the runner, in any culture, however the stream was cut; and what
 * goes in does, or this would show nothing. FUZZ_STREAMS sets how many random streams are made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/neutralize.h"
#include "tests/fuzz/runner_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof list / sizeof list[0])

static size_t
filter(const char *in, size_t size, size_t cut, char *out)
{
	struct neutralizer n = {0};
	size_t made = neutralize(&n, in, cut, out);

	made += neutralize(&n, in + cut, size - cut, out + made);
	return made + neutralize_end(&n, out + made);
}

static void
print(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(stderr, "%02x ", (unsigned char)text[i]);
	fputc('\n', stderr);
}

static void
check(const char *in, size_t size, size_t cut, const char *out, size_t made)
{
	for (size_t c = 0; c < RUNNER_CULTURES; c++)
		if (runner_finds_command(out, made, c)) {
			print(in, size);
			print(out, made);
			fail_msg("a command in culture %s, cut at %zu", runner_culture(c), cut);
		}
}

/* Each of these is a command as it stands, in the cultures of the mask, or is none. */
static const struct {
	const char *text;
	unsigned int cultures;
} cases[] = {
    {"::set-output name=a::b\n", 23},
    {"::SET-OUTPUT name=a::b", 23},
    {" \t\xe3\x80\x80::error::x", 23},
    {"\xef\xbb\xbf::error::x", 23},
    {"x\r::error::x\r", 23},
    {"::token::\n", 23},
    {"::group::", 23},
    {"::error x=y:\xe2\x80\x8d:z\n", 23},
    {"##[error]x\n", 23},
    {"x ##[group name=y]z", 23},
    {"###[debug]x", 23},
    {"##[\xcc\x81##[error]x", 23},
    {"::unknown::x\n", 0},
    {"x::error::y\n", 0},
    {":\xe2\x80\x8d:error::y\n", 0},
    {"::error\n", 0},
    {":: error::x\n", 0},
    {"##[ error]x\n", 0},
    {"\x1c::error::x\n", 0},
};

static void
what_is_a_command_is_one_no_more(void **state)
{
	char out[256];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t size = strlen(cases[i].text);

		for (size_t c = 0; c < RUNNER_CULTURES; c++)
			if (runner_finds_command(cases[i].text, size, c) !=
			    ((cases[i].cultures >> c & 1) != 0))
				fail_msg("%s in %s", cases[i].text, runner_culture(c));
		for (size_t cut = 0; cut <= size; cut++)
			check(cases[i].text, size, cut, out, filter(cases[i].text, size, cut, out));
	}
}

static uint64_t seed = 88172645463325252U;

static uint64_t
number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static const char *const pieces[] = {":", "::", ":::", "#", "##", "##[", "[", "]", " ", "\n", "\r",
    "\t", "error", "error", "set-output", "token", "add-mask", "echo", "1", "f", "12", "abc", "x",
    " name=y", "\xe2\x80\x8d", "\xe2\x80\x8b", "\xef\xbb\xbf", "\xc2\xad", "\xcc\x81",
    "\xef\xbc\x9a", "\xef\xbc\x83", "\xef\xbc\xbb", "\xe3\x80\x80", "\xe2\x80\xa8", "\xc2\x85",
    "\xc2\xa0", "\xef\xb9\x95", "\xef\xb8\x93", "\xcb\x90", "\xe2\x88\xb6", "\xf3\xa0\x80\xa0",
    "\xff", "\xc2", "\xe2\x80", "\xef\xbc", "\xff\xfe", "\\", "\x1c", "\x7f", "\xe0\xb8\xaf",
    "\xd8\x9c", "%0A", "/", "%"};

static void
no_random_stream_holds_one(void **state)
{
	const char *wanted = getenv("FUZZ_STREAMS");
	long long streams = wanted != NULL ? atoll(wanted) : 300000, commands = 0;
	char in[512], out[NEUTRALIZE_ROOM(sizeof in)];

	(void)state;
	for (long long i = 0; i < streams; i++) {
		size_t size = 0, cut;

		for (uint64_t k = 1 + number() % 12; k > 0; k--) {
			const char *piece = pieces[number() % COUNT(pieces)];

			memcpy(in + size, piece, strlen(piece));
			size += strlen(piece);
		}
		commands += runner_finds_command(in, size, (size_t)i % RUNNER_CULTURES);
		cut = number() % (size + 1);
		check(in, size, cut, out, filter(in, size, cut, out));
	}
	print_message("%lld streams, of which %lld held a command before\n", streams, commands);
	assert_true(commands > 0);
}

static int
set_up(void **state)
{
	(void)state;
	return runner_commands_open() ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	runner_commands_close();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_a_command_is_one_no_more),
	    cmocka_unit_test(no_random_stream_holds_one),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
