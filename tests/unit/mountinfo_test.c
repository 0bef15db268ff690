/* mountinfo: reading the kernel's table, and the names a path has in other mounts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
escapes_are_undone(void **state)
{
	struct mountinfo m;

	(void)state;
	assert_int_equal(
	    mountinfo_parse(&m, strdup("36 35 98:0 /a\\040b /mnt\\011x\\134\\012 rw - "
				       "ext4 /dev/root rw\n"
				       "37 36 0:21 / /proc rw,relatime - proc proc rw\n")),
	    0);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.list[0].id, 36);
	assert_int_equal(m.list[0].major, 98);
	assert_int_equal(m.list[0].minor, 0);
	assert_string_equal(m.list[0].root, "/a b");
	assert_string_equal(m.list[0].point, "/mnt\tx\\\n");
	assert_string_equal(m.list[0].type, "ext4");
	assert_string_equal(m.list[1].point, "/proc");
	assert_string_equal(m.list[1].type, "proc");
	mountinfo_free(&m);
}

static void
a_backslash_that_escapes_nothing_stays(void **state)
{
	struct mountinfo m;

	(void)state;
	assert_int_equal(mountinfo_parse(&m, strdup("1 1 8:1 /\\9\\04 /x\\ rw\n")), 0);
	assert_string_equal(m.list[0].root, "/\\9\\04");
	assert_string_equal(m.list[0].point, "/x\\");
	assert_string_equal(m.list[0].type, "");
	mountinfo_free(&m);
}

static void
optional_fields_stand_before_the_type(void **state)
{
	struct mountinfo m;

	(void)state;
	assert_int_equal(mountinfo_parse(&m, strdup("31 27 0:28 / /c rw,nosuid shared:9 master:1 - "
						    "cgroup2 cgroup2 rw\n")),
	    0);
	assert_string_equal(m.list[0].type, "cgroup2");
	mountinfo_free(&m);
}

static void
a_torn_line_is_an_error(void **state)
{
	static const char *const torn[] = {"36 35 98:0 /\n", "36 35 98 / /mnt rw\n", "36\n"};
	struct mountinfo m;

	(void)state;
	for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
		assert_int_equal(mountinfo_parse(&m, strdup(torn[i])), -1);
		assert_int_equal(errno, EINVAL);
		assert_null(m.list);
	}
}

static void
a_table_of_thousands_is_read_whole(void **state)
{
	static const char line[] = "36 35 98:0 / /mnt rw - ext4 /dev/root rw\n";
	size_t n = 5000, length = sizeof line - 1;
	char *text = malloc(n * length + 1);
	struct mountinfo m;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i <= n; i++)
		memcpy(text + i * length, i < n ? line : "", i < n ? length : 1);
	assert_int_equal(mountinfo_parse(&m, text), 0);
	assert_int_equal(m.count, n);
	mountinfo_free(&m);
}

static void
the_callers_own_table_has_its_root(void **state)
{
	struct mountinfo m;
	int found = 0;

	(void)state;
	assert_int_equal(mountinfo_read(&m), 0);
	for (size_t i = 0; i < m.count; i++)
		found += strcmp(m.list[i].point, "/") == 0;
	assert_true(found > 0);
	mountinfo_free(&m);
}

static void
below_goes_by_whole_components(void **state)
{
	(void)state;
	assert_true(mountinfo_below("/a/b", "/a"));
	assert_true(mountinfo_below("/a", "/a"));
	assert_true(mountinfo_below("/a", "/"));
	assert_true(mountinfo_below("/", "/"));
	assert_false(mountinfo_below("/ab", "/a"));
	assert_false(mountinfo_below("/a", "/a/b"));
}

/* What `path` in (root, point) is called in the mount (other_root, other_point) of the same device. */
static void
check(const char *root, const char *point, const char *other_root, const char *other_point,
    const char *path, const char *expected)
{
	struct mount_entry home = {
	    .id = 1, .major = 8, .root = (char *)root, .point = (char *)point};
	struct mount_entry other = {
	    .id = 2, .major = 8, .root = (char *)other_root, .point = (char *)other_point};
	AUTO_FREE char *alias = mountinfo_alias(&home, &other, path);

	if (expected == NULL) {
		assert_null(alias);
		assert_int_equal(errno, 0);
	} else {
		assert_non_null(alias);
		assert_string_equal(alias, expected);
	}
}

static void
a_path_is_found_in_another_mount_of_its_file_system(void **state)
{
	(void)state;
	check("/", "/", "/", "/mnt", "/work/f", "/mnt/work/f");
	check("/", "/", "/work", "/github", "/work/f", "/github/f");
	check("/", "/", "/work/f", "/x", "/work/f", "/x");
	check("/vol", "/", "/", "/mnt", "/work/f", "/mnt/vol/work/f");
	check("/", "/data", "/", "/", "/data/d", "/d");
	check("/", "/data", "/", "/mnt", "/data", "/mnt");
	check("/", "/", "/", "/", "/", "/");
}

static void
a_mount_of_a_part_of_it_is_found_whole(void **state)
{
	(void)state;
	check("/", "/", "/work/d/f", "/x", "/work/d", "/x");
}

static void
a_mount_of_something_else_is_not_an_alias(void **state)
{
	struct mount_entry home = {.major = 8, .root = (char *)"/", .point = (char *)"/"};
	struct mount_entry other = {.major = 9, .root = (char *)"/", .point = (char *)"/mnt"};

	(void)state;
	check("/", "/", "/elsewhere", "/mnt", "/work/f", NULL);
	check("/", "/", "/wor", "/mnt", "/work/f", NULL);
	check("/", "/data", "/", "/mnt", "/other/f", NULL);
	assert_null(mountinfo_alias(&home, &other, "/work/f"));
	assert_int_equal(errno, 0);
	other.major = 8;
	other.minor = 1;
	assert_null(mountinfo_alias(&home, &other, "/work/f"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(escapes_are_undone),
	    cmocka_unit_test(a_backslash_that_escapes_nothing_stays),
	    cmocka_unit_test(optional_fields_stand_before_the_type),
	    cmocka_unit_test(a_torn_line_is_an_error),
	    cmocka_unit_test(a_table_of_thousands_is_read_whole),
	    cmocka_unit_test(the_callers_own_table_has_its_root),
	    cmocka_unit_test(below_goes_by_whole_components),
	    cmocka_unit_test(a_path_is_found_in_another_mount_of_its_file_system),
	    cmocka_unit_test(a_mount_of_a_part_of_it_is_found_whole),
	    cmocka_unit_test(a_mount_of_something_else_is_not_an_alias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
