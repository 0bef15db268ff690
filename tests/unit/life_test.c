/* life: every event in every state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/life.h"

#define S(x) LIFE_##x
#define D(x) LIFE_DO_##x

/* clang-format off */
/* The whole table, told a second time: state after the event, and actions. */
static const struct {
	enum life_state state;
	enum life_event event;
	enum life_state next;
	unsigned int actions;
} expected[] = {
	{S(STARTING), LIFE_STARTED, S(RUNNING), 0},
	{S(STARTING), LIFE_LEG_ENDED, S(REAPING), D(LAST_GRACE)},
	{S(STARTING), LIFE_REAPER_GONE, S(DRAINING), D(DRAIN)},
	{S(STARTING), LIFE_TIMEOUT, S(TERMINATING), D(SIGNAL) | D(GRACE)},
	{S(STARTING), LIFE_CANCEL, S(TERMINATING), D(FORWARD) | D(CANCEL_GRACE)},
	{S(STARTING), LIFE_OVERFLOW, S(TERMINATING), D(SIGNAL) | D(GRACE) | D(DISCARD)},
	{S(STARTING), LIFE_READER_GONE, S(TERMINATING), D(SIGNAL) | D(CANCEL_GRACE) | D(DISCARD)},
	{S(STARTING), LIFE_CONTENDED, S(KILLING), D(END_LEG) | D(LAST_GRACE)},
	{S(STARTING), LIFE_GRACE_OVER, S(STARTING), 0},
	{S(STARTING), LIFE_NEXT, S(STARTING), 0},

	{S(RUNNING), LIFE_STARTED, S(RUNNING), 0},
	{S(RUNNING), LIFE_LEG_ENDED, S(REAPING), D(LAST_GRACE)},
	{S(RUNNING), LIFE_REAPER_GONE, S(DRAINING), D(DRAIN)},
	{S(RUNNING), LIFE_TIMEOUT, S(TERMINATING), D(SIGNAL) | D(GRACE)},
	{S(RUNNING), LIFE_CANCEL, S(TERMINATING), D(FORWARD) | D(CANCEL_GRACE)},
	{S(RUNNING), LIFE_OVERFLOW, S(TERMINATING), D(SIGNAL) | D(GRACE) | D(DISCARD)},
	{S(RUNNING), LIFE_READER_GONE, S(TERMINATING), D(SIGNAL) | D(CANCEL_GRACE) | D(DISCARD)},
	{S(RUNNING), LIFE_CONTENDED, S(KILLING), D(END_LEG) | D(LAST_GRACE)},
	{S(RUNNING), LIFE_GRACE_OVER, S(RUNNING), 0},
	{S(RUNNING), LIFE_NEXT, S(RUNNING), 0},

	{S(TERMINATING), LIFE_STARTED, S(TERMINATING), 0},
	{S(TERMINATING), LIFE_LEG_ENDED, S(REAPING), D(LAST_GRACE)},
	{S(TERMINATING), LIFE_REAPER_GONE, S(DRAINING), D(DRAIN)},
	{S(TERMINATING), LIFE_TIMEOUT, S(TERMINATING), 0},
	{S(TERMINATING), LIFE_CANCEL, S(KILLING), D(END_LEG) | D(LAST_GRACE)},
	{S(TERMINATING), LIFE_OVERFLOW, S(TERMINATING), D(DISCARD)},
	{S(TERMINATING), LIFE_READER_GONE, S(TERMINATING), D(DISCARD)},
	{S(TERMINATING), LIFE_CONTENDED, S(KILLING), D(END_LEG) | D(LAST_GRACE)},
	{S(TERMINATING), LIFE_GRACE_OVER, S(KILLING), D(END_LEG) | D(LAST_GRACE)},
	{S(TERMINATING), LIFE_NEXT, S(TERMINATING), 0},

	{S(KILLING), LIFE_STARTED, S(KILLING), 0},
	{S(KILLING), LIFE_LEG_ENDED, S(REAPING), D(LAST_GRACE)},
	{S(KILLING), LIFE_REAPER_GONE, S(DRAINING), D(DRAIN)},
	{S(KILLING), LIFE_TIMEOUT, S(KILLING), 0},
	{S(KILLING), LIFE_CANCEL, S(FORCING), D(KILL_REAPER) | D(LAST_GRACE)},
	{S(KILLING), LIFE_OVERFLOW, S(KILLING), D(DISCARD)},
	{S(KILLING), LIFE_READER_GONE, S(KILLING), D(DISCARD)},
	{S(KILLING), LIFE_CONTENDED, S(KILLING), 0},
	{S(KILLING), LIFE_GRACE_OVER, S(FORCING), D(KILL_REAPER) | D(LAST_GRACE)},
	{S(KILLING), LIFE_NEXT, S(KILLING), 0},

	{S(REAPING), LIFE_STARTED, S(REAPING), 0},
	{S(REAPING), LIFE_LEG_ENDED, S(REAPING), 0},
	{S(REAPING), LIFE_REAPER_GONE, S(DRAINING), D(DRAIN)},
	{S(REAPING), LIFE_TIMEOUT, S(REAPING), 0},
	{S(REAPING), LIFE_CANCEL, S(REAPING), D(SHORTEN)},
	{S(REAPING), LIFE_OVERFLOW, S(REAPING), D(DISCARD)},
	{S(REAPING), LIFE_READER_GONE, S(REAPING), D(DISCARD)},
	{S(REAPING), LIFE_CONTENDED, S(REAPING), 0},
	{S(REAPING), LIFE_GRACE_OVER, S(FORCING), D(KILL_REAPER) | D(LAST_GRACE)},
	{S(REAPING), LIFE_NEXT, S(REAPING), 0},

	{S(FORCING), LIFE_STARTED, S(FORCING), 0},
	{S(FORCING), LIFE_LEG_ENDED, S(FORCING), 0},
	{S(FORCING), LIFE_REAPER_GONE, S(DRAINING), D(DRAIN)},
	{S(FORCING), LIFE_TIMEOUT, S(FORCING), 0},
	{S(FORCING), LIFE_CANCEL, S(FORCING), D(SHORTEN)},
	{S(FORCING), LIFE_OVERFLOW, S(FORCING), D(DISCARD)},
	{S(FORCING), LIFE_READER_GONE, S(FORCING), D(DISCARD)},
	{S(FORCING), LIFE_CONTENDED, S(FORCING), 0},
	{S(FORCING), LIFE_GRACE_OVER, S(DRAINING), D(DRAIN) | D(DISCARD)},
	{S(FORCING), LIFE_NEXT, S(FORCING), 0},

	{S(DRAINING), LIFE_STARTED, S(DRAINING), 0},
	{S(DRAINING), LIFE_LEG_ENDED, S(DRAINING), 0},
	{S(DRAINING), LIFE_REAPER_GONE, S(DRAINING), 0},
	{S(DRAINING), LIFE_TIMEOUT, S(DRAINING), 0},
	{S(DRAINING), LIFE_CANCEL, S(DRAINING), D(DISCARD)},
	{S(DRAINING), LIFE_OVERFLOW, S(DRAINING), D(DISCARD)},
	{S(DRAINING), LIFE_READER_GONE, S(DRAINING), D(DISCARD)},
	{S(DRAINING), LIFE_CONTENDED, S(DRAINING), 0},
	{S(DRAINING), LIFE_GRACE_OVER, S(DRAINING), D(DISCARD)},
	{S(DRAINING), LIFE_NEXT, S(RESTORING), 0},
};
/* clang-format on */

