/* verdict: nothing but the work of one lane, reached by the rule, is ok; every pair of jobs has one outcome of the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/verdict.h"

#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof list / sizeof list[0])

/* As a workflow tells it; result NULL: not given. */
static struct verdict_job
told(const char *class, const char *empty, const char *result)
{
	struct verdict_job job = {0};

	assert_int_equal(verdict_parse_class(&job, class), 0);
	assert_int_equal(verdict_parse_empty(&job, empty), 0);
	if (result != NULL)
		assert_int_equal(verdict_parse_result(&job, result), 0);
	return job;
}

static void
the_table(void **state)
{
	static const struct {
		const char *key[3], *subscription[3], *outcome;
		enum verdict_level level;
	} samples[] = {
	    {{"ok"}, {""}, "ok", VERDICT_NOTICE},
	    {{"rate-limit"}, {""}, "rate-limit", VERDICT_ERROR},
	    {{"tampered"}, {""}, "tampered", VERDICT_ERROR},
	    {{"credit-stop"}, {"ok"}, "ok", VERDICT_WARNING},
	    {{"credit-stop"}, {"auth"}, "auth", VERDICT_ERROR},
	    {{"credit-stop"}, {"credit-stop"}, "credit-stop", VERDICT_ERROR},
	    {{"credit-stop"}, {""}, "error", VERDICT_ERROR},
	    {{"credit-stop"}, {"", "true"}, "credit-stop", VERDICT_ERROR},
	    {{"credit-stop"}, {"", "false"}, "error", VERDICT_ERROR},
	    {{"credit-stop", "false", "cancelled"}, {"", "", "skipped"}, "cancelled",
		VERDICT_ERROR},
	    {{"", "true"}, {"ok"}, "ok", VERDICT_NOTICE},
	    {{"", "true"}, {"timeout"}, "timeout", VERDICT_ERROR},
	    {{"", "true"}, {"", "true"}, "no-credential", VERDICT_ERROR},
	    {{"", "true"}, {""}, "error", VERDICT_ERROR},
	    {{"", "true"}, {"", "", "cancelled"}, "cancelled", VERDICT_ERROR},
	    /* The rule of the lanes is broken. */
	    {{"ok"}, {"ok"}, "error", VERDICT_ERROR},
	    {{"auth"}, {"ok"}, "error", VERDICT_ERROR},
	    {{"auth"}, {"", "true"}, "error", VERDICT_ERROR},
	    {{""}, {"ok"}, "error", VERDICT_ERROR},
	    /* Something is missing. */
	    {{""}, {""}, "error", VERDICT_ERROR},
	    {{"", "false"}, {""}, "error", VERDICT_ERROR},
	    {{"", "", "success"}, {"", "", "skipped"}, "error", VERDICT_ERROR},
	    {{"", "", "cancelled"}, {"", "", "skipped"}, "cancelled", VERDICT_ERROR},
	    /* The runner and the class don't agree. */
	    {{"ok", "false", "failure"}, {"", "", "skipped"}, "error", VERDICT_ERROR},
	    {{"ok", "true"}, {""}, "error", VERDICT_ERROR},
	    {{"ok", "", "skipped"}, {""}, "error", VERDICT_ERROR},
	    {{"tampered", "false", "cancelled"}, {"", "", "skipped"}, "tampered", VERDICT_ERROR},
	    {{"credit-stop"}, {"ok", "false", "failure"}, "error", VERDICT_ERROR},
	    {{"credit-stop"}, {"ok", "false", "skipped"}, "error", VERDICT_ERROR},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		const char *const *k = samples[i].key, *const *s = samples[i].subscription;
		struct verdict_job key = told(k[0], k[1] ? k[1] : "", k[2]);
		struct verdict_job subscription = told(s[0], s[1] ? s[1] : "", s[2]);
		struct verdict v;

		verdict_decide(&v, &key, &subscription);
		if (strcmp(v.outcome, samples[i].outcome) != 0 || v.level != samples[i].level)
			fail_msg(
			    "row %zu: %s (%s), not %s", i, v.outcome, v.why, samples[i].outcome);
	}
}

/* Job number n of JOBS: each class or none, each boolean or none, each result or none. */
enum { CLASSES = LANE_ERROR + 2, JOBS = CLASSES * 3 * 5 };

static struct verdict_job
job_number(int n)
{
	return (struct verdict_job){
	    .has_class = n % CLASSES > 0,
	    .lane = n % CLASSES > 0 ? (enum lane)(n % CLASSES - 1) : LANE_OK,
	    .empty = (enum verdict_empty)(n / CLASSES % 3),
	    .result = (enum verdict_result)(n / CLASSES / 3),
	};
}

