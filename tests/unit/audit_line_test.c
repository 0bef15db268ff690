/* audit/line, audit/scan: what is a line of a record, by the quick way and by jansson alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/audit/line.h"
#include "guard/audit/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof list / sizeof list[0])
#define RUN         "00112233445566778899aabbccddeeff"
#define HASH        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TIME        "\"time\":\"2026-11-29T23:38:50.123456Z\",\"mono_us\":7"
#define LINE(seq, links, rest)                                                                     \
	"{\"v\":1,\"run\":\"" RUN "\",\"seq\":" seq "," links TIME "," rest "}"
#define PREV      "\"prev\":\"" HASH "\","
#define FILE_PREV "\"file_prev\":\"" HASH "\","
#define START     "\"event\":\"start\",\"tool\":\"legguard 1\""
#define PID       "\"event\":\"leg-start\",\"pid\":12"
#define END                                                                                        \
	"\"event\":\"end\",\"class\":\"ok\",\"exit_status\":0,\"origin\":\"leg\",\"tampered\":"    \
	"false"

/* What both ways make of it. They have to agree in everything. */
static enum line_fault
read_line(const char *text, size_t size, struct audit_line *out)
{
	struct audit_line quick, slow;
	struct line_problem p, q;
	int result = line_read(&quick, text, size, false, &p);

	assert_int_equal(line_read(&slow, text, size, true, &q), result);
	assert_int_equal(p.fault, q.fault);
	assert_string_equal(p.text, q.text);
	assert_int_equal(result == 0, p.fault == LINE_READABLE);
	if (result == 0) {
		assert_null(quick.root);
		assert_non_null(slow.root);
		json_decref(slow.root);
		slow.root = NULL;
		assert_memory_equal(&quick, &slow, sizeof quick);
	}
	*out = quick;
	return p.fault;
}

static void
a_line_has_what_was_written(void **state)
{
	static const char text[] = LINE("3", PREV FILE_PREV, END ",\"final\":true");
	struct audit_line l;
	char hex[2 * LINE_HASH + 1];

	(void)state;
	assert_int_equal(read_line(text, sizeof text - 1, &l), LINE_READABLE);
	assert_string_equal(line_hex(hex, l.run, LINE_RUN), RUN);
	assert_string_equal(line_hex(hex, l.prev, LINE_HASH), HASH);
	assert_string_equal(line_hex(hex, l.file_prev, LINE_HASH), HASH);
	assert_true(l.seq == 3 && l.has_prev && l.has_file_prev && l.final && l.mono_us == 7);
	assert_int_equal(l.event, EVENT_END);
	assert_string_equal(l.time, "2026-11-29T23:38:50.123456Z");
	assert_true(l.size == sizeof text - 1);
}

static void
what_may_be_otherwise_may(void **state)
{
	static const char *const good[] = {
	    LINE("0", FILE_PREV, START),
	    LINE("1", PREV, PID),
	    LINE("1", PREV, "\"event\":\"leg-start\""),
	    LINE("1", PREV, "\"event\":\"leg-start\",\"pid\":null"),
	    LINE("1", PREV,
		PID ",\"new\":{\"a\":[1,-2,1.5e3,true,false,null,\"\\u00e9\xc3\xa9\\ud83d\\ude00\","
		    "{}]}"),
	    LINE("999999999999999999", PREV, PID),
	    LINE("9223372036854775807", PREV, PID),
	    /* Any order, blanks inside, and escapes where none are needed. */
	    "{\"event\":\"leg-start\"," PREV TIME ",\"seq\":1,\"v\":1,\"run\":\"" RUN "\"}",
	    "{ \"event\" : \"leg-start\"," PREV TIME ",\"seq\":1,\"v\":1,\"run\":\"" RUN "\"\n}",
	    LINE("1", PREV, "\"\\u0065vent\":\"leg\\u002dstart\""),
	};
	struct audit_line l;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		if (read_line(good[i], strlen(good[i]), &l) != LINE_READABLE)
			fail_msg("refused: %s", good[i]);
}

