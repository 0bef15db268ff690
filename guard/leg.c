/*
 * Becoming the leg: session, limits, capabilities, signals, descriptors, exec. In this order, since
 * each step needs what a later one takes away.
 */
#include "guard/leg.h"

#include "bindmount/cleanup.h"
#include "bindmount/caps.h"
#include "bindmount/credentials.h"
#include "bindmount/keeplimits.h"
#include "bindmount/landlock.h"
#include "bindmount/notruncate.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"
#include "guard/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEG_STACK = 64 * 1024 };

bool
leg_has_userns(const struct leg_plan *plan)
{
	return plan->confined && plan->kind == IDENTITY_CALLER;
}

/*
 * When memory runs out the leg goes first, not the launcher. Raising one's own value needs no
 * privilege, but the file belongs to root while the process is not dumpable (proc(5)). Nothing of the
 * leg exists yet that could use the moment.
 */
static int
volunteer_for_oom(struct error *e)
{
	int result = 0;

	prctl(PR_SET_DUMPABLE, 1);
	AUTO_FD int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1000", 4) != 4)
		result = error_set(e, errno, NULL, "can't write /proc/self/oom_score_adj");
	prctl(PR_SET_DUMPABLE, 0);
	return result;
}

static int
give_back_limits(const struct leg_plan *plan, struct error *e)
{
	umask(plan->umask);
	if (setrlimit(RLIMIT_NOFILE, &plan->nofile) != 0)
		return error_set(e, errno, NULL, "can't give the leg its limit of open files");
	return 0;
}

static int
enter_scopes(const struct leg_plan *plan, struct error *e)
{
	if (plan->scopes && sys_landlock_scope() != 0)
		return error_set(e, errno, NULL, "can't enter a Landlock domain");
	return 0;
}

/* Those of the processes around it, the launcher's above all, where it sees them. */
static int
keep_limits(const struct leg_plan *plan, struct error *e)
{
	if (plan->keep_limits && keeplimits_enter() != 0)
		return error_set(e, errno, "let it call prctl(2) with PR_SET_SECCOMP",
		    "can't install a seccomp filter");
	return 0;
}

/*
 * Where root could go the user may not, and from a directory that he can't reach he could still go on from: so it
 * is entered once more.
 */
static int
become_user(const struct leg_plan *plan, struct error *e)
{
	struct stat st;

	if (credentials_become(plan->uid, plan->gid, e) != 0)
		return -1;
	if (chdir(plan->view->cwd.path) != 0)
		return error_set(e, errno,
		    "choose a directory with -C that the user can enter, or let him search the "
		    "ones "
		    "above it",
		    "user %u can't enter %s", (unsigned)plan->uid, plan->view->cwd.path);
	if (stat(".", &st) != 0 || st.st_dev != plan->view->cwd.dev ||
	    st.st_ino != plan->view->cwd.ino)
		return error_set(
		    e, 0, NULL, "%s leads to another directory than before", plan->view->cwd.path);
	return 0;
}

/* Those that container engines leave to root, without the ones for device nodes and raw sockets. */
static const uint64_t root_caps =
    CAPS_BIT(CAP_CHOWN) | CAPS_BIT(CAP_DAC_OVERRIDE) | CAPS_BIT(CAP_FOWNER) | CAPS_BIT(CAP_FSETID) |
    CAPS_BIT(CAP_KILL) | CAPS_BIT(CAP_SETGID) | CAPS_BIT(CAP_SETUID) | CAPS_BIT(CAP_SETPCAP) |
    CAPS_BIT(CAP_NET_BIND_SERVICE) | CAPS_BIT(CAP_SYS_CHROOT) | CAPS_BIT(CAP_AUDIT_WRITE) |
    CAPS_BIT(CAP_SETFCAP);

/* After the exec root has what is left in the bounding set. */
static int
confine_root(struct error *e)
{
	if (syscall(SYS_setgroups, 0, NULL) != 0)
		return error_set(
		    e, errno, "give root CAP_SETGID", "can't give up the supplementary groups");
	return caps_bound(root_caps, e) != 0 ? -1 : caps_drop(root_caps, e);
}

