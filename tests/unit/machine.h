/*
 * A machine for a test's processes: a pid namespace, in which nobody else's can be found or killed.
 *
 * Its pid 1 only reaps; its other process is the step's shell, and the launcher too where nothing else is
 * said. There is no cmocka in there: what fails a CHECK ends it.
 */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H

#include "bindmount/sys.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,         \
			    strerror(errno));                                                      \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

enum { NO_NAMESPACE = 77, TICK_US = 20000 };

/* uid and gid as they were outside. */
static _Noreturn void
init_main(void (*shell)(void), uid_t uid, gid_t gid)
{
	struct error e = {0};
	int status, result = 1;
	pid_t pid, child;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((uid != 0 && userns_map_identity(uid, gid, &e) != 0) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0)
		_exit(NO_NAMESPACE);
	child = fork();
	if (child == 0) {
		setsid();
		shell();
		_exit(0);
	}
	while ((pid = wait(&status)) > 0)
		if (pid == child) {
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
			break;
		}
	_exit(result);
}

static void
in_namespace(void (*shell)(void))
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	pid_t pid;
	int status;

	fflush(NULL);
	pid = sys_fork((uid != 0 ? CLONE_NEWUSER : 0) | CLONE_NEWNS | CLONE_NEWPID, NULL);
	if (pid == 0)
		init_main(shell, uid, gid);
	if (pid < 0)
		skip();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACE)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static _Noreturn void
sleep_for_ever(void)
{
	for (;;)
		pause();
}

/* A pipe that is at its end once all who had the write end have closed it. */
static int ready[2];

static void
expect_ready(void)
{
	char byte;

	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 0);
	close(ready[0]);
}

enum way { CHILD, DETACHED, NOHUP, SESSION, DOUBLE_FORK };

/* As the leg does: a process in a session of its own that ends and leaves body running. */
static void
leave(enum way way, void (*body)(void))
{
	pid_t leg;

	CHECK(pipe(ready) == 0);
	leg = fork();
	CHECK(leg >= 0);
	if (leg == 0) {
		if (way == CHILD || setsid() < 0) {
			close(ready[1]);
			body();
		}
		if (way == NOHUP)
			signal(SIGHUP, SIG_IGN);
		if (fork() != 0)
			_exit(0);
		if (way == SESSION || way == DOUBLE_FORK)
			setsid();
		if (way == DOUBLE_FORK && fork() != 0)
			_exit(0);
		close(ready[1]);
		body();
		sleep_for_ever();
	}
	if (way != CHILD)
		CHECK(waitpid(leg, NULL, 0) == leg);
	expect_ready();
}

#endif
