/* process: reading /proc where the text is hostile and the numbers are reused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/cleanup.h"
#include "guard/process.h"
#include "guard/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define REST(state, ppid, threads)                                                                 \
	state " " ppid " 1 6 34817 -1 4194560 1 0 0 0 0 0 0 0 20 0 " threads " 0 5421 0 0\n"

static void
a_name_may_hold_anything(void **unused)
{
	struct process p;

	(void)unused;
	assert_int_equal(process_parse_stat(&p, "42 (x) R 1 ) ((\n)" REST(" S", "7", "1")), 0);
	assert_int_equal(p.pid, 42);
	assert_int_equal(p.ppid, 7);
	assert_int_equal(p.session, 6);
	assert_int_equal(terminal_device(p.terminal), makedev(136, 1));
	assert_int_equal(p.uid, (uid_t)-1);
	assert_int_equal(p.start, 5421);
	assert_false(p.dead);
	assert_string_equal(p.name, "x) R 1 ) ((\n");
}

/* proc(5): bits 31 to 20 and 7 to 0 are the minor number. */
static void
a_terminal_has_two_numbers(void **unused)
{
	(void)unused;
	assert_int_equal(terminal_device(0), 0);
	assert_int_equal(terminal_device(0x00108822), makedev(136, 0x122));
	assert_int_equal(terminal_device(0xfff08fff), makedev(143, 0xfffff));
}

static void
a_long_name_is_cut(void **unused)
{
	struct process p;
	char text[256];

	(void)unused;
	snprintf(text, sizeof text, "42 (%0100d)%s", 1, REST(" S", "7", "1"));
	assert_int_equal(process_parse_stat(&p, text), 0);
	assert_int_equal(p.name[sizeof p.name - 1], '\0');
}

static void
a_zombie_is_dead_only_without_threads(void **unused)
{
	struct process p;

	(void)unused;
	assert_int_equal(process_parse_stat(&p, "42 (x)" REST(" Z", "7", "1")), 0);
	assert_true(p.dead);
	assert_int_equal(process_parse_stat(&p, "42 (x)" REST(" Z", "7", "2")), 0);
	assert_false(p.dead);
	assert_int_equal(process_parse_stat(&p, "42 (x)" REST(" X", "0", "0")), 0);
	assert_true(p.dead);
}

static void
what_is_no_stat_is_refused(void **unused)
{
	static const char *const bad[] = {
	    "", "42", "42 (x", "42 x)", ")42(", "42 (x) S", "(x) S 1"};
	struct process p;

	(void)unused;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(process_parse_stat(&p, bad[i]), -1);
}

/* A child that waits to be killed. Its write end of ready is closed when it is set up. */
static pid_t
child(void (*body)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (body != NULL)
			body();
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void
make_grandchild(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(STDIN_FILENO);
		/* The pipe's end is inherited: the parent is heard of when this one closes it too. */
		for (int fd = 3; fd < 16; fd++)
			close(fd);
		for (;;)
			pause();
	}
}

static bool
has(const struct processes *all, pid_t pid)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].pid == pid)
			return true;
	return false;
}

static bool
has_pid(const struct pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (pids->list[i] == pid)
			return true;
	return false;
}

static void
descendants_are_found_through_the_lists_of_children(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY);
	pid_t pid = child(make_grandchild);
	struct processes all;

	(void)unused;
	assert_int_equal(process_descendants(&all, procfd, getpid()), 0);
	assert_int_equal(all.count, 2);
	assert_int_equal(all.list[0].pid, pid);
	assert_int_equal(all.list[1].ppid, pid);
	processes_free(&all);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
the_list_holds_the_living_and_not_the_dead(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY);
	pid_t alive = child(NULL), dead = child(NULL);
	siginfo_t info;
	struct processes all;
	struct pids pids;

	(void)unused;
	assert_int_equal(kill(dead, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)dead, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_list(&all, procfd), 0);
	assert_true(has(&all, getpid()));
	assert_true(has(&all, alive));
	assert_false(has(&all, dead));
	processes_free(&all);
	assert_int_equal(pids_alive(&pids, procfd), 0);
	assert_true(has_pid(&pids, getpid()));
	assert_true(has_pid(&pids, alive));
	assert_false(has_pid(&pids, dead));
	pids_free(&pids);
	assert_int_equal(pids_children(&pids, procfd, getpid()), 0);
	assert_int_equal(pids.count, 2);
	assert_true(has_pid(&pids, alive));
	assert_true(has_pid(&pids, dead));
	pids_free(&pids);
	assert_int_equal(waitpid(dead, NULL, 0), dead);
	assert_int_equal(kill(alive, SIGKILL), 0);
	assert_int_equal(waitpid(alive, NULL, 0), alive);
}

