/*
 * Whether the leg's user holds the control group that the launcher is in (cgroup v2, cgroups(7)). Who can write its
 * cgroup.kill or cgroup.freeze, or move its members, ends or stops launcher, reaper and janitor at once, whatever
 * namespace he is in: by the hierarchy's files, or through a cgroup2 that he mounts in a cgroup namespace, which shows
 * the group that he is in. So such a leg gets a group of its own, below that one, and the hierarchies are closed to it.
 *
 * Closed means hidden: with no more than a descriptor on a directory that its user owns a leg could start a process in
 * that group (clone3(2), CLONE_INTO_CGROUP), which could mount it then. By Landlock rules, which allow no mounting,
 * read-only is enough.
 */
#ifndef GUARD_DELEGATION_H
#define GUARD_DELEGATION_H

#include "bindmount/error.h"
#include "guard/plan.h"

#include <stdbool.h>

/*
 * Find out by owners and modes as they are now, and note in the plan what is to be closed. *needed says whether the leg
 * has to have a group of its own; a root leg's user holds any group.
 */
int delegation_plan(struct plan *p, bool *needed, struct error *e);

#endif
