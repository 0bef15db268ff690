/* Attacks on other processes: one outside, the first of the leg's namespace, the launcher, the terminal. */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seize, change a word, let go. */
static void
trace(pid_t pid, void *address, const char *what)
{
	int status;

	if (!leg_try(ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0, what))
		return;
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid)
		leg_try(ptrace(PTRACE_POKEDATA, pid, address, (void *)1) == 0, "change its memory");
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static void
vm_write(pid_t pid, void *address, const char *what)
{
	uint64_t word = 1;
	struct iovec from = {&word, sizeof word}, to = {address, sizeof word};

	leg_try(process_vm_writev(pid, &from, 1, &to, 1, 0) == sizeof word, what);
}

static void
mem_write(pid_t pid, void *address, const char *what)
{
	uint64_t word = 1;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	AUTO_FD int fd = open(path, O_RDWR);
	leg_try(fd >= 0 && pwrite(fd, &word, sizeof word, (off_t)(uintptr_t)address) ==
			       (ssize_t)sizeof word,
	    what);
}

static void
trace_outsider(const struct brief *b)
{
	trace(b->bystander, b->canary, "trace a process outside");
}

static void
vm_outsider(const struct brief *b)
{
	vm_write(b->bystander, b->canary, "write to the memory of a process outside");
}

static void
mem_outsider(const struct brief *b)
{
	mem_write(b->bystander, b->canary, "write to /proc/PID/mem of a process outside");
}

/*
 * PID 1 of its namespace. With what it is told there is nothing mapped, so opening and attaching, which are
 * what is refused, count; where PID 1 is the machine's own, nothing is changed in it.
 */
static void
trace_first(const struct brief *b)
{
	(void)b;
	if (ptrace(PTRACE_SEIZE, 1, NULL, NULL) == 0) {
		leg_got("PID 1 as its tracee");
		(void)ptrace(PTRACE_DETACH, 1, NULL, NULL);
	} else {
		leg_failed("trace PID 1");
	}
}

static void
vm_first(const struct brief *b)
{
	char byte;
	struct iovec into = {&byte, 1}, from = {NULL, 1};
	ssize_t n = process_vm_readv(1, &into, 1, &from, 1, 0);

	(void)b;
	/* EFAULT: it was let in, and there is nothing at that address. */
	if (n >= 0 || errno == EFAULT)
		leg_got("the memory of PID 1");
	else
		leg_failed("reach the memory of PID 1");
}

static void
mem_first(const struct brief *b)
{
	AUTO_FD int fd = open("/proc/1/mem", O_RDWR);

	(void)b;
	if (fd >= 0)
		leg_got("/proc/1/mem");
	else
		leg_failed("open /proc/1/mem");
}

/* Nobody can kill the first process of the machine's own namespace, or of the one it is in, from within. */
static void
kill_first(const struct brief *b)
{
	(void)b;
	if (kill(1, SIGKILL) != 0)
		leg_failed("kill PID 1");
	else if (kill(1, 0) == 0) {
		errno = 0;
		leg_failed("kill PID 1, which ignores it");
	} else {
		leg_did("kill PID 1");
	}
}

/*
 * Take all from PID 1 that setrlimit takes, and leave somebody behind that it has to find. The machine's
 * own PID 1 is only asked whether it would let that happen.
 */
static void
limit_first(const struct brief *b)
{
	static const int limits[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_AS,
	    RLIMIT_DATA, RLIMIT_STACK, RLIMIT_SIGPENDING, RLIMIT_CPU};
	struct rlimit limit;

	leg_tried("choke PID 1");
	if (leg_shares_pids(b)) {
		leg_try(prlimit(1, RLIMIT_NOFILE, NULL, &limit) == 0 &&
			    prlimit(1, RLIMIT_NOFILE, &limit, NULL) == 0,
		    "set the limits of the machine's PID 1");
	} else {
		for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
			(void)prlimit(1, limits[i], &(struct rlimit){0, 0}, NULL);
	}
	if (fork() == 0) {
		(void)setsid();
		for (;;) {
			leg_append(b->output, "append late");
			(void)usleep(2000);
		}
	}
}

static void
signal_outsider(const struct brief *b)
{
	leg_try(kill(b->bystander, SIGUSR1) == 0, "signal a process outside");
}

static void
pidfd_outsider(const struct brief *b)
{
	AUTO_FD int fd = sys_pidfd_open(b->bystander);

	leg_try(fd >= 0 && sys_pidfd_send_signal(fd, SIGUSR1) == 0,
	    "signal a process outside through a pidfd");
}

