/* Bytes and metadata are what they were, and what is published comes after them. */
#include "tests/unit/scratch.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static void
overwrite(const struct scratch *x, const char *path, const char *text, off_t offset)
{
	int fd = open(at(x, path), O_WRONLY | O_CLOEXEC);

	must(fd);
	assert_int_equal(pwrite(fd, text, strlen(text), offset), strlen(text));
	close(fd);
}

static void
an_append_is_cut_off(void **state)
{
	struct scratch *x = *state;

	take(x);
	overwrite(x, OUTPUT, "lane-class=ok\n", 7);
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	found(x, FINDING_APPENDED, OUTPUT);
	assert_int_equal(x->f.count, 1);
	assert_string_equal(x->f.list[0].detail, "7 bytes became 21");
}

static void
an_append_to_an_empty_file_is_cut_off(void **state)
{
	struct scratch *x = *state;

	take(x);
	put(x, ENV, "LD_PRELOAD=/tmp/x.so\n");
	restore(x);
	reads(x, ENV, "");
	found(x, FINDING_APPENDED, ENV);
}

static void
a_truncation_is_filled_again(void **state)
{
	struct scratch *x = *state;

	take(x);
	must(truncate(at(x, OUTPUT), 3));
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	found(x, FINDING_TRUNCATED, OUTPUT);
	assert_int_equal(x->f.count, 1);
}

