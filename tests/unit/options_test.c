/* options: what is understood, and that everything odd is refused by name and with a cure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16 };

/* These definitions are the ones that the program gets: so many calls succeed, then none does. */
static unsigned granted = UINT_MAX;

static bool
grant(void)
{
	errno = ENOMEM;
	return granted > 0 && granted-- > 0;
}

char *
strndup(const char *text, size_t n)
{
	size_t size = strnlen(text, n);
	char *copy = grant() ? malloc(size + 1) : NULL;

	if (copy == NULL)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

void *
reallocarray(void *old, size_t n, size_t size)
{
	return grant() ? realloc(old, n * size) : NULL;
}

struct sample {
	const char *words[WORDS]; /* after the program's name */
	const char *message;      /* part of the error's text */
};

#define COUNT(list) (sizeof list / sizeof list[0])

static int
parse(struct options *o, struct error *e, const char *const *words)
{
	/* The options point into argv, so it outlives the call. */
	static char *argv[WORDS + 2];
	int argc = 0;

	*e = (struct error){0};
	argv[argc++] = (char *)"run";
	while (words[argc - 1] != NULL) {
		argv[argc] = (char *)words[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	return options_parse(o, argc, argv, e);
}

/* The words after the program's name; options_free() is the caller's. */
#define ACCEPT(o, ...)                                                                             \
	do {                                                                                       \
		const char *const words[] = {__VA_ARGS__, NULL};                                   \
		struct error error;                                                                \
                                                                                                   \
		if (parse((o), &error, words) != 0)                                                \
			fail_msg("%s", error.what);                                                \
	} while (0)

static void
refuse(const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct options o;
		struct error e;

		if (parse(&o, &e, samples[i].words) != -1)
			fail_msg("sample %zu (%s) was accepted", i, samples[i].message);
		if (strstr(e.what, samples[i].message) == NULL)
			fail_msg("sample %zu: %s", i, e.what);
		assert_string_not_equal(e.cure, "");
		options_free(&o);
	}
}

static void
a_command_alone_leaves_the_defaults(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "make", "-n", "--quiet");
	assert_string_equal(o.command[0], "make");
	assert_string_equal(o.command[1], "-n");
	assert_string_equal(o.command[2], "--quiet");
	assert_null(o.command[3]);
	assert_int_equal(o.guard.count, 0);
	assert_int_equal(o.read_only.count, 0);
	assert_int_equal(o.isolation, ISOLATION_NAMESPACE);
	assert_int_equal(o.n_outputs, 0);
	assert_int_equal(o.n_env, 0);
	assert_null(o.directory);
	assert_null(o.status_path);
	assert_int_equal(o.status_fd, -1);
	assert_int_equal(o.limits.timeout, 0);
	assert_int_equal(o.limits.signal, SIGTERM);
	assert_int_equal(o.limits.kill_after, 3000);
	assert_true(o.limits.max_output == UINT64_MAX);
	assert_null(o.cgroup);
	assert_int_equal(o.sweep, SWEEP_DEFAULT);
	assert_false(o.share_pid || o.strict_files);
	assert_false(o.allow_hard_links || o.no_outputs || o.clear_env || o.dry_run || o.quiet ||
		     o.keep_status_on_tamper || o.fail_on_survivors || o.help || o.version);
	for (int code = 0; code < 256; code++)
		assert_false(o.exit_class_set[code]);
	options_free(&o);
}

static void
options_stop_at_the_first_operand(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "-q", "--", "-n");
	assert_true(o.quiet);
	assert_false(o.dry_run);
	assert_string_equal(o.command[0], "-n");
	options_free(&o);
	ACCEPT(&o, "-", "--");
	assert_string_equal(o.command[0], "-");
	assert_string_equal(o.command[1], "--");
	options_free(&o);
}

