/* What the leg is not to see: paths that are noted in the plan, each with the reason. */
#ifndef GUARD_HIDE_H
#define GUARD_HIDE_H

#include "bindmount/error.h"
#include "guard/plan.h"
#include "guard/snapshot.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Hide path, which is absolute and free of symbolic links and has st: the one way to add to view.hidden.
 * reason, for people, has to live as long as the plan. A path that is there already keeps its first reason.
 */
int hide_path(
    struct plan *p, const char *path, const struct stat *st, const char *reason, struct error *e);

/* Hide what --hide names. Refused: a path that is not there, "/", anything in /proc, and with Landlock a socket. */
int hide_named(struct plan *p, struct error *e);

/* True if view.hidden.list[i] is there because --hide names it. */
bool hide_is_named(const struct plan *p, size_t i);

/* The hidden path that path is or lies below without being kept, or NULL. */
const char *hide_above(const struct plan *p, const char *path);

/*
 * True if the leg can move path, a hidden one, or a directory that it lies in, from a namespace that does not have
 * the mask: then it can get around it, through a mount of its own of where that was moved to. By owners and
 * modes as they are now.
 */
bool hide_is_movable(const struct plan *p, const char *path);

/* With all paths noted and the names walked: refuse what would take a guarded file or the leg's directory. */
int hide_check(const struct plan *p, const struct snapshot *s, struct error *e);

#endif