static void
what_is_missing_or_wrong_is_refused(void **state)
{
	static const char *const bad[] = {
	    LINE("0", "", START),
	    LINE("0", FILE_PREV PREV, START),
	    LINE("0", FILE_PREV, PID),
	    LINE("1", PREV, START),
	    LINE("1", FILE_PREV, PID),
	    LINE("-1", PREV, PID),
	    LINE("1.0", PREV, PID),
	    LINE("\"1\"", PREV, PID),
	    LINE("1", "\"prev\":null,", PID),
	    LINE("1", "\"prev\":\"abc\",", PID),
	    LINE("1", "\"prev\":\"" RUN "\\u0030\",", PID),
	    LINE("1", PREV "\"file_prev\":1,", PID),
	    LINE("1", PREV, "\"event\":\"leg\""),
	    LINE("1", PREV, "\"event\":\"leg-startx\""),
	    LINE("1", PREV, "\"event\":1"),
	    LINE("1", PREV, "\"event\":\"leg-start\",\"pid\":\"1\""),
	    LINE("1", PREV, "\"event\":\"survivor\",\"pid\":1"),
	    LINE("1", PREV, "\"event\":\"survivor\",\"name\":null"),
	    LINE("1", PREV, END),
	    LINE("1", PREV, END ",\"final\":1"),
	    LINE("1", PREV, END ",\"final\":null"),
	    LINE("1", PREV, PID ",\"final\":true"),
	    "{\"v\":1}",
	    "{\"v\":\"1\"}",
	    "{}",
	};
	struct audit_line l;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (read_line(bad[i], strlen(bad[i]), &l) != LINE_NO_EVENT)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(read_line("{\"v\":2}", 7, &l), LINE_UNKNOWN);
	assert_int_equal(read_line("{\"v\":0}", 7, &l), LINE_UNKNOWN);
}

static void
what_is_not_one_object_is_refused(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} bad[] = {
#define TEXT(text) {text, sizeof text - 1}
	    TEXT(""),
	    TEXT("{"),
	    TEXT("}"),
	    TEXT("[]"),
	    TEXT("{}{}"),
	    TEXT("{\"a\":1,\"a\":1}"),
	    TEXT("{\"a\":1,\"\\u0061\":1}"),
	    TEXT("{\"a\":{\"b\":1,\"b\":2}}"),
	    TEXT("{\"a\":[{\"b\":1,\"b\":2}]}"),
	    TEXT(" {}"),
	    TEXT("{} "),
	    TEXT("{}\r"),
	    TEXT("{}\0"),
	    TEXT("{\"a\":\"\0\"}"),
	    TEXT("{\"a\":\"\\u0000\"}"),
	    TEXT("{\"a\":\"\xff\"}"),
	    TEXT("{\"a\":\"\xc0\xaf\"}"),
	    TEXT("{\"a\":\"\xed\xa0\x80\"}"),
	    TEXT("{\"a\":\"\xf4\x90\x80\x80\"}"),
	    TEXT("{\"a\":\"\\ud800\"}"),
	    TEXT("{\"a\":\"\\udc00\\ud800\"}"),
	    TEXT("{\"a\":\"\x1f\"}"),
	    TEXT("{\"a\":\"\\x\"}"),
	    TEXT("{\"a\":01}"),
	    TEXT("{\"a\":-}"),
	    TEXT("{\"a\":+1}"),
	    TEXT("{\"a\":1,}"),
	    TEXT("{,}"),
	    TEXT("{\"a\"}"),
	    TEXT("{\"a\":}"),
	    TEXT("{a:1}"),
	    TEXT("{\"a\":tru}"),
	    TEXT("{\"a\":truee}"),
	    TEXT("{\"a\":NaN}"),
	    TEXT("{\"a\":99999999999999999999}"),
	    TEXT("{\"a\":[1,]}"),
	    TEXT("{\"a\":[}"),
	    TEXT("{\"a\":]}"),
	    TEXT("{\"\\\":1}"),
	    TEXT("{\"a\":'b'}"),
	    TEXT("{\"a\":1}}"),
	};
	struct audit_line l;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (read_line(bad[i].text, bad[i].size, &l) != LINE_NO_JSON)
			fail_msg("taken: %s", bad[i].text);
}

