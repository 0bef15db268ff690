/* What this machine lets an ordinary process do. See probe.h. */
#include "bindmount/probe.h"

#include "bindmount/cleanup.h"
#include "bindmount/sandbox.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsd/string.h>

enum {
	TRIAL_MS = 10 * 1000,  /* each takes milliseconds, unless the machine hangs */
	LEG_STACK = 64 * 1024, /* as the leg's own */
	PID_1 = 1,
};

/* What the body of a trial is told: ids have to be asked for outside of the new namespace. */
struct setting {
	struct view view;
	uid_t uid;
	gid_t gid;
};

static void
try(uint64_t namespaces, trial_body *body, const struct view *view, bool fresh_proc,
    struct trial_result *r)
{
	struct setting s = {.view = *view, .uid = getuid(), .gid = getgid()};
	const struct trial t = {.namespaces = namespaces, .ms = TRIAL_MS, .body = body, .arg = &s};

	s.view.fresh_proc = fresh_proc;
	trial_run(&t, r);
}

static int
map(const struct setting *s, struct trial_result *r)
{
	if (userns_map_identity(s->uid, s->gid, &r->error) == 0)
		return 0;
	r->state = TRIAL_MISSING;
	return -1;
}

static int
map_and_build(const struct setting *s, struct trial_result *r)
{
	int decoys;

	if (map(s, r) != 0)
		return -1;
	if (view_build(&s->view, &decoys, &r->error) == 0)
		return 0;
	r->state = TRIAL_MISSING;
	return -1;
}

static void
body_user_namespaces(void *arg, struct trial_result *r)
{
	const struct setting *s = arg;

	if (map(s, r) != 0)
		return;
	trial_detail(r, "made, with user %u and group %u mapped", s->uid, s->gid);
	r->state = TRIAL_OK;
}

void
probe_user_namespaces(const struct view *view, struct trial_result *r)
{
	try(CLONE_NEWUSER | CLONE_NEWNS, body_user_namespaces, view, false, r);
}

static void
body_mounts(void *arg, struct trial_result *r)
{
	if (map_and_build(arg, r) != 0)
		return;
	trial_detail(r, "made private, a path made read-only");
	r->state = TRIAL_OK;
}

void
probe_mounts(const struct view *view, struct trial_result *r)
{
	try(CLONE_NEWUSER | CLONE_NEWNS, body_mounts, view, false, r);
}

static void
body_pid_namespace(void *arg, struct trial_result *r)
{
	char self[32] = "";

	if (map_and_build(arg, r) != 0)
		return;
	if (getpid() != PID_1 || readlink("/proc/self", self, sizeof self - 1) < 0 ||
	    strcmp(self, "1") != 0) {
		trial_missing(r, 0, NULL, "a fresh /proc does not show its pid namespace");
		return;
	}
	trial_detail(r, "made, with a fresh /proc");
	r->state = TRIAL_OK;
}

void
probe_pid_namespace(const struct view *view, struct trial_result *r)
{
	try(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, body_pid_namespace, view, true, r);
}

/* The leg of a trial: its process shares memory with PID 1 until it executes something or ends. */
struct leg {
	const struct setting *setting;
	void (*body)(const struct setting *s, struct trial_result *r);
	struct trial_result *r;
};

static int
become_leg(void *arg)
{
	const struct leg *leg = arg;
	struct trial_result *r = leg->r;

	if (map(leg->setting, r) != 0)
		_exit(1);
	if (userns_drop_capabilities(&r->error) != 0)
		trial_missing(r, 0, NULL, "no leg without capabilities");
	else if (sys_landlock_abi() >= SYS_LANDLOCK_SCOPE_ABI && sys_landlock_scope() != 0)
		trial_missing(r, errno, NULL, "can't enter a Landlock domain");
	else
		leg->body(leg->setting, r);
	_exit(r->state == TRIAL_OK ? 0 : 1);
}

/* In PID 1 of the view: run body as the leg and wait for its end. Its status, or -1 and *r. */
static int
run_leg(const struct setting *s, void (*body)(const struct setting *, struct trial_result *),
    struct trial_result *r)
{
	struct leg leg = {.setting = s, .body = body, .r = r};
	int status;
	pid_t pid;

