/* What --dry-run prints: the plan of a run in lines, each a word for what is done and what it is done to. */
#ifndef GUARD_DESCRIBE_H
#define GUARD_DESCRIBE_H

#include "bindmount/error.h"
#include "guard/plan.h"
#include "guard/privatetemp.h"
#include "guard/snapshot.h"

/* The text, malloc'd; NULL with *e without memory. Paths and words pass through error_visible(). */
char *describe_plan(
    const struct plan *p, const struct snapshot *s, const struct private_temp *t, struct error *e);

#endif
