/*
 * sweep: every rule on tables made by hand, and the sweep itself on real processes.
 *
 * The real ones live in a pid namespace that each test makes, so that nobody else's can ever be found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/sys.h"
#include "bindmount/userns.h"
#include "guard/sweep.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The rules. The step's shell is 50, the launcher 100, their session 50; others have their own. */

enum { UID = 1001, SINCE = 5000, SHELL = 50, LAUNCHER = 100 };

static const struct sweep_scope scope = {
    .uid = UID, .since = SINCE, .self = LAUNCHER, .session = SHELL};

#define BEFORE 4999
#define OF(uid_, pid_, ppid_, session_, start_, ...)                                               \
	{                                                                                          \
		.uid = uid_, .pid = pid_, .ppid = ppid_, .session = session_, .start = start_,     \
		__VA_ARGS__                                                                        \
	}
#define P(...) OF(UID, __VA_ARGS__)
/* Those that are there in every table. */
#define STEP                                                                                       \
	OF(0, 1, 0, 1, 0, .name = "init"), P(40, 1, 40, 100, .name = "Runner.Worker"),             \
	    P(SHELL, 40, SHELL, 4000, .name = "bash"), P(LAUNCHER, SHELL, SHELL, SINCE)

static void
expect_in(const struct sweep_scope *s, const struct process *table, size_t n, const char *expected)
{
	struct processes all = {0};
	char found[256] = "";

	/* From the end, so that the order is seen not to matter. */
	for (size_t i = n; i-- > 0;)
		assert_int_equal(processes_add(&all, &table[i]), 0);
	assert_int_equal(sweep_select(&all, s), 0);
	for (size_t i = 0; i < all.count; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d",
		    i > 0 ? " " : "", (int)all.list[i].pid);
	assert_string_equal(found, expected);
	processes_free(&all);
}

/* The pids that are found among the step's and these. */
#define EXPECT_IN(s, expected, ...)                                                                \
	do {                                                                                       \
		const struct process table[] = {STEP, __VA_ARGS__};                                \
                                                                                                   \
		expect_in(s, table, sizeof table / sizeof table[0], expected);                     \
	} while (0)
#define EXPECT(expected, ...) EXPECT_IN(&scope, expected, __VA_ARGS__)

static void
an_orphan_of_the_same_user_is_found_with_its_children(void **state)
{
	(void)state;
	EXPECT("200 201 202", P(200, 1, 200, SINCE), P(201, 200, 200, SINCE + 9),
	    P(202, 201, 202, SINCE + 10));
	/* Whose parent is in no pid namespace that is seen here. */
	EXPECT("200", P(200, 0, 200, SINCE));
}

static void
a_child_may_have_a_lower_number_than_its_parent(void **state)
{
	(void)state;
	EXPECT("60 61 200", P(60, 61, 60, SINCE + 5), P(61, 200, 60, SINCE + 4),
	    P(200, 1, 200, SINCE + 3));
}

static void
what_started_before_is_left_out(void **state)
{
	(void)state;
	EXPECT("201", P(200, 1, 200, BEFORE), P(201, 1, 201, SINCE));
}

static void
what_is_another_users_is_left_out(void **state)
{
	(void)state;
	EXPECT("", OF(UID + 1, 200, 1, 200, SINCE), OF(0, 201, 1, 201, SINCE),
	    OF((uid_t)-1, 202, 1, 202, SINCE));
}

static void
the_dead_are_left_out_and_shield_nobody(void **state)
{
	(void)state;
	EXPECT("201", P(200, 1, 200, SINCE, .dead = true), P(201, 200, 200, SINCE));
}

static void
the_launcher_its_children_and_its_session_are_left_out(void **state)
{
	(void)state;
	EXPECT("", P(200, LAUNCHER, 200, SINCE), P(201, 1, SHELL, SINCE),
	    P(202, LAUNCHER, SHELL, SINCE));
	/* A grandchild by a child that is left out. */
	EXPECT("", P(200, LAUNCHER, 200, SINCE), P(201, 200, 201, SINCE));
}

static void
ancestors_of_the_launcher_are_left_out_even_if_young(void **state)
{
	const struct process table[] = {P(1, 0, 1, 0), P(40, 1, 40, SINCE), P(SHELL, 40, 50, SINCE),
	    P(LAUNCHER, SHELL, LAUNCHER, SINCE), P(200, 40, 200, SINCE), P(201, 1, 201, SINCE)};
	struct sweep_scope s = scope;

	(void)state;
	s.session = LAUNCHER; /* setsid legguard ... */
	expect_in(&s, table, sizeof table / sizeof table[0], "201");
}

static void
a_tee_of_the_step_may_start_in_the_same_tick(void **state)
{
	(void)state;
	EXPECT("", P(101, SHELL, SHELL, SINCE, .name = "tee"));
	/* In a session of its own as well, with a child. */
	EXPECT("", P(101, SHELL, 101, SINCE, .name = "tee"), P(102, 101, 102, SINCE + 1));
}

static void
a_server_of_an_earlier_step_may_start_a_worker(void **state)
{
	(void)state;
	EXPECT("202", P(90, 1, 90, BEFORE), P(200, 90, 90, SINCE + 1), P(201, 200, 201, SINCE + 2),
	    P(202, 1, 202, SINCE + 3));
}

static void
a_worker_of_another_user_shields_as_well(void **state)
{
	(void)state;
	EXPECT("", OF(0, 200, 1, 200, SINCE), P(201, 200, 201, SINCE));
}