static void
every_event_has_its_answer_while_there_is_a_leg(void **unused)
{
	size_t n = sizeof expected / sizeof expected[0];

	(void)unused;
	assert_int_equal(n, (LIFE_DRAINING + 1) * LIFE_EVENTS);
	for (size_t i = 0; i < n; i++) {
		struct life life = {.state = expected[i].state};

		assert_int_equal(life_on(&life, expected[i].event), expected[i].actions);
		assert_int_equal(life.state, expected[i].next);
	}
}

static void
the_steps_after_the_leg_follow_each_other_whatever_happens(void **unused)
{
	(void)unused;
	for (enum life_state state = LIFE_RESTORING; state < LIFE_STATES; state++)
		for (enum life_event event = 0; event < LIFE_EVENTS; event++) {
			struct life life = {.state = state};
			enum life_state next = state;

			if (event == LIFE_NEXT && state != LIFE_DONE)
				next = state + 1;
			assert_int_equal(life_on(&life, event), 0);
			assert_int_equal(life.state, next);
		}
}

static void
a_cancel_counts_until_the_outputs_are_published(void **unused)
{
	(void)unused;
	for (enum life_state state = 0; state < LIFE_STATES; state++) {
		struct life life = {.state = state};

		(void)life_on(&life, LIFE_CANCEL);
		assert_int_equal(life.cancelled, state < LIFE_PUBLISHING);
	}
}

