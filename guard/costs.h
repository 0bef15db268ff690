/* What a view takes from the leg, for --dry-run: places that programs usually write to and that it can't. */
#ifndef GUARD_COSTS_H
#define GUARD_COSTS_H

#include "guard/plan.h"

#include <stdio.h>

/* Lines that begin with "warning". */
void costs_describe(FILE *out, const struct plan *p);

#endif
