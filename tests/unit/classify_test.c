/* classify: the class comes from one result that is the last message and agrees with the exit status, or is error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/classify.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list)    (sizeof list / sizeof list[0])
#define EXITED(status) ((status) << 8)

static enum lane
classify(const char *text, size_t size, int wait_status, size_t piece)
{
	struct classifier c = {0};
	enum lane lane;

	for (size_t at = 0; at < size; at += piece)
		classify_feed(&c, text + at, size - at < piece ? size - at : piece);
	lane = classify_end(&c, wait_status);
	classify_free(&c);
	return lane;
}

static void
expect(const char *text, int wait_status, enum lane expected)
{
	size_t size = strlen(text);

	for (size_t piece = 1; piece <= size + 1; piece = piece < 4 ? piece + 1 : 3 * piece) {
		enum lane lane = classify(text, size, wait_status, piece);

		if (lane != expected)
			fail_msg("%s in pieces of %zu: %s, not %s", text, piece, lane_name(lane),
			    lane_name(expected));
	}
}

#define API(status, result)                                                                        \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_"              \
	"status\":" status ",\"terminal_reason\":\"api_error\",\"result\":\"" result "\"}"

/* As json, json --verbose and stream-json have it. */
static void
expect_in_each_form(const char *result, int wait_status, enum lane expected)
{
	static const char *const forms[] = {"%s\n",
	    "[{\"type\":\"system\"},{\"type\":\"user\",\"x\":[1]},%s]\n",
	    "{\"type\":\"system\"}\n{\"type\":\"user\",\"x\":[1]}\n%s\n"};

	for (size_t i = 0; i < COUNT(forms); i++) {
		char text[1024];

		assert_true((size_t)snprintf(text, sizeof text, forms[i], result) < sizeof text);
		expect(text, wait_status, expected);
	}
}

