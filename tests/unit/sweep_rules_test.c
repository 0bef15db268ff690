/* sweep: every rule of what is found, on tables made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/sweep.h"

#include <stdio.h>
#include <string.h>

/* The step's shell is 50, the launcher 100, their session 50; others have their own. */

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
