/* Making one subtree read-only in the caller's mount namespace. */
#ifndef BINDMOUNT_READONLY_H
#define BINDMOUNT_READONLY_H

#include "bindmount/error.h"
#include "bindmount/view.h"

/*
 * Cover p->path with a read-only copy of itself and all mounts below it, and check that the path
 * still leads to (p->dev, p->ino) and that nothing can be written there. The copy is read-only
 * before it can be seen; only where open_tree(2), move_mount(2) or mount_setattr(2) (Linux 5.12) are
 * missing or filtered is it bound first and remounted then.
 */
int readonly_cover(const struct view_path *p, struct error *e);

/* Only check it: that the path leads to that, and that nothing can be written there. */
int readonly_check(const struct view_path *p, struct error *e);

#endif