static void
every_row_of_the_table_has_its_class(void **state)
{
	static const struct {
		const char *text;
		int status;
		enum lane lane;
	} samples[] = {
	    {"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"hi\"}",
		0, LANE_OK},
	    {API("400", "Credit balance is too low"), 1, LANE_CREDIT_STOP},
	    {API("402", "x"), 1, LANE_CREDIT_STOP},
	    {API("400", "API Error: You have reached your specified API usage limits. More"), 1,
		LANE_CREDIT_STOP},
	    {API("400", "Credit balance is too low?"), 1, LANE_ERROR},
	    {API("400", "image_error"), 1, LANE_ERROR},
	    {API("404", "x"), 1, LANE_ERROR},
	    {API("413", "prompt_too_long"), 1, LANE_ERROR},
	    {API("401", "x"), 1, LANE_AUTH},
	    {API("403", "x"), 1, LANE_AUTH},
	    {API("null", "Not logged in - Please run /login"), 1, LANE_AUTH},
	    {API("429", "x"), 1, LANE_RATE_LIMIT},
	    {API("408", "x"), 1, LANE_OVERLOADED},
	    {API("500", "x"), 1, LANE_OVERLOADED},
	    {API("503", "x"), 1, LANE_OVERLOADED},
	    {API("529", "x"), 1, LANE_OVERLOADED},
	    {API("600", "x"), 1, LANE_ERROR},
	    {API("400", "Credit balance is too low\\u0000"), 1, LANE_ERROR},
	    {API("402.0", "x"), 1, LANE_ERROR},
	    {API("-402", "x"), 1, LANE_ERROR},
	    {API("4294967698", "x"), 1, LANE_ERROR}, /* 402 in 32 bits */
	    {"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":"
	     "413,"
	     "\"terminal_reason\":\"image_error\",\"result\":\"Request too large\"}",
		1, LANE_ERROR},
	    {"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":"
	     "400,"
	     "\"terminal_reason\":\"prompt_too_long\",\"result\":\"Prompt is too long\"}",
		1, LANE_ERROR},
	    {API("null", "Connection reset"), 1, LANE_ERROR},
	    {"{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true,\"errors\":["
	     "\"x\"]}",
		1, LANE_MAX_TURNS},
	    {"{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\",\"is_error\":true}", 1,
		LANE_BUDGET},
	    {"{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true}", 1,
		LANE_ERROR},
	    {"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":"
	     "402}",
		1, LANE_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		expect_in_each_form(samples[i].text, EXITED(samples[i].status), samples[i].lane);
}

#define OK_RESULT                                                                                  \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"a } ] \\\" " \
	"{\"}"

static void
all_three_forms_are_read(void **state)
{
	(void)state;
	expect(OK_RESULT "\n", 0, LANE_OK);
	expect(" \r\n" OK_RESULT " \t\n", 0, LANE_OK);
	expect("[{\"type\":\"system\"},{\"type\":\"assistant\",\"x\":[{}]}," OK_RESULT "]\n", 0,
	    LANE_OK);
	expect("[\n " OK_RESULT "\n]", 0, LANE_OK);
	expect("{\"type\":\"system\"}\n{\"type\":\"assistant\"}\n" OK_RESULT "\n", 0, LANE_OK);
}

static void
anything_else_is_an_error(void **state)
{
	static const char *const samples[] = {"", "\n", "null", "text", "[]", "{}", "[{}]",
	    "{\"type\":\"assistant\"}", OK_RESULT OK_RESULT, OK_RESULT "\n" OK_RESULT "\n",
	    OK_RESULT "\n{\"type\":\"assistant\"}", "[" OK_RESULT ",{}]", "[" OK_RESULT "],",
	    "[" OK_RESULT, "[" OK_RESULT ",]", "[," OK_RESULT "]", "[{}" OK_RESULT "]",
	    "[{},," OK_RESULT "]", OK_RESULT "]", OK_RESULT "x", "x" OK_RESULT, OK_RESULT ",",
	    "[" OK_RESULT "][]", "[[" OK_RESULT "]]", "\"" OK_RESULT "\"",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"is_error\":true}",
	    "{\"type\":\"result\",\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}",
	    "{\"type\":\"result\",\"subtype\":\"success\"}",
	    "{\"type\":\"result\",\"is_error\":false}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":\"false\"}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":0}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":null}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":"
	    "99999999999999999999}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"total_cost_usd\":"
	    "1e999}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"api_error_status\":"
	    "\"402\"}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"x\":\"\xff\"}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,}",
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false",
	    "{\"x\":\"" OK_RESULT};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		expect(samples[i], 0, LANE_ERROR);
}

static void
the_exit_status_has_to_agree(void **state)
{
	(void)state;
	expect(OK_RESULT, EXITED(1), LANE_ERROR);
	expect(OK_RESULT, EXITED(143), LANE_ERROR);
	expect(OK_RESULT, 15, LANE_ERROR); /* a signal */
	expect(API("402", "x"), EXITED(0), LANE_ERROR);
	expect(API("402", "x"), EXITED(2), LANE_ERROR);
}

/* before, n times one character, after */
static enum lane
classify_padded(const char *before, char with, size_t n, const char *after)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	enum lane lane;

	assert_non_null(out);
	fputs(before, out);
	for (size_t i = 0; i < n; i++)
		putc(with, out);
	fputs(after, out);
	assert_int_equal(fclose(out), 0);
	lane = classify(text, size, 0, 4096);
	free(text);
	return lane;
}