static void
a_change_of_the_same_size_and_time_is_seen(void **state)
{
	struct scratch *x = *state;
	struct timespec times[2];
	struct stat st;

	must(stat(at(x, OUTPUT), &st));
	take(x);
	overwrite(x, OUTPUT, "k3pt=1\n", 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	must(utimensat(AT_FDCWD, at(x, OUTPUT), times, 0));
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	found(x, FINDING_REWRITTEN, OUTPUT);
	assert_int_equal(x->f.count, 1);
}

static void
one_change_has_one_finding_whatever_its_size(void **state)
{
	struct scratch *x = *state;

	take(x);
	put(x, OUTPUT, "forged\n and longer than before\n");
	put(x, SUMMARY, "#");
	overwrite(x, SUMMARY, "!", 0);
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	reads(x, SUMMARY, "# so far\n");
	found(x, FINDING_REWRITTEN, OUTPUT);
	found(x, FINDING_REWRITTEN, SUMMARY);
	assert_int_equal(x->f.count, 2);
}

static void
a_change_through_shared_memory_is_seen(void **state)
{
	struct scratch *x = *state;
	int fd = open(at(x, OUTPUT), O_RDWR | O_CLOEXEC);
	char *map = mmap(NULL, 7, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	take(x);
	map[5] = '2';
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	found(x, FINDING_REWRITTEN, OUTPUT);
	munmap(map, 7);
	close(fd);
}

static void
the_last_byte_of_a_large_file_counts(void **state)
{
	struct scratch *x = *state;
	struct stat before, after;
	char last;
	int fd;

	must(truncate(at(x, SUMMARY), ((off_t)3 << 20) + 5));
	must(stat(at(x, SUMMARY), &before));
	take(x);
	overwrite(x, SUMMARY, "x", ((off_t)3 << 20) + 4);
	restore(x);
	found(x, FINDING_REWRITTEN, SUMMARY);
	must(fd = open(at(x, SUMMARY), O_RDONLY | O_CLOEXEC));
	assert_int_equal(pread(fd, &last, 1, ((off_t)3 << 20) + 4), 1);
	assert_int_equal(last, 0);
	close(fd);
	must(stat(at(x, SUMMARY), &after));
	assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

static void
what_nobody_touched_keeps_its_time(void **state)
{
	struct scratch *x = *state;
	struct stat before, after;

	must(stat(at(x, ENV), &before));
	take(x);
	assert_int_equal(snapshot_reserve(x->s, snapshot_index(x->s, 1), 4096, &x->e), 0);
	restore(x);
	assert_int_equal(x->f.count, 0);
	snapshot_free(x->s);
	x->s = NULL;
	must(stat(at(x, ENV), &after));
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	assert_int_equal(before.st_blocks, after.st_blocks);
	assert_int_equal(after.st_size, 0);
}

static void
a_mode_is_put_back(void **state)
{
	struct scratch *x = *state;
	struct stat st;

	take(x);
	must(chmod(at(x, OUTPUT), 0));
	overwrite(x, ENV, "x", 0);
	must(chmod(at(x, ENV), 06777));
	restore(x);
	must(stat(at(x, OUTPUT), &st));
	assert_int_equal(st.st_mode & 07777, 0644);
	must(stat(at(x, ENV), &st));
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_string_equal(
	    finding_of(x, FINDING_METADATA, OUTPUT)->detail, "mode 0644 became 0000");
	found(x, FINDING_METADATA, ENV);
	found(x, FINDING_APPENDED, ENV);
	assert_int_equal(x->f.count, 3);
}

static void
an_owner_is_put_back(void **state)
{
	struct scratch *x = *state;
	struct stat st;

	if (geteuid() != 0) {
		print_message("skipped: only root can give a file away\n");
		skip();
	}
	take(x);
	must(chown(at(x, OUTPUT), 1001, 1002));
	must(chown(at(x, "work"), 1001, 1002));
	restore(x);
	must(stat(at(x, OUTPUT), &st));
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_gid, 0);
	must(stat(at(x, "work"), &st));
	assert_int_equal(st.st_uid, 0);
	found(x, FINDING_METADATA, OUTPUT);
	found(x, FINDING_METADATA, "work");
}

static void
extended_attributes_are_put_back(void **state)
{
	struct scratch *x = *state;
	const char *output = at(x, OUTPUT);
	char value[16];

	if (setxattr(output, "user.kept", "v1", 2, 0) != 0) {
		print_message("skipped: no extended attributes here: %s\n", strerror(errno));
		skip();
	}
	must(setxattr(output, "user.lost", "", 0, 0));
	take(x);
	must(setxattr(at(x, OUTPUT), "user.kept", "v2", 2, 0));
	must(setxattr(at(x, OUTPUT), "user.new", "n", 1, 0));
	must(removexattr(at(x, OUTPUT), "user.lost"));
	must(chmod(at(x, OUTPUT), 0));
	restore(x);
	assert_int_equal(getxattr(at(x, OUTPUT), "user.kept", value, sizeof value), 2);
	assert_memory_equal(value, "v1", 2);
	assert_int_equal(getxattr(at(x, OUTPUT), "user.lost", value, sizeof value), 0);
	assert_int_equal(getxattr(at(x, OUTPUT), "user.new", value, sizeof value), -1);
	found(x, FINDING_METADATA, OUTPUT);
	assert_int_equal(x->f.count, 1);
	assert_non_null(strstr(x->f.list[0].detail, "attributes"));
}

static void
a_file_made_anew_has_its_attributes(void **state)
{
	struct scratch *x = *state;
	char value[16];

	if (setxattr(at(x, OUTPUT), "user.kept", "v1", 2, 0) != 0) {
		print_message("skipped: no extended attributes here: %s\n", strerror(errno));
		skip();
	}
	take(x);
	must(unlink(at(x, OUTPUT)));
	restore(x);
	assert_int_equal(getxattr(at(x, OUTPUT), "user.kept", value, sizeof value), 2);
}

static void
files_of_the_same_step_are_always_put_back(void **state)
{
	struct scratch *x = *state;

	take(x);
	must(unlink(at(x, SUMMARY)));
	restore(x);
	reads(x, SUMMARY, "# so far\n");
	found(x, FINDING_REMOVED, SUMMARY);
}

static void
files_of_other_steps_may_change_and_go(void **state)
{
	struct scratch *x = *state;

	take(x);
	put(x, OTHER, "other=2\n");
	put(x, COMMANDS "/set_output_33f2", "new=1\n");
	restore(x);
	assert_int_equal(x->f.count, 0);
	reads(x, OTHER, "other=2\n");
	must(unlink(at(x, OTHER)));
	restore(x);
	assert_int_equal(x->f.count, 0);
	assert_false(exists(x, OTHER));
	reads(x, COMMANDS "/set_output_33f2", "new=1\n");
}

static void
files_of_other_steps_are_put_back_if_the_way_to_them_was_moved(void **state)
{
	struct scratch *x = *state;

	take(x);
	put(x, OTHER, "other=2\n");
	move(x, "work/temp", "elsewhere/moved");
	restore(x);
	reads(x, OTHER, "other=1\n");
	found(x, FINDING_PATH_MOVED, "work/temp");
	found(x, FINDING_REWRITTEN, OTHER);
}

static void
a_umask_of_anything_changes_nothing(void **state)
{
	static const mode_t masks[] = {0, 0777};
	struct scratch *x = *state;
	char command[400];
	struct stat st;
	mode_t old = umask(0);

	snprintf(command, sizeof command, "rm -rf '%s'", at(x, "work/temp"));
	take(x);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(system(command), 0);
		umask(masks[i]);
		restore(x);
		umask(0);
		reads(x, OUTPUT, "kept=1\n");
		must(stat(at(x, OUTPUT), &st));
		assert_int_equal(st.st_mode & 07777, 0644);
		must(stat(at(x, "work/temp"), &st));
		assert_int_equal(st.st_mode & 07777, 0755);
	}
	umask(old);
}

static void
what_is_published_comes_last(void **state)
{
	struct scratch *x = *state;

	take(x);
	assert_int_equal(snapshot_reserve(x->s, 0, 4096, &x->e), 0);
	overwrite(x, OUTPUT, "forged=1\n", 7);
	restore(x);
	assert_int_equal(snapshot_append(x->s, 0, "a=b\n", 4, &x->e), 0);
	assert_int_equal(snapshot_append(x->s, 0, "c=d\n", 4, &x->e), 0);
	assert_int_equal(snapshot_append(x->s, 0, "", 0, &x->e), 0);
	reads(x, OUTPUT, "kept=1\na=b\nc=d\n");
}

static void
a_missing_last_newline_is_supplied_once(void **state)
{
	struct scratch *x = *state;

	put(x, OUTPUT, "kept=1");
	take(x);
	restore(x);
	reads(x, OUTPUT, "kept=1");
	assert_int_equal(snapshot_append(x->s, 0, "a=b\n", 4, &x->e), 0);
	assert_int_equal(snapshot_append(x->s, 0, "c=d\n", 4, &x->e), 0);
	reads(x, OUTPUT, "kept=1\na=b\nc=d\n");
	assert_int_equal(snapshot_append(x->s, snapshot_index(x->s, 1), "E=1\n", 4, &x->e), 0);
	reads(x, ENV, "E=1\n");
}

static void
nothing_stays_reserved_after_publishing(void **state)
{
	struct scratch *x = *state;
	struct stat st;

	take(x);
	assert_int_equal(snapshot_reserve(x->s, 0, 1 << 20, &x->e), 0);
	restore(x);
	assert_int_equal(snapshot_append(x->s, 0, "a=b\n", 4, &x->e), 0);
	snapshot_free(x->s);
	x->s = NULL;
	must(stat(at(x, OUTPUT), &st));
	assert_true(st.st_blocks <= 16);
	assert_int_equal(count_names(x, "legguard-"), 1); /* the scratch directory */
}

static void
a_child_that_frees_its_copy_leaves_the_reservation(void **state)
{
	struct scratch *x = *state;
	struct stat before, after;
	int status;
	pid_t child;

	take(x);
	assert_int_equal(snapshot_reserve(x->s, 0, 1 << 20, &x->e), 0);
	must(stat(at(x, OUTPUT), &before));
	child = fork();
	if (child == 0) {
		snapshot_free(x->s);
		_exit(0);
	}
	must(waitpid(child, &status, 0));
	assert_int_equal(status, 0);
	must(stat(at(x, OUTPUT), &after));
	assert_int_equal(before.st_blocks, after.st_blocks);
}

static void
the_bytes_are_not_inherited(void **state)
{
	struct scratch *x = *state;
	const char *bytes;
	size_t size;
	int status;
	pid_t child;

	take(x);
	bytes = snapshot_bytes(x->s, 0, &size);
	child = fork();
	if (child == 0)
		_exit(mincore((void *)((uintptr_t)bytes & ~(uintptr_t)4095), 1,
			  (unsigned char[1]){0}) == 0);
	must(waitpid(child, &status, 0));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int
immutable(const struct scratch *x, const char *path, char sign)
{
	char command[400];

	snprintf(command, sizeof command, "chattr %ci '%s' 2>/dev/null", sign, at(x, path));
	return system(command);
}

static void
what_cannot_be_put_back_does_not_keep_the_rest_from_it(void **state)
{
	struct scratch *x = *state;
	int rc;

	take(x);
	put(x, OUTPUT, "forged\n");
	put(x, ENV, "forged\n");
	if (immutable(x, OUTPUT, '+') != 0) {
		print_message("skipped: cannot make a file immutable here\n");
		skip();
	}
	rc = snapshot_restore(x->s, &x->f, &x->e);
	assert_int_equal(immutable(x, OUTPUT, '-'), 0);
	if (rc == 0) {
		print_message("skipped: an open file can be written here even if immutable\n");
		skip();
	}
	reads(x, ENV, "");
	assert_false(finding_of(x, FINDING_REWRITTEN, OUTPUT)->restored);
	assert_true(finding_of(x, FINDING_APPENDED, ENV)->restored);
	assert_int_equal(x->e.errnum, EPERM);
}

#define promise(name) cmocka_unit_test_setup_teardown(name, scratch_open, scratch_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    promise(an_append_is_cut_off),
	    promise(an_append_to_an_empty_file_is_cut_off),
	    promise(a_truncation_is_filled_again),
	    promise(a_change_of_the_same_size_and_time_is_seen),
	    promise(one_change_has_one_finding_whatever_its_size),
	    promise(a_change_through_shared_memory_is_seen),
	    promise(the_last_byte_of_a_large_file_counts),
	    promise(what_nobody_touched_keeps_its_time),
	    promise(a_mode_is_put_back),
	    promise(an_owner_is_put_back),
	    promise(extended_attributes_are_put_back),
	    promise(a_file_made_anew_has_its_attributes),
	    promise(files_of_the_same_step_are_always_put_back),
	    promise(files_of_other_steps_may_change_and_go),
	    promise(files_of_other_steps_are_put_back_if_the_way_to_them_was_moved),
	    promise(a_umask_of_anything_changes_nothing),
	    promise(what_is_published_comes_last),
	    promise(a_missing_last_newline_is_supplied_once),
	    promise(nothing_stays_reserved_after_publishing),
	    promise(a_child_that_frees_its_copy_leaves_the_reservation),
	    promise(the_bytes_are_not_inherited),
	    promise(what_cannot_be_put_back_does_not_keep_the_rest_from_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
