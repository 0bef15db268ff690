/*
 * A control group of the leg's own (cgroup v2, cgroups(7)): where the leg keeps the host's pid
 * namespace, all of it can be killed in one write, and "populated 0" says that nothing is left.
 *
 * A process moves between groups only with write access to both and to their common ancestor, by their files or by
 * clone3(2) with a descriptor on the directory. Read-only mounts keep the leg from the files, hidden ones from both, see
 * delegation.h; a cgroup2 that it mounts itself, in a cgroup namespace, begins at its own group. That nothing is in the
 * group is a proof only with the reaper's word.
 */
#ifndef GUARD_CGROUP_H
#define GUARD_CGROUP_H

#include "bindmount/error.h"

#include <stdbool.h>

struct cgroup {
	int parent;  /* directory of the group it was made in */
	int dir;     /* its own; -1 if there is none */
	char *mount; /* where that cgroup2 is mounted; owned */
	char name[64];
};

/* True if path is a group's directory. */
bool cgroup_is_at(const char *path);

/*
 * The directory of the caller's own group, and if mount is not NULL, in *mount, where that cgroup2 is mounted: both
 * malloc'd. NULL if there is none, or if it is not mounted here.
 */
char *cgroup_own_directory(char **mount);

/*
 * Make a group below `base`, or below the caller's own if base is NULL. If base is NULL and the caller's
 * own is not delegated to it, or there is no cgroup2, that is no error: g->dir is -1 then.
 * To be given back with cgroup_remove().
 */
int cgroup_make(struct cgroup *g, const char *base, struct error *e);

/* Move the calling process into the group whose directory dir is. -1: errno. */
int cgroup_enter(int dir);

/*
 * Kill all in the group: cgroup.kill (Linux 5.14), or freeze, kill each, thaw, where that can't be
 * written. Returns before they are gone. -1: errno.
 */
int cgroup_kill(int dir);

/* Wait at most ms milliseconds for "populated 0". True if it was seen. */
bool cgroup_wait_empty(int dir, int ms);

/* Remove it, and what the leg may have made below it, if it is empty. */
void cgroup_remove(struct cgroup *g);

#endif