static void
a_value_follows_in_the_same_word_or_the_next(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--guard", "a", "--guard=b", "--guard=c=d", "--guard", "-e", "--read-only=x",
	    "--read-only", "y", "-Cdir", "cmd");
	assert_int_equal(o.guard.count, 4);
	assert_string_equal(o.guard.list[0], "a");
	assert_string_equal(o.guard.list[1], "b");
	assert_string_equal(o.guard.list[2], "c=d");
	assert_string_equal(o.guard.list[3], "-e");
	assert_int_equal(o.read_only.count, 2);
	assert_string_equal(o.read_only.list[0], "x");
	assert_string_equal(o.read_only.list[1], "y");
	assert_string_equal(o.directory, "dir");
	assert_string_equal(o.command[0], "cmd");
	options_free(&o);
	ACCEPT(&o, "-C", "dir", "-nqiu", "NAME", "cmd");
	assert_string_equal(o.directory, "dir");
	assert_true(o.dry_run && o.quiet && o.clear_env);
	assert_string_equal(o.env[0].name, "NAME");
	options_free(&o);
	ACCEPT(&o, "--guard=--", "cmd");
	assert_string_equal(o.guard.list[0], "--");
	options_free(&o);
}

static void
flags_are_set_and_may_be_repeated(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--allow-hard-links", "--no-outputs", "--clear-env", "--dry-run", "--quiet",
	    "-q", "cmd");
	assert_true(o.allow_hard_links && o.no_outputs && o.clear_env && o.dry_run && o.quiet);
	options_free(&o);
}

static void
words_choose_among_alternatives(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--isolation", "none", "--on-tamper=keep-status", "--on-survivors=fail", "cmd");
	assert_int_equal(o.isolation, ISOLATION_NONE);
	assert_true(o.keep_status_on_tamper && o.fail_on_survivors);
	options_free(&o);
	ACCEPT(&o, "--isolation", "namespace", "--on-tamper=fail", "--on-survivors=kill", "cmd");
	assert_int_equal(o.isolation, ISOLATION_NAMESPACE);
	assert_false(o.keep_status_on_tamper || o.fail_on_survivors);
	options_free(&o);
}

static void
an_output_is_split_at_the_first_equals_sign(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--set-output", "a=b=c", "--set-output=b=", "--set-output", " d =<<E\n\xff\n",
	    "cmd");
	assert_int_equal(o.n_outputs, 3);
	assert_string_equal(o.outputs[0].name, "a");
	assert_string_equal(o.outputs[0].value, "b=c");
	assert_string_equal(o.outputs[1].name, "b");
	assert_string_equal(o.outputs[1].value, "");
	assert_string_equal(o.outputs[2].name, " d ");
	assert_string_equal(o.outputs[2].value, "<<E\n\xff\n");
	options_free(&o);
}

static void
changes_of_the_environment_keep_their_order(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--setenv", "A=1=2", "-u", "B", "--unset=A", "--setenv=A=", "-uC", "cmd");
	assert_int_equal(o.n_env, 5);
	assert_string_equal(o.env[0].name, "A");
	assert_string_equal(o.env[0].value, "1=2");
	assert_string_equal(o.env[1].name, "B");
	assert_null(o.env[1].value);
	assert_string_equal(o.env[2].name, "A");
	assert_null(o.env[2].value);
	assert_string_equal(o.env[3].name, "A");
	assert_string_equal(o.env[3].value, "");
	assert_string_equal(o.env[4].name, "C");
	options_free(&o);
}

static void
the_status_goes_to_a_file_or_a_descriptor(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--status", "file", "cmd");
	assert_string_equal(o.status_path, "file");
	assert_int_equal(o.status_fd, -1);
	options_free(&o);
	ACCEPT(&o, "--status-fd=1", "cmd");
	assert_int_equal(o.status_fd, 1);
	options_free(&o);
	ACCEPT(&o, "--status-fd", "2147483647", "cmd");
	assert_int_equal(o.status_fd, INT_MAX);
	options_free(&o);
}

