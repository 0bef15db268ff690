/*
 * deny SYSCALL=ERRNO[,SYSCALL=ERRNO]... COMMAND [ARG]...
 *
 * Runs a command under a seccomp filter that makes the named system calls fail, the way old kernels
 * (ENOSYS) and container engines (EPERM) do; with ERRNO 0 they do nothing and say that all is well.
 * `clone-newuser` and `clone-newpid` stand for clone(2) with that flag, `clone-namespaces` for any such
 * flag: filters can look into clone's argument, but not into clone3's.
 *
 * The rule `docker-default` stands for all that Docker's default profile refuses to a container without added
 * capabilities (profiles/seccomp/default_linux.go of moby: whatever it does not list is EPERM, clone3
 * is ENOSYS, clone is looked into). Podman's and containerd's have the same origin. It leaves out calls that
 * have no number on all architectures, and those of which one needs capabilities in the machine's own user
 * namespace in any case.
 */
#include <err.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLONE_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	    CLONE_NEWCGROUP)

static const struct {
	const char *name;
	unsigned int nr;
	unsigned int flag; /* only if the first argument has it, or one of them */
} calls[] = {
	{ "clone3", SYS_clone3, 0 },
	{ "clone-newuser", SYS_clone, CLONE_NEWUSER },
	{ "clone-newpid", SYS_clone, CLONE_NEWPID },
	{ "clone-namespaces", SYS_clone, CLONE_NAMESPACES },
	{ "unshare", SYS_unshare, 0 },
	{ "setns", SYS_setns, 0 },
	{ "mount", SYS_mount, 0 },
	{ "umount2", SYS_umount2, 0 },
	{ "pivot_root", SYS_pivot_root, 0 },
	{ "open_tree", SYS_open_tree, 0 },
	{ "move_mount", SYS_move_mount, 0 },
	{ "mount_setattr", SYS_mount_setattr, 0 },
	{ "fsopen", SYS_fsopen, 0 },
	{ "fsconfig", SYS_fsconfig, 0 },
	{ "fsmount", SYS_fsmount, 0 },
	{ "fspick", SYS_fspick, 0 },
	{ "bpf", SYS_bpf, 0 },
	{ "perf_event_open", SYS_perf_event_open, 0 },
	{ "fanotify_init", SYS_fanotify_init, 0 },
	{ "userfaultfd", SYS_userfaultfd, 0 },
	{ "open_by_handle_at", SYS_open_by_handle_at, 0 },
	{ "keyctl", SYS_keyctl, 0 },
	{ "add_key", SYS_add_key, 0 },
	{ "request_key", SYS_request_key, 0 },
	{ "kcmp", SYS_kcmp, 0 },
	{ "pidfd_getfd", SYS_pidfd_getfd, 0 },
	{ "process_madvise", SYS_process_madvise, 0 },
	{ "mbind", SYS_mbind, 0 },
	{ "syslog", SYS_syslog, 0 },
	{ "fallocate", SYS_fallocate, 0 },
	{ "pidfd_open", SYS_pidfd_open, 0 },
	{ "pidfd_send_signal", SYS_pidfd_send_signal, 0 },
	{ "kill", SYS_kill, 0 },
	{ "close_range", SYS_close_range, 0 },
	{ "landlock_create_ruleset", 444, 0 },
	{ "openat2", SYS_openat2, 0 },
	{ "seccomp", SYS_seccomp, 0 },
	{ "renameat2", SYS_renameat2, 0 },
};

static const struct {
	const char *name;
	unsigned int value;
} errnos[] = { { "0", 0 }, { "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EACCES", EACCES },
	{ "EINVAL", EINVAL }, { "ENOSPC", ENOSPC }, { "EOPNOTSUPP", EOPNOTSUPP } };

static const char docker_default[] =
    "clone3=ENOSYS,clone-namespaces=EPERM,unshare=EPERM,setns=EPERM,mount=EPERM,umount2=EPERM,"
    "pivot_root=EPERM,open_tree=EPERM,move_mount=EPERM,mount_setattr=EPERM,fsopen=EPERM,"
    "fsconfig=EPERM,fsmount=EPERM,fspick=EPERM,bpf=EPERM,perf_event_open=EPERM,fanotify_init=EPERM,"
    "userfaultfd=EPERM,open_by_handle_at=EPERM,keyctl=EPERM,add_key=EPERM,request_key=EPERM,"
    "kcmp=EPERM,pidfd_getfd=EPERM,process_madvise=EPERM,mbind=EPERM,syslog=EPERM";

static struct sock_filter prog[256];
static unsigned short len;

static void
emit(struct sock_filter f)
{
	if (len == sizeof prog / sizeof prog[0])
		errx(125, "too many rules");
	prog[len++] = f;
}

static void
add_rule(const char *call, const char *errname)
{
	size_t c, e;

	for (c = 0; c < sizeof calls / sizeof calls[0] && strcmp(calls[c].name, call) != 0; c++)
		;
	for (e = 0; e < sizeof errnos / sizeof errnos[0] && strcmp(errnos[e].name, errname) != 0;
	    e++)
		;
	if (c == sizeof calls / sizeof calls[0] || e == sizeof errnos / sizeof errnos[0])
		errx(125, "unknown rule %s=%s", call, errname);

	emit((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr)));
	if (calls[c].flag == 0) {
		emit((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[c].nr, 0, 1));
	} else {
		emit((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[c].nr, 0, 3));
		/* The low half of the first argument; all supported machines are little-endian. */
		emit((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[0])));
		emit((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, calls[c].flag, 0,
		    1));
	}
	emit((struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ERRNO | errnos[e].value));
}

static void
add_rules(char *rules)
{
	char *rest;

	for (char *rule = strtok_r(rules, ",", &rest); rule != NULL;
	     rule = strtok_r(NULL, ",", &rest)) {
		char *eq = strchr(rule, '=');

		if (strcmp(rule, "docker-default") == 0) {
			char copy[sizeof docker_default];

			memcpy(copy, docker_default, sizeof copy);
			add_rules(copy);
			continue;
		}
		if (eq == NULL)
			errx(125, "rule without '=': %s", rule);
		*eq = '\0';
		add_rule(rule, eq + 1);
	}
}

int
main(int argc, char **argv)
{
	struct sock_fprog fprog;

	if (argc < 3)
		errx(125, "usage: deny SYSCALL=ERRNO,... COMMAND [ARG]...");
	add_rules(argv[1]);
	emit((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	fprog.len = len;
	fprog.filter = prog;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog) == -1)
		err(125, "seccomp");
	execvp(argv[2], argv + 2);
	err(127, "%s", argv[2]);
}
