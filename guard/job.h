/* All that one run holds while it lasts. For guard/run.c, which sets it up, and guard/settle.c, which ends it. */
#ifndef GUARD_JOB_H
#define GUARD_JOB_H

#include "guard/bringout.h"
#include "guard/cgroup.h"
#include "guard/janitor.h"
#include "guard/life.h"
#include "guard/options.h"
#include "guard/outcome.h"
#include "guard/plan.h"
#include "guard/privatetemp.h"
#include "guard/record.h"
#include "guard/rights.h"
#include "guard/snapshot.h"
#include "guard/startup.h"
#include "guard/statusfile.h"
#include "guard/sweep.h"

#include <stdbool.h>
#include <stddef.h>

struct job {
	char *const *env; /* the launcher's */
	struct record record;
	bool recorded; /* the run has begun in it */
	int64_t began_us; /* CLOCK_MONOTONIC */
	const struct options *options;
	const struct startup *startup;
	struct statusfile status;
	struct plan plan;
	struct private_temp temp;
	struct snapshot *snapshot;
	struct life life;
	struct cgroup cgroup;
	bool needs_cgroup; /* the leg's user could get at ours; see delegation.h */
	struct janitor janitor;
	struct sweep_scope sweep;
	struct bringout bringout;
	struct outcome *out;
};

/* Outputs are wanted, and there is a file for them. */
bool job_publishes(const struct job *j);

/* The files of the snapshot that outputs, and the status if it has a path, are appended to. */
size_t job_output_index(const struct job *j);
size_t job_status_index(const struct job *j);

/* With whose rights names in the leg's own directories are changed; see guard/rights.h. */
struct rights job_rights(const struct job *j);

#endif
