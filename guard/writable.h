/* The strict view in the plan: what --writable names, and what has to be there beside it. */
#ifndef GUARD_WRITABLE_H
#define GUARD_WRITABLE_H

#include "bindmount/error.h"
#include "guard/plan.h"
#include "guard/snapshot.h"

#include <stdbool.h>

/*
 * Fill in view.writable, view.temp and view.shown, once all read-only paths are noted and the guarded files'
 * names are walked; env is the launcher's environment. Refused: what is no directory, "/", /proc, and a
 * directory through which a guarded, read-only or --hide path, or a name on the way to it as it was given, a link
 * or not, could be changed. Does nothing without --writable.
 */
int writable_plan(struct plan *p, const struct snapshot *s, char *const *env, struct error *e);

/* What the leg finds at an absolute path free of symbolic links, in the strict view. */
enum writable_place { PLACE_READ_ONLY, PLACE_WRITABLE, PLACE_NOT_THERE };

enum writable_place writable_look(const struct view *v, const char *path);

#endif
