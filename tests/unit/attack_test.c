/* attack: the list of attacks, how a wrapper's words are filled in, and what counts as a difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/attack/registry.h"
#include "guard/attack/step.h"
#include "guard/attack/wrapper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
every_attack_is_described_and_has_a_name_of_its_own(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; attack_groups[i] != NULL; i++)
		for (size_t k = 0; k < attack_groups[i]->count; k++, n++) {
			const struct attack *a = &attack_groups[i]->list[k];

			assert_ptr_equal(attack_find(a->name, strlen(a->name)), a);
			assert_null(strpbrk(a->name, ", \n"));
			assert_true(strlen(a->name) <= 20 && a->what[0] != '\0');
			assert_true(a->stopped_by[0] != '\0' && a->leg != NULL);
		}
	assert_int_equal(n, attack_count());
	assert_true(n >= 60);
	assert_null(attack_find("append", 5));
}

static const struct leg_words leg = {.words = {"/t/tool/attacker", "attack-leg", "append", NULL}};

static void
expect_words(const char *const *wrapper, bool own, bool copy, const char *const *expected)
{
	struct stage_plan p = {.wrapper = wrapper, .own = own};
	struct step s;
	char **words;
	size_t i;

	step_name(&s, "/t");
	words = wrapper_words(&p, &s, &leg, copy);
	assert_non_null(words);
	assert_string_equal(words[0], "/t/runner/bin/Runner.Worker");
	for (i = 0; expected[i] != NULL; i++)
		assert_string_equal(words[2 + i], expected[i]);
	assert_null(words[2 + i]);
	wrapper_free(words);
}

static void
a_wrappers_words_are_filled_in(void **state)
{
	static const char *const wrapper[] = {
	    "w", "--bind={dir}:{x}", "{temp}", "a{}b", "{}", "{workspace}/y", NULL};
	static const char *const words[] = {"w", "--bind=/t/job/_temp/_runner_file_commands:{x}",
	    "/t/job/_temp", "a{}b", "/t/tool/attacker", "attack-leg", "append", "/t/job/repo/y",
	    NULL};
	static const char *const own[] = {"/bin/legguard", "run", "--", "{}", NULL};
	static const char *const by_path[] = {
	    "/bin/legguard", "run", "--", "/t/tool/attacker", "attack-leg", "append", NULL};
	static const char *const by_copy[] = {
	    "/t/tool/guard", "run", "--", "/t/tool/attacker", "attack-leg", "append", NULL};

	(void)state;
	expect_words(wrapper, false, true, words);
	expect_words(own, true, false, by_path);
	expect_words(own, true, true, by_copy);
}

static const char *
value(char **env, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; env[i] != NULL; i++)
		if (strncmp(env[i], name, strlen(name)) == 0 && env[i][strlen(name)] == '=') {
			assert_null(found);
			found = env[i] + strlen(name) + 1;
		}
	return found;
}

static void
nothing_of_a_real_step_is_attacked(void **state)
{
	static char *const real[] = {(char *)"PATH=/bin", (char *)"GITHUB_OUTPUT=/real",
	    (char *)"GITHUB_ARTIFACTS=/real", (char *)"RUNNER_TEMP=/real",
	    (char *)"ACTIONS_ID_TOKEN_REQUEST_TOKEN=real", (char *)"XDG_RUNTIME_DIR=/real",
	    (char *)"DOCKER_HOST=unix:///real", NULL};
	struct step s;
	char **env;

	(void)state;
	step_name(&s, "/t");
	env = wrapper_environment(real, &s);
	assert_non_null(env);
	assert_string_equal(value(env, "PATH"), "/bin");
	assert_string_equal(value(env, "GITHUB_OUTPUT"), s.path[STEP_OUTPUT]);
	assert_string_equal(value(env, "RUNNER_TEMP"), "/t/job/_temp");
	assert_null(value(env, "GITHUB_ARTIFACTS"));
	assert_null(value(env, "ACTIONS_ID_TOKEN_REQUEST_TOKEN"));
	assert_string_equal(value(env, "DOCKER_HOST"), "unix:///t/run/docker.sock");
	for (size_t i = 0; env[i] != NULL; i++)
		assert_null(strstr(env[i], "real"));
	wrapper_free(env);
}

/* --- what counts as a difference: real files */

struct fixture {
	struct step s;
	struct step_record r;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	const char *tmp = getenv("TMPDIR");
	struct error e = {0};
	char top[STEP_PATH];