/* Whether the process has not taken a signal yet that was sent to it. False if it can't be seen. */
static bool
is_pending(pid_t pid, int sig)
{
	char path[64], line[128];
	unsigned long long pending = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "ShdPnd: %llx", &pending) == 1)
			break;
	if (f != NULL)
		(void)fclose(f);
	return (pending >> (sig - 1) & 1) != 0;
}

/* A signal that nobody minds who does not ask for it: this is not to kill a session it is tried in. */
static void
signal_all(const struct brief *b)
{
	/* It fails only if it reached nobody at all. */
	if (kill(-1, SIGURG) == 0) {
		leg_tried("signal everybody");
		/* So that the bystander sees who it was, which takes it a while on a busy machine. */
		for (int i = 0; i < 2000 && is_pending(b->bystander, SIGURG); i++)
			(void)poll(NULL, 0, 5);
		(void)poll(NULL, 0, 300);
	} else
		leg_failed("signal everybody");
}

static void
steal_descriptor(const struct brief *b)
{
	AUTO_FD int pidfd = sys_pidfd_open(b->bystander);
	AUTO_FD int fd = pidfd >= 0 ? raw_pidfd_getfd(pidfd, BYSTANDER_FILE) : -1;
	char path[64];

	if (!leg_try(fd >= 0, "take a descriptor from a process outside"))
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	leg_append(path, "reopen it for writing");
}

/* Everybody above the leg, up to the battery's own process, as far as the leg sees them. */
static void
signal_ancestors(const struct brief *b, int sig, const char *what)
{
	char path[64], text[512], *close;
	pid_t pid = getppid();
	int sent = 0, parent;

	while (pid > 1 && pid != b->stage) {
		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		AUTO_FD int fd = open(path, O_RDONLY);
		ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

		if (n <= 0)
			break;
		text[n] = '\0';
		close = strrchr(text, ')');
		if (close == NULL || sscanf(close + 1, " %*c %d", &parent) != 1)
			break;
		if (leg_try(kill(pid, sig) == 0, what))
			sent++;
		pid = parent;
	}
	errno = 0;
	if (sent == 0)
		leg_failed("%s", what);
}

static void
stop_launcher(const struct brief *b)
{
	signal_ancestors(b, SIGSTOP, "stop a process that started the leg");
}

static void
kill_launcher(const struct brief *b)
{
	signal_ancestors(b, SIGKILL, "kill a process that started the leg");
	leg_append(b->output, "append");
}

static void
limit_outsider(const struct brief *b)
{
	leg_try(prlimit(b->bystander, RLIMIT_NOFILE, &(struct rlimit){64, 64}, NULL) == 0,
	    "lower the limits of a process outside");
}

static void
nice_outsider(const struct brief *b)
{
	leg_try(setpriority(PRIO_PROCESS, (id_t)b->bystander, 19) == 0,
	    "lower the priority of a process outside");
}

static void
io_outsider(const struct brief *b)
{
	leg_try(raw_ioprio_set(b->bystander, 3 << 13) == 0,
	    "lower the I/O priority of a process outside");
}

static void
affinity_outsider(const struct brief *b)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	leg_try(sched_setaffinity(b->bystander, sizeof one, &one) == 0,
	    "keep a process outside off its processors");
}

static void
oom_outsider(const struct brief *b)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)b->bystander);
	AUTO_FD int fd = open(path, O_WRONLY);
	leg_try(fd >= 0 && write(fd, "1000", 4) == 4, "offer a process outside to the OOM killer");
}

static const char *
one_processor(uid_t leg)
{
	cpu_set_t set;

	(void)leg;
	return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1
	           ? NULL
	           : "this machine has one processor";
}

static void
terminal(const struct brief *b)
{
	(void)b;
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd)) {
			leg_try(ioctl(fd, TIOCSTI, "x") == 0, "type at the terminal");
			return;
		}
	AUTO_FD int fd = open("/dev/tty", O_RDWR);
	leg_try(fd >= 0 && ioctl(fd, TIOCSTI, "x") == 0, "type at the terminal");
}

static const char *
no_tiocsti(uid_t leg)
{
	AUTO_FD int fd = open("/proc/sys/dev/tty/legacy_tiocsti", O_RDONLY);
	char c = '1';

	(void)leg;
	return fd >= 0 && read(fd, &c, 1) == 1 && c == '0'
	           ? "the sysctl dev.tty.legacy_tiocsti is off: the kernel refuses it to everybody"
	           : NULL;
}

