/* neutralize: no workflow command comes out, everything else comes out as it went in, however the stream is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/neutralize.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof list / sizeof list[0])

/* What comes out if size bytes go in, the first `cut` of them in one piece and the rest in pieces of `piece`. */
static char *
filter(struct neutralizer *n, const char *in, size_t size, size_t cut, size_t piece, size_t *made)
{
	char *out = malloc(4 * size + 64);

	*n = (struct neutralizer){0};
	*made = neutralize(n, in, cut, out);
	for (size_t at = cut; at < size; at += piece)
		*made += neutralize(n, in + at, size - at < piece ? size - at : piece, out + *made);
	*made += neutralize_end(n, out + *made);
	return out;
}

static void
expect(const char *in, size_t size, const char *out, size_t expected)
{
	for (size_t cut = 0; cut <= size; cut++)
		for (size_t piece = 1; piece <= 3; piece++) {
			struct neutralizer n;
			size_t made;
			char *got = filter(&n, in, size, cut, piece, &made);

			if (made != expected || memcmp(got, out, made) != 0)
				fail_msg("%s, cut at %zu and each %zu: %.*s", in, cut, piece,
				    (int)made, got);
			free(got);
		}
}

#define EXPECT(in, out) expect(in, sizeof in - 1, out, sizeof out - 1)
#define UNTOUCHED(text) EXPECT(text, text)

static void
commands_at_a_lines_start_get_a_backslash(void **state)
{
	(void)state;
	EXPECT("::set-output name=a::b\n", "::\\set-output name=a::b\n");
	EXPECT("x\n::add-mask::y", "x\n::\\add-mask::y");
	EXPECT("x\r::debug::y\r\n::echo::on\n", "x\r::\\debug::y\r\n::\\echo::on\n");
	EXPECT(" \t\v\f ::error::x\n", " \t\v\f ::\\error::x\n");
	EXPECT(
	    "\xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x8a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80"
	    "\xaf\xe2\x81\x9f\xe3\x80\x80::x\n",
	    "\xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x8a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80"
	    "\xaf\xe2\x81\x9f\xe3\x80\x80::\\x\n");
	EXPECT("\xef\xbb\xbf::x\n", "\xef\xbb\xbf::\\x\n");
	EXPECT(":::x\n", "::\\:x\n");
	EXPECT("::::\n", "::\\::\n");
	EXPECT("\xef\xbc\x9a:x", "\xef\xbc\x9a:\\x");
	EXPECT(":\xef\xbc\x9ax", ":\xef\xbc\x9a\\x");
	EXPECT("\xef\xbc\x9a\xef\xbc\x9a\xff", "\xef\xbc\x9a\xef\xbc\x9a\\\xff");
	EXPECT("::\xe2\x80\x8bx", "::\\\xe2\x80\x8bx");
	EXPECT("::\0", "::\\\0");
	EXPECT("::token::\n", "::\\token::\n");
}

static void
the_older_form_gets_one_wherever_it_is(void **state)
{
	(void)state;
	EXPECT("##[set-output name=a]b\n", "##[\\set-output name=a]b\n");
	EXPECT("x ##[add-mask]y##[z]", "x ##[\\add-mask]y##[\\z]");
	EXPECT("###[a]", "###[\\a]");
	EXPECT("##[##[a]", "##[\\##[\\a]");
	EXPECT("#\xef\xbc\x83[x", "#\xef\xbc\x83[\\x");
	EXPECT("\xef\xbc\x83#\xef\xbc\xbbx", "\xef\xbc\x83#\xef\xbc\xbb\\x");
	EXPECT("::##[x", "::\\##[\\x");
	EXPECT("##[", "##[\\");
	EXPECT("##[\n", "##[\\\n");
}

static void
a_foreign_byte_order_mark_is_replaced(void **state)
{
	(void)state;
	EXPECT("\xff\xfe", "\xef\xbf\xbd");
	EXPECT("\xff\xfe:\0:\0", "\xef\xbf\xbd:\0:\0");
	EXPECT("\xfe\xff\0:\0:", "\xef\xbf\xbd\0:\0:");
	EXPECT("\xff\xfe\0\0", "\xef\xbf\xbd\0\0");
	EXPECT("\0\0\xfe\xff\0\0\0:", "\xef\xbf\xbd\0\0\0:");
	EXPECT("\xff", "\xff\n");
	EXPECT("\0\0\xfe", "\0\0\xfe\n");
	EXPECT("\xef\xbb", "\xef\xbb\n");
	UNTOUCHED("a\xff\xfe");
	EXPECT("\xfe::x", "\xfe::x");
	EXPECT("\xef\xbb\xbf\xff\xfe", "\xef\xbb\xbf\xff\xfe");
}

static void
ordinary_text_is_left_alone(void **state)
{
	(void)state;
	UNTOUCHED("");
	UNTOUCHED("hello\nworld\n");
	UNTOUCHED("std::cout << a::b;\n");
	UNTOUCHED("\tstd::x\n");
	UNTOUCHED("main :: Int\n:: Int\n::\n :: \n::\t\n");
	UNTOUCHED("::\xe2\x80\xa8x\n");
	UNTOUCHED("#[derive(Debug)]\n## [1.2.0]\n# # [x]\n##\n[x]\n");
	UNTOUCHED("a: b\n:a\n: :\n");
	UNTOUCHED("::1 localhost\n::1\n::1/128\n::1%lo\n::ffff:192.0.2.1\n::f00:1\n");
	UNTOUCHED("\x1b[32m::x\n");
	UNTOUCHED("caf\xc3\xa9 \xe2\x9c\x93 \xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbc\x8c\n");
	UNTOUCHED("\xc2\xe2\x80\xef\xbc\xff\n");
	UNTOUCHED("no newline");
}

