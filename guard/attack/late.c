/* Attacks after the leg has ended, by what it leaves running. Each keeps trying for as long as it lives. */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LATE_TRIES = 5000 }; /* of 2 ms each: it ends by itself if nobody ends it */

static void
nap(void)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* Waits for the leg's end, by its end of the pipe, and then appends until somebody puts an end to it. */
static _Noreturn void
write_late(const struct brief *b, const int leg[2])
{
	char c;

	(void)close(leg[1]);
	while (read(leg[0], &c, 1) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < LATE_TRIES; i++) {
		AUTO_FD int fd = open(b->output, O_WRONLY | O_APPEND | O_NONBLOCK);

		if (fd >= 0)
			(void)!write(fd, b->line, strlen(b->line));
		nap();
	}
	_exit(0);
}

/* The leg's end of it is closed when it ends. */
static void
open_pipe(int leg[2])
{
	if (pipe2(leg, O_CLOEXEC) == 0) {
		leg_tried("leave something running");
		return;
	}
	leg_untried("make a pipe");
	_exit(2);
}

static void
background(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	if (fork() == 0)
		write_late(b, leg);
}

static void
daemonized(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	if (fork() != 0)
		return;
	(void)setsid();
	if (fork() == 0)
		write_late(b, leg);
	_exit(0);
}

static void
deaf(const struct brief *b)
{
	int leg[2];
	sigset_t all;

	open_pipe(leg);
	if (fork() != 0)
		return;
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	write_late(b, leg);
}

/* Closes what it has inherited, so that no pipe shows that it is there. */
static void
quiet(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	if (fork() != 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		(void)close(fd);
	(void)setsid();
	write_late(b, leg);
}

static void
nested_user(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	if (fork() == 0 && leg_nest(CLONE_NEWNS))
		write_late(b, leg);
}

/* As PID 1 of a namespace of its own. */
static void
nested_pids(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	if (fork() != 0)
		return;
	if (!leg_nest(CLONE_NEWPID | CLONE_NEWNS))
		_exit(0);
	if (fork() == 0)
		write_late(b, leg);
	_exit(0);
}

/* Of the leg's own parent, so that killing the leg's children misses it. */
static void
sibling(const struct brief *b)
{
	int leg[2];
	pid_t pid;

	open_pipe(leg);
	pid = raw_clone(CLONE_PARENT | SIGCHLD);
	if (pid == 0)
		write_late(b, leg);
	if (pid < 0)
		leg_failed("make a sibling");
}

/* Each forks the next one and ends: a list of processes is out of date before it is read. */
static void
chain(const struct brief *b)
{
	int leg[2];
	char c;

	open_pipe(leg);
	if (fork() != 0)
		return;
	(void)close(leg[1]);
	while (read(leg[0], &c, 1) < 0 && errno == EINTR)
		continue;
	(void)signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < LATE_TRIES; i++) {
		AUTO_FD int fd = open(b->output, O_WRONLY | O_APPEND);

		if (fd >= 0)
			(void)!write(fd, b->line, strlen(b->line));
		if (fork() > 0)
			_exit(0);
	}
	_exit(0);
}

static void
vforks(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			pid_t pid = vfork();

			if (pid == 0)
				write_late(b, leg); /* its parent is stuck meanwhile */
			_exit(0);
		}
}

static void
many(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	for (int i = 0; i < 100; i++)
		if (fork() == 0)
			write_late(b, leg);
}

static void
stopped(const struct brief *b)
{
	(void)b;
	leg_tried("leave something that has stopped");
	if (fork() == 0)
		for (;;)
			(void)raise(SIGSTOP);
}

static void
traced(const struct brief *b)
{
	int leg[2];
	pid_t pid;

	open_pipe(leg);
	if (fork() != 0)
		return;
	pid = fork();
	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		for (;;)
			(void)raise(SIGSTOP);
	}
	(void)waitpid(pid, NULL, WUNTRACED);
	write_late(b, leg);
}

struct threaded {
	const struct brief *b;
	int leg[2];
	pthread_t first;
};

