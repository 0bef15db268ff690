/* `legguard audit verify|show|report FILE`: what can be done with a record. */
#ifndef GUARD_AUDIT_COMMAND_H
#define GUARD_AUDIT_COMMAND_H

#include "bindmount/error.h"
#include "guard/startup.h"

/*
 * argv[0] is "audit". Returns 0 with what is left to print in *text (malloc'd) and the exit status in *status: of verify 0
 * for a record that is sound, 1 for a broken and 2 for an unanchored one; of show and report 1 if it is broken, else 0. -1
 * with *e for bad usage, or a file that can't be read or written.
 */
int audit_command(int argc, char **argv, char *const *env, const struct startup *startup,
    char **text, int *status, struct error *e);

#endif