static void
the_record_goes_to_files_or_a_descriptor(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--audit", "file", "--audit-argv", "--audit-required", "cmd");
	assert_string_equal(o.audit_path, "file");
	assert_int_equal(o.audit_fd, -1);
	assert_true(o.audit_argv && o.audit_required && options_audits(&o));
	options_free(&o);
	ACCEPT(&o, "--audit=fd:3", "cmd");
	assert_null(o.audit_path);
	assert_int_equal(o.audit_fd, 3);
	assert_true(options_audits(&o));
	options_free(&o);
	ACCEPT(&o, "--audit=./fd:3", "--audit-otlp", "fd:4", "cmd");
	assert_string_equal(o.audit_path, "./fd:3");
	assert_string_equal(o.audit_otlp, "fd:4");
	options_free(&o);
	ACCEPT(&o, "--audit-otlp=x", "--audit-required", "cmd");
	assert_true(options_audits(&o));
	options_free(&o);
	ACCEPT(&o, "cmd");
	assert_false(options_audits(&o) || o.audit_argv || o.audit_required);
	options_free(&o);
}

static void
exit_statuses_are_given_classes(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(
	    &o, "--exit-class", "0=error", "--exit-class=255=ok", "--exit-class=007=auth", "cmd");
	assert_true(o.exit_class_set[0] && o.exit_class_set[255] && o.exit_class_set[7]);
	assert_false(o.exit_class_set[1]);
	assert_int_equal(o.exit_class[0], LANE_ERROR);
	assert_int_equal(o.exit_class[255], LANE_OK);
	assert_int_equal(o.exit_class[7], LANE_AUTH);
	options_free(&o);
}

static void
a_leg_is_given_limits(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "-t", "1.5h", "-sINT", "-k", "0.0001", "--max-output=64M", "cmd");
	assert_int_equal(o.limits.timeout, 5400000);
	assert_int_equal(o.limits.signal, SIGINT);
	assert_int_equal(o.limits.kill_after, 1);
	assert_int_equal(o.limits.max_output, 64 << 20);
	options_free(&o);
	ACCEPT(
	    &o, "--timeout=0", "--signal", "sigkill", "--kill-after=9", "--max-output", "0", "cmd");
	assert_int_equal(o.limits.timeout, 0);
	assert_int_equal(o.limits.signal, SIGKILL);
	assert_int_equal(o.limits.kill_after, 9000);
	assert_int_equal(o.limits.max_output, 0);
	options_free(&o);
}

static void
what_is_left_of_a_leg_is_found_by_other_means(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--share-pid", "--cgroup", "/sys/fs/cgroup/x", "--sweep=off", "--strict-files",
	    "cmd");
	assert_true(o.share_pid && o.strict_files);
	assert_string_equal(o.cgroup, "/sys/fs/cgroup/x");
	assert_int_equal(o.sweep, SWEEP_OFF);
	options_free(&o);
	ACCEPT(&o, "--cgroup=x", "--isolation=none", "--sweep", "report", "cmd");
	assert_string_equal(o.cgroup, "x");
	assert_int_equal(o.sweep, SWEEP_REPORT);
	options_free(&o);
	ACCEPT(&o, "--sweep=kill", "cmd");
	assert_int_equal(o.sweep, SWEEP_KILL);
	options_free(&o);
}

