/* otlp: what is made of an event is one request in OTLP's JSON encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/otlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char run_id[] = "00112233445566778899aabbccddeeff";

static json_t *
parse(const char *text)
{
	json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(object);
	return object;
}

/* The request's only resource, or scope, or record. */
static json_t *
request(const char *event, const char *members, const json_t *resource)
{
	const struct otlp_run run = {.id = run_id, .attributes = resource};
	json_t *object = parse(members), *whole;
	char *text = otlp_render(&run, event, object, INT64_C(1796002737123456789));

	assert_non_null(text);
	assert_null(strchr(text, '\n'));
	whole = parse(text);
	free(text);
	json_decref(object);
	return whole;
}

static json_t *
first(json_t *object, const char *list)
{
	json_t *all = json_object_get(object, list);

	assert_int_equal(json_array_size(all), 1);
	return json_array_get(all, 0);
}

static json_t *
record_of(json_t *whole)
{
	return first(first(first(whole, "resourceLogs"), "scopeLogs"), "logRecords");
}

/* The value of an attribute, as text. */
static void
assert_attribute(json_t *object, const char *key, const char *expected)
{
	json_t *list = json_object_get(object, "attributes"), *value = parse(expected);

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *one = json_array_get(list, i);

		if (strcmp(json_string_value(json_object_get(one, "key")), key) != 0)
			continue;
		assert_true(json_equal(json_object_get(one, "value"), value));
		json_decref(value);
		return;
	}
	fail_msg("no attribute %s", key);
}

static void
a_request_has_its_resource_and_one_record(void **state)
{
	json_t *resource = parse("{\"cicd.pipeline.run.id\": \"4711\"}");
	json_t *whole = request("leg-end", "{\"exit_code\": 3}", resource);
	json_t *record = record_of(whole), *group = first(whole, "resourceLogs");

	(void)state;
	assert_attribute(
	    json_object_get(group, "resource"), "service.name", "{\"stringValue\": \"legguard\"}");
	assert_attribute(json_object_get(group, "resource"), "cicd.pipeline.run.id",
	    "{\"stringValue\": \"4711\"}");
	assert_string_equal(
	    json_string_value(json_object_get(record, "timeUnixNano")), "1796002737123456789");
	assert_string_equal(json_string_value(json_object_get(record, "observedTimeUnixNano")),
	    "1796002737123456789");
	assert_string_equal(
	    json_string_value(json_object_get(record, "eventName")), "legguard.leg-end");
	assert_string_equal(json_string_value(json_object_get(record, "traceId")), run_id);
	assert_string_equal(
	    json_string_value(json_object_get(record, "spanId")), "0011223344556677");
	assert_int_equal(json_integer_value(json_object_get(record, "severityNumber")), 9);
	assert_attribute(record, "legguard.exit_code", "{\"intValue\": \"3\"}");
	assert_attribute(record, "process.exit.code", "{\"intValue\": \"3\"}");
	json_decref(whole);
	json_decref(resource);
}

static void
every_kind_of_value_has_its_form(void **state)
{
	json_t *whole = request("x",
	    "{\"t\": \"a\", \"i\": -9223372036854775808, \"r\": 0.5, \"b\": true, \"f\": false, "
	    "\"n\": null,"
	    " \"l\": [1, \"b\", []], \"o\": {\"k\": [{\"m\": 1}]}}",
	    NULL);
	json_t *record = record_of(whole);

	(void)state;
	assert_attribute(record, "legguard.t", "{\"stringValue\": \"a\"}");
	assert_attribute(record, "legguard.i", "{\"intValue\": \"-9223372036854775808\"}");
	assert_attribute(record, "legguard.r", "{\"doubleValue\": 0.5}");
	assert_attribute(record, "legguard.b", "{\"boolValue\": true}");
	assert_attribute(record, "legguard.f", "{\"boolValue\": false}");
	assert_attribute(record, "legguard.n", "{}");
	assert_attribute(record, "legguard.l",
	    "{\"arrayValue\": {\"values\": [{\"intValue\": \"1\"}, {\"stringValue\": \"b\"},"
	    " {\"arrayValue\": {\"values\": []}}]}}");
	assert_attribute(record, "legguard.o",
	    "{\"kvlistValue\": {\"values\": [{\"key\": \"k\", \"value\": {\"arrayValue\": "
	    "{\"values\": "
	    "[{\"kvlistValue\": {\"values\": [{\"key\": \"m\", \"value\": {\"intValue\": "
	    "\"1\"}}]}}]}}}]}}");
	json_decref(whole);
}

static void
severity_says_what_to_look_at(void **state)
{
	static const struct {
		const char *event, *members;
		enum otlp_severity severity;
	} cases[] = {
	    {"start", "{}", OTLP_INFO},
	    {"leg-end", "{\"exit_code\": 1}", OTLP_INFO},
	    {"timeout", "{}", OTLP_WARN},
	    {"survivor", "{}", OTLP_WARN},
	    {"sweep", "{\"total\": 0}", OTLP_INFO},
	    {"sweep", "{\"total\": 1}", OTLP_WARN},
	    {"command", "{\"action\": \"neutralized\"}", OTLP_WARN},
	    {"command", "{\"action\": \"passed\"}", OTLP_INFO},
	    {"import", "{\"result\": \"carried\"}", OTLP_INFO},
	    {"import", "{\"result\": \"refused\"}", OTLP_WARN},
	    {"tamper", "{}", OTLP_ERROR},
	    {"end", "{\"class\": \"ok\", \"origin\": \"leg\", \"tampered\": false}", OTLP_INFO},
	    {"end", "{\"class\": \"error\", \"origin\": \"leg\", \"tampered\": false}", OTLP_WARN},
	    {"end", "{\"class\": \"timeout\", \"origin\": \"guard\", \"tampered\": false}",
		OTLP_ERROR},
	    {"end", "{\"class\": \"tampered\", \"origin\": \"leg\", \"tampered\": true}",
		OTLP_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *members = parse(cases[i].members);

		assert_int_equal(otlp_severity(cases[i].event, members), cases[i].severity);
		json_decref(members);
	}
}

static void
the_body_is_a_few_words(void **state)
{
	json_t *whole = request(
	    "tamper", "{\"kind\": \"rewritten\", \"path\": \"/x\", \"restored\": true}", NULL);
	json_t *body = json_object_get(record_of(whole), "body");
	char *long_text = malloc(100000), *members = malloc(100100);

	(void)state;
	assert_string_equal(
	    json_string_value(json_object_get(body, "stringValue")), "tamper rewritten /x");
	json_decref(whole);
	memset(long_text, 'x', 99999);
	long_text[99999] = '\0';
	sprintf(members, "{\"kind\": \"%s\", \"name\": \"%s\"}", "k", long_text);
	whole = request("import", members, NULL);
	body = json_object_get(record_of(whole), "body");
	assert_true(json_string_length(json_object_get(body, "stringValue")) < 1024);
	json_decref(whole);
	free(long_text);
	free(members);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_request_has_its_resource_and_one_record),
	    cmocka_unit_test(every_kind_of_value_has_its_form),
	    cmocka_unit_test(severity_says_what_to_look_at),
	    cmocka_unit_test(the_body_is_a_few_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