/* The name of a key is what the battery looks for. */
static void
key_for(const struct brief *b, int ring, const char *what)
{
	char name[128];

	snprintf(name, sizeof name, "legguard-attack-%.64s", b->marker);
	/* Whether it is that of the world outside shows there. */
	if (raw_add_key("user", name, "forged", 6, ring) >= 0)
		leg_tried("%s", what);
	else
		leg_failed("%s", what);
}

static void
user_keyring(const struct brief *b)
{
	key_for(b, KEY_SPEC_USER_KEYRING, "add a key to the user's keyring");
}

static void
session_keyring(const struct brief *b)
{
	key_for(b, KEY_SPEC_SESSION_KEYRING, "add a key to the session's keyring");
}

static const char *
no_keys(uid_t leg)
{
	(void)leg;
	return raw_keyctl(KEYCTL_GET_KEYRING_ID, (unsigned long)KEY_SPEC_USER_KEYRING, 0, 0, 0) < 0
	           ? "the kernel has no keyrings, or this container refuses them"
	           : NULL;
}

#define PIDS "PID namespace"

static const struct attack list[] = {
    {"ptrace-outsider", "trace a process outside and change its memory", PIDS, trace_outsider,
	ATTACK_OUTSIDER, NULL, NULL},
    {"vm-outsider", "process_vm_writev to a process outside", PIDS, vm_outsider, ATTACK_OUTSIDER,
	NULL, NULL},
    {"mem-outsider", "write to its /proc/PID/mem", PIDS, mem_outsider, ATTACK_OUTSIDER, NULL, NULL},
    {"pidfd-getfd", "take a descriptor from a process outside", PIDS, steal_descriptor,
	ATTACK_OUTSIDER, NULL, NULL},
    {"ptrace-pid1", "trace PID 1", "user namespace", trace_first, ATTACK_BY_KERNEL, NULL, NULL},
    {"vm-pid1", "reach the memory of PID 1", "user namespace", vm_first, ATTACK_BY_KERNEL, NULL,
	NULL},
    {"mem-pid1", "open /proc/1/mem", "user namespace", mem_first, ATTACK_BY_KERNEL, NULL, NULL},
    {"kill-pid1", "kill PID 1", "the kernel", kill_first, ATTACK_BY_KERNEL, NULL, NULL},
    {"limit-pid1", "choke PID 1 with resource limits, and leave a writer behind",
	"PID namespace, restore", limit_first, 0, NULL, NULL},
    {"signal-outsider", "signal a process outside", PIDS, signal_outsider, ATTACK_OUTSIDER, NULL,
	NULL},
    {"signal-pidfd", "signal it through a pidfd", PIDS, pidfd_outsider, ATTACK_OUTSIDER, NULL,
	NULL},
    {"signal-all", "signal every process there is", PIDS, signal_all, ATTACK_OUTSIDER, NULL, NULL},
    {"stop-launcher", "stop the processes that started the leg", PIDS, stop_launcher, 0, NULL,
	NULL},
    {"kill-launcher", "kill the processes that started the leg, and append", PIDS, kill_launcher, 0,
	NULL, NULL},
    {"prlimit-outsider", "lower the limits of a process outside", PIDS, limit_outsider,
	ATTACK_OUTSIDER, NULL, NULL},
    {"nice-outsider", "lower the priority of a process outside", PIDS, nice_outsider,
	ATTACK_OUTSIDER, NULL, "--share-pid,landlock"},
    {"ioprio-outsider", "lower its I/O priority", PIDS, io_outsider, ATTACK_OUTSIDER, NULL,
	"--share-pid,landlock"},
    {"affinity-outsider", "keep it off its processors", PIDS, affinity_outsider, ATTACK_OUTSIDER,
	one_processor, "--share-pid,landlock"},
    {"oom-outsider", "offer it to the OOM killer", PIDS, oom_outsider, ATTACK_OUTSIDER, NULL,
	"--share-pid,landlock"},
    {"tiocsti", "type at the terminal that the step was started from", "session of its own",
	terminal, ATTACK_TTY, no_tiocsti, NULL},
    {"user-keyring", "leave a key in the user's keyring", "user namespace", user_keyring, 0,
	no_keys, "landlock"},
    {"session-keyring", "leave a key in the session's keyring", "keyring of its own",
	session_keyring, 0, no_keys, ""},
};

const struct attack_group attack_process = {
    "process", "other processes", list, sizeof list / sizeof list[0]};
