/*
 * The strict view: nothing can be written but what is named.
 *
 * The root, with every mount below it, is a read-only copy; /tmp and /dev/shm are private, empty ones; the
 * directories of view.writable are bound over their places, and so is view.private over view.temp, with what
 * else is in that still to be seen, and read-only. So every name on the way to a path that lies in none of
 * the writable directories is fixed, in every namespace that the leg can make.
 */
#ifndef BINDMOUNT_STRICT_H
#define BINDMOUNT_STRICT_H

#include "bindmount/error.h"
#include "bindmount/mountinfo.h"
#include "bindmount/view.h"

/*
 * Add to *v what has to be covered in the strict view: the mounts below a writable directory, of those in *m,
 * through which a path of view->read_only, or a part of it, can be reached. All else is read-only anyway.
 */
int strict_ways_in(
    struct view_paths *v, const struct view *view, const struct mountinfo *m, struct error *e);

/* Build it. The root directory is another mount afterwards. Needs Linux 5.12; there is no other way. */
int strict_build(const struct view *view, struct error *e);

/* Check that every path of view->read_only leads where it has to and is read-only. */
int strict_check(const struct view *view, struct error *e);

/* True if path lies in a directory that is a private one in the strict view, or is one, unless it is writable. */
bool strict_is_private(const struct view *view, const char *path);

#endif
