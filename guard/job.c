/* What one run holds. See job.h. */
#include "guard/job.h"

bool
job_publishes(const struct job *j)
{
	return j->plan.output_request != PLAN_NO_OUTPUT && !j->options->no_outputs;
}

size_t
job_output_index(const struct job *j)
{
	return snapshot_index(j->snapshot, j->plan.output_request);
}

/* The status file is the last request, if there is one. */
size_t
job_status_index(const struct job *j)
{
	return snapshot_index(j->snapshot, j->plan.n_requests - 1);
}

struct rights
job_rights(const struct job *j)
{
	const struct identity *leg = &j->plan.leg;

	return (struct rights){leg->kind == IDENTITY_USER, leg->uid, leg->gid};
}
