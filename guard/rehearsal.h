/*
 * A run on this machine that does nothing: of this program's own --version, planned from the environment
 * as any other, but without the step's files, which are none of doctor's business.
 */
#ifndef GUARD_REHEARSAL_H
#define GUARD_REHEARSAL_H

#include "bindmount/trial.h"
#include "bindmount/view.h"
#include "guard/options.h"
#include "guard/plan.h"
#include "guard/startup.h"

enum { REHEARSAL_WORDS = 16 };

struct rehearsal {
	const char *program; /* absolute path */
	const struct startup *startup;
	char **env; /* owned, but for its strings */
	struct options options;
	struct plan plan;            /* of the default tier */
	char *argv[REHEARSAL_WORDS]; /* that options point into */
};

/*
 * Plan it. Where a run is refused before it begins, the plan has only a bare view: this program's file
 * read-only, the doors closed, and a directory. All that is given has to outlive *r, which is to be given back with
 * rehearsal_end() in either case.
 */
int rehearsal_begin(struct rehearsal *r, const char *program, char *const *env,
    const struct startup *startup, struct error *e);

/* Carry it out in the tier --isolation calls so; user is that of --user, or NULL. */
void rehearsal_run(
    const struct rehearsal *r, const char *tier, const char *user, struct trial_result *result);

/* The same in the default tier, through sudo(8), which has to ask for no password. */
void rehearsal_run_as_root(
    const struct rehearsal *r, const char *user, struct trial_result *result);

void rehearsal_end(struct rehearsal *r);

#endif
