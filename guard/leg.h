/* The leg's own process, between its creation and the exec of the command. */
#ifndef GUARD_LEG_H
#define GUARD_LEG_H

#include "bindmount/error.h"
#include "bindmount/view.h"
#include "guard/identity.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Everything that is decided before the leg is made. All pointers stay the caller's. */
struct leg_plan {
	bool confined; /* namespaces and a view of its own; else only a child and a session */
	bool scopes;   /* Landlock scopes on top; only if confined */
	int landlock_abi; /* confined by a Landlock ruleset instead, made from view for a kernel of this
	                       ABI; 0: not */
	int ruleset;      /* the descriptor of it, once the reaper has made it */
	bool no_truncation; /* and by the filter of notruncate.h */
	bool pid_namespace; /* a pid namespace of its own; only if confined */
	bool keep_limits;   /* by the filter of keeplimits.h; only if it gets no new privileges */
	int cgroup;         /* directory of the leg's own control group, or -1 */
	const struct view *view;
	char *const *argv; /* the command, looked up along the PATH in envp as execvp(3) does */
	char *const *envp;
	enum identity_kind kind; /* uid and gid are the caller's own, or to be taken on by root */
	uid_t uid;
	gid_t gid;
	mode_t umask;         /* the caller's, which the leg gets back */
	struct rlimit nofile; /* likewise */
	int output[2];        /* what becomes the leg's stdout and stderr */
};

/* Whether what confines it is owned by user namespaces, the reaper's and the leg's own. */
bool leg_has_userns(const struct leg_plan *plan);

/* Why there is no leg; all zero if there is one. */
struct leg_failure {
	int exec_errno;     /* the command could not be executed; 0: see error */
	struct error error; /* what could not be set up before that */
};

/*
 * Make the leg, a child of the caller, and wait until its command is being executed. Who confines it without
 * being root does so from a user namespace of its own, and the leg gets a further one with a mount namespace, so
 * that the mounts of the view are locked for it; root's mounts are out of the reach of another user without
 * capabilities anyway, and locked in what namespaces he makes. Returns its pid, or -1 with *failure.
 */
pid_t leg_start(const struct leg_plan *plan, struct leg_failure *failure);

#endif
