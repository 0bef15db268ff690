/*
 * Which of the promises hold for a run, by what confines the leg. Pure.
 *
 * A promise is claimed only if nothing that the leg itself can do breaks it.
 */
#ifndef GUARD_PROMISES_H
#define GUARD_PROMISES_H

#include "guard/outcome.h"

#include <stdbool.h>
#include <stddef.h>

enum promise {
	PROMISE_CONTENTS_RESTORED, /* every guarded path reads as before the leg, and stays so */
	PROMISE_WRITES_DENIED,     /* a write to a guarded file fails, by whatever name */
	PROMISE_NAMES_HELD, /* no name on the way to a guarded file can be changed meanwhile */
	PROMISE_ALL_DEAD,   /* nothing the leg started is alive */
	PROMISE_DIES_WITH_LAUNCHER, /* whatever kills the launcher, the leg ends with it */
	PROMISE_SIGNALS_CONFINED,   /* the leg can't send signals to processes outside */
	PROMISES
};

/* What it is called in the status object. */
const char *promise_name(enum promise promise);

/*
 * True if it held, or, of a run that is only planned, if it will unless something fails: of o then only what
 * is known beforehand is set, and what the end shows is taken to be well.
 */
bool promise_holds(const struct outcome *o, enum promise promise);

#endif
