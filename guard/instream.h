/*
 * The leg's standard input, in its view.
 *
 * A descriptor reaches its file whatever is mounted over the path, and through /proc/self/fd it can be opened anew for
 * writing. So a standard input that the view has read-only is opened anew in the view, and one that the view takes
 * away is refused, unless the file has no name any more.
 */
#ifndef GUARD_INSTREAM_H
#define GUARD_INSTREAM_H

#include "bindmount/error.h"
#include "bindmount/view.h"

#include <limits.h>

/* The path of a regular file that standard input is, else empty. Before the view is built. */
int instream_find(char path[PATH_MAX + 1], struct error *e);

/* In the view, with that path. */
int instream_take(const struct view *view, const char *path, struct error *e);

#endif
