/* System calls that the C library or its headers may lack. See sys.h. */
#include "bindmount/sys.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bsd/unistd.h>

/* The same numbers on every architecture since Linux 5.1. */
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

int
sys_open_tree(int dirfd, const char *path, unsigned int flags)
{
	return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

int
sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned int flags)
{
	return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

int
sys_mount_setattr(int dirfd, const char *path, unsigned int flags, uint64_t attr_set)
{
	struct {
		uint64_t attr_set, attr_clr, propagation, userns_fd;
	} attr = {.attr_set = attr_set};

	return (int)syscall(SYS_mount_setattr, dirfd, path, flags, &attr, sizeof attr);
}

pid_t
sys_fork_by_clone3(uint64_t namespaces, int *pidfd)
{
	int fd = -1;
	struct clone_args args = {
	    .flags = namespaces | (pidfd != NULL ? CLONE_PIDFD : 0),
	    .pidfd = (uint64_t)(uintptr_t)&fd,
	    .exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &args, sizeof args);

	if (pid > 0 && pidfd != NULL)
		*pidfd = fd;
	return (pid_t)pid;
}

pid_t
sys_fork(uint64_t namespaces, int *pidfd)
{
	pid_t pid = sys_fork_by_clone3(namespaces, pidfd);
	int fd = -1;

	if (pid != -1 || (errno != ENOSYS && errno != EPERM))
		return pid;
	/* glibc's clone() insists on a new stack. With none given, flags and the place for the pidfd are
	 * the first and third argument (the first two swapped on s390, which this project does not
	 * build for). */
	pid = (pid_t)syscall(SYS_clone,
	    (unsigned long)namespaces | (pidfd != NULL ? CLONE_PIDFD : 0) | SIGCHLD, 0L, &fd, 0L,
	    0L);
	if (pid > 0 && pidfd != NULL)
		*pidfd = fd;
	return pid;
}

pid_t
sys_vfork(uint64_t namespaces, int (*body)(void *), void *arg, size_t size)
{
	char stack[size] __attribute__((aligned(16)));

	/* clone(2), since glibc has no call that gives clone3 a stack; the stack grows down. */
	return clone(body, stack + (size & ~(size_t)15),
	    (int)namespaces | CLONE_VM | CLONE_VFORK | SIGCHLD, arg);
}

int
sys_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int
sys_pidfd_send_signal(int pidfd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

void
sys_close_from(int first)
{
	if (syscall(SYS_close_range, (unsigned int)first, ~0u, 0u) != 0)
		closefrom(first);
}

void
sys_close_between(int first, int last)
{
	if (first > last ||
	    syscall(SYS_close_range, (unsigned int)first, (unsigned int)last, 0u) == 0)
		return;
	for (int fd = first; fd <= last; fd++)
		(void)close(fd);
}

int
sys_landlock_abi(void)
{
	long abi =
	    syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

int
sys_landlock_create(uint64_t rights, uint64_t scopes)
{
	/* What an older kernel does not know has to be zero, or not there. */
	const struct {
		uint64_t handled_access_fs, handled_access_net, scoped;
	} attr = {.handled_access_fs = rights, .scoped = scopes};

	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0u);
}

int
sys_landlock_allow(int ruleset, int fd, uint64_t rights)
{
	const struct landlock_path_beneath_attr attr = {.allowed_access = rights, .parent_fd = fd};

	return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0u);
}

int
sys_landlock_enter(int ruleset)
{
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0u);
}

/* A domain without rules: what its ruleset handles is forbidden. */
static int
restrict_self(uint64_t rights, uint64_t scopes)
{
	AUTO_FD int ruleset = sys_landlock_create(rights, scopes);

	if (ruleset < 0)
		return -1;
	return sys_landlock_enter(ruleset);
}

int
sys_landlock_scope(void)
{
	return restrict_self(
	    0, SYS_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | SYS_LANDLOCK_SCOPE_SIGNAL);
}

int
sys_landlock_forbid_writing(void)
{
	return restrict_self(SYS_LANDLOCK_FS_WRITE_FILE, 0);
}
