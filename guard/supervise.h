/* The leg's life as the launcher sees it: from the reaper's start to the proof of its end. */
#ifndef GUARD_SUPERVISE_H
#define GUARD_SUPERVISE_H

#include "bindmount/error.h"
#include "guard/leg.h"
#include "guard/outcome.h"

/*
 * Work that has to be done before the leg starts, and can be done while its namespaces are being made:
 * called once, in the launcher. If it fails there will be no leg.
 */
struct meanwhile {
	int (*work)(void *arg, struct error *e);
	void *arg;
};

/*
 * Start the leg and wait until everything of it is gone. SIGINT, SIGTERM and SIGHUP, which must be
 * blocked, end it. Fills in *out how it ended and what proves that it did.
 * Returns -1 with *e if the leg's command was never reached; nothing of the leg is left then either.
 */
int supervise(const struct leg_plan *plan, const struct meanwhile *meanwhile, struct outcome *out,
    struct error *e);

#endif