static void
odd_limits_are_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"-t", "soon", "cmd"}, "--timeout soon is no duration"},
	    {{"-t", "", "cmd"}, "--timeout  is no duration"},
	    {{"-t", "-1", "cmd"}, "--timeout -1 is no duration"},
	    {{"--timeout=inf", "cmd"}, "--timeout inf is no duration"},
	    {{"-k", "3 s", "cmd"}, "--kill-after 3 s is no duration"},
	    {{"-k", "0", "cmd"}, "--kill-after 0: a leg that takes no notice would never end"},
	    {{"-k0.00d", "cmd"}, "--kill-after 0.00d: a leg that takes no notice"},
	    {{"-s", "0", "cmd"}, "--signal 0 is no signal"},
	    {{"-s", "SIGNAL", "cmd"}, "--signal SIGNAL is no signal"},
	    {{"-s", "STOP", "cmd"}, "--signal STOP does not end a process"},
	    {{"-s", "sigcont", "cmd"}, "--signal sigcont does not end a process"},
	    {{"-s", "20", "cmd"}, "--signal 20 does not end a process"},
	    {{"--max-output", "64m", "cmd"}, "--max-output 64m is no size"},
	    {{"--max-output=", "cmd"}, "--max-output  is no size"},
	    {{"--max-output=-1", "cmd"}, "--max-output -1 is no size"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
options_that_exclude_each_other_are_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"--share-pid", "--isolation=none", "cmd"},
		"--share-pid: only with --isolation namespace"},
	    {{"--isolation=landlock", "--share-pid", "cmd"},
		"--share-pid: only with --isolation namespace"},
	    {{"--pin", "--writable=x", "cmd"}, "--pin: with --writable"},
	    {{"--pin", "--isolation=landlock", "cmd"}, "--pin needs --isolation namespace"},
	    {{"--writable=x", "--isolation=none", "cmd"}, "--writable needs --isolation namespace"},
	    {{"--read-only=x", "--isolation=none", "cmd"}, "--read-only can't be held"},
	    {{"--isolation=none", "--hide=x", "cmd"}, "--hide can't be held"},
	    {{"--user=x", "--root-leg", "cmd"}, "--user and --root-leg are both given"},
	    {{"--cgroup=x", "cmd"}, "--cgroup: the leg's pid namespace makes it needless"},
	    {{"--cgroup=", "--share-pid", "cmd"}, "--cgroup: the value is empty"},
	    {{"--sweep=often", "cmd"}, "--sweep often is unknown"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
help_and_version_end_the_reading(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "-q", "--help", "--bogus");
	assert_true(o.help && !o.version);
	assert_null(o.command[0]);
	options_free(&o);
	ACCEPT(&o, "--version", "--help", "--guard");
	assert_true(o.version && !o.help);
	options_free(&o);
	ACCEPT(&o, "cmd", "--help");
	assert_false(o.help);
	options_free(&o);
}

static void
a_dry_run_needs_no_command(void **state)
{
	struct options o;

	(void)state;
	ACCEPT(&o, "--dry-run");
	assert_null(o.command[0]);
	options_free(&o);
	ACCEPT(&o, "-n", "--");
	assert_null(o.command[0]);
	options_free(&o);
}

static void
unknown_options_are_named(void **state)
{
	static const struct sample samples[] = {
	    {{"--bogus", "cmd"}, "unknown option --bogus"},
	    {{"--bogus=secret", "cmd"}, "unknown option --bogus"},
	    {{"--stat", "x", "cmd"}, "unknown option --stat"}, /* no abbreviations */
	    {{"--Guard=x", "cmd"}, "unknown option --Guard"},
	    {{"--guardx", "cmd"}, "unknown option --guardx"},
	    {{"---", "cmd"}, "unknown option ---"},
	    {{"--=x", "cmd"}, "unknown option --"},
	    {{"-x", "cmd"}, "unknown option -x in -x"},
	    {{"-qx", "cmd"}, "unknown option -x in -qx"},
	    {{"-q-n", "cmd"}, "unknown option -- in -q-n"},
	    {{"-h", "cmd"}, "unknown option -h"},
	    {{"--time", "3s", "cmd"}, "unknown option --time"},
	    {{"--users=1", "cmd"}, "unknown option --users"},
	    {{"-\x1b[31m", "cmd"}, "unknown option -^[ in"},
	};
	struct options o;
	struct error e;

	(void)state;
	refuse(samples, COUNT(samples));
	assert_int_equal(parse(&o, &e, samples[1].words), -1);
	assert_null(strstr(e.what, "secret"));
	options_free(&o);
}