static void
depth_and_size_are_bounded(void **state)
{
	static const char begin[] =
	    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"x\":";

	char deep[256];

	(void)state;
	for (size_t depth = CLASSIFY_DEPTH - 2; depth <= CLASSIFY_DEPTH; depth++) {
		size_t n = strlen(strcpy(deep, begin));

		for (size_t i = 0; i < depth; i++)
			deep[n + i] = '[';
		deep[n + depth] = '\0';
		assert_int_equal(classify_padded(deep, ']', depth, "}"),
		    depth < CLASSIFY_DEPTH ? LANE_OK : LANE_ERROR);
	}
	assert_int_equal(classify_padded(begin, ' ', 300, "[[[]]]}"), LANE_OK);
	assert_int_equal(classify_padded("{\"type\":\"assistant\",\"x\":\"", 'x', CLASSIFY_MESSAGE,
			     "\"}" OK_RESULT),
	    LANE_ERROR);
	assert_int_equal(classify_padded(begin, ' ', 0, "[{},{},[],\",[{\"]}"), LANE_OK);
	assert_int_equal(classify_padded("{\"type\":\"user\",\"x\":\"", ',', 2 * CLASSIFY_VALUES,
			     "\"}" OK_RESULT),
	    LANE_OK);
	assert_int_equal(
	    classify_padded("{\"type\":\"assistant\",\"x\":\"", 'x', 100000, "\"}" OK_RESULT),
	    LANE_OK);
}

/* The number of values alone, each of them right: the object, the array, n objects with a comma each, a number. */
static enum lane
classify_values(size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	enum lane lane;

	assert_non_null(out);
	fputs("{\"type\":[", out);
	for (size_t i = 0; i < n; i++)
		fputs("{},", out);
	fputs("0]}" OK_RESULT, out);
	assert_int_equal(fclose(out), 0);
	lane = classify(text, size, 0, size);
	free(text);
	return lane;
}

static void
the_number_of_values_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(classify_values((CLASSIFY_VALUES - 4) / 2), LANE_OK);
	assert_int_equal(classify_values((CLASSIFY_VALUES - 4) / 2 + 1), LANE_ERROR);
}

/* A text that the client has cut ends with an escape that stands for nothing. */
static void
halves_of_characters_are_taken(void **state)
{
	static const char *const texts[] = {"\\ud83d", "\\uDE00", "\\ud83dx",
	    "\\ud83d\\ud83d\\ude00", "\\ud83d\\n", "\\\\ud83d", "\\ud83d\\ude00", "\\ude00\\ud83d",
	    "\\u00e9\\uffff"};
	static const char *const bad[] = {"\\ud83", "\\ud8", "\\u", "\\ud83g", "\\x"};
	char text[256];

	(void)state;
	for (size_t i = 0; i < COUNT(texts) + COUNT(bad); i++) {
		bool right = i < COUNT(texts);

		snprintf(text, sizeof text,
		    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"%"
		    "s\"}",
		    right ? texts[i] : bad[i - COUNT(texts)]);
		expect(text, 0, right ? LANE_OK : LANE_ERROR);
	}
}

static void
fixed_fields_are_kept_and_no_text(void **state)
{
	static const char text[] =
	    "{\"type\":\"result\",\"subtype\":\"secret\",\"is_error\":true,\"num_turns\":3,"
	    "\"duration_ms\":1234,\"total_cost_usd\":0.25,\"api_error_status\":529}";
	struct classifier c = {0};

	(void)state;
	classify_feed(&c, text, sizeof text - 1);
	assert_int_equal(classify_end(&c, EXITED(1)), LANE_ERROR);
	assert_true(c.result.found && c.result.is_error && c.result.has_cost);
	assert_string_equal(c.result.subtype, "other");
	assert_int_equal(c.result.num_turns, 3);
	assert_int_equal(c.result.duration_ms, 1234);
	assert_int_equal(c.result.api_error_status, 529);
	classify_free(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_row_of_the_table_has_its_class),
	    cmocka_unit_test(all_three_forms_are_read),
	    cmocka_unit_test(anything_else_is_an_error),
	    cmocka_unit_test(the_exit_status_has_to_agree),
	    cmocka_unit_test(depth_and_size_are_bounded),
	    cmocka_unit_test(the_number_of_values_is_bounded),
	    cmocka_unit_test(halves_of_characters_are_taken),
	    cmocka_unit_test(fixed_fields_are_kept_and_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