/*
 * A user has no capabilities to begin with, and gains none with no_new_privs; a root would have those of its bounding
 * set back after the exec. The filter is last: it is for the leg's calls, and the leg needs none of those
 * that set it up.
 */
static int
confine_by_landlock(const struct leg_plan *plan, struct error *e)
{
	if ((plan->kind == IDENTITY_ROOT && caps_bound(0, e) != 0) || caps_drop(0, e) != 0)
		return -1;
	if (landlock_enter(plan->ruleset) != 0)
		return error_set(e, errno, NULL, "can't enter a Landlock domain");
	if (plan->no_truncation && notruncate_enter() != 0)
		return error_set(e, errno, NULL, "can't install a seccomp filter");
	return 0;
}

/* Dispositions and mask as a fresh process has them: ignored signals survive an exec otherwise. */
static int
reset_signals(struct error *e)
{
	sigset_t none;

	/* EINVAL for SIGKILL, SIGSTOP and the C library's own */
	for (int sig = 1; sig < NSIG; sig++)
		if (signal(sig, SIG_DFL) == SIG_ERR && errno != EINVAL)
			return error_set(e, errno, NULL, "can't reset the leg's signals");
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		return error_set(e, errno, NULL, "can't unblock the leg's signals");
	return 0;
}

static int
set_up(const struct leg_plan *plan, struct error *e)
{
	/* Not by CLONE_INTO_CGROUP: clone3(2) has no form that runs on a stack of its own. Nothing of
	 * the leg's has run yet, so it comes to the same. */
	if (plan->cgroup >= 0 && cgroup_enter(plan->cgroup) != 0)
		return error_set(e, errno,
		    "delegate the cgroup to this user, with its cgroup.procs",
		    "can't enter the leg's cgroup");
	if (leg_has_userns(plan) && userns_map_identity(plan->uid, plan->gid, e) != 0)
		return -1;
	if (volunteer_for_oom(e) != 0 || give_back_limits(plan, e) != 0)
		return -1;
	if (setsid() < 0)
		return error_set(e, errno, NULL, "can't start a session");
	if (plan->kind == IDENTITY_USER && become_user(plan, e) != 0)
		return -1;
	if (plan->landlock_abi > 0)
		return confine_by_landlock(plan, e) != 0 ? -1 : keep_limits(plan, e);
	if (leg_has_userns(plan) && userns_drop_capabilities(e) != 0)
		return -1;
	if (plan->confined && plan->kind == IDENTITY_ROOT && confine_root(e) != 0)
		return -1;
	return enter_scopes(plan, e) != 0 ? -1 : keep_limits(plan, e);
}

struct birth {
	const struct leg_plan *plan;
	struct leg_failure *failure;
};

/* In the leg's process, which shares the caller's memory until the exec. */
static int
become_leg(void *arg)
{
	const struct birth *b = arg;

	if (set_up(b->plan, &b->failure->error) == 0 && reset_signals(&b->failure->error) == 0) {
		sys_close_from(STDERR_FILENO + 1);
		environ = (char **)b->plan->envp;
		execvp(b->plan->argv[0], b->plan->argv);
		b->failure->exec_errno = errno;
	}
	_exit(127);
}

pid_t
leg_start(const struct leg_plan *plan, struct leg_failure *failure)
{
	struct birth b = {.plan = plan, .failure = failure};
	size_t argc = 0;
	pid_t pid;

	*failure = (struct leg_failure){0};
	while (plan->argv[argc] != NULL)
		argc++;
	/* execvp(3) copies the arguments to the stack to hand them to a shell. */
	pid = sys_vfork(leg_has_userns(plan) ? CLONE_NEWUSER | CLONE_NEWNS : 0, become_leg, &b,
	    LEG_STACK + (argc + 2) * sizeof(char *));
	if (pid < 0)
		return error_set(
		    &failure->error, errno, userns_cure(errno), "can't make the leg's process");
	if (failure->exec_errno == 0 && failure->error.what[0] == '\0')
		return pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return -1;
}
