/*
 * The janitor: a second process that holds the snapshot, and puts things back if the launcher dies
 * without having done so (SIGKILL, out of memory).
 *
 * The leg dies with the launcher, and what it could not write it has not changed; but names that it had
 * moved at that instant would stay moved. The janitor waits for the launcher's word or its end, then for
 * the reaper's end, and restores. It publishes nothing. It keeps the step's stdout open meanwhile: the
 * runner waits up to 5 s for that to close before it reads the files, so the janitor comes in time.
 */
#ifndef GUARD_JANITOR_H
#define GUARD_JANITOR_H

#include "bindmount/error.h"
#include "guard/cgroup.h"
#include "guard/snapshot.h"

#include <sys/types.h>

struct janitor {
	pid_t pid; /* -1: there is none */
	int word;  /* where the launcher says that all is well */
	int wait;  /* where the janitor hears it */
	int self;  /* the launcher's own pidfd, readable when it is gone */
	int end;   /* the janitor's pidfd */
};

#define JANITOR_NONE                                                                               \
	{                                                                                          \
		.pid = -1, .word = -1, .wait = -1, .self = -1, .end = -1                           \
	}

/* Make it. reaper_pidfd becomes readable when the leg is gone; then its group can be removed, if it has one. */
int janitor_start(
    struct janitor *j, struct snapshot *s, struct cgroup *group, int reaper_pidfd, struct error *e);

/* Everything is back in its place: the janitor ends without having touched anything. */
void janitor_dismiss(struct janitor *j);

/* Dismiss it and see to its end, which nobody who could stop it holds up. */
void janitor_wait(struct janitor *j);

#endif
