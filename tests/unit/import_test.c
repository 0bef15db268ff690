/* import: which entries may be carried over, by name and rule, and what is never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list)   (sizeof list / sizeof list[0])
#define TEXT(literal) literal, sizeof literal - 1

static void
entries_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		const char *word, *message;
	} samples[] = {
	    {"", "is not understood"},
	    {"output", "is not understood"},
	    {"output=x", "is not understood"},
	    {"outputs:a", "is not understood"},
	    {"Output:a", "is not understood"},
	    {"output:", "the name is empty"},
	    {"output:a<<b", "can't read the name"},
	    {"output:=enum:a", "the name is empty"},
	    {"output:lane-class", "reserved"},
	    {"output:Exit-Code", "reserved"},
	    {"output:a=", "unknown rule"},
	    {"output:a=enum", "unknown rule"},
	    {"output:a=enum:", "unknown rule"},
	    {"output:a=under:/x", "unknown rule"},
	    {"output:a=max:", "no such size"},
	    {"output:a=max:0", "no such size"},
	    {"output:a=max:2M", "no such size"},
	    {"output:a=regex:", "unknown rule"},
	    {"output:a=regex:(", "regex:("},
	    {"output:a=regex:(a)\\1", "back-references"},
	    {"env:NODE_OPTIONS", "NODE_OPTIONS"},
	    {"env:node_options", "NODE_OPTIONS"},
	    {"path", "under:DIR"},
	    {"path:x", "is not understood"},
	    {"path=under:x", "under:DIR"},
	    {"path=max:3", "under:DIR"},
	    {"summary:x", "is not understood"},
	    {"summary=enum:a", "unknown rule"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct import import;
		struct error e = {0};

		if (import_parse(&import, samples[i].word, &e) == 0)
			fail_msg("%s was accepted", samples[i].word);
		if (strstr(e.what, samples[i].message) == NULL)
			fail_msg("%s: %s", samples[i].word, e.what);
		assert_string_not_equal(e.cure, "");
	}
}

static bool
is_unsafe(const char *word)
{
	struct import import;
	struct error e = {0};
	bool unsafe;

	assert_int_equal(import_parse(&import, word, &e), 0);
	unsafe = import_is_unsafe(&import);
	import_free(&import);
	return unsafe;
}

static void
what_runs_code_or_redirects_trust_is_unsafe(void **state)
{
	static const char *const bad[] = {"path=under:/x", "env:PATH", "env:path", "env:LD_PRELOAD",
	    "env:BASH_ENV", "env:ENV", "env:PS4", "env:HOME", "env:XDG_CONFIG_HOME",
	    "env:GIT_SSH_COMMAND", "env:NODE_PATH", "env:npm_config_registry", "env:PYTHONPATH",
	    "env:http_proxy", "env:HTTPS_PROXY", "env:no_proxy", "env:SSL_CERT_FILE",
	    "env:AWS_PROFILE", "env:GH_TOKEN", "env:GITHUB_TOKEN", "env:RUNNER_X",
	    "env:BASH_FUNC_x%%", "env:GOFLAGS", "env:RUSTC_WRAPPER", "env:CC", "env:MAKEFLAGS",
	    "env:TMPDIR", "env:ANTHROPIC_BASE_URL", "env:LEGGUARD_X", "env:DOCKER_HOST", "env:MY_PATH", "env:CLASSPATH", "env:CXXFLAGS", "env:TAR_OPTIONS", "env:NPM_TOKEN"};
	static const char *const good[] = {"env:VERDICT", "env:REVIEW_COUNT",
	    "env:CCC", "env:HOMEPAGE", "output:PATH", "state:LD_PRELOAD", "summary",
	    "env:PROXY_COUNT"};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (!is_unsafe(bad[i]))
			fail_msg("%s counts as safe", bad[i]);
	for (size_t i = 0; i < COUNT(good); i++)
		if (is_unsafe(good[i]))
			fail_msg("%s counts as unsafe", good[i]);
}

/* What one import takes from a file: "value", "!why", or "" for nothing. */
static char *
take(const char *word, const char *data, size_t size, size_t before)
{
	struct import import;
	struct importing all = {0};
	struct error e = {0};
	char *made = NULL;
	size_t n;
	FILE *out = open_memstream(&made, &n);

	assert_int_equal(import_parse(&import, word, &e), 0);
	assert_int_equal(import_take(&all, &import, 1, import.kind, data, size, before, &e), 0);
	for (size_t i = 0; i < all.count; i++)
		fprintf(out, "%s%s%s", i > 0 ? ";" : "", all.list[i].value != NULL ? "" : "!",
		    all.list[i].value != NULL ? all.list[i].value : all.list[i].why);
	fclose(out);
	importing_free(&all);
	import_free(&import);
	return made;
}

static void
expect(const char *word, const char *data, size_t size, const char *expected)
{
	char *made = take(word, data, size, 0);

	if (strncmp(made, expected, strlen(expected)) != 0 ||
	    (expected[0] != '!' && strcmp(made, expected) != 0))
		fail_msg("%s from %s: %s", word, data, made);
	free(made);
}