	if (map_and_build(s, r) != 0)
		return -1;
	pid = sys_vfork(CLONE_NEWUSER | CLONE_NEWNS, become_leg, &leg, LEG_STACK);
	if (pid < 0) {
		trial_missing(r, errno, userns_cure(errno), "can't make the leg's namespaces");
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void
leg_nothing(const struct setting *s, struct trial_result *r)
{
	(void)s;
	trial_detail(r, "made in the first, and its capabilities given up");
	r->state = TRIAL_OK;
}

static void
body_nested_namespaces(void *arg, struct trial_result *r)
{
	(void)run_leg(arg, leg_nothing, r);
}

void
probe_nested_namespaces(const struct view *view, struct trial_result *r)
{
	try(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, body_nested_namespaces, view, true, r);
}

/* user_namespaces(7): to map root takes a capability of its parent namespace's, which no leg has. */
static const char root_cure[] = "run the leg as an ordinary user";

static void
leg_bubblewrap(const struct setting *s, struct trial_result *r)
{
	if (sandbox_run_bubblewrap() != 0 && errno != ENOENT) {
		trial_missing(r, errno, NULL, "can't execute bubblewrap");
		return;
	}
	trial_detail(r, "its steps work; bubblewrap is not installed");
	if (sandbox_imitate(s->uid, s->gid, &r->error) == 0) {
		r->state = TRIAL_OK;
		return;
	}
	trial_detail(r, "bubblewrap is not installed; its steps were taken");
	trial_missing(r, 0, NULL, "its steps don't work");
	if (s->uid == 0)
		strlcpy(r->error.cure, root_cure, sizeof r->error.cure);
}

/* What it said, in its first line: descriptor 2 is a file in memory. */
static void
quote_bubblewrap(const struct setting *s, int status, struct trial_result *r)
{
	char said[256];
	ssize_t n = pread(STDERR_FILENO, said, sizeof said - 1, 0);

	said[n > 0 ? n : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	trial_missing(r, 0, s->uid != 0 ? userns_cure(0) : root_cure, "bubblewrap in a leg: %s",
	    said[0] != '\0'       ? said
	    : WIFSIGNALED(status) ? "ended by a signal"
				  : "failed without a word");
}

static void
body_nested_bubblewrap(void *arg, struct trial_result *r)
{
	int status = run_leg(arg, leg_bubblewrap, r);

	if (status < 0 || r->state != TRIAL_UNKNOWN)
		return;
	if (status != 0) {
		quote_bubblewrap(arg, status, r);
		return;
	}
	trial_detail(r, "ran in a leg, with namespaces and a /proc of its own");
	r->state = TRIAL_OK;
}

void
probe_nested_bubblewrap(const struct view *view, struct trial_result *r)
{
	try(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, body_nested_bubblewrap, view, true, r);
}

/* An empty file system of the trial's own as the working directory. /proc exists everywhere. */
static int
enter_scratch(const struct setting *s, struct trial_result *r)
{
	if (userns_map_identity(s->uid, s->gid, &r->error) != 0)
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") != 0 ||
	    chdir("/proc") != 0)
		return error_set(&r->error, errno, NULL, "there is no mount to try it on");
	return 0;
}

/* A mount call in namespaces; where there are none, nothing is known of it. */
static void
try_mount_call(trial_body *body, const struct view *view, struct trial_result *r)
{
	try(CLONE_NEWUSER | CLONE_NEWNS, body, view, false, r);
	if (r->begun)
		return;
	r->state = TRIAL_UNKNOWN;
	r->error.cure[0] = '\0';
}

static void
conclude_call(struct trial_result *r, const char *call, bool works)
{
	if (!works) {
		trial_missing(r, errno, NULL, "%s(2)", call);
		return;
	}
	trial_detail(r, "%s(2) works", call);
	r->state = TRIAL_OK;
}

static void
body_open_tree(void *arg, struct trial_result *r)
{
	if (enter_scratch(arg, r) != 0)
		return;
	conclude_call(r, "open_tree",
	    sys_open_tree(AT_FDCWD, ".", SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC) >= 0);
}

void
probe_open_tree(const struct view *view, struct trial_result *r)
{
	try_mount_call(body_open_tree, view, r);
}

static void
body_move_mount(void *arg, struct trial_result *r)
{
	struct stat a, b;

	if (enter_scratch(arg, r) != 0)
		return;
	if (mkdir("a", 0700) != 0 || mkdir("b", 0700) != 0 ||
	    mount("tmpfs", "a", "tmpfs", 0, "size=64k") != 0 || stat("a", &a) != 0) {
		error_set(&r->error, errno, NULL, "there is no mount to try it on");
		return;
	}
	conclude_call(r, "move_mount",
	    sys_move_mount(AT_FDCWD, "a", AT_FDCWD, "b", 0) == 0 && stat("b", &b) == 0 &&
		a.st_dev == b.st_dev);
}

void
probe_move_mount(const struct view *view, struct trial_result *r)
{
	try_mount_call(body_move_mount, view, r);
}

static void
body_mount_setattr(void *arg, struct trial_result *r)
{
	struct statvfs fs;

	if (enter_scratch(arg, r) != 0)
		return;
	conclude_call(r, "mount_setattr",
	    sys_mount_setattr(AT_FDCWD, ".", 0, SYS_MOUNT_ATTR_RDONLY) == 0 &&
		statvfs(".", &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0);
}

void
probe_mount_setattr(const struct view *view, struct trial_result *r)
{
	try_mount_call(body_mount_setattr, view, r);
}

static void
body_clone3(void *arg, struct trial_result *r)
{
	pid_t pid = sys_fork_by_clone3(0, NULL);

	(void)arg;
	if (pid == 0)
		_exit(0);
	conclude_call(r, "clone3", pid > 0 && waitpid(pid, NULL, 0) == pid);
}

void
probe_clone3(const struct view *view, struct trial_result *r)
{
	try(0, body_clone3, view, false, r);
}

static void
body_pidfd_open(void *arg, struct trial_result *r)
{
	(void)arg;
	if (sys_pidfd_open(getpid()) < 0) {
		trial_missing(r, errno, "let pidfd_open through the system call filter (Linux 5.3)",
		    "pidfd_open(2)");
		return;
	}
	conclude_call(r, "pidfd_open", true);
}

void
probe_pidfd_open(const struct view *view, struct trial_result *r)
{
	try(0, body_pidfd_open, view, false, r);
}

static void
body_pidfd_send_signal(void *arg, struct trial_result *r)
{
	int status = 0;
	AUTO_FD int pidfd = -1;
	pid_t pid = sys_fork(0, &pidfd);

	(void)arg;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	conclude_call(
	    r, "pidfd_send_signal", pid > 0 && sys_pidfd_send_signal(pidfd, SIGKILL) == 0);
	if (pid > 0 && kill(pid, SIGKILL) == 0)
		(void)waitpid(pid, &status, 0);
}

void
probe_pidfd_send_signal(const struct view *view, struct trial_result *r)
{
	try(0, body_pidfd_send_signal, view, false, r);
}

static const char landlock_cure[] =
    "boot with \"landlock\" among the kernel's lsm= (Linux 5.13), and in a container let the "
    "landlock_* system calls through";

/* What each ABI brought, for those who have to know what a tier without it can't hold. */
static const char *
landlock_rights(int abi)
{
	static const char *const rights[] = {"", "writing, making and removing",
	    ", moving between directories", ", truncating", ", TCP ports", ", device ioctls",
	    ", scopes of signals and abstract sockets"};
	static char text[256];

	text[0] = '\0';
	for (int i = 1; i <= abi && i < (int)(sizeof rights / sizeof rights[0]); i++)
		strncat(text, rights[i], sizeof text - strlen(text) - 1);
	return text;
}

static void
body_landlock(void *arg, struct trial_result *r)
{
	int abi = sys_landlock_abi();

	(void)arg;
	if (abi == 0) {
		trial_missing(r, errno, landlock_cure, "no Landlock");
		return;
	}
	r->value = abi;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || sys_landlock_forbid_writing() != 0) {
		trial_missing(r, errno, landlock_cure, "can't enter a Landlock domain");
		return;
	}
	if (open("/dev/null", O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES) {
		trial_missing(r, errno, NULL, "a Landlock domain did not hold");
		return;
	}
	trial_detail(r, "ABI %d: %s", abi, landlock_rights(abi));
	r->state = TRIAL_OK;
}

void
probe_landlock(const struct view *view, struct trial_result *r)
{
	try(0, body_landlock, view, false, r);
}

static void
body_landlock_scopes(void *arg, struct trial_result *r)
{
	int abi = sys_landlock_abi();

	(void)arg;
	if (abi < SYS_LANDLOCK_SCOPE_ABI) {
		trial_missing(r, 0,
		    "a newer kernel (Linux 6.12) keeps signals and abstract sockets inside the leg",
		    "ABI %d is needed", SYS_LANDLOCK_SCOPE_ABI);
		return;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || sys_landlock_scope() != 0) {
		trial_missing(r, errno, landlock_cure, "can't enter a Landlock domain");
		return;
	}
	if (kill(getppid(), 0) == 0 || errno != EPERM) {
		trial_missing(r, 0, NULL, "a signal left its Landlock domain");
		return;
	}
	trial_detail(r, "signals and abstract sockets stay inside");
	r->state = TRIAL_OK;
}

void
probe_landlock_scopes(const struct view *view, struct trial_result *r)
{
	try(0, body_landlock_scopes, view, false, r);
}
