/* environment: what the leg gets of the caller's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/environment.h"

#include <stdlib.h>
#include <string.h>

static char *caller[] = {
    (char *)"A=1", (char *)"PATH=/bin", (char *)"A=2", (char *)"EMPTY=", (char *)"odd", NULL};

static void
expect(const struct options *o, const char *const *expected)
{
	struct error e = {0};
	const struct words none = {0};
	char **env = environment_make(caller, o, &none, &e);
	size_t i;

	assert_non_null(env);
	for (i = 0; expected[i] != NULL; i++)
		assert_string_equal(env[i], expected[i]);
	assert_null(env[i]);
	environment_free(env);
}

static void
without_options_it_is_the_callers(void **state)
{
	static const char *const all[] = {"A=1", "PATH=/bin", "A=2", "EMPTY=", "odd", NULL};
	struct options o = {0};

	(void)state;
	expect(&o, all);
}

static void
unset_removes_every_entry_of_the_name(void **state)
{
	static const char *const rest[] = {"PATH=/bin", "EMPTY=", "odd", NULL};
	struct env_change changes[] = {{(char *)"A", NULL}, {(char *)"od", NULL}};
	struct options o = {.env = changes, .n_env = 2};

	(void)state;
	expect(&o, rest);
}

static void
changes_apply_in_the_order_given(void **state)
{
	static const char *const result[] = {"B=last", "A=", NULL};
	struct env_change changes[] = {{(char *)"A", "x"}, {(char *)"B", "first"},
	    {(char *)"A", NULL}, {(char *)"B", "last"}, {(char *)"A", ""}};
	struct options o = {.env = changes, .n_env = 5, .clear_env = true};

	(void)state;
	expect(&o, result);
}

static void
an_empty_value_counts_as_absent(void **state)
{
	(void)state;
	assert_string_equal(environment_get(caller, "A"), "1");
	assert_null(environment_get(caller, "EMPTY"));
	assert_null(environment_get(caller, "PAT"));
	assert_null(environment_get(caller, "odd"));
}

static char *job[] = {(char *)"ACTIONS_CACHE_URL=u", (char *)"ACTIONS_RUNTIME_TOKEN=t",
    (char *)"ACTIONS_RESULTS_URL=", (char *)"ACTIONS_STEP_DEBUG=true",
    (char *)"XACTIONS_RUNTIME_TOKEN=x", (char *)"GITHUB_TOKEN=g", NULL};

static void
tokens_of_the_job_are_removed(void **state)
{
	struct env_change change = {(char *)"ACTIONS_RUNTIME_TOKEN", "mine"};
	struct options o = {.env = &change, .n_env = 1};
	struct words removed = {0};
	struct error e = {0};
	char **env;

	(void)state;
	assert_int_equal(environment_dangerous(&removed, job, &o, &e), 0);
	assert_int_equal(removed.count, 2);
	assert_string_equal(removed.list[0], "ACTIONS_RUNTIME_TOKEN");
	assert_string_equal(removed.list[1], "ACTIONS_CACHE_URL");
	env = environment_make(job, &o, &removed, &e);
	assert_null(environment_get(env, "ACTIONS_CACHE_URL"));
	assert_string_equal(environment_get(env, "ACTIONS_STEP_DEBUG"), "true");
	assert_string_equal(environment_get(env, "GITHUB_TOKEN"), "g");
	assert_string_equal(environment_get(env, "ACTIONS_RUNTIME_TOKEN"), "mine");
	environment_free(env);
	free(removed.list);
}

static void
kept_ones_are_not(void **state)
{
	const char *keep[] = {"ACTIONS_CACHE_URL", "NONE"};
	struct options o = {.keep_env = {keep, 2}};
	struct words removed = {0};
	struct error e = {0};

	(void)state;
	assert_int_equal(environment_dangerous(&removed, job, &o, &e), 0);
	assert_int_equal(removed.count, 1);
	assert_string_equal(removed.list[0], "ACTIONS_RUNTIME_TOKEN");
	free(removed.list);
}

/* What environment_exactly_one says of an environment with these four entries; 0, or the error in *e. */
static int
exactly_one(const char *const entries[4], char ***made, struct error *e)
{
	char *env[5] = {NULL};
	struct error other = {0};

	for (size_t i = 0, n = 0; i < 4; i++)
		if (entries[i] != NULL)
			env[n++] = (char *)entries[i];
	*made = environment_change(env, NULL, 0, &other);
	assert_non_null(*made);
	return environment_exactly_one(*made, "KEY,TOKEN", e);
}

static void
one_of_them_has_to_be_set_and_not_blank(void **state)
{
	static const char *const none[][4] = {{"PATH=/bin"}, {"KEY=", "TOKEN="},
	    {"KEY= ", "TOKEN=\t\r\n\v\f "}, {"KEYS=x", "TOKE=x", "key=x"}};

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		struct error e = {0};
		char **env;

		assert_int_equal(exactly_one(none[i], &env, &e), -1);
		assert_non_null(strstr(e.what, "none of KEY,TOKEN is set"));
		environment_free(env);
	}
}

static void
two_of_them_are_too_many(void **state)
{
	static const char *const many[][4] = {{"KEY=secret", "TOKEN=secret"},
	    {"TOKEN= secret", "A=b", "KEY=\nsecret"}, {"KEY=secret", "KEY=secret"},
	    {"TOKEN=secret", "TOKEN="}};

	(void)state;
	for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
		struct error e = {0};
		char **env;

		assert_int_equal(exactly_one(many[i], &env, &e), -1);
		assert_non_null(strstr(e.what, i < 2 ? "are both set" : "more than once"));
		assert_null(strstr(e.what, "secret"));
		environment_free(env);
	}
}

static void
what_is_not_the_one_is_removed(void **state)
{
	static const char *const entries[4] = {"TOKEN= \n", "A=b", "KEY=secret", "TOKENS=x"};
	struct error e = {0};
	char **env;

	(void)state;
	assert_int_equal(exactly_one(entries, &env, &e), 0);
	assert_string_equal(env[0], "A=b");
	assert_string_equal(env[1], "KEY=secret");
	assert_string_equal(env[2], "TOKENS=x");
	assert_null(env[3]);
	environment_free(env);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_options_it_is_the_callers),
	    cmocka_unit_test(unset_removes_every_entry_of_the_name),
	    cmocka_unit_test(changes_apply_in_the_order_given),
	    cmocka_unit_test(an_empty_value_counts_as_absent),
	    cmocka_unit_test(tokens_of_the_job_are_removed),
	    cmocka_unit_test(kept_ones_are_not),
	    cmocka_unit_test(one_of_them_has_to_be_set_and_not_blank),
	    cmocka_unit_test(two_of_them_are_too_many),
	    cmocka_unit_test(what_is_not_the_one_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