static void
a_process_knows_itself(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY), other = open("/", O_PATH);
	struct process p;

	(void)unused;
	assert_int_equal(process_read_self(&p, procfd), 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.ppid, getppid());
	assert_int_equal(p.session, getsid(0));
	assert_int_equal(process_read_uid(&p, procfd), 0);
	assert_int_equal(p.uid, getuid());
	p.pid = 0;
	assert_int_equal(process_read_uid(&p, procfd), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(process_read_self(&p, other), -1);
}

static void
call_itself_somebody_elses(void)
{
	prctl(PR_SET_NAME, "x\nUid:\t77");
}

static void
an_exact_list_has_all_once_and_in_order(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY);
	pid_t pid = child(call_itself_somebody_elses);
	struct processes all;
	struct process self;
	bool exact = false, found = false;

	(void)unused;
	assert_int_equal(process_read_self(&self, procfd), 0);
	/* Numbers can begin again from the bottom at any time, but not each time. */
	for (int i = 0; i < 100 && !exact; i++) {
		if (i > 0)
			processes_free(&all);
		assert_int_equal(process_list_exact(&all, &exact, procfd, self.start + 1), 0);
	}
	assert_true(exact);
	for (size_t i = 0; i < all.count; i++) {
		const struct process *p = &all.list[i];

		assert_true(i == 0 || all.list[i - 1].pid < p->pid);
		if (p->start <= self.start)
			assert_int_equal(p->uid, (uid_t)-1);
		if (p->pid == pid) {
			found = true;
			assert_true(p->start <= self.start || p->uid == getuid());
		}
	}
	assert_true(found);
	processes_free(&all);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void *
end_at_once(void *unused)
{
	return unused;
}

static void *
start_threads(void *stop)
{
	pthread_t thread;

	while (!*(volatile bool *)stop)
		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			(void)pthread_join(thread, NULL);
	return NULL;
}

static void
threads_are_not_taken_for_processes(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY);
	volatile bool stop = false;
	pthread_t thread;

	(void)unused;
	assert_int_equal(pthread_create(&thread, NULL, start_threads, (void *)&stop), 0);
	for (int i = 0; i < 100; i++) {
		struct processes all;
		bool exact;

		assert_int_equal(process_list_exact(&all, &exact, procfd, 0), 0);
		for (size_t k = 0; k < all.count; k++)
			assert_true(all.list[k].pid == getpid() || all.list[k].ppid != getppid() ||
				    all.list[k].session != getsid(0) ||
				    strcmp(all.list[k].name, "process_test") != 0);
		processes_free(&all);
	}
	stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void
a_signal_reaches_only_the_process_it_was_meant_for(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY);
	pid_t pid = child(NULL);
	struct process p, other;
	int status;

	(void)unused;
	assert_int_equal(process_read(&p, procfd, pid), 0);
	other = p;
	other.start++; /* the number reused by a later process */
	assert_int_equal(process_signal(&other, procfd, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(process_signal(&p, procfd, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(process_signal(&p, procfd, SIGTERM), 0);
	assert_int_equal(process_read(&p, procfd, pid), -1);
	assert_int_equal(errno, ENOENT);
}

static void *
wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void
leave_a_thread(void)
{
	pthread_t thread;

	(void)pthread_create(&thread, NULL, wait_for_ever, NULL);
}

/* The first thread ends, the process lives on: shown as a zombie. */
static void
a_process_whose_first_thread_ended_is_alive(void **unused)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY);
	struct process p;
	char path[64], text[1024];
	ssize_t n;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		leave_a_thread();
		pthread_exit(NULL);
	}
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	do {
		AUTO_FD int fd = open(path, O_RDONLY);

		n = read(fd, text, sizeof text - 1);
		assert_true(n > 0);
		text[n] = '\0';
	} while (strstr(text, ") Z ") == NULL);
	assert_int_equal(process_read(&p, procfd, pid), 0);
	assert_false(p.dead);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_name_may_hold_anything),
	    cmocka_unit_test(a_terminal_has_two_numbers),
	    cmocka_unit_test(a_long_name_is_cut),
	    cmocka_unit_test(a_zombie_is_dead_only_without_threads),
	    cmocka_unit_test(what_is_no_stat_is_refused),
	    cmocka_unit_test(descendants_are_found_through_the_lists_of_children),
	    cmocka_unit_test(the_list_holds_the_living_and_not_the_dead),
	    cmocka_unit_test(a_process_knows_itself),
	    cmocka_unit_test(an_exact_list_has_all_once_and_in_order),
	    cmocka_unit_test(threads_are_not_taken_for_processes),
	    cmocka_unit_test(a_signal_reaches_only_the_process_it_was_meant_for),
	    cmocka_unit_test(a_process_whose_first_thread_ended_is_alive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
