/*
 * An event of a run as an OpenTelemetry log record: one ExportLogsServiceRequest in OTLP's JSON encoding
 * (opentelemetry-proto, collector/logs/v1/logs_service.proto; opentelemetry.io/docs/specs/otlp/, "JSON Protobuf
 * Encoding": keys in lowerCamelCase, 64-bit integers as decimal strings, trace and span ids in hex). One a line is what the
 * OpenTelemetry Collector's otlpjsonfile receiver reads. Pure.
 */
#ifndef GUARD_OTLP_H
#define GUARD_OTLP_H

#include <jansson.h>
#include <stdint.h>

/* severityNumber; logs data model, "Severity fields" */
enum otlp_severity { OTLP_INFO = 9, OTLP_WARN = 13, OTLP_ERROR = 17 };

/* What all records of a run share. */
struct otlp_run {
	const char *id;           /* 32 hex digits, the traceId; its first 16 are the spanId */
	const json_t *attributes; /* of the resource: an object of strings, besides service.* */
};

/*
 * The line, malloc'd, without a newline; NULL without memory. ns is the time since 1970, members the event's own, an object.
 * They become attributes: "legguard." and the name; the exit status of a process is process.exit.code as well.
 */
char *otlp_render(const struct otlp_run *run, const char *event, const json_t *members, int64_t ns);

/* How bad it is. */
enum otlp_severity otlp_severity(const char *event, const json_t *members);

#endif
