/*
 * `legguard parse KIND FILE [--json]`: what the runner would make of a file of file commands, for people who debug
 * theirs. See grammar.h for the rules.
 */
#ifndef GUARD_PARSE_H
#define GUARD_PARSE_H

#include "bindmount/error.h"
#include "guard/startup.h"

/*
 * argv[0] is "parse". Returns 0 with what there is to print in *text (malloc'd) and the exit status in *status: 0 if the
 * runner takes the whole file, 1 if it would report an error. -1 with *e for bad usage or a file that can't be read.
 */
int parse_command(int argc, char **argv, char *const *env, const struct startup *startup,
    char **text, int *status, struct error *e);

#endif
