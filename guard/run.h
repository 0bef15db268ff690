/*
 * One run, from the snapshot to the published outputs: prepare -> snapshot -> spawn -> running ->
 * reaping -> restoring -> publishing -> reporting.
 */
#ifndef GUARD_RUN_H
#define GUARD_RUN_H

#include "bindmount/error.h"
#include "guard/options.h"
#include "guard/outcome.h"
#include "guard/startup.h"

/*
 * Carry out a run. Until the leg's command has been executed an error ends it: -1, *e, nothing is
 * changed and nothing published (exit status 125). From then on errors are collected in *out and the
 * run goes on to reap, restore and publish: 0. The status object is written in either case if the
 * place for it could be opened. For --dry-run *text gets what is to be printed (malloc'd).
 */
int run(const struct options *o, const struct startup *startup, char **env, struct outcome *out,
    char **text, struct error *e);

#endif