static void
a_reader_that_goes_away_is_a_cancel(void **unused)
{
	struct life life = {.state = LIFE_RUNNING};

	(void)unused;
	(void)life_on(&life, LIFE_READER_GONE);
	assert_true(life.cancelled);
}

static void
a_time_out_counts_only_while_the_leg_runs(void **unused)
{
	(void)unused;
	for (enum life_state state = 0; state < LIFE_STATES; state++) {
		struct life life = {.state = state};

		(void)life_on(&life, LIFE_TIMEOUT);
		assert_int_equal(life.timed_out, state == LIFE_STARTING || state == LIFE_RUNNING);
	}
}

static void
an_overflow_counts_as_long_as_output_is_passed_on(void **unused)
{
	(void)unused;
	for (enum life_state state = 0; state < LIFE_STATES; state++) {
		struct life life = {.state = state};

		(void)life_on(&life, LIFE_OVERFLOW);
		assert_int_equal(life.overflowed, state <= LIFE_DRAINING);
	}
}

static void
a_hand_on_a_guarded_file_counts_as_long_as_there_is_a_leg(void **unused)
{
	(void)unused;
	for (enum life_state state = 0; state < LIFE_STATES; state++) {
		struct life life = {.state = state};

		(void)life_on(&life, LIFE_CONTENDED);
		assert_int_equal(life.contended, state < LIFE_DRAINING);
	}
}

static void
the_first_cause_stays_when_a_cancel_follows(void **unused)
{
	struct life life = {.state = LIFE_RUNNING};

	(void)unused;
	(void)life_on(&life, LIFE_TIMEOUT);
	(void)life_on(&life, LIFE_CANCEL);
	assert_true(life.timed_out);
	assert_true(life.cancelled);
	assert_int_equal(life.state, LIFE_KILLING);
}

/* The longest way a cancelled run can take to the restore: grace, killing, forcing. */
static void
a_cancel_ends_inside_what_the_runner_allows(void **unused)
{
	struct life life = {.state = LIFE_RUNNING};
	int ms = 0;

	(void)unused;
	assert_true((life_on(&life, LIFE_CANCEL) & LIFE_DO_CANCEL_GRACE) != 0);
	ms += LIFE_CANCEL_GRACE_MS;
	while (life_has_leg(&life)) {
		if ((life_on(&life, LIFE_GRACE_OVER) & LIFE_DO_LAST_GRACE) != 0)
			ms += life_last_grace(&life);
	}
	assert_true(ms <= 7000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_event_has_its_answer_while_there_is_a_leg),
	    cmocka_unit_test(the_steps_after_the_leg_follow_each_other_whatever_happens),
	    cmocka_unit_test(a_cancel_counts_until_the_outputs_are_published),
	    cmocka_unit_test(a_reader_that_goes_away_is_a_cancel),
	    cmocka_unit_test(a_time_out_counts_only_while_the_leg_runs),
	    cmocka_unit_test(an_overflow_counts_as_long_as_output_is_passed_on),
	    cmocka_unit_test(a_hand_on_a_guarded_file_counts_as_long_as_there_is_a_leg),
	    cmocka_unit_test(the_first_cause_stays_when_a_cancel_follows),
	    cmocka_unit_test(a_cancel_ends_inside_what_the_runner_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
