/*
 * inject REPORT list COMMAND [ARG]...
 * inject REPORT PROCESS:CALL:N:ERRNO COMMAND [ARG]...
 *
 * Runs a command, follows its children, and makes the N-th system call CALL (a number, as ERRNO is) of one of
 * its processes fail without being carried out (but for close, which is), as a kernel, a filter or a lack of memory could. PROCESS
 * says which: "0" is the command itself, "0.1" its first child, "0.1.2" that one's second, so that the
 * count does not depend on how the processes take turns. A process that executes something else is let go,
 * with all that it starts.
 *
 * REPORT gets, with `list`, a line "PROCESS CALL COUNT" for each call of each process; otherwise a line
 * "injected" if the call came. Then "left N" if N processes were still there when the command and the
 * children that were followed had ended; they are killed.
 *
 * The exit status is the command's, 128+n for signal n. Nothing has to be permitted for it: a process
 * may follow its own children, also those that make themselves not dumpable (ptrace(2)).
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__

enum {
	MAX_PROCESSES = 64,
	MAX_CALLS = 600,
	GRACE_MS = 2000,
	OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	          PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL,
};

struct process {
	pid_t pid;
	bool gone;
	char name[64]; /* empty until its parent has told of it */
	bool stopped;  /* has come to its first stop */
	bool inside;   /* a system call */
	bool failing;  /* which is to fail */
	bool executed; /* the command that it is followed for */
	int children;
	unsigned int count[MAX_CALLS];
};

static struct process table[MAX_PROCESSES];
static size_t n_table;
static struct {
	bool wanted, done;
	char process[64];
	long call;
	unsigned int n;
	int errnum;
} fault;

static struct process *
find(pid_t pid)
{
	for (size_t i = 0; i < n_table; i++)
		if (table[i].pid == pid && !table[i].gone)
			return &table[i];
	if (n_table == MAX_PROCESSES)
		errx(98, "too many processes");
	table[n_table].pid = pid;
	return &table[n_table++];
}

static void
go_on(pid_t pid, int sig)
{
	/* ESRCH: it was killed meanwhile, and its end will be told. */
	if (ptrace(PTRACE_SYSCALL, pid, 0, (long)sig) == -1 && errno != ESRCH)
		err(98, "PTRACE_SYSCALL");
}

/* Both its parent and itself have been heard of. */
static void
begin(struct process *p)
{
	if (p->stopped && p->name[0] != '\0')
		go_on(p->pid, 0);
}

static void
new_child(struct process *parent, pid_t pid)
{
	struct process *p = find(pid);
	int n = snprintf(p->name, sizeof p->name, "%s.%d", parent->name, ++parent->children);

	if (n < 0 || (size_t)n >= sizeof p->name)
		errx(98, "processes too deep");
	p->executed = true;
	begin(p);
}

static void
at_call(struct process *p)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, p->pid, 0, &regs) == -1)
		return; /* killed meanwhile */
	p->inside = !p->inside;
	if (p->inside) {
		long call = (long)regs.orig_rax;

		if (call < 0 || call >= MAX_CALLS)
			return;
		p->count[call]++;
		p->failing = fault.wanted && !fault.done && call == fault.call &&
		             p->count[call] == fault.n && strcmp(p->name, fault.process) == 0;
		if (!p->failing)
			return;
		fault.done = true;
		/* close(2) lets go of the descriptor whatever it says. */
		if (call != SYS_close)
			regs.orig_rax = (unsigned long long)-1;
	} else {
		if (!p->failing)
			return;
		p->failing = false;
		regs.rax = (unsigned long long)-fault.errnum;
	}
	(void)ptrace(PTRACE_SETREGS, p->pid, 0, &regs);
}

