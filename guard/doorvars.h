/* Variables that lead a client to a door. One that points to something hidden only makes it fail oddly. */
#ifndef GUARD_DOORVARS_H
#define GUARD_DOORVARS_H

#include "bindmount/error.h"
#include "guard/plan.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Add to p->removed_env the variables of env, the launcher's, that point to what p hides, or to an abstract socket
 * if p->scopes keeps the leg from those. The strings are constants.
 */
int doorvars_remove(struct plan *p, char *const *env, struct error *e);

/*
 * Pure: take the next address from *value: a path, or "unix:PATH", "unix://PATH", "unix:path=PATH,..." as D-Bus
 * has it, with its percent signs decoded; several are separated by ";". *value is moved behind it. Returns the path,
 * malloc'd, "" for an address that is none (with *abstract set if it is an abstract socket's), or NULL with errno 0
 * at the end, or ENOMEM.
 */
char *doorvars_next(const char **value, bool *abstract);

#endif
