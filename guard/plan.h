/*
 * What one run is going to do: options and environment turned into files to guard, paths to make
 * read-only, the leg's directory and environment. Nothing is changed yet, so --dry-run ends here.
 */
#ifndef GUARD_PLAN_H
#define GUARD_PLAN_H

#include "bindmount/error.h"
#include "bindmount/view.h"
#include "guard/identity.h"
#include "guard/options.h"
#include "guard/protected.h"
#include "guard/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct plan {
	const struct options *options;
	struct guard_request *requests; /* paths and sources belong to options, env or the caller */
	size_t n_requests;
	size_t output_request; /* index of GITHUB_OUTPUT, or PLAN_NO_OUTPUT */
	struct protected protected;
	struct view view;         /* --read-only and protected paths; the snapshot adds its own */
	struct words hidden_for;  /* why: a constant text for each path of view.hidden */
	struct words removed_env; /* variables that the leg does not get unless --setenv sets them;
	                             strings that live as long as the plan */
	char **leg_env;
	struct identity leg; /* whose rights the leg has; set first, for all that goes by its uid */
	bool under_actions;  /* GITHUB_ACTIONS is true: the runner reads what is printed */
	bool neutralizes;    /* workflow commands in the leg's output are made inert */
	bool shuts_stdin;    /* the leg's standard input is /dev/null, see terminal.h */
	bool on_terminal;    /* likewise: there are terminals that lead to the log */
	bool scopes;         /* the kernel has Landlock scopes, and the leg is confined */
	int landlock_abi;    /* of the kernel, if the leg is confined by a ruleset; else 0 */
	bool no_truncation;  /* a filter has to deny what that can't, and is to be had */
	bool truncation_denied; /* by the one or the other */
};

#define PLAN_NO_OUTPUT ((size_t)-1)

/*
 * Begin the plan: the files to guard, as the options and env, the launcher's environment, name them. *p
 * is to be given back with plan_free() in either case.
 */
int plan_begin(struct plan *p, const struct options *o, char *const *env, struct error *e);

/* True if variable, NAME or NAME=VALUE, names a file that is guarded by default. */
bool plan_is_file_command(const char *variable);

/* Guard the status file as well: the last request. source is the option that led to it. */
void plan_guard_status(struct plan *p, const char *path, const char *source);

/* Make the rest of the plan. */
int plan_make(struct plan *p, char *const *env, struct error *e);

/*
 * With the snapshot taken: check what the launcher publishes to, and the descriptors 0 to 2, for what
 * would make the run worthless.
 */
int plan_check(const struct plan *p, const struct snapshot *s, struct error *e);

void plan_free(struct plan *p);

#endif
