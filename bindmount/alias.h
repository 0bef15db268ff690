/*
 * The names of a path through all mounts.
 *
 * Read-only is a property of a mount, not of a file: a second mount of the same file system is a second
 * way in. So every path is looked for in all mounts, and all names that are found are treated alike.
 */
#ifndef BINDMOUNT_ALIAS_H
#define BINDMOUNT_ALIAS_H

#include "bindmount/error.h"
#include "bindmount/mountinfo.h"
#include "bindmount/view.h"

/* The mount of *m in which path lies for a process that looks it up now. NULL with errno. */
const struct mount_entry *alias_home(const struct mountinfo *m, const char *path);

/*
 * Add p and its names in all other mounts of *m, the caller's own as they are now, to *v. Where only a
 * part of what is below p is mounted, that part is added. A mount that can't be reached at its own point,
 * being covered or behind a directory closed to this user, is closed to the leg as well: mounts made here
 * are locked for it.
 */
int alias_add(
    struct view_paths *v, const struct mountinfo *m, const struct view_path *p, struct error *e);

/* The same for each of *paths. One that may be gone is left out then. */
int alias_add_all(struct view_paths *v, const struct mountinfo *m, const struct view_paths *paths,
    bool may_be_gone, struct error *e);

#endif
