/* A run as one JSON object, for programs. */
#ifndef GUARD_AUDIT_RUNJSON_H
#define GUARD_AUDIT_RUNJSON_H

#include "guard/audit/runs.h"

#include <jansson.h>

/*
 * A new object; NULL without memory. All text in it has passed strnvis(3) and is ASCII. "start", "end" and "events" are the
 * record's own lines without what makes them a chain; "counts" says how many there were of each, and "left_out" how many
 * are not in "events".
 */
json_t *runjson_object(const struct run *r);

#endif