static void
at_stop(struct process *p, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	unsigned long message = 0;

	if (!p->stopped) { /* the SIGSTOP with which a followed child begins */
		p->stopped = true;
		begin(p);
		return;
	}
	if (sig == (SIGTRAP | 0x80)) {
		at_call(p);
	} else if (event == PTRACE_EVENT_EXEC) {
		if (p->executed) {
			p->gone = true;
			(void)ptrace(PTRACE_DETACH, p->pid, 0, 0L);
			return;
		}
		p->executed = true;
	} else if (event != 0) {
		if (ptrace(PTRACE_GETEVENTMSG, p->pid, 0, &message) == 0)
			new_child(p, (pid_t)message);
	} else {
		go_on(p->pid, sig);
		return;
	}
	go_on(p->pid, 0);
}

static bool
any_followed(void)
{
	for (size_t i = 0; i < n_table; i++)
		if (!table[i].gone)
			return true;
	return false;
}

static long
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000L;
}

/* Wait for what is dying anyway; kill and count the rest, which have become children of this process. */
static unsigned int
sweep(void)
{
	unsigned int killed = 0;
	long deadline = now_ms() + GRACE_MS;

	for (;;) {
		char path[64];
		int pid;
		FILE *f;

		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			continue;
		if (pid == -1)
			return killed;
		if (now_ms() < deadline) {
			sigset_t set;

			sigemptyset(&set);
			sigaddset(&set, SIGCHLD);
			sigtimedwait(&set, NULL, &(struct timespec){.tv_nsec = 20000000});
			continue;
		}
		snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
		if ((f = fopen(path, "re")) == NULL)
			err(98, "%s", path);
		while (fscanf(f, "%d", &pid) == 1) {
			kill(pid, SIGKILL);
			killed++;
		}
		fclose(f);
		while (waitpid(-1, NULL, __WALL) > 0)
			continue;
	}
}

static void
parse(const char *spec)
{
	if (strcmp(spec, "list") == 0)
		return;
	if (sscanf(spec, "%63[0-9.]:%ld:%u:%d", fault.process, &fault.call, &fault.n,
		&fault.errnum) != 4)
		errx(98, "want PROCESS:CALL:N:ERRNO, got %s", spec);
	fault.wanted = true;
}

static void
report(const char *path)
{
	FILE *f = fopen(path, "we");
	unsigned int left = sweep();

	if (f == NULL)
		err(98, "%s", path);
	for (size_t i = 0; i < n_table && !fault.wanted; i++)
		for (int call = 0; call < MAX_CALLS; call++)
			if (table[i].count[call] > 0)
				fprintf(f, "%s %d %u\n", table[i].name, call, table[i].count[call]);
	if (fault.done)
		fprintf(f, "injected\n");
	if (left > 0)
		fprintf(f, "left %u\n", left);
	if (fclose(f) != 0)
		err(98, "%s", path);
}

int
main(int argc, char **argv)
{
	struct process *first;
	sigset_t chld;
	pid_t pid;
	int status, result = 98;

	if (argc < 4)
		errx(98, "usage: inject REPORT list|PROCESS:CALL:N:ERRNO COMMAND [ARG]...");
	parse(argv[2]);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		err(98, "PR_SET_CHILD_SUBREAPER");
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	if ((pid = fork()) == -1)
		err(98, "fork");
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) == -1)
			err(98, "PTRACE_TRACEME");
		raise(SIGSTOP);
		execv(argv[3], argv + 3);
		err(98, "%s", argv[3]);
	}
	sigprocmask(SIG_BLOCK, &chld, NULL);
	first = find(pid);
	strcpy(first->name, "0");
	if (waitpid(pid, &status, 0) != pid || ptrace(PTRACE_SETOPTIONS, pid, 0, OPTIONS) == -1)
		err(98, "PTRACE_SETOPTIONS");
	first->stopped = true;
	go_on(pid, 0);
	while (any_followed() && (pid = waitpid(-1, &status, __WALL)) > 0) {
		struct process *p;

		if (WIFSTOPPED(status)) {
			at_stop(find(pid), status);
			continue;
		}
		p = find(pid); /* one that was let go gets an entry anew */
		p->gone = true;
		if (p == first)
			result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	report(argv[1]);
	return result;
}

#else

int
main(void)
{
	puts("only for x86-64");
	return 77;
}

#endif
