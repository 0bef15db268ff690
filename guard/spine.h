/*
 * The spine: the directories above a path in which the leg could change a name of it.
 *
 * A name is the leg's to change if it may write the directory that holds it, or owns that, since an owner
 * can change the mode; not in a sticky directory (/tmp) where neither that nor what is named is its own.
 */
#ifndef GUARD_SPINE_H
#define GUARD_SPINE_H

#include "bindmount/error.h"
#include "bindmount/view.h"
#include "guard/snapshot.h"

/*
 * Add to v->pinned the spines of all guarded files, of the symbolic links on the way to them, and of
 * v->read_only, for a leg that is user uid and group gid. What lies in a read-only path itself needs none.
 */
int spine_plan(struct view *v, const struct snapshot *s, uid_t uid, gid_t gid, struct error *e);

#endif
