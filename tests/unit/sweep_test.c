/* sweep: the sweep itself, on real processes, in a machine of its own for each test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/sweep.h"
#include "tests/unit/machine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sweep_scope
own_scope(void)
{
	struct sweep_scope s;
	struct error e = {0};

	CHECK(sweep_scope_open(&s, getuid(), &e) == 0);
	CHECK(s.self == getpid() && s.session == getsid(0) && s.uid == getuid());
	CHECK(!s.whole_machine);
	return s;
}

static struct sweep_result
sweep(const struct sweep_scope *s, enum sweep_mode mode)
{
	struct sweep_result r;
	struct error e = {0};

	if (sweep_run(&r, s, mode, 5000, &e) != 0)
		fprintf(stderr, "%s\n", e.what);
	CHECK(e.what[0] == '\0');
	return r;
}

/* How many are alive in the namespace, pid 1 and this process among them. */
static size_t
population(const struct sweep_scope *s)
{
	struct processes all;
	size_t count;

	CHECK(process_list(&all, s->procfd) == 0);
	count = all.count;
	processes_free(&all);
	return count;
}

static void
detach_in_every_way(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;

	leave(DETACHED, sleep_for_ever);
	leave(NOHUP, sleep_for_ever);
	leave(SESSION, sleep_for_ever);
	leave(DOUBLE_FORK, sleep_for_ever);
	while (population(&s) != 6) /* one in between may still be ending */
		usleep(1000);
	r = sweep(&s, SWEEP_REPORT);
	CHECK(!r.clean && r.total == 4 && r.found.count == 4);
	CHECK(population(&s) == 6);
	processes_free(&r.found);
	r = sweep(&s, SWEEP_KILL);
	CHECK(r.clean && r.total == 4 && r.found.count == 4);
	CHECK(population(&s) == 2);
	processes_free(&r.found);
	r = sweep(&s, SWEEP_REPORT);
	CHECK(r.clean && r.total == 0 && r.found.list == NULL);
	sweep_scope_close(&s);
	CHECK(s.procfd == -1);
}

static void
all_ways_of_detaching_are_found_and_ended(void **state)
{
	(void)state;
	in_namespace(detach_in_every_way);
}

static void *
thread_main(void *arg)
{
	(void)arg;
	sleep_for_ever();
}

static void
end_the_first_thread(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, thread_main, NULL) == 0);
	pthread_exit(NULL);
}

/* Both look like zombies; the second one's parent never waits for it. */
static void
leave_a_living_and_a_dead_zombie(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;
	siginfo_t info;
	pid_t dead;

	leave(DETACHED, end_the_first_thread);
	dead = fork();
	if (dead == 0)
		_exit(0);
	CHECK(waitid(P_PID, (id_t)dead, &info, WEXITED | WNOWAIT) == 0);
	r = sweep(&s, SWEEP_KILL);
	CHECK(r.clean && r.total == 1);
	CHECK(population(&s) == 2);
	processes_free(&r.found);
}

static void
a_zombie_whose_threads_live_is_ended(void **state)
{
	(void)state;
	in_namespace(leave_a_living_and_a_dead_zombie);
}

static void
be_a_tee(void)
{
	if (fork() == 0)
		setsid();
	sleep_for_ever();
}

static void
launch_beside_a_tee(void)
{
	struct sweep_scope s;
	struct sweep_result r;
	int status;
	pid_t launcher;

	s = own_scope(); /* for its time: the launcher's is later, or the same */
	leave(CHILD, be_a_tee);
	usleep(TICK_US); /* until its child is there */
	launcher = fork();
	if (launcher == 0) {
		struct sweep_scope own = own_scope();

		own.since = s.since; /* the most that can tie */
		leave(DETACHED, sleep_for_ever);
		r = sweep(&own, SWEEP_KILL);
		CHECK(r.clean && r.total == 1);
		_exit(0);
	}
	CHECK(waitpid(launcher, &status, 0) == launcher && status == 0);
	CHECK(population(&s) == 4);
}

static void
the_steps_own_tee_lives_on(void **state)
{
	(void)state;
	in_namespace(launch_beside_a_tee);
}

static int request[2];

static void
start_another_on_request(void)
{
	char byte;

	CHECK(read(request[0], &byte, 1) == 1);
	if (fork() == 0) {
		setsid();
		(void)!write(request[1], "", 1); /* never read: both ends are at both sides */
		sleep_for_ever();
	}
}

static void
be_a_manager(void)
{
	prctl(PR_SET_NAME, "systemd");
	start_another_on_request();
}

/* A daemon from before, which is orphaned, and a process that it starts when the leg asks for it. */
static void
ask_a_daemon(void (*daemon)(void), size_t found)
{
	struct sweep_scope s;
	struct sweep_result r;

	CHECK(pipe(request) == 0);
	leave(DOUBLE_FORK, daemon);
	usleep(TICK_US);
	s = own_scope();
	CHECK(write(request[1], "", 1) == 1);
	while (population(&s) != 4)
		usleep(1000);
	r = sweep(&s, SWEEP_KILL);
	CHECK(r.clean && r.total == found);
	CHECK(population(&s) == 4 - found);
	processes_free(&r.found);
}

