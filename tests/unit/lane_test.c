/* lane: a closed list of words, and what the launcher saw wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/lane.h"

static void
every_class_is_read_back_by_its_name(void **state)
{
	static const char *const words[] = {"ok", "credit-stop", "auth", "rate-limit", "overloaded",
	    "max-turns", "budget", "timeout", "overflow", "cancelled", "tampered", "survivors",
	    "error"};

	(void)state;
	for (enum lane lane = LANE_OK; lane <= LANE_ERROR; lane++) {
		enum lane parsed = LANE_ERROR;

		assert_string_equal(lane_name(lane), words[lane]);
		assert_int_equal(lane_parse(words[lane], &parsed), 0);
		assert_int_equal(parsed, lane);
	}
}

static void
no_other_word_is_a_class(void **state)
{
	static const char *const words[] = {"", "OK", "okay", "o", " ok", "ok\n", "success"};
	enum lane lane;

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		assert_int_equal(lane_parse(words[i], &lane), -1);
}

static void
without_facts_the_classification_stands(void **state)
{
	const struct lane_facts none = {0};

	(void)state;
	for (enum lane lane = LANE_OK; lane <= LANE_ERROR; lane++)
		assert_int_equal(lane_decide(&none, lane), lane);
}

/* Each bit of `set` is one fact, the worst one highest. */
static void
the_worst_fact_wins_over_all_others(void **state)
{
	static const enum lane by_bit[] = {
	    LANE_OVERFLOW, LANE_TIMEOUT, LANE_CANCELLED, LANE_SURVIVORS, LANE_TAMPERED};

	(void)state;
	for (unsigned set = 1; set < 32; set++) {
		const struct lane_facts facts = {
		    .overflowed = (set & 1) != 0,
		    .timed_out = (set & 2) != 0,
		    .cancelled = (set & 4) != 0,
		    .survivors = (set & 8) != 0,
		    .tampered = (set & 16) != 0,
		};
		unsigned worst = 4;

		while ((set & 1U << worst) == 0)
			worst--;
		assert_int_equal(lane_decide(&facts, LANE_OK), by_bit[worst]);
		assert_int_equal(lane_decide(&facts, LANE_ERROR), by_bit[worst]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_class_is_read_back_by_its_name),
	    cmocka_unit_test(no_other_word_is_a_class),
	    cmocka_unit_test(without_facts_the_classification_stands),
	    cmocka_unit_test(the_worst_fact_wins_over_all_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