static void
rules_decide_by_the_whole_value(void **state)
{
	(void)state;
	expect("output:a", TEXT("a=1\n"), "1");
	expect("output:a", TEXT("b=1\n"), "");
	expect("output:a", TEXT("a=1\nA=2\n"), "2");
	expect("env:a", TEXT("a=1\nA=2\n"), "1");
	expect("state:a", TEXT("A<<E\nx\ny\nE\n"), "x\ny");
	expect("output:a=enum:pass|fail", TEXT("a=pass\n"), "pass");
	expect("output:a=enum:pass|fail", TEXT("a=pass\na=passed\n"), "!the value is none");
	expect("output:a=enum:pass|fail", TEXT("a=pass|fail\n"), "!the value is none");
	expect("output:a=enum:pass|fail", TEXT("a=\n"), "!the value is none");
	expect("output:a=enum:pass|", TEXT("a=\n"), "");
	expect("output:a=regex:^[0-9]{1,9}$", TEXT("a=123\n"), "123");
	expect("output:a=regex:[0-9]{1,9}", TEXT("a=123\n"), "123");
	expect("output:a=regex:[0-9]{1,9}", TEXT("a=x123\n"), "!the value does not match");
	expect("output:a=regex:^[0-9]+$", TEXT("a<<E\n1\nx\nE\n"), "!the value does not match");
	expect("output:a=regex:^a|b$", TEXT("a=axxx\n"), "!the value does not match");
	expect("output:a=max:3", TEXT("a=123\n"), "123");
	expect("output:a=max:3", TEXT("a=1234\n"), "!the value is too long");
	expect("summary=max:4", TEXT("text"), "text");
	expect("summary=max:3", TEXT("text"), "!the value is too long");
	expect("summary", TEXT(""), "");
}

static void
some_bytes_are_never_carried_over(void **state)
{
	(void)state;
	expect("output:a", TEXT("a=x\0y\n"), "!the value holds a NUL");
	expect("output:a", TEXT("a=x\r\n"), "!the value holds a carriage return");
	expect("output:a", TEXT("a=\xff\n"), "!the value is not valid UTF-8");
	expect("output:a", TEXT("a=\xef\xbf\xbd\n"), "!the value is not valid UTF-8");
	expect("summary", TEXT("a\rb"), "!the value holds a carriage return");
	expect("summary", TEXT("\xff"), "!the value is not valid UTF-8");
	expect("output:a", TEXT("a=1\nb<<E\n"), "!the runner could not read the file");
	expect("output:a", TEXT("a=1\nb\n"), "!the runner could not read the file");
	expect("output:a",
	    TEXT("\xff\xfe"
		 "a=1\n"),
	    "!the runner could not read the file");
}

static void
what_was_there_before_is_not_the_legs(void **state)
{
	static const char data[] = "a=old\nb=1\n";
	char *made = take("output:a", TEXT(data), 6);

	(void)state;
	assert_string_equal(made, "");
	free(made);
	made = take("output:b", TEXT(data), 6);
	assert_string_equal(made, "1");
	free(made);
}

static void
directories_have_to_lie_below(void **state)
{
	char top[] = "/tmp/legguard-import.XXXXXX", word[64], data[256], *made;
	int refused = 0;

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(word, sizeof word, "path=under:%s", top);
	snprintf(data, sizeof data, "%s\n%s/missing\n/usr/bin\n%s/..\nrelative\n", top, top, top);
	made = take(word, data, strlen(data), 0);
	assert_int_equal(strncmp(made, top, strlen(top)), 0);
	for (char *at = made; (at = strstr(at, ";")) != NULL; at++, refused++)
		assert_int_equal(at[1], '!');
	assert_int_equal(refused, 4);
	free(made);
	assert_int_equal(rmdir(top), 0);
}

/* Patterns on which a backtracking matcher, or the C library's, would not come to one. */
static void
matching_comes_to_an_end(void **state)
{
	size_t size = 60000;
	char *data = malloc(size + 8);
	char *made;

	(void)state;
	memcpy(data, "a=", 2);
	memset(data + 2, 'x', size);
	memcpy(data + 2 + size, "!\n", 2);
	made = take("output:a=regex:(x+x+)+y", data, size + 4, 0);
	assert_string_equal(made, "!the value does not match");
	free(made);
	/* One whose states are more than can be made. */
	for (size_t i = 0; i < size; i++)
		data[2 + i] = i % 2 == 0 ? 'a' : 'b';
	made = take("output:a=regex:(.{0,100}){0,100}", data, size + 4, 0);
	assert_string_equal(made, "!the regular expression takes too long for the value");
	free(made);
	free(data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries_that_make_no_sense_are_refused),
	    cmocka_unit_test(what_runs_code_or_redirects_trust_is_unsafe),
	    cmocka_unit_test(rules_decide_by_the_whole_value),
	    cmocka_unit_test(some_bytes_are_never_carried_over),
	    cmocka_unit_test(what_was_there_before_is_not_the_legs),
	    cmocka_unit_test(directories_have_to_lie_below),
	    cmocka_unit_test(matching_comes_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
