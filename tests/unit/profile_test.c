/* profile: a path is named by the profile as it is, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/profile.h"

#include <stdlib.h>
#include <string.h>

static void
assert_names(const char *path, const char *written)
{
	struct error e = {0};
	char *text = profile_text(path, &e);
	const char *line;

	assert_non_null(text);
	line = strstr(text, "\nprofile legguard ");
	assert_non_null(line);
	line += strlen("\nprofile legguard ");
	assert_memory_equal(line, written, strlen(written));
	line += strlen(written);
	assert_memory_equal(line, " flags=(unconfined) {\n  userns,\n", 32);
	assert_non_null(strstr(text, "\nabi <abi/4.0>,\n"));
	assert_null(strstr(text, "@PROGRAM@"));
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(text);
}

static void
names_path(void **state)
{
	(void)state;
	assert_names("/usr/bin/legguard", "/usr/bin/legguard");
	assert_names("/opt/leg-guard_1.0+b/legguard", "/opt/leg-guard_1.0+b/legguard");
	assert_names("/opt/a b/legguard", "\"/opt/a b/legguard\"");
	assert_names("/opt/{a,b}/*?[x]^@", "\"/opt/\\{a,b\\}/\\*\\?\\[x\\]\\^\\@\"");
	assert_names("/opt/\303\244", "\"/opt/\303\244\"");
}

static void
refuses_path(void **state)
{
	static const char *const paths[] = {
	    "", "legguard", "./legguard", "/a\"b", "/a\\b", "/a\nb", "/a\tb", "/a\177"};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct error e = {0};

		assert_null(profile_text(paths[i], &e));
		assert_string_not_equal(e.what, "");
		assert_string_not_equal(e.cure, "");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_path),
	    cmocka_unit_test(refuses_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
