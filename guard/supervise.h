/* The leg's life as the launcher sees it: from the reaper's start to the proof of its end. */
#ifndef GUARD_SUPERVISE_H
#define GUARD_SUPERVISE_H

#include "bindmount/error.h"
#include "guard/leg.h"
#include "guard/outcome.h"

/*
 * Start the leg and wait until everything of it is gone. SIGINT, SIGTERM and SIGHUP, which must be
 * blocked, end it. Fills in *out how it ended and what proves that it did.
 * Returns -1 with *e if the leg's command was never reached; nothing of the leg is left then either.
 */
int supervise(const struct leg_plan *plan, struct outcome *out, struct error *e);

#endif