static void
arguments_are_there_where_they_belong(void **state)
{
	static const struct sample samples[] = {
	    {{"--guard"}, "--guard has no argument"},
	    {{"--guard", "--", "cmd"}, "--guard has no argument"},
	    {{"-C"}, "-C has no argument"},
	    {{"-qu"}, "--unset has no argument"},
	    {{"--quiet=yes", "cmd"}, "--quiet takes no argument"},
	    {{"--help=", "cmd"}, "--help takes no argument"},
	    {{"--guard", "", "cmd"}, "--guard: the value is empty"},
	    {{"--guard=", "cmd"}, "--guard: the value is empty"},
	    {{"--read-only=", "cmd"}, "--read-only: the value is empty"},
	    {{"-C", "", "cmd"}, "-C: the value is empty"},
	    {{"--status=", "cmd"}, "--status: the value is empty"},
	    {{"--user=", "cmd"}, "--user: the value is empty"},
	    {{"--hide", "", "cmd"}, "--hide: the value is empty"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
alternatives_are_a_closed_list(void **state)
{
	static const struct sample samples[] = {
	    {{"--isolation", "chroot", "cmd"}, "--isolation chroot is unknown"},
	    {{"--isolation=", "cmd"}, "--isolation  is unknown"},
	    {{"--on-tamper", "ignore", "cmd"}, "--on-tamper ignore is unknown"},
	    {{"--on-survivors", "keep", "cmd"}, "--on-survivors keep is unknown"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
a_second_value_that_would_hide_the_first_is_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"--isolation=none", "--isolation=namespace", "cmd"}, "--isolation is given twice"},
	    {{"-C", "a", "-Cb", "cmd"}, "-C is given twice"},
	    {{"--on-tamper=fail", "--on-tamper=fail", "cmd"}, "--on-tamper is given twice"},
	    {{"--on-survivors=fail", "--on-survivors=kill", "cmd"},
		"--on-survivors is given twice"},
	    {{"-t1", "--timeout=2", "cmd"}, "--timeout is given twice"},
	    {{"-sINT", "-sHUP", "cmd"}, "--signal is given twice"},
	    {{"-k1", "-k2", "cmd"}, "--kill-after is given twice"},
	    {{"--max-output=1", "--max-output=1", "cmd"}, "--max-output is given twice"},
	    {{"--cgroup=x", "--cgroup=x", "cmd"}, "--cgroup is given twice"},
	    {{"--sweep=off", "--sweep=off", "cmd"}, "--sweep is given twice"},
	    {{"--status=a", "--status=b", "cmd"}, "--status is given twice"},
	    {{"--status-fd=1", "--status-fd=2", "cmd"}, "--status-fd is given twice"},
	    {{"--status=a", "--status-fd=2", "cmd"}, "--status and --status-fd"},
	    {{"--audit=a", "--audit=b", "cmd"}, "--audit is given twice"},
	    {{"--audit-otlp=a", "--audit-otlp=b", "cmd"}, "--audit-otlp is given twice"},
	    {{"--audit=", "cmd"}, "--audit: the value is empty"},
	    {{"--audit-otlp=", "cmd"}, "--audit-otlp: the value is empty"},
	    {{"--audit=fd:2", "cmd"}, "--audit fd:2 is no such descriptor"},
	    {{"--audit=fd:", "cmd"}, "--audit fd: is no such descriptor"},
	    {{"--audit=fd:4x", "cmd"}, "--audit fd:4x is no such descriptor"},
	    {{"--audit-required", "cmd"}, "--audit-required says nothing"},
	    {{"--audit-argv", "cmd"}, "--audit-argv says nothing"},
	    {{"--set-output=AUDIT-head=x", "cmd"}, "is reserved"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
outputs_that_would_not_be_read_back_are_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"--set-output", "a", "cmd"}, "--set-output a: no = in it"},
	    {{"--set-output", "", "cmd"}, "no = in it"},
	    {{"--set-output", "=v", "cmd"}, "--set-output: the name is empty"},
	    {{"--set-output", "a<<b=v", "cmd"}, "the runner can't read the name a<<b"},
	    {{"--set-output", "a<=v", "cmd"}, "the runner can't read the name a<"},
	    {{"--set-output", "a\nb=v", "cmd"}, "the runner can't read the name a\\nb"},
	    {{"--set-output", "a\r=v", "cmd"}, "the runner can't read the name"},
	    {{"--set-output", "\xff=v", "cmd"}, "the runner would read another name"},
	    {{"--set-output", "exit-code=0", "cmd"}, "exit-code is reserved"},
	    {{"--set-output", "Tampered=x", "cmd"}, "Tampered is reserved"},
	    {{"--set-output", "REAPED=x", "cmd"}, "REAPED is reserved"},
	    {{"--set-output", "lane-Class=ok", "cmd"}, "lane-Class is reserved"},
	    {{"--set-output", "a=1", "--set-output", "A=2", "cmd"}, "A is set twice"},
	    {{"--set-output", "a=1", "--no-outputs", "cmd"}, "--no-outputs"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
outputs_beyond_the_runners_limit_are_refused(void **state)
{
	size_t limit = 1024 * 1024;
	char *word = malloc(limit + 3);
	const char *const words[] = {"--set-output", word, "cmd", NULL};
	struct options o;
	struct error e;

	(void)state;
	assert_non_null(word);
	memset(word, 'x', limit + 2);
	word[1] = '=';
	word[limit + 1] = '\0'; /* one for the name, limit - 1 for the value */
	assert_int_equal(parse(&o, &e, words), 0);
	options_free(&o);
	word[limit + 1] = 'x';
	word[limit + 2] = '\0';
	assert_int_equal(parse(&o, &e, words), -1);
	assert_non_null(strstr(e.what, "1048577 bytes in all"));
	options_free(&o);
	free(word);
}

static void
odd_changes_of_the_environment_are_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"--setenv", "A", "cmd"}, "--setenv: no = in the argument"},
	    {{"--setenv", "", "cmd"}, "--setenv: no = in the argument"},
	    {{"--setenv", "=x", "cmd"}, "--setenv: the name is empty"},
	    {{"--unset", "", "cmd"}, "--unset: the name is empty"},
	    {{"-u", "A=b", "cmd"}, "--unset: there is a = in the name"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
odd_status_descriptors_are_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"--status-fd", "0", "cmd"}, "--status-fd 0 is no such descriptor"},
	    {{"--status-fd", "-1", "cmd"}, "--status-fd -1 is no such descriptor"},
	    {{"--status-fd", "+1", "cmd"}, "--status-fd +1 is no such descriptor"},
	    {{"--status-fd", " 1", "cmd"}, "--status-fd  1 is no such descriptor"},
	    {{"--status-fd=", "cmd"}, "is no such descriptor"},
	    {{"--status-fd", "1x", "cmd"}, "--status-fd 1x is no such descriptor"},
	    {{"--status-fd", "2147483648", "cmd"}, "is no such descriptor"},
	    {{"--status-fd", "99999999999999999999", "cmd"}, "is no such descriptor"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
odd_exit_classes_are_refused(void **state)
{
	static const struct sample samples[] = {
	    {{"--exit-class", "3", "cmd"}, "--exit-class 3: no = in it"},
	    {{"--exit-class", "=ok", "cmd"}, "is no exit status"},
	    {{"--exit-class", "256=ok", "cmd"}, "256 is no exit status"},
	    {{"--exit-class", "-1=ok", "cmd"}, "-1 is no exit status"},
	    {{"--exit-class", "x=ok", "cmd"}, "x is no exit status"},
	    {{"--exit-class", "1 =ok", "cmd"}, "is no exit status"},
	    {{"--exit-class", "1=", "cmd"}, "unknown class"},
	    {{"--exit-class", "1=success", "cmd"}, "unknown class"},
	    {{"--exit-class", "1=OK", "cmd"}, "unknown class"},
	    {{"--exit-class", "1=timeout", "cmd"}, "only legguard itself says timeout"},
	    {{"--exit-class", "1=overflow", "cmd"}, "only legguard itself says overflow"},
	    {{"--exit-class", "1=cancelled", "cmd"}, "only legguard itself says cancelled"},
	    {{"--exit-class", "1=tampered", "cmd"}, "only legguard itself says tampered"},
	    {{"--exit-class", "1=survivors", "cmd"}, "only legguard itself says survivors"},
	    {{"--exit-class", "1=ok", "--exit-class=01=ok", "cmd"}, "1 is given twice"},
	};
	struct options o;
	struct error e;

	(void)state;
	refuse(samples, COUNT(samples));
	assert_int_equal(parse(&o, &e, samples[7].words), -1);
	assert_non_null(strstr(e.cure, "credit-stop"));
	options_free(&o);
}

static void
there_is_a_command(void **state)
{
	static const struct sample samples[] = {
	    {{NULL}, "no command given"},
	    {{"-q"}, "no command given"},
	    {{"--"}, "no command given"},
	    {{""}, "the command is an empty word"},
	    {{"--", "", "x"}, "the command is an empty word"},
	    {{"-n", "", "x"}, "the command is an empty word"},
	};

	(void)state;
	refuse(samples, COUNT(samples));
}

static void
without_memory_the_options_are_refused(void **state)
{
	static const struct sample s = {{"--guard=a", "--read-only=b", "--set-output=c=d",
					    "--setenv=e=f", "-ug", "--exit-class=1=ok", "cmd"},
	    "can't keep the options"};
	unsigned n = 0;
	int result;

	(void)state;
	do {
		struct options o;
		struct error e;

		granted = n++;
		result = parse(&o, &e, s.words);
		options_free(&o);
		assert_true(result == 0 || strcmp(e.what, s.message) == 0);
	} while (result != 0);
	granted = UINT_MAX;
	assert_int_equal(n, 9 + 1);
}

static void
the_help_fits_a_terminal(void **state)
{
	static const char *const texts[] = {options_main_help, options_run_help,
	    options_outcome_help, options_doctor_help, options_classify_help, options_parse_help,
	    options_audit_help};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		int lines = 0;

		for (const char *at = texts[i]; *at != '\0'; at += strcspn(at, "\n") + 1, lines++)
			assert_true(strcspn(at, "\n") < 80);
		assert_true(lines < 80);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_command_alone_leaves_the_defaults),
	    cmocka_unit_test(options_stop_at_the_first_operand),
	    cmocka_unit_test(a_value_follows_in_the_same_word_or_the_next),
	    cmocka_unit_test(flags_are_set_and_may_be_repeated),
	    cmocka_unit_test(words_choose_among_alternatives),
	    cmocka_unit_test(an_output_is_split_at_the_first_equals_sign),
	    cmocka_unit_test(changes_of_the_environment_keep_their_order),
	    cmocka_unit_test(the_status_goes_to_a_file_or_a_descriptor),
	    cmocka_unit_test(the_record_goes_to_files_or_a_descriptor),
	    cmocka_unit_test(exit_statuses_are_given_classes),
	    cmocka_unit_test(a_leg_is_given_limits),
	    cmocka_unit_test(what_is_left_of_a_leg_is_found_by_other_means),
	    cmocka_unit_test(odd_limits_are_refused),
	    cmocka_unit_test(options_that_exclude_each_other_are_refused),
	    cmocka_unit_test(help_and_version_end_the_reading),
	    cmocka_unit_test(a_dry_run_needs_no_command),
	    cmocka_unit_test(unknown_options_are_named),
	    cmocka_unit_test(arguments_are_there_where_they_belong),
	    cmocka_unit_test(alternatives_are_a_closed_list),
	    cmocka_unit_test(a_second_value_that_would_hide_the_first_is_refused),
	    cmocka_unit_test(outputs_that_would_not_be_read_back_are_refused),
	    cmocka_unit_test(outputs_beyond_the_runners_limit_are_refused),
	    cmocka_unit_test(odd_changes_of_the_environment_are_refused),
	    cmocka_unit_test(odd_status_descriptors_are_refused),
	    cmocka_unit_test(odd_exit_classes_are_refused),
	    cmocka_unit_test(there_is_a_command),
	    cmocka_unit_test(without_memory_the_options_are_refused),
	    cmocka_unit_test(the_help_fits_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