/* Not by holding digits back: the backslash comes behind them if they are no address. */
static void
what_only_begins_like_an_address_is_none(void **state)
{
	(void)state;
	EXPECT("::1::\n", "::1:\\:\n");
	EXPECT("::12345 ::\n", "::1234\\5 ::\n");
	EXPECT("::1x::\n", "::1\\x::\n");
	EXPECT("::1:\xe2\x80\x8d:\n", "::1:\\\xe2\x80\x8d:\n");
	EXPECT("::f\xef\xbc\x9a:\n", "::f\\\xef\xbc\x9a:\n");
	EXPECT("::abc::\n", "::\\abc::\n");
	EXPECT("::1234 ::\n", "::1234 :\\:\n");
	EXPECT("::f00d ::x::\n", "::f00d :\\:x:\\:\n");
	EXPECT("::12/x::\n", "::12/x:\\:\n");
	EXPECT("::1:2 a:\xe2\x80\x8d:b\n", "::1:2 a:\xe2\x80\x8d\\:b\n");
	EXPECT("::1 :\xef\xbc\x9a\n", "::1 :\\\xef\xbc\x9a\n");
	UNTOUCHED("::1 a:b:c :\n::1 x\n");
}

static void
an_unfinished_beginning_is_ended(void **state)
{
	(void)state;
	EXPECT(":", ":\n");
	EXPECT("x\n::", "x\n::\n");
	EXPECT("a #", "a #\n");
	EXPECT("a ##", "a ##\n");
	EXPECT("::1", "::1\n");
	EXPECT("x\n\xc2", "x\n\xc2\n");
	EXPECT("x\n\xe3\x80", "x\n\xe3\x80\n");
	EXPECT("x\xef\xbc", "x\xef\xbc\n");
	UNTOUCHED("x\n ");
	UNTOUCHED("a:");
}

static void
they_are_counted_by_name(void **state)
{
	static const char in[] =
	    "::set-output name=a::b\n::SET-OUTPUT ::\n##[Error]x ##[warning]y\n"
	    "::set-outputs::\n::stop-commands::abc\n::abc::\n::add-path::x\n::";
	static const struct {
		const char *name;
		uint64_t count;
	} expected[] = {{"set-output", 2}, {"error", 1}, {"warning", 1}, {"stop-commands", 1},
	    {"add-path", 1}, {"other", 2}, {"echo", 0}};

	(void)state;
	for (size_t piece = 1; piece < sizeof in; piece++) {
		struct neutralizer n;
		size_t made;

		free(filter(&n, in, sizeof in - 1, 0, piece, &made));
		for (size_t i = 0; i < COUNT(expected); i++)
			for (size_t k = 0; neutralize_name(k) != NULL; k++)
				if (strcmp(neutralize_name(k), expected[i].name) == 0)
					assert_int_equal(n.count[k], expected[i].count);
	}
}

static uint64_t seed = 88172645463325252U;

static uint64_t
random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Streams of the pieces that matter, against the same stream fed byte by byte, which never takes the quick way. */
static void
the_quick_way_and_the_slow_way_agree(void **state)
{
	static const char *const pieces[] = {":", "::", "#", "##[", "[", "\n", "\r", "\r\n", " ",
	    "\t", "a", "set-output", "plain text of a line", "\xef\xbc\x9a", "\xef\xbc\x83",
	    "\xef\xbc\xbb", "\xef", "\xbc", "\xe2\x80\xa8", "\xe2\x80", "\xc2\x85", "\xc2",
	    "\xff\xfe", "\xef\xbb\xbf", "1", "f", "\xff", "another plain line\nand one more\n"};

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char in[1024];
		size_t size = 0, made_slow, made_quick;
		struct neutralizer slow, quick;
		char *a, *b;

		for (int i = (int)(random_number() % 24); i > 0; i--) {
			const char *piece = pieces[random_number() % COUNT(pieces)];

			memcpy(in + size, piece, strlen(piece));
			size += strlen(piece);
		}
		a = filter(&slow, in, size, 0, 1, &made_slow);
		b = filter(&quick, in, size, 0, 1 + random_number() % (size + 1), &made_quick);
		assert_int_equal(made_slow, made_quick);
		assert_memory_equal(a, b, made_slow);
		assert_memory_equal(slow.count, quick.count, sizeof slow.count);
		assert_true(made_slow <= NEUTRALIZE_ROOM(size));
		free(a);
		free(b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(commands_at_a_lines_start_get_a_backslash),
	    cmocka_unit_test(the_older_form_gets_one_wherever_it_is),
	    cmocka_unit_test(a_foreign_byte_order_mark_is_replaced),
	    cmocka_unit_test(ordinary_text_is_left_alone),
	    cmocka_unit_test(what_only_begins_like_an_address_is_none),
	    cmocka_unit_test(an_unfinished_beginning_is_ended),
	    cmocka_unit_test(they_are_counted_by_name),
	    cmocka_unit_test(the_quick_way_and_the_slow_way_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
