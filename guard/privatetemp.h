/*
 * Directories for the leg's temporary files where it can't make any in the usual ones: with Landlock, nothing
 * can be made in a directory above a protected one, and RUNNER_TEMP is above the file commands'.
 *
 * One directory, `_legguard-XXXXXX`, is made in RUNNER_TEMP (or, without that, where temporary files go),
 * for the ruleset to find it there and leave it writable. In it are `temp`, the leg's RUNNER_TEMP, and `tmp`,
 * its TMPDIR; a variable is changed only if what it names is closed to the leg. After the leg what it left
 * in `temp` is moved to the real RUNNER_TEMP, never onto something that is there, nor by a name that begins
 * with '_', which the runner keeps for itself; the rest is removed.
 */
#ifndef GUARD_PRIVATETEMP_H
#define GUARD_PRIVATETEMP_H

#include "bindmount/error.h"
#include "guard/plan.h"

#include <stdbool.h>

struct private_temp {
	char *
	    base; /* where it is, with `dir` in it; owned. NULL: nothing is needed, nothing was made */
	char *dir;  /* owned */
	char *real; /* the RUNNER_TEMP that it stands for, or NULL; owned */
	bool tmp;   /* it stands for TMPDIR, too */
	int fd;     /* of dir, from before the leg */
};

#define PRIVATE_TEMP_NONE                                                                          \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Find out what is needed for the leg of plan p, whose view is complete, and make it: the directories, and the
 * variables in p->leg_env that are not set by --setenv or --unset. With dry_run only find out: dir is NULL then.
 */
int private_temp_make(struct private_temp *t, struct plan *p, bool dry_run, struct error *e);

/*
 * Bring out what the leg left and remove the rest, if the leg is dead; without that proof all that it made stays where it is.
 * So does what can't be moved or removed, or is more than a bounded number of entries (fewer with hurry, as
 * after a cancel): what the leg does in a directory of its own is no failure.
 */
void private_temp_end(struct private_temp *t, bool dead, bool hurry);

#endif