static void
the_service_manager_shields_nobody(void **state)
{
	(void)state;
	EXPECT("200 201", P(45, 1, 45, 50, .name = "systemd"),
	    P(46, 45, 45, 51, .name = "(sd-pam)"), P(47, 45, 47, 52, .name = "dbus-daemon"),
	    P(200, 45, 200, SINCE), P(201, 200, 200, SINCE + 1), P(202, 47, 47, SINCE + 1));
	/* The name alone does not make one. */
	EXPECT("", P(44, 40, 44, 50, .name = "systemd"), P(200, 44, 200, SINCE));
}

static void
one_that_calls_itself_a_manager_is_found(void **state)
{
	(void)state;
	EXPECT("200 201", P(200, 1, 200, SINCE, .name = "systemd"), P(201, 200, 201, SINCE));
}

static void
a_hidden_parent_is_an_outsider(void **state)
{
	(void)state;
	EXPECT("", P(200, 77, 200, SINCE), P(201, 200, 201, SINCE));
}

static void
a_ring_of_parents_ends(void **state)
{
	(void)state;
	EXPECT("200 201", P(200, 201, 200, SINCE), P(201, 200, 201, SINCE));
}

static void
a_launcher_that_is_pid_1_leaves_its_children_alone(void **state)
{
	static const struct sweep_scope s = {.uid = UID, .since = 0, .self = 1, .session = 1};
	const struct process table[] = {P(1, 0, 1, 0), P(2, 1, 2, 0), P(3, 2, 3, 0), P(4, 0, 4, 0)};

	(void)state;
	expect_in(&s, table, sizeof table / sizeof table[0], "4");
}

static bool
is_even(const struct process *p, void *arg)
{
	assert_ptr_equal(arg, &scope);
	return p->pid % 2 == 0;
}

static void
what_the_scope_does_not_accept_is_an_outsider(void **state)
{
	struct sweep_scope s = scope;

	(void)state;
	s.accept = is_even;
	s.arg = (void *)&scope;
	EXPECT_IN(&s, "200", P(200, 1, 200, SINCE), P(201, 1, 201, SINCE), P(202, 201, 202, SINCE));
}

static void
nothing_is_found_among_nobody(void **state)
{
	struct processes all = {0};

	(void)state;
	assert_int_equal(sweep_select(&all, &scope), 0);
	assert_int_equal(all.count, 0);
}

static void
the_mode_follows_from_the_proof_unless_it_is_given(void **state)
{
	struct sweep_scope s = scope;

	(void)state;
	assert_int_equal(sweep_mode(SWEEP_DEFAULT, PROOF_NONE, &s), SWEEP_KILL);
	assert_int_equal(sweep_mode(SWEEP_DEFAULT, PROOF_SUBREAPER, &s), SWEEP_KILL);
	assert_int_equal(sweep_mode(SWEEP_DEFAULT, PROOF_PID_NAMESPACE, &s), SWEEP_OFF);
	assert_int_equal(sweep_mode(SWEEP_DEFAULT, PROOF_CGROUP, &s), SWEEP_OFF);
	assert_int_equal(sweep_mode(SWEEP_REPORT, PROOF_PID_NAMESPACE, &s), SWEEP_REPORT);
	assert_int_equal(sweep_mode(SWEEP_OFF, PROOF_NONE, &s), SWEEP_OFF);
	s.whole_machine = true;
	assert_int_equal(sweep_mode(SWEEP_DEFAULT, PROOF_SUBREAPER, &s), SWEEP_REPORT);
	assert_int_equal(sweep_mode(SWEEP_DEFAULT, PROOF_PID_NAMESPACE, &s), SWEEP_OFF);
	assert_int_equal(sweep_mode(SWEEP_KILL, PROOF_SUBREAPER, &s), SWEEP_KILL);
}

/*
 * Real processes. In a new pid namespace, whose pid 1 only reaps, runs the step's shell; it is the
 * launcher too where nothing else is said. There is no cmocka in there: what fails ends it.
 */

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

static struct sweep_scope
own_scope(void)
{
	struct sweep_scope s;
	struct error e = {0};

	CHECK(sweep_scope_open(&s, &e) == 0);
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
	CHECK(sweep_scope_open(&s, &e) == -1 && e.what[0] != '\0');
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
	    cmocka_unit_test(an_orphan_of_the_same_user_is_found_with_its_children),
	    cmocka_unit_test(a_child_may_have_a_lower_number_than_its_parent),
	    cmocka_unit_test(what_started_before_is_left_out),
	    cmocka_unit_test(what_is_another_users_is_left_out),
	    cmocka_unit_test(the_dead_are_left_out_and_shield_nobody),
	    cmocka_unit_test(the_launcher_its_children_and_its_session_are_left_out),
	    cmocka_unit_test(ancestors_of_the_launcher_are_left_out_even_if_young),
	    cmocka_unit_test(a_tee_of_the_step_may_start_in_the_same_tick),
	    cmocka_unit_test(a_server_of_an_earlier_step_may_start_a_worker),
	    cmocka_unit_test(a_worker_of_another_user_shields_as_well),
	    cmocka_unit_test(the_service_manager_shields_nobody),
	    cmocka_unit_test(one_that_calls_itself_a_manager_is_found),
	    cmocka_unit_test(a_hidden_parent_is_an_outsider),
	    cmocka_unit_test(a_ring_of_parents_ends),
	    cmocka_unit_test(a_launcher_that_is_pid_1_leaves_its_children_alone),
	    cmocka_unit_test(what_the_scope_does_not_accept_is_an_outsider),
	    cmocka_unit_test(nothing_is_found_among_nobody),
	    cmocka_unit_test(the_mode_follows_from_the_proof_unless_it_is_given),
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
