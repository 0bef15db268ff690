/* `legguard classify FILE [--exit-status N] [--json]`: the class of a leg whose output was kept, see classify.h. */
#ifndef GUARD_JUDGE_H
#define GUARD_JUDGE_H

#include "bindmount/error.h"
#include "guard/startup.h"

/*
 * argv[0] is "classify". Returns 0 with what there is to print in *text (malloc'd), the class in a line or the fixed
 * fields, and 0 in *status, whatever the class; -1 with *e. Without an exit status the one that fits the result is
 * taken.
 */
int judge_command(int argc, char **argv, char *const *env, const struct startup *startup,
    char **text, int *status, struct error *e);

#endif
