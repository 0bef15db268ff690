/*
 * The battery: all attacks, one after the other, under one wrapper.
 *
 * legguard attack [--list] [--only NAME[,NAME]...] [--json] [RUN OPTION]...
 * legguard attack [--list] [--only NAME[,NAME]...] [--json] -- WRAPPER [ARG]... {}
 *
 * The battery's own options come first. The first word that is none of them begins the options of
 * legguard run, which are passed on as they are; after "--" it is somebody else's wrapper.
 */
#ifndef GUARD_ATTACK_BATTERY_H
#define GUARD_ATTACK_BATTERY_H

#include "bindmount/error.h"
#include "guard/startup.h"

extern const char attack_help[];

enum { BATTERY_THROUGH = 1 };

/*
 * argv[0] is "attack". *text gets what is to be printed on standard output, malloc'd; *status what to
 * exit with: 0 if nothing got through, BATTERY_THROUGH if something did. -1: bad use, or nothing could be
 * tried; EXIT_GUARD.
 */
int battery_run(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e);

#endif