static bool
did_the_work(const struct verdict_job *job)
{
	return job->has_class && job->lane == LANE_OK && job->empty != EMPTY_TRUE &&
	       (job->result == RESULT_UNTOLD || job->result == RESULT_SUCCESS);
}

static bool
opens_the_other_lane(const struct verdict_job *key)
{
	if (key->result == RESULT_SKIPPED)
		return false;
	if (key->has_class)
		return key->lane == LANE_CREDIT_STOP && key->empty != EMPTY_TRUE;
	return key->empty == EMPTY_TRUE;
}

static bool
was_not_entered(const struct verdict_job *subscription)
{
	return !subscription->has_class && subscription->empty == EMPTY_UNTOLD &&
	       subscription->result != RESULT_SUCCESS && subscription->result != RESULT_FAILURE;
}

static void
ok_is_the_work_of_one_lane_by_the_rule_and_nothing_else(void **state)
{
	size_t ok = 0;

	(void)state;
	for (int k = 0; k < JOBS; k++)
		for (int s = 0; s < JOBS; s++) {
			struct verdict_job key = job_number(k), sub = job_number(s);
			bool expected = (did_the_work(&key) && was_not_entered(&sub)) ||
			                (opens_the_other_lane(&key) && did_the_work(&sub));
			struct verdict v;

			verdict_decide(&v, &key, &sub);
			if (v.ok != expected)
				fail_msg("%d, %d: %s: %s", k, s, v.outcome, v.why);
			assert_int_equal(v.ok, strcmp(v.outcome, "ok") == 0);
			assert_int_equal(v.ok, v.level != VERDICT_ERROR);
			ok += v.ok;
		}
	assert_true(ok > 0);
}

/* And it is a word that one of the jobs said, or one for what they did not say. */
static void
every_pair_has_an_outcome_of_the_list(void **state)
{
	(void)state;
	for (int k = 0; k < JOBS; k++)
		for (int s = 0; s < JOBS; s++) {
			struct verdict_job key = job_number(k), sub = job_number(s);
			enum lane lane = LANE_ERROR;
			struct verdict v;

			verdict_decide(&v, &key, &sub);
			assert_true(v.why[0] != '\0' && strlen(v.why) < sizeof v.why - 1);
			if (strcmp(v.outcome, "no-credential") == 0) {
				assert_true(!key.has_class && !sub.has_class);
				assert_true(key.empty == EMPTY_TRUE && sub.empty == EMPTY_TRUE);
				continue;
			}
			assert_int_equal(lane_parse(v.outcome, &lane), 0);
			assert_true(lane == LANE_ERROR || lane == LANE_CANCELLED ||
				    (key.has_class && lane == key.lane) ||
				    (sub.has_class && lane == sub.lane));
		}
}

static void
no_other_word_is_taken(void **state)
{
	static const char *const words[] = {"OK", " ok", "ok ", "ok\n", "success\n",
	    "no-credential", "none", "TRUE", "0", "credit_stop", "::error::x", "ok\ncredit-stop"};
	struct verdict_job job;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		assert_int_equal(verdict_parse_class(&job, words[i]), -1);
		assert_int_equal(verdict_parse_empty(&job, words[i]), -1);
		assert_int_equal(verdict_parse_result(&job, words[i]), -1);
	}
	/* The runner always knows a job's result. */
	assert_int_equal(verdict_parse_result(&job, ""), -1);
	assert_int_equal(verdict_parse_class(&job, "success"), -1);
	assert_int_equal(verdict_parse_result(&job, "ok"), -1);
}

static void
the_sentence_is_a_line_for_whoever_reads_it(void **state)
{
	struct verdict v = {.outcome = "ok", .level = VERDICT_WARNING, .why = "why"};
	char line[300];

	(void)state;
	verdict_annotation(line, sizeof line, &v, true);
	assert_string_equal(line, "::warning title=legguard::ok: why\n");
	verdict_annotation(line, sizeof line, &v, false);
	assert_string_equal(line, "legguard: why\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table),
	    cmocka_unit_test(ok_is_the_work_of_one_lane_by_the_rule_and_nothing_else),
	    cmocka_unit_test(every_pair_has_an_outcome_of_the_list),
	    cmocka_unit_test(no_other_word_is_taken),
	    cmocka_unit_test(the_sentence_is_a_line_for_whoever_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
