/*
 * Finding the runner that this step belongs to.
 *
 * The step's processes are descendants of the runner's `Runner.Worker`, whose executable lies in a directory `bin`,
 * or `bin.2.336.0` after an update, of the runner's root. That is how the root is found; what the environment says
 * counts only where there is no such ancestor to be seen, as in a job's container.
 */
#ifndef GUARD_RUNNER_H
#define GUARD_RUNNER_H

#include "guard/process.h"

#include <stdbool.h>

/*
 * The runner's root, malloc'd; NULL if there is none, or with errno ENOMEM. *seen gets the ancestors that were looked at, from the
 * parent upwards.
 */
char *runner_find(char *const *env, struct processes *seen);

/* The root by the path of an executable, as proc(5) tells it, malloc'd; NULL if that is no Runner.Worker. Pure. */
char *runner_root_of(const char *executable);

/* True for the name that the runner gives the script of a step: a GUID and an extension. Pure. */
bool runner_is_script(const char *name);

/* What of the runner's root is for whom. Pure. */
enum runner_part {
	RUNNER_PART_NONE,
	RUNNER_PART_CODE,   /* runs in later steps and jobs, or says how */
	RUNNER_PART_SECRET, /* what the runner proves with who it is */
};
enum runner_part runner_part(const char *name);

#endif
