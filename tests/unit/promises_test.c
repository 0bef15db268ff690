/* promises: what is claimed for a run, by what confined it and how it ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/promises.h"

#include <string.h>

static void
nothing_is_promised_of_an_unconfined_leg(void **state)
{
	struct outcome o = {
	    .isolation = ISOLATION_NONE, .proof = PROOF_SUBREAPER, .held = true, .scopes = true};

	(void)state;
	for (enum promise promise = 0; promise < PROMISES; promise++)
		assert_false(promise_holds(&o, promise));
}

static void
what_may_be_alive_may_write_again_unless_names_hold(void **state)
{
	struct outcome o = {.isolation = ISOLATION_NAMESPACE, .proof = PROOF_CGROUP, .held = true};

	(void)state;
	assert_true(promise_holds(&o, PROMISE_ALL_DEAD));
	assert_true(promise_holds(&o, PROMISE_CONTENTS_RESTORED));
	o.proof = PROOF_NONE;
	assert_false(promise_holds(&o, PROMISE_ALL_DEAD));
	assert_false(promise_holds(&o, PROMISE_CONTENTS_RESTORED));
	o.view = VIEW_STRICT;
	assert_true(promise_holds(&o, PROMISE_CONTENTS_RESTORED));
	o.unrestored = true;
	assert_false(promise_holds(&o, PROMISE_CONTENTS_RESTORED));
}

static void
a_namespace_denies_writes_if_the_files_are_held(void **state)
{
	struct outcome o = {
	    .isolation = ISOLATION_NAMESPACE, .own_pids = true, .proof = PROOF_PID_NAMESPACE};

	(void)state;
	assert_false(promise_holds(&o, PROMISE_WRITES_DENIED));
	o.held = true;
	assert_true(promise_holds(&o, PROMISE_WRITES_DENIED));
	assert_true(promise_holds(&o, PROMISE_DIES_WITH_LAUNCHER));
	assert_true(promise_holds(&o, PROMISE_SIGNALS_CONFINED));
	/* Where no name above them can be changed the mounts alone do. */
	o.held = false;
	o.view = VIEW_PIN;
	assert_true(promise_holds(&o, PROMISE_WRITES_DENIED));
	assert_true(promise_holds(&o, PROMISE_NAMES_HELD));
	o.own_pids = false;
	assert_false(promise_holds(&o, PROMISE_DIES_WITH_LAUNCHER));
	o.scopes = true;
	assert_true(promise_holds(&o, PROMISE_DIES_WITH_LAUNCHER));
}

static void
landlock_denies_writes_if_something_denies_truncation(void **state)
{
	struct outcome o = {
	    .isolation = ISOLATION_LANDLOCK, .landlock_abi = 2, .proof = PROOF_SUBREAPER};

	(void)state;
	assert_false(promise_holds(&o, PROMISE_WRITES_DENIED));
	o.truncation_denied = true;
	assert_true(promise_holds(&o, PROMISE_WRITES_DENIED));
	assert_true(promise_holds(&o, PROMISE_NAMES_HELD));
	assert_false(promise_holds(&o, PROMISE_SIGNALS_CONFINED));
	/* What is alive can't write either. */
	o.proof = PROOF_NONE;
	assert_true(promise_holds(&o, PROMISE_CONTENTS_RESTORED));
	o.unrestored = true;
	assert_false(promise_holds(&o, PROMISE_CONTENTS_RESTORED));
}

static void
each_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < PROMISES; i++) {
		assert_non_null(promise_name(i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(promise_name(i), promise_name(k));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_promised_of_an_unconfined_leg),
	    cmocka_unit_test(what_may_be_alive_may_write_again_unless_names_hold),
	    cmocka_unit_test(a_namespace_denies_writes_if_the_files_are_held),
	    cmocka_unit_test(landlock_denies_writes_if_something_denies_truncation),
	    cmocka_unit_test(each_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