	snprintf(top, sizeof top, "%s/legguard-step.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (f == NULL || mkdtemp(top) == NULL)
		return -1;
	*state = f;
	step_name(&f->s, top);
	return step_make(&f->s, "/bin/true", true, &e) == 0 && step_remember(&f->r, &f->s, &e) == 0
	           ? 0
	           : -1;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	step_forget(&f->r);
	step_remove(f->s.top);
	assert_int_equal(access(f->s.top, F_OK), -1);
	free(f);
	return 0;
}

static void
expect_difference(const struct fixture *f, bool reported, const char *expected)
{
	char what[256] = "none";

	assert_int_equal(step_differs(&f->r, &f->s, "MARK", reported, what, sizeof what),
	    strcmp(expected, "none") != 0);
	assert_string_equal(what, expected);
}

static void
put(const char *path, int flags, const char *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
}

static void
what_the_wrapper_says_itself_is_none(void **state)
{
	struct fixture *f = *state;

	expect_difference(f, false, "none");
	put(f->s.path[STEP_OUTPUT], O_APPEND, "lane-class=ok\n");
	expect_difference(f, false, "none");
	put(f->s.path[STEP_OUTPUT], O_APPEND, "x=MARK\n");
	expect_difference(f, false, "GITHUB_OUTPUT was forged at its end");
}

static void
bytes_are_compared(void **state)
{
	struct fixture *f = *state;

	put(f->s.path[STEP_ENV], O_APPEND, "A=1\n");
	expect_difference(f, false, "GITHUB_ENV was forged at its end");
	assert_int_equal(truncate(f->s.path[STEP_ENV], 3), 0);
	expect_difference(f, false, "GITHUB_ENV was cut short");
	put(f->s.path[STEP_ENV], O_TRUNC, "MODE=slow\n");
	expect_difference(f, false, "GITHUB_ENV was rewritten");
	put(f->s.path[STEP_ENV], O_TRUNC, "MODE=fast\n");
	expect_difference(f, false, "none");
}

static void
names_are_compared(void **state)
{
	struct fixture *f = *state;
	char other[STEP_PATH + 8], second[STEP_PATH];

	snprintf(other, sizeof other, "%s.x", f->s.path[STEP_OUTPUT]);
	snprintf(second, sizeof second, "%.200s/second", f->s.top);
	put(other, O_EXCL, "");
	expect_difference(f, false, "a file was added to _runner_file_commands");
	assert_int_equal(unlink(other), 0);
	assert_int_equal(link(f->s.path[STEP_OUTPUT], second), 0);
	expect_difference(f, false, "GITHUB_OUTPUT has another link");
	expect_difference(f, true, "none");
	/* The same bytes in another file, while the first one still has a name. */
	assert_int_equal(unlink(f->s.path[STEP_OUTPUT]), 0);
	expect_difference(f, true, "GITHUB_OUTPUT is gone");
	put(f->s.path[STEP_OUTPUT], O_EXCL, "before=kept\n");
	expect_difference(f, true, "GITHUB_OUTPUT is another file now");
	assert_int_equal(unlink(second), 0);
	expect_difference(f, false, "none");
}

static void
kinds_and_modes_are_compared(void **state)
{
	struct fixture *f = *state;
	char away[STEP_PATH];

	assert_int_equal(chmod(f->s.path[STEP_SCRIPT], 0600), 0);
	expect_difference(f, false, "the step's script has another mode");
	assert_int_equal(chmod(f->s.path[STEP_SCRIPT], 0644), 0);
	assert_int_equal(unlink(f->s.path[STEP_STATE]), 0);
	assert_int_equal(mkfifo(f->s.path[STEP_STATE], 0644), 0);
	expect_difference(f, false, "GITHUB_STATE is a named pipe now");
	snprintf(away, sizeof away, "%.200s/away", f->s.top);
	assert_int_equal(rename(f->s.path[STEP_TEMP], away), 0);
	assert_int_equal(symlink(away, f->s.path[STEP_TEMP]), 0);
	expect_difference(f, false, "RUNNER_TEMP is a symbolic link now");
	assert_int_equal(chmod(away, 0), 0); /* the removal copes with that */
}

int
main(void)
{
#define IN_STEP(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_attack_is_described_and_has_a_name_of_its_own),
	    cmocka_unit_test(a_wrappers_words_are_filled_in),
	    cmocka_unit_test(nothing_of_a_real_step_is_attacked),
	    IN_STEP(what_the_wrapper_says_itself_is_none),
	    IN_STEP(bytes_are_compared),
	    IN_STEP(names_are_compared),
	    IN_STEP(kinds_and_modes_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
