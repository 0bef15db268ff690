/*
 * Pinning directories: what is in them now stays, by its name and as writable as it was, and nothing
 * directly in them can be made, renamed or removed.
 *
 * A mount point is safe from a rename only in mount namespaces in which it is one; a process that opens the
 * directory above, enters a namespace of its own with another root and renames by the descriptor gets past
 * it. It does not get past a read-only mount. So each pinned directory is covered by a copy of itself whose
 * own mount is read-only, and each child is bound back on top of that.
 *
 * The price: rename(2) and link(2) between two children fail with EXDEV, since each is a mount of its own;
 * what somebody outside adds later is read-only; and each child costs a mount.
 */
#ifndef BINDMOUNT_PIN_H
#define BINDMOUNT_PIN_H

#include "bindmount/error.h"
#include "bindmount/mountinfo.h"
#include "bindmount/view.h"

enum { PIN_CHILDREN_MAX = 4096 }; /* in all pinned directories and their aliases together */

/*
 * Pin each directory of *dirs, and each alias of it through another mount in *m. Refused: a directory that
 * is another one than noted, that can't be listed, or more than PIN_CHILDREN_MAX children.
 */
int pin_all(const struct view_paths *dirs, const struct mountinfo *m, struct error *e);

#endif
