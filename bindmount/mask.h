/* Hiding paths in the caller's mount namespace. */
#ifndef BINDMOUNT_MASK_H
#define BINDMOUNT_MASK_H

#include "bindmount/error.h"
#include "bindmount/view.h"

/*
 * Put a mask over each path of hidden: over a directory an empty one, over anything else an empty file of mode 000.
 * All masks are pieces of one tmpfs, mounted read-only, so nothing can be made in them and their modes stay. What
 * stands in for a hidden file, see view.h, is bound over it instead. A path of kept that lies below a hidden directory
 * is bound to its old place in the mask. What is hidden below something kept is masked after that. A path that leads
 * nowhere any more is left out.
 *
 * Paths are absolute and free of symbolic links; none is "/" or in /proc. open_tree(2) and move_mount(2) are used
 * where the kernel and its filters let them (Linux 5.2), else bind mounts. Afterwards the working directory is another
 * one, and the tmpfs lies on /proc: the caller mounts a fresh one over it, or calls mask_uncover_proc(), which takes
 * as long as all the masks together.
 */
int mask_all(const struct view_paths *hidden, const struct view_paths *kept, struct error *e);
int mask_uncover_proc(struct error *e);

#endif