static void
ask_a_server(void)
{
	ask_a_daemon(start_another_on_request, 0);
}

static void
ask_a_manager(void)
{
	ask_a_daemon(be_a_manager, 1);
}

static void
a_server_from_before_keeps_its_new_worker(void **state)
{
	(void)state;
	in_namespace(ask_a_server);
}

static void
what_the_service_manager_started_for_the_leg_is_ended(void **state)
{
	(void)state;
	in_namespace(ask_a_manager);
}

static void
fork_for_ever(void)
{
	for (;;) {
		if (fork() == 0) {
			setsid();
			sleep_for_ever();
		}
		usleep(100);
	}
}

static void
leave_one_that_forks(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;

	leave(SESSION, fork_for_ever);
	leave(SESSION, fork_for_ever);
	usleep(TICK_US);
	r = sweep(&s, SWEEP_KILL);
	CHECK(r.clean && r.total > 4);
	CHECK(population(&s) == 2);
	processes_free(&r.found);
}

static void
one_that_forks_for_ever_loses(void **state)
{
	(void)state;
	in_namespace(leave_one_that_forks);
}

static void
flee(void)
{
	for (;;)
		if (fork() != 0)
			_exit(0);
}

/* It may get away, but never unnoticed. */
static void
leave_one_that_flees(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;

	leave(SESSION, flee);
	r = sweep(&s, SWEEP_KILL);
	if (r.clean) {
		usleep(TICK_US);
		CHECK(population(&s) == 2);
	}
	processes_free(&r.found);
}

static void
one_that_always_becomes_its_own_child_is_no_clean_end(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		in_namespace(leave_one_that_flees);
}

static int signals_asked_for;

static int
send_nothing(const struct process *p, int procfd, int sig)
{
	(void)p;
	(void)procfd;
	CHECK(sig == SIGSTOP || sig == SIGKILL);
	signals_asked_for++;
	return 0;
}

static void
sweep_without_effect(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;
	struct error e = {0};

	s.send = send_nothing;
	leave(SESSION, sleep_for_ever);
	leave(SESSION, sleep_for_ever);
	CHECK(sweep_run(&r, &s, SWEEP_KILL, 300, &e) == 0);
	CHECK(!r.clean && r.total == 2 && r.found.count == 2 && signals_asked_for >= 8);
	CHECK(population(&s) == 4);
	processes_free(&r.found);
}

static void
a_kill_that_does_nothing_is_no_clean_end(void **state)
{
	(void)state;
	in_namespace(sweep_without_effect);
}

static void
sweep_many(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;

	for (int i = 0; i < SWEEP_FOUND_MAX + 100; i++)
		leave(DETACHED, sleep_for_ever);
	r = sweep(&s, SWEEP_KILL);
	CHECK(r.clean && r.total == SWEEP_FOUND_MAX + 100 && r.found.count == SWEEP_FOUND_MAX);
	CHECK(population(&s) == 2);
	processes_free(&r.found);
}

static void
of_many_all_are_counted_and_ended(void **state)
{
	(void)state;
	in_namespace(sweep_many);
}

static void
close_proc(void)
{
	struct sweep_scope s = own_scope();
	struct sweep_result r;
	struct error e = {0};

	sweep_scope_close(&s);
	CHECK(sweep_run(&r, &s, SWEEP_KILL, 300, &e) == -1 && !r.clean && e.what[0] != '\0');
	e = (struct error){0};
	CHECK(sweep_run(&r, &s, SWEEP_REPORT, 300, &e) == -1 && !r.clean && e.what[0] != '\0');
	/* Somebody else's /proc, or none. */
	CHECK(umount2("/proc", MNT_DETACH) == 0);
	e = (struct error){0};
	CHECK(sweep_scope_open(&s, getuid(), &e) == -1 && e.what[0] != '\0');
	sweep_scope_close(&s);
}

static void
without_a_listing_there_is_no_clean_end(void **state)
{
	(void)state;
	in_namespace(close_proc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_ways_of_detaching_are_found_and_ended),
	    cmocka_unit_test(a_zombie_whose_threads_live_is_ended),
	    cmocka_unit_test(the_steps_own_tee_lives_on),
	    cmocka_unit_test(a_server_from_before_keeps_its_new_worker),
	    cmocka_unit_test(what_the_service_manager_started_for_the_leg_is_ended),
	    cmocka_unit_test(one_that_forks_for_ever_loses),
	    cmocka_unit_test(one_that_always_becomes_its_own_child_is_no_clean_end),
	    cmocka_unit_test(a_kill_that_does_nothing_is_no_clean_end),
	    cmocka_unit_test(of_many_all_are_counted_and_ended),
	    cmocka_unit_test(without_a_listing_there_is_no_clean_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
