/* An event as an OpenTelemetry log record. See otlp.h. */
#include "guard/otlp.h"

#include "guard/jsontext.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 128, BODY = 512 };

static json_t *any_value(const json_t *value);

/* A KeyValue. */
static json_t *
attribute(const char *prefix, const char *name, json_t *value)
{
	char key[KEY];

	snprintf(key, sizeof key, "%s%s", prefix, name);
	return json_pack("{s:s, s:o}", "key", key, "value", value);
}

static json_t *
add_attributes(json_t *list, const char *prefix, const json_t *members)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)members, name, value) list =
	    jsontext_append_item(list, attribute(prefix, name, any_value(value)));
	return list;
}

static json_t *
array_value(const json_t *array)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(array); i++)
		list = jsontext_append_item(list, any_value(json_array_get(array, i)));
	return json_pack("{s:{s:o}}", "arrayValue", "values", list);
}

static json_t *
any_value(const json_t *value)
{
	char number[24];

	switch (json_typeof(value)) {
	case JSON_STRING:
		return json_pack("{s:s}", "stringValue", json_string_value(value));
	case JSON_INTEGER:
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return json_pack("{s:s}", "intValue", number);
	case JSON_REAL:
		return json_pack("{s:f}", "doubleValue", json_real_value(value));
	case JSON_TRUE:
	case JSON_FALSE:
		return json_pack("{s:b}", "boolValue", json_is_true(value));
	case JSON_ARRAY:
		return array_value(value);
	case JSON_OBJECT:
		return json_pack(
		    "{s:{s:o}}", "kvlistValue", "values", add_attributes(json_array(), "", value));
	case JSON_NULL:
		break;
	}
	return json_object(); /* an AnyValue that holds none */
}

static bool
is_true(const json_t *members, const char *name)
{
	return json_is_true(json_object_get(members, name));
}

static bool
is_text(const json_t *members, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(members, name));

	return value != NULL && strcmp(value, text) == 0;
}

static bool
is_warning(const char *event, const json_t *members)
{
	static const char *const always[] = {
	    "timeout", "cancel", "overflow", "contended", "survivor", "attempted"};

	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		if (strcmp(event, always[i]) == 0)
			return true;
	return (strcmp(event, "sweep") == 0 &&
		   json_integer_value(json_object_get(members, "total")) > 0) ||
	       (strcmp(event, "command") == 0 && is_text(members, "action", "neutralized")) ||
	       (strcmp(event, "import") == 0 && is_text(members, "result", "refused")) ||
	       (strcmp(event, "end") == 0 && !is_text(members, "class", "ok"));
}

enum otlp_severity
otlp_severity(const char *event, const json_t *members)
{
	if (strcmp(event, "tamper") == 0 ||
	    (strcmp(event, "end") == 0 &&
		(is_true(members, "tampered") || is_text(members, "origin", "guard"))))
		return OTLP_ERROR;
	return is_warning(event, members) ? OTLP_WARN : OTLP_INFO;
}

/* The event in a few words, for people. */
static void
describe(char body[BODY], const char *event, const json_t *members)
{
	static const char *const telling[] = {
	    "class", "action", "kind", "result", "how", "name", "path", "file", "signal", "reason"};
	int n = snprintf(body, BODY, "%s", event);

	for (size_t i = 0; i < sizeof telling / sizeof telling[0] && n < BODY; i++) {
		const char *text = json_string_value(json_object_get(members, telling[i]));

		if (text != NULL)
			n += snprintf(body + n, BODY - (size_t)n, " %s", text);
	}
}

static json_t *
resource(const struct otlp_run *run)
{
	json_t *list = json_pack("[o, o]",
	    attribute("", "service.name", json_pack("{s:s}", "stringValue", "legguard")),
	    attribute("", "service.version", json_pack("{s:s}", "stringValue", LEGGUARD_VERSION)));

	if (run->attributes != NULL)
		list = add_attributes(list, "", run->attributes);
	return json_pack("{s:o}", "attributes", list);
}

static json_t *
attributes(const char *event, const json_t *members)
{
	const json_t *code =
	    json_object_get(members, strcmp(event, "end") == 0 ? "exit_status" : "exit_code");
	json_t *list = add_attributes(json_array(), "legguard.", members);

	if (json_is_integer(code))
		list =
		    jsontext_append_item(list, attribute("", "process.exit.code", any_value(code)));
	return list;
}

static json_t *
record(const struct otlp_run *run, const char *event, const json_t *members, int64_t ns)
{
	enum otlp_severity severity = otlp_severity(event, members);
	char time[24], name[KEY], body[BODY];

	snprintf(time, sizeof time, "%" PRId64, ns);
	snprintf(name, sizeof name, "legguard.%s", event);
	describe(body, event, members);
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:{s:s}, s:o, s:s, s:s%}", "timeUnixNano", time,
	    "observedTimeUnixNano", time, "severityNumber", (int)severity, "severityText",
	    severity == OTLP_ERROR  ? "ERROR"
	    : severity == OTLP_WARN ? "WARN"
				    : "INFO",
	    "eventName", name, "body", "stringValue", body, "attributes",
	    attributes(event, members), "traceId", run->id, "spanId", run->id, (size_t)16);
}

char *
otlp_render(const struct otlp_run *run, const char *event, const json_t *members, int64_t ns)
{
	json_t *root = json_pack("{s:[{s:o, s:[{s:{s:s, s:s}, s:[o]}]}]}", "resourceLogs",
	    "resource", resource(run), "scopeLogs", "scope", "name", "legguard", "version",
	    LEGGUARD_VERSION, "logRecords", record(run, event, members, ns));
	char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}
