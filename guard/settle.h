/* The end of a run: with the leg gone, restore, decide, publish and report. */
#ifndef GUARD_SETTLE_H
#define GUARD_SETTLE_H

#include "guard/job.h"

/* From LIFE_RESTORING to LIFE_DONE. Each step follows the one before, whatever became of that. */
void settle(struct job *j);

/* Instead, for a run that is refused with *e: the outcome and the status say so. */
void settle_refusal(struct job *j, const struct error *e);

#endif
