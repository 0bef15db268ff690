/*
 * What is read-only for the leg without being asked for, since it runs or is trusted after the leg: the running
 * step's own script above all, which a shell reads as it goes.
 *
 * A file that comes to be in RUNNER_TEMP later is not covered, nor is what no longer is where it was.
 */
#ifndef GUARD_PROTECTED_H
#define GUARD_PROTECTED_H

#include "bindmount/error.h"
#include "bindmount/view.h"
#include "guard/keep.h"
#include "guard/options.h"
#include "guard/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct protected_path {
	char *path; /* canonical; owned */
	struct stat st;
	const char *why;      /* what it is, in a few words */
	const char *left_out; /* why it is not protected all the same, or NULL */
	bool inside;    /* it lies in a protected directory, so it needs no mount of its own */
	enum keep keep; /* how, beyond the mount */
};

struct protected
{
	struct protected_path *list;
	size_t count;
	struct processes
	    ancestors; /* of the launcher, from its parent upwards, as far as they were looked at */
	struct view_paths secrets; /* of the runner's, to be hidden from the leg */
};

/* As many single files of RUNNER_TEMP as a run will mount: each costs some 20 us, and as much in a sandbox inside. */
#define PROTECTED_FILES_MAX ((size_t)1000)

/*
 * Find what is to be protected, by the launcher's environment env, its ancestors and the file system:
 * - of RUNNER_TEMP the regular files directly in it, and the directory _github_workflow;
 * - the file of GITHUB_EVENT_PATH, the directory of GITHUB_ACTION_PATH, the runner's directory of actions;
 * - of the runner's root what runs in later steps;
 * - the scripts that ACTIONS_RUNNER_HOOK_JOB_STARTED, _JOB_COMPLETED and ACTIONS_RUNNER_CONTAINER_HOOKS name;
 * - the launcher's executable and its directory,
 * after what --read-only names, which has to be there.
 * leg is the uid that the leg will have.
 * Left out is a directory that holds what the leg works in (its working directory cwd, the workspace, RUNNER_TEMP,
 * HOME, TMPDIR), and what --unprotect names or holds. What is not there, or out of the leg's reach anyway, is passed
 * over. Refused: more files than PROTECTED_FILES_MAX; an --unprotect path inside a protected directory, which
 * can be taken out only as a whole. *p is to be given back with protected_free() in either case.
 */
int protected_find(struct protected *p, const struct options *o, char *const *env, const char *cwd,
    uid_t leg, struct error *e);

/* Keep all of it, as each says. -1 with *e. */
int protected_keep(const struct protected *p, struct snapshot *s, struct error *e);

/* Add to *v what has to be mounted. -1 with *e. */
int protected_add_to(const struct protected *p, struct view_paths *v, struct error *e);

/* The entry of that canonical path that is protected, or NULL. */
const struct protected_path *protected_get(const struct protected *p, const char *path);

void protected_free(struct protected *p);

#endif
