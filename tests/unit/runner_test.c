/* runner: what belongs to it, by names alone. Finding it is a matter of tests/scenarios/protected.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/runner.h"

#include <stdlib.h>
#include <string.h>

static void
expect_root(const char *executable, const char *root)
{
	char *found = runner_root_of(executable);

	if (root == NULL) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, root);
	free(found);
}

static void
the_root_is_above_the_workers_directory(void **state)
{
	(void)state;
	expect_root("/home/runner/actions-runner/bin/Runner.Worker", "/home/runner/actions-runner");
	expect_root("/r/bin.2.336.0/Runner.Worker", "/r");
	expect_root("/r/bin.2.336.0/Runner.Worker (deleted)", "/r");
}

static void
other_executables_have_none(void **state)
{
	static const char *const others[] = {"/usr/bin/bash", "/r/bin/Runner.Listener",
	    "/r/bin/Runner.Workers", "/r/bin/Runner.Worker.dll", "/r/binary/Runner.Worker",
	    "/r/lib/Runner.Worker", "/Runner.Worker", "/bin/Runner.Worker", "Runner.Worker",
	    "/r/bin/xRunner.Worker", "/r/bin/Runner.Worker (deleted) (deleted)", ""};

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		expect_root(others[i], NULL);
}

static void
a_step_s_script_has_a_guid_for_a_name(void **state)
{
	static const char *const no[] = {"", "script.sh", "0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7f2",
	    "0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7f2.", "0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7fg.sh",
	    "0d9b7f543a5e4c539f106d1c3a9be7f2.sh", "x0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7f2.sh",
	    "0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7f2x.sh"};

	(void)state;
	assert_true(runner_is_script("0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7f2.sh"));
	assert_true(runner_is_script("0D9B7F54-3A5E-4C53-9F10-6D1C3A9BE7F2.ps1"));
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		assert_false(runner_is_script(no[i]));
}

static void
parts_of_the_root_are_told_apart(void **state)
{
	static const char *const code[] = {"bin", "bin.2.336.0", "externals", "externals.2.336.0",
	    "_diag", "run.sh", "run-helper.sh.template", ".env", ".path", ".runner",
	    ".runner_migrated"};
	static const char *const secret[] = {
	    ".credentials", ".credentials_rsaparams", ".credentials_migrated"};
	static const char *const none[] = {"_work", "binary", "external", "data", ".", "..", "sh",
	    ".sh", ".cache", ".environment"};

	(void)state;
	for (size_t i = 0; i < sizeof code / sizeof code[0]; i++)
		assert_int_equal(runner_part(code[i]), RUNNER_PART_CODE);
	for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
		assert_int_equal(runner_part(secret[i]), RUNNER_PART_SECRET);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_int_equal(runner_part(none[i]), RUNNER_PART_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_root_is_above_the_workers_directory),
	    cmocka_unit_test(other_executables_have_none),
	    cmocka_unit_test(a_step_s_script_has_a_guid_for_a_name),
	    cmocka_unit_test(parts_of_the_root_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
