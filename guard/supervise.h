/* The leg's life as the launcher sees it: from the reaper's start to the proof of its end. */
#ifndef GUARD_SUPERVISE_H
#define GUARD_SUPERVISE_H

#include "bindmount/error.h"
#include "guard/leg.h"
#include "guard/life.h"
#include "guard/limits.h"
#include "guard/outcome.h"

#include <stdint.h>

/*
 * Work that has to be done before the leg starts, and can be done while its namespaces are being made:
 * called once, in the launcher, with the reaper's pidfd, which stays its owner's. If it fails there will
 * be no leg.
 */
struct meanwhile {
	int (*work)(void *arg, int reaper_pidfd, struct error *e);
	/* Called once in any case, when the reaper is gone and the outcome says what that proves: the last
	 * chance to end what may still hold the leg's output. NULL: nothing is to be done. */
	void (*gone)(void *arg);
	/* Called on SIGIO, and with `renamed` on SNAPSHOT_RENAMED: true if the leg is to be ended. */
	bool (*attacked)(void *arg, bool renamed);
	/* Called for what became of the leg, unless NULL: LIFE_STARTED, and the first of each LIFE_TIMEOUT, LIFE_CANCEL,
	 * LIFE_READER_GONE, LIFE_OVERFLOW and LIFE_CONTENDED. */
	void (*happened)(void *arg, enum life_event event);
	/* Called once, unless NULL, when the leg's main process has ended, or when it is known that there is or was none that
	 * anything will be heard of. bytes of stdout and stderr were written until then. */
	void (*ended)(void *arg, const uint64_t bytes[2]);
	void *arg;
};

/*
 * Start the leg, pass on its output and wait until everything of it is gone. SIGINT, SIGTERM, SIGHUP
 * and SIGTSTP, which must be blocked, are taken as meant for the leg. Fills in *out how it ended and
 * what proves that it did, and leaves *life in LIFE_RESTORING. plan->output is set here.
 * Returns -1 with *e if the leg's command was never reached; nothing of the leg is left then either.
 */
int supervise(struct leg_plan *plan, const struct limits *limits, const struct meanwhile *meanwhile,
    struct life *life, struct outcome *out, struct error *e);

#endif
