/*
 * Directories for the leg's temporary files where it can't make any in the usual ones: with Landlock, nothing
 * can be made in a directory above a protected one, and RUNNER_TEMP is above the file commands'.
 *
 * They are made before the ruleset, for that to find them and leave them writable: a RUNNER_TEMP, see bringout.h, and a
 * TMPDIR, `_legguard-tmp-XXXXXX`, in the real RUNNER_TEMP or where temporary files go. A variable is changed only
 * if what it names is closed to the leg.
 */
#ifndef GUARD_PRIVATETEMP_H
#define GUARD_PRIVATETEMP_H

#include "bindmount/error.h"
#include "guard/bringout.h"
#include "guard/plan.h"

#include <stdbool.h>

struct private_temp {
	char *real; /* the RUNNER_TEMP in which there is a private one, or NULL; owned */
	char *base; /* the directory in which there is a private TMPDIR, or NULL; owned */
	char *tmp;  /* that; owned */
};

#define PRIVATE_TEMP_NONE ((struct private_temp){0})

/*
 * Find out what is needed for the leg of plan p, whose view is complete, and make it: the directories, and the
 * variables in p->leg_env that are not set by --setenv or --unset. With dry_run only find out. *b gets the
 * RUNNER_TEMP. Both are to be given back in either case.
 */
int private_temp_make(
    struct private_temp *t, struct bringout *b, struct plan *p, bool dry_run, struct error *e);

/*
 * Remove the TMPDIR, if the leg is dead; without that proof only if it is empty. What can't be removed, or is more
 * than a bounded number of entries (fewer with hurry, as after a cancel), stays: what the leg does in a
 * directory of its own is no failure.
 */
void private_temp_end(struct private_temp *t, bool dead, bool hurry);

#endif
