/* `legguard doctor`: what this machine can do, found out by doing it. */
#ifndef GUARD_DOCTOR_H
#define GUARD_DOCTOR_H

#include "bindmount/error.h"
#include "guard/startup.h"

/*
 * argv[0] is skipped. 0 with *text (malloc'd), which is to be printed, and the exit status; -1 with *e if
 * the arguments are wrong or nothing could be tried.
 */
int doctor(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e);

#endif
