/* The timeline of a run in a report: a list of what happened when, each with a bar or a mark on the run's length. */
#ifndef GUARD_AUDIT_TIMELINE_H
#define GUARD_AUDIT_TIMELINE_H

#include "guard/audit/runs.h"

#include <stdio.h>

/* -1 without memory. */
int timeline_put(FILE *out, const struct run *r);

#endif