static void *
outlive(void *arg)
{
	struct threaded *t = arg;

	(void)pthread_join(t->first, NULL);
	write_late(t->b, t->leg);
}

/* Its first thread has ended, so it shows as a zombie. */
static void
leaderless(const struct brief *b)
{
	static struct threaded t;
	pthread_t other;

	open_pipe(t.leg);
	if (fork() != 0)
		return;
	t.b = b;
	t.first = pthread_self();
	if (pthread_create(&other, NULL, outlive, &t) == 0)
		pthread_exit(NULL);
	_exit(0);
}

/* Renames what it can once the leg has ended. */
static void
rename_late(const struct brief *b)
{
	int leg[2];
	char c, away[STEP_PATH];

	open_pipe(leg);
	if (fork() != 0)
		return;
	(void)setsid();
	(void)close(leg[1]);
	while (read(leg[0], &c, 1) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < LATE_TRIES; i++) {
		snprintf(away, sizeof away, "%.256s/away%d", b->step.top, i);
		(void)rename(b->step.path[STEP_TEMP], away);
		nap();
	}
	_exit(0);
}

/* What is undone once is done again. */
static void
early_and_late(const struct brief *b)
{
	int leg[2];

	leg_append(b->output, "append");
	open_pipe(leg);
	if (fork() != 0)
		return;
	(void)setsid();
	write_late(b, leg);
}

/* A reader of the step's output waits for the last writer's end. */
static void
keep_output(const struct brief *b)
{
	(void)b;
	leg_tried("leave something that holds the output");
	if (fork() != 0)
		return;
	(void)signal(SIGHUP, SIG_IGN);
	(void)setsid();
	for (int i = 0; i < LATE_TRIES; i++)
		nap();
	_exit(0);
}

/* Ends when its parent does, unless it says otherwise. */
static void
no_death_signal(const struct brief *b)
{
	int leg[2];

	open_pipe(leg);
	if (fork() != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)setsid();
	if (fork() == 0)
		write_late(b, leg);
	for (;;)
		(void)waitpid(-1, NULL, 0), nap();
}

#define REAP "reap: PID 1 of the namespace is waited for"

static const struct attack list[] = {
    {"late-writer", "a child that appends when the leg has ended", REAP, background, 0, NULL, NULL},
    {"late-daemon", "a daemon: forked twice, in a session of its own", REAP, daemonized, 0, NULL,
	NULL},
    {"late-deaf", "one that ignores and blocks all signals", REAP, deaf, 0, NULL, NULL},
    {"late-quiet", "one that has closed all it inherited", REAP, quiet, 0, NULL, NULL},
    {"late-nested-user", "one in a user namespace of its own", REAP, nested_user, 0, NULL, NULL},
    {"late-nested-pid", "one in a PID namespace of its own", REAP, nested_pids, 0, NULL, NULL},
    {"late-sibling", "one that is no child of the leg (CLONE_PARENT)", REAP, sibling, 0, NULL,
	NULL},
    {"late-chain", "one that forks itself anew all the time", REAP, chain, 0, NULL, NULL},
    {"late-vfork", "eight whose parents are stuck in vfork", REAP, vforks, 0, NULL, NULL},
    {"late-many", "a hundred", REAP, many, 0, NULL, NULL},
    {"late-stopped", "one that has stopped itself", REAP, stopped, 0, NULL, NULL},
    {"late-traced", "one that traces another", REAP, traced, 0, NULL, NULL},
    {"late-leaderless", "one whose first thread has ended", REAP, leaderless, 0, NULL, NULL},
    {"late-subreaper", "one that reaps orphans itself", REAP, no_death_signal, 0, NULL, NULL},
    {"late-rename", "a daemon that renames RUNNER_TEMP when the leg has ended", REAP, rename_late,
	0, NULL, NULL},
    {"early-and-late", "append, and again when that may have been undone", REAP, early_and_late, 0,
	NULL, NULL},
    {"stdout-held", "a daemon that keeps the step's output open", REAP, keep_output, 0, NULL, NULL},
};

const struct attack_group attack_late = {
    "late", "the time after the leg", list, sizeof list / sizeof list[0]};
