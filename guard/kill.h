/*
 * Killing every descendant of the calling process, which has to be a child subreaper
 * (PR_SET_CHILD_SUBREAPER): what a pid namespace does by itself. Orphans come to the caller, so that it
 * has no child left is the proof that it has no descendant left.
 */
#ifndef GUARD_KILL_H
#define GUARD_KILL_H

#include "guard/process.h"
#include "guard/reaper.h"

/* Descriptors, all the caller's. */
struct kill_scope {
	int procfd;  /* on /proc as it was before the leg could cover it */
	int signals; /* signalfd(2) for SIGCHLD, which has to be blocked */
	int cgroup;  /* directory of the leg's own control group, or -1 */
};

/* Add p to the survivors that m describes; there has to be room (REAPER_SURVIVORS_MAX). */
void kill_describe(struct reaper_message *m, const struct process *p);

/*
 * Kill them all, for a bounded time: m gets who that was, how many, and in all_dead whether it is proven
 * that they are dead.
 */
void kill_descendants(const struct kill_scope *s, struct reaper_message *m);

#endif
