/* landlock: which rights there are for which ABI, and what has to be left out so that some paths get none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/landlock.h"
#include "bindmount/sys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct view_paths
paths_of(const char *const *list)
{
	struct view_paths p = {0};

	for (; *list != NULL; list++)
		assert_int_equal(view_paths_add(&p, *list, 1, 1), 0);
	return p;
}

#define PATHS(...) paths_of((const char *const[]){__VA_ARGS__, NULL})

static void
expect_gaps(struct view_paths paths, const char *const *wanted)
{
	struct landlock_gaps g;
	size_t n = 0;

	assert_int_equal(landlock_gaps(&g, &paths), 0);
	for (; wanted[2 * n] != NULL; n++) {
		assert_true(n < g.count);
		assert_string_equal(g.list[n].dir, wanted[2 * n]);
		assert_string_equal(g.list[n].name, wanted[2 * n + 1]);
	}
	assert_int_equal(g.count, n);
	landlock_gaps_free(&g);
	view_paths_free(&paths);
}

#define EXPECT_GAPS(paths, ...) expect_gaps(paths, (const char *const[]){__VA_ARGS__, NULL})

static void
every_directory_on_the_way_has_a_gap(void **state)
{
	(void)state;
	EXPECT_GAPS(PATHS("/home/runner/work/_temp/_runner_file_commands"), "/", "home", "/home",
	    "runner", "/home/runner", "work", "/home/runner/work", "_temp",
	    "/home/runner/work/_temp", "_runner_file_commands");
	EXPECT_GAPS(PATHS("/a"), "/", "a");
}

static void
what_is_shared_is_there_once(void **state)
{
	(void)state;
	EXPECT_GAPS(PATHS("/a/b/c", "/a/x", "/a/b/d"), "/", "a", "/a", "b", "/a", "x", "/a/b", "c",
	    "/a/b", "d");
}

/* Or the directory would be looked into, and what lies beside the second one in it would be writable. */
static void
what_lies_in_something_protected_adds_nothing(void **state)
{
	(void)state;
	EXPECT_GAPS(PATHS("/a/b/c", "/a"), "/", "a");
	EXPECT_GAPS(PATHS("/a", "/a/b/c", "/a/b"), "/", "a");
	EXPECT_GAPS(PATHS("/a/b", "/a/bc/d"), "/", "a", "/a", "b", "/a", "bc", "/a/bc", "d");
}

static void
the_root_leaves_nothing_beside(void **state)
{
	struct landlock_gaps g;
	struct view_paths paths = PATHS("/", "/a/b");

	(void)state;
	assert_int_equal(landlock_gaps(&g, &paths), 0);
	assert_int_equal(g.count, 0);
	landlock_gaps_free(&g);
	view_paths_free(&paths);
	paths = (struct view_paths){0};
	assert_int_equal(landlock_gaps(&g, &paths), 0);
	assert_int_equal(g.count, 0);
	landlock_gaps_free(&g);
}

static void
names_are_bytes(void **state)
{
	(void)state;
	EXPECT_GAPS(PATHS("/a b/\xff\n", "/a b/-"), "/", "a b", "/a b", "-", "/a b", "\xff\n");
}

static void
a_directory_above_or_inside_is_closed(void **state)
{
	struct view_paths paths = PATHS("/a/b");

	(void)state;
	assert_true(landlock_closes(&paths, "/"));
	assert_true(landlock_closes(&paths, "/a"));
	assert_true(landlock_closes(&paths, "/a/b"));
	assert_true(landlock_closes(&paths, "/a/b/c"));
	assert_false(landlock_closes(&paths, "/a/bc"));
	assert_false(landlock_closes(&paths, "/c"));
	view_paths_free(&paths);
}

static void
each_abi_adds_its_rights(void **state)
{
	uint64_t oldest = landlock_write_rights(1);

	(void)state;
	assert_int_equal(landlock_write_rights(0), 0);
	assert_true((oldest & SYS_LANDLOCK_FS_WRITE_FILE) != 0);
	assert_true((oldest & SYS_LANDLOCK_FS_MAKE_SYM) != 0);
	/* A kernel refuses a ruleset with a right that it does not know. */
	assert_int_equal(oldest & (SYS_LANDLOCK_FS_REFER | SYS_LANDLOCK_FS_TRUNCATE), 0);
	assert_true(landlock_write_rights(2) == (oldest | SYS_LANDLOCK_FS_REFER));
	assert_true(landlock_write_rights(3) ==
		    (oldest | SYS_LANDLOCK_FS_REFER | SYS_LANDLOCK_FS_TRUNCATE));
	for (int abi = 4; abi < 20; abi++)
		assert_true(landlock_write_rights(abi) == landlock_write_rights(3));
	assert_int_equal(oldest & SYS_LANDLOCK_FS_READ_FILE, 0);
	assert_false(landlock_denies_truncation(2));
	assert_true(landlock_denies_truncation(3));
}

static void
no_rule_allows_device_nodes(void **state)
{
	uint64_t all = landlock_write_rights(7), dir = landlock_grant(all, S_IFDIR);

	(void)state;
	assert_true((all & ~dir) == (SYS_LANDLOCK_FS_MAKE_CHAR | SYS_LANDLOCK_FS_MAKE_BLOCK));
}

static void
what_is_no_directory_gets_rights_on_files(void **state)
{
	static const mode_t types[] = {S_IFREG, S_IFCHR, S_IFBLK, S_IFIFO, S_IFSOCK};
	uint64_t all = landlock_write_rights(7);

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		assert_true(landlock_grant(all, types[i]) ==
			    (SYS_LANDLOCK_FS_WRITE_FILE | SYS_LANDLOCK_FS_TRUNCATE));
	assert_true(
	    landlock_grant(landlock_write_rights(2), S_IFREG) == SYS_LANDLOCK_FS_WRITE_FILE);
	assert_true(
	    landlock_grant(SYS_LANDLOCK_FS_READ_FILE, S_IFREG) == SYS_LANDLOCK_FS_READ_FILE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_directory_on_the_way_has_a_gap),
	    cmocka_unit_test(what_is_shared_is_there_once),
	    cmocka_unit_test(what_lies_in_something_protected_adds_nothing),
	    cmocka_unit_test(the_root_leaves_nothing_beside),
	    cmocka_unit_test(names_are_bytes),
	    cmocka_unit_test(a_directory_above_or_inside_is_closed),
	    cmocka_unit_test(each_abi_adds_its_rights),
	    cmocka_unit_test(no_rule_allows_device_nodes),
	    cmocka_unit_test(what_is_no_directory_gets_rights_on_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
