/* grammar: what the runner reads without an error is accepted, everything else is refused by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/grammar.h"
#include "guard/utf8.h"
#include "tests/unit/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A literal with its length, so that it may hold NUL. */
#define TEXT(literal) literal, sizeof literal - 1

struct sample {
	const char *text;
	size_t size;
	const char *message; /* part of it, for what is refused */
};

static void
accept(const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct error e = {0};

		if (grammar_check("file", samples[i].text, samples[i].size, &e) != 0)
			fail_msg("sample %zu: %s", i, e.what);
		assert_string_equal(e.what, "");
	}
}

static void
refuse(const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct error e = {0};

		if (grammar_check("file", samples[i].text, samples[i].size, &e) != -1)
			fail_msg("sample %zu was accepted", i);
		if (strstr(e.what, samples[i].message) == NULL)
			fail_msg("sample %zu: %s", i, e.what);
		assert_non_null(strstr(e.what, "file: "));
		assert_string_not_equal(e.cure, "");
	}
}

#define COUNT(list) (sizeof list / sizeof list[0])

static void
what_the_runner_reads_is_accepted(void **state)
{
	static const struct sample samples[] = {
	    {NULL, 0, NULL},
	    {TEXT("\n\n\n"), NULL},
	    {TEXT("a=b\n"), NULL},
	    {TEXT("a=b"), NULL}, /* no last newline: the launcher supplies it */
	    {TEXT("a=\n"), NULL},
	    {TEXT(" = \n"), NULL}, /* a blank is a name */
	    {TEXT("a=b<<c\n"), NULL},
	    {TEXT("a==<<c\r\n"), NULL},
	    {TEXT("a<b=<<c\n"), NULL},
	    {TEXT("a<<E\nE\n"), NULL},
	    {TEXT("a<<E\nb\nc<<F\nE\n"), NULL},
	    {TEXT("a<<E\nb\nE"), NULL}, /* the delimiter may be the last line */
	    {TEXT("a<<E=\n\n\nE=\n"), NULL},
	    {TEXT("a<<<<\n<<\nb=c\n"), NULL},
	    {TEXT("a<< 'E' \nE\n 'E' \n"), NULL},
	    {TEXT("a<<E\r\nE\nE\r\n"), NULL},
	    {TEXT("\0=\0\n"), NULL},
	    {TEXT("a<<\0\n\n\0\n"), NULL},
	    {TEXT("a=\xff\xfe\n\xff=b\n"), NULL},
	    {TEXT("a<<E\n\xff\nE\n"), NULL},
	    {TEXT(
		 "a<<\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
		NULL},
	};

	(void)state;
	accept(samples, COUNT(samples));
}

static void
a_line_that_is_no_entry_is_refused(void **state)
{
	static const struct sample samples[] = {
	    {TEXT("a"), "line 1: neither"},
	    {TEXT("a=b\n\nhello\nc=d\n"), "line 3: neither"},
	    {TEXT(" \n"), "line 1: neither"},
	    {TEXT("\n\r\n"), "line 2: neither"},
	    {TEXT("a<b\n"), "line 1: neither"},
	    {TEXT("a<<E\nx\nE\n<\n"), "line 4: neither"},
	    {TEXT("\0"), "line 1: neither"},
	    {TEXT("a=b\n=v\n"), "line 2: the name before ="},
	    {TEXT("=<<E\n"), "line 1: the name before ="},
	    {TEXT("<<E\nE\n"), "line 1: the name or the delimiter"},
	    {TEXT("a<<\n\n"), "line 1: the name or the delimiter"},
	    {TEXT("<<"), "line 1: the name or the delimiter"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
an_open_heredoc_is_refused(void **state)
{
	static const struct sample samples[] = {
	    {TEXT("a<<E"), "line 1: the heredoc is never closed"},
	    {TEXT("a<<E\n"), "line 1: the heredoc is never closed"},
	    {TEXT("x=y\na<<E\nb\nE \n e\n"), "line 2: the heredoc is never closed"},
	    {TEXT("a<<E\nE\r\n"), "line 1: the heredoc is never closed"},
	    {TEXT("a<<E\nb\nc"), "line 3: the last line of an open heredoc"},
	    {TEXT("a<<E\nE\nb<<F\nE"), "line 4: the last line of an open heredoc"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
a_delimiter_that_decoding_changes_is_refused(void **state)
{
	static const struct sample samples[] = {
	    {TEXT("a<<\xff\n\xff\n"), "line 1: the delimiter"},
	    {TEXT("a<<\xef\xbf\xbd\n\xff\nb<<E\n\xef\xbf\xbd\n"), "line 1: the delimiter"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
only_the_byte_order_mark_of_utf8_is_dropped(void **state)
{
	static const struct sample good[] = {
	    {TEXT("\xef\xbb\xbf"), NULL},
	    {TEXT("\xef\xbb\xbf\na=b\n"), NULL},
	    {TEXT("a=\xff\xfe"), NULL},
	    {TEXT("a=b\n\xfe\xff=c\n"), NULL},
	};
	static const struct sample bad[] = {
	    {TEXT("\xff\xfe"), "byte-order mark"},
	    {TEXT("\xff\xfe\0\0a=b\n"), "byte-order mark"},
	    {TEXT("\xfe\xff\0a"), "byte-order mark"},
	    {TEXT("\0\0\xfe\xff\0\0\0a"), "byte-order mark"},
	    {TEXT("\0\0\xfe"), "line 1: neither"},
	    {TEXT("\xef\xbb\xbf=v\n"), "line 1: the name before ="},
	    {TEXT("\xef\xbb\xbf\xef\xbb\xbf\n"), "line 1: neither"},
	};

	(void)state;
	accept(good, COUNT(good));
	refuse(bad, COUNT(bad));
}

/* It may be a secret that was written without a name. */
static void
a_bad_line_is_not_repeated_in_the_message(void **state)
{
	struct error e = {0};

	(void)state;
	assert_int_equal(grammar_check("file", TEXT("hunter2\n"), &e), -1);
	assert_null(strstr(e.what, "hunter2"));
}

static void
well_formed_text_without_replacement_is_faithful(void **state)
{
	static const struct sample good[] = {{TEXT(""), NULL}, {TEXT("a\0\x7f"), NULL},
	    {TEXT("\xc2\x80\xdf\xbf"), NULL}, {TEXT("\xe0\xa0\x80\xec\xbf\xbf"), NULL},
	    {TEXT("\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"), NULL},
	    {TEXT("\xf0\x90\x80\x80\xf3\xbf\xbf\xbf\xf4\x8f\xbf\xbf"), NULL},
	    {TEXT("\xef\xbb\xbf\xef\xbf\xbc"), NULL}};
	static const struct sample bad[] = {{TEXT("\x80"), NULL}, {TEXT("\xc0\x80"), NULL},
	    {TEXT("\xc2"), NULL}, {TEXT("\xc2\x41"), NULL}, {TEXT("\xc2\xc0"), NULL},
	    {TEXT("\xe0\x9f\xbf"), NULL}, {TEXT("\xe1\x80\x41"), NULL}, {TEXT("\xe1\x80"), NULL},
	    {TEXT("\xed\xa0\x80"), NULL}, {TEXT("\xf0\x8f\xbf\xbf"), NULL},
	    {TEXT("\xf1\x80\x80\xc0"), NULL}, {TEXT("\xf4\x90\x80\x80"), NULL},
	    {TEXT("\xf5\x80\x80\x80"), NULL}, {TEXT("ok\xff"), NULL},
	    {TEXT("a\xef\xbf\xbd"), NULL}};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(utf8_is_faithful(good[i].text, good[i].size));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(utf8_is_faithful(bad[i].text, bad[i].size));
}

static void
print_piece(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\\' || c == '|')
			fprintf(out, "\\%c", c);
		else if (c == '\n' || c == '\r' || c == '\t')
			fprintf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			putc(c, out);
	}
}

struct listing {
	FILE *out;
	size_t n;
};

static int
list_entry(void *arg, const struct grammar_entry *e)
{
	struct listing *l = arg;

	if (l->n++ > 0)
		fputs(" | ", l->out);
	print_piece(l->out, e->name, e->name_size);
	fputs(e->heredoc ? " << " : " = ", l->out);
	print_piece(l->out, e->value, e->value_size);
	return 0;
}

/* What is made of it, fed in pieces of that size. */
static char *
list(const char *text, size_t size, size_t piece)
{
	struct listing l = {0};
	struct grammar g = {.kind = GRAMMAR_PAIRS, .entry = list_entry, .arg = &l};
	char *result = NULL;
	size_t n;
	int failed = 0;

	l.out = open_memstream(&result, &n);
	for (size_t at = 0; at < size && failed == 0; at += piece)
		failed = grammar_feed(&g, text + at, size - at < piece ? size - at : piece);
	if (failed != 0 || grammar_end(&g) != 0) {
		char *message = grammar_message(&g, &n);
		size_t length = n;

		fputs(l.n > 0 ? " | ! " : "! ", l.out);
		print_piece(l.out, message, length);
		free(message);
	}
	fclose(l.out);
	grammar_free(&g);
	return result;
}

static void
every_rule_of_the_runner_is_kept_however_the_file_is_cut(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *expected;
	} cases[] = {
#define CASE(text, expected) {text, sizeof text - 1, expected},
#include "tests/unit/grammar_cases.h"
#undef CASE
	};

	(void)state;
	assert_true(COUNT(cases) >= 150);
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t piece = 1; piece <= cases[i].size + 1; piece++) {
			char *made = list(cases[i].text, cases[i].size, piece);

			if (strcmp(made, cases[i].expected) != 0)
				fail_msg("case %zu in pieces of %zu: %s, not %s", i, piece, made,
				    cases[i].expected);
			free(made);
		}
}

static int
list_path(void *arg, const struct grammar_entry *e)
{
	FILE *out = arg;

	fprintf(out, "%zu:", e->line);
	print_piece(out, e->value, e->value_size);
	putc(';', out);
	return 0;
}

static void
path_files_are_split_at_every_line_end(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
	    {"", ""},
	    {"/a", "1:/a;"},
	    {"/a\n/b\n", "1:/a;2:/b;"},
	    {"/a\r\n/b\r\n", "1:/a;2:/b;"},
	    {"/a\r/b\r", "1:/a;2:/b;"},
	    {"/a\n\r/b", "1:/a;3:/b;"},
	    {"\r\n\r\n/a", "3:/a;"},
	    {"\r\r\n/a\n\n/b", "3:/a;5:/b;"},
	    {"\xef\xbb\xbf/a\n", "1:/a;"},
	    {"a=b\nc<<d\n /x \n", "1:a=b;2:c<<d;3: /x ;"},
	    {"/a\xc2\x85/b\x0b/c\n", "1:/a\\xc2\\x85/b\\x0b/c;"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t piece = 1; piece <= strlen(cases[i].text) + 1; piece++) {
			struct grammar g = {.kind = GRAMMAR_LINES, .entry = list_path};
			char *made = NULL;
			size_t n;

			g.arg = open_memstream(&made, &n);
			for (size_t at = 0; at < strlen(cases[i].text); at += piece)
				assert_int_equal(grammar_feed(&g, cases[i].text + at,
						     strnlen(cases[i].text + at, piece)),
				    0);
			assert_int_equal(grammar_end(&g), 0);
			fclose(g.arg);
			assert_string_equal(made, cases[i].expected);
			free(made);
			grammar_free(&g);
		}
}

/* Every text of up to nine of these signs, against the second telling of the rules. */
static void
it_agrees_with_the_runner_on_all_small_texts(void **state)
{
	static const char signs[] = "a=<\n";
	char text[9];
	struct runner_pair pairs[sizeof text];

	(void)state;
	for (size_t size = 0; size <= sizeof text; size++)
		for (unsigned long code = 0; code < 1UL << 2 * size; code++) {
			struct error e = {0};
			int expected;

			for (size_t i = 0; i < size; i++)
				text[i] = signs[code >> 2 * i & 3];
			expected = runner_read(text, size, pairs, sizeof text) < 0 ? -1 : 0;
			if (grammar_check("file", text, size, &e) != expected)
				fail_msg("%.*s", (int)size, text);
		}
}

/* 32 MiB that a search which starts anew in each line would not get through in time. */
static void
a_large_file_takes_linear_time(void **state)
{
	static const char start[] = "name<<delimiter\n";
	size_t size = 32U << 20;
	char *text = malloc(size);
	struct error e = {0};

	(void)state;
	assert_non_null(text);
	memset(text, '\n', size);
	memcpy(text, start, sizeof start - 1);
	assert_int_equal(grammar_check("file", text, size, &e), -1);
	for (size_t i = 0; i + 4 <= size; i += 4)
		memcpy(text + i, "a=<\n", 4);
	assert_int_equal(grammar_check("file", text, size, &e), 0);
	memset(text, '<', size);
	text[0] = 'a';
	text[size / 2] = '\n';
	assert_int_equal(grammar_check("file", text, size, &e), -1);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_the_runner_reads_is_accepted),
	    cmocka_unit_test(a_line_that_is_no_entry_is_refused),
	    cmocka_unit_test(an_open_heredoc_is_refused),
	    cmocka_unit_test(a_delimiter_that_decoding_changes_is_refused),
	    cmocka_unit_test(only_the_byte_order_mark_of_utf8_is_dropped),
	    cmocka_unit_test(a_bad_line_is_not_repeated_in_the_message),
	    cmocka_unit_test(well_formed_text_without_replacement_is_faithful),
	    cmocka_unit_test(every_rule_of_the_runner_is_kept_however_the_file_is_cut),
	    cmocka_unit_test(path_files_are_split_at_every_line_end),
	    cmocka_unit_test(it_agrees_with_the_runner_on_all_small_texts),
	    cmocka_unit_test(a_large_file_takes_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
