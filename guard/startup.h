/*
 * The launcher's own process: what it may have been started with, and what the leg gets back.
 *
 * A CI step can start a program oddly: standard descriptors closed, SIGCHLD ignored, signals blocked, an
 * interval timer running, a tight limit of open files, a strange umask. None of that may change what
 * the launcher does.
 */
#ifndef GUARD_STARTUP_H
#define GUARD_STARTUP_H

#include "bindmount/error.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What was there at the start and belongs to the leg. */
struct startup {
	mode_t umask;
	struct rlimit nofile;
	sigset_t mask;
};

/*
 * First thing in main: descriptors 0 to 2 are open from here on (/dev/null where they were not, so
 * that no file of ours lands there), every signal is blocked, SIGCHLD is not ignored, timers are off,
 * the soft limit of open files is the hard one, files are created as the modes say, and the process
 * can't be traced by its equals (PR_SET_DUMPABLE). Refuses to run set-user-ID.
 */
int startup_prepare(struct startup *s, struct error *e);

#endif