/* A line of a given size, which ends in a string, if that is what it is opened with, or in lists in lists. */
static char *
long_line(size_t size, char open, char close)
{
	static const char begin[] =
	    "{\"event\":\"leg-start\"," PREV TIME ",\"seq\":1,\"v\":1,\"run\":\"" RUN "\",\"x\":";
	size_t used = sizeof begin - 1, rest = size - used - 1, odd = rest % 2;
	char *text = malloc(size);

	assert_non_null(text);
	memcpy(text, begin, used);
	memset(text + used, open == '"' ? 'n' : open, rest);
	if (open == '"') {
		text[used] = open;
	} else {
		memset(text + used, ' ', odd);
		memset(text + used + odd + rest / 2, close, rest / 2);
	}
	text[size - 2] = close;
	text[size - 1] = '}';
	return text;
}

static enum line_fault
read_long_line(size_t size, char open, char close)
{
	char *text = long_line(size, open, close);
	struct audit_line l;
	enum line_fault fault = read_line(text, size, &l);

	free(text);
	return fault;
}

static void
length_and_depth_have_an_end(void **state)
{
	size_t base = 256; /* as long as the rest of it, and even */

	(void)state;
	/* With an LF it is a byte longer. */
	assert_int_equal(read_long_line(LINE_MAX_SIZE - 1, '"', '"'), LINE_READABLE);
	assert_int_equal(read_long_line(LINE_MAX_SIZE, '"', '"'), LINE_NO_JSON);
	assert_int_equal(read_long_line(base + 2000, '[', ']'), LINE_READABLE);
	assert_int_equal(read_long_line(base + 8000, '[', ']'), LINE_NO_JSON);
}

/* More members than the quick way takes are no reason to refuse a line, nor is a key twice among them one to take it. */
static void
many_members_are_still_read(void **state)
{
	char text[4096];
	struct audit_line l;
	int size = snprintf(
	    text, sizeof text, "%.*s", (int)strlen(LINE("1", PREV, PID)) - 1, LINE("1", PREV, PID));

	(void)state;
	for (int i = 0; i < 60; i++)
		size += snprintf(text + size, sizeof text - (size_t)size, ",\"x%d\":%d", i, i);
	text[size] = '}';
	assert_int_equal(read_line(text, (size_t)size + 1, &l), LINE_READABLE);
	size += snprintf(text + size, sizeof text - (size_t)size, ",\"x7\":0}");
	assert_int_equal(read_line(text, (size_t)size, &l), LINE_NO_JSON);
}

static void
the_quick_way_is_taken(void **state)
{
	static const char text[] = LINE("1", PREV, PID);
	struct scan s;

	(void)state;
	assert_true(scan_object(&s, text, sizeof text - 1));
	assert_int_equal(scan_get(&s, "seq")->number, 1);
	assert_int_equal(scan_get(&s, "pid")->number, 12);
	assert_memory_equal(scan_get(&s, "run")->text, RUN, 32);
	assert_null(scan_get(&s, "ru"));
	assert_null(scan_get(&s, "running"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_has_what_was_written),
	    cmocka_unit_test(what_may_be_otherwise_may),
	    cmocka_unit_test(what_is_missing_or_wrong_is_refused),
	    cmocka_unit_test(what_is_not_one_object_is_refused),
	    cmocka_unit_test(length_and_depth_have_an_end),
	    cmocka_unit_test(many_members_are_still_read),
	    cmocka_unit_test(the_quick_way_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
