/*
 * `legguard outcome --key-class CLASS --subscription-class CLASS ...`: what the job that comes after both lanes reports,
 * see verdict.h.
 */
#ifndef GUARD_REPORT_H
#define GUARD_REPORT_H

#include "bindmount/error.h"
#include "guard/startup.h"

/*
 * argv[0] is "outcome". Returns 0 with the outcome, a line for standard output, in *text and an annotation, a line for
 * standard error, in *notes (both malloc'd), and in *status 0 if it is ok, else 1; -1 with *e.
 */
int report_command(int argc, char **argv, char *const *env, const struct startup *startup,
    char **text, char **notes, int *status, struct error *e);

#endif
