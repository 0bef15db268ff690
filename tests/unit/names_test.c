/*
 * Every guarded path leads to the same inode afterwards, whatever was done to the names it depends
 * on. Each test is one thing that a leg can do to them.
 */
#include "tests/unit/scratch.h"

#include "guard/elsewhere.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

struct before {
	ino_t commands, output, env, other;
};

static struct before
begin(struct scratch *x)
{
	take(x);
	return (struct before){
	    inode(x, COMMANDS), inode(x, OUTPUT), inode(x, ENV), inode(x, OTHER)};
}

/* Everything is what it was, and nothing is left in quarantine. */
static void
all_back(struct scratch *x, struct before b)
{
	restore(x);
	assert_int_equal(inode(x, COMMANDS), b.commands);
	assert_int_equal(inode(x, OUTPUT), b.output);
	assert_int_equal(inode(x, ENV), b.env);
	assert_int_equal(inode(x, OTHER), b.other);
	reads(x, OUTPUT, "kept=1\n");
	reads(x, ENV, "");
	reads(x, OTHER, "other=1\n");
	assert_int_equal(count_names(x, "quarantine"), 0);
}

static void
forge(const struct scratch *x)
{
	dir(x, COMMANDS);
	put(x, OUTPUT, "lane-class=ok\n");
}

static void
nothing_is_found_where_nothing_was_done(void **state)
{
	struct before b = begin(*state);

	all_back(*state, b);
	assert_int_equal(((struct scratch *)*state)->f.count, 0);
}

static void
a_directory_that_was_moved_away_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "elsewhere/moved");
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, COMMANDS);
	assert_int_equal(x->f.count, 1);
	assert_false(exists(x, "elsewhere/moved"));
}

static void
a_forged_directory_is_swapped_for_the_original(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "elsewhere/moved");
	forge(x);
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, COMMANDS);
	assert_int_equal(x->f.count, 1);
	reads(x, "elsewhere/moved/set_output_11d0", "lane-class=ok\n");
	assert_non_null(strstr(x->f.list[0].detail, "elsewhere/moved"));
}

static void
a_moved_parent_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, "work/temp", "elsewhere/moved");
	dir(x, "work/temp");
	forge(x);
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, "work/temp");
	assert_int_equal(x->f.count, 1);
}

static void
a_moved_grandparent_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, "work", "elsewhere/moved");
	dir(x, "work");
	dir(x, "work/temp");
	forge(x);
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, "work");
	assert_int_equal(x->f.count, 1);
}

static void
every_ancestor_moved_at_once_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, OUTPUT, "elsewhere/f");
	move(x, COMMANDS, "elsewhere/c");
	move(x, "work/temp", "elsewhere/t");
	move(x, "work", "elsewhere/w");
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, "work");
	found(x, FINDING_PATH_MOVED, "work/temp");
	found(x, FINDING_PATH_MOVED, COMMANDS);
	found(x, FINDING_REMOVED, OUTPUT);
}

static void
the_original_is_found_below_the_forged_one(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "elsewhere/moved");
	dir(x, COMMANDS);
	dir(x, COMMANDS "/deep");
	move(x, "elsewhere/moved", COMMANDS "/deep/er");
	restore(x);
	assert_int_equal(inode(x, COMMANDS), b.commands);
	reads(x, OUTPUT, "kept=1\n");
	/* The forged one is not empty, so it stays, and the finding says where. */
	assert_int_equal(count_names(x, "quarantine"), 1);
	assert_non_null(strstr(x->f.list[0].detail, ".legguard-quarantine-"));
}

static void
a_parent_moved_below_its_child_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "work/c");
	move(x, "work/temp", "work/c/t");
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, "work/temp");
	found(x, FINDING_PATH_MOVED, COMMANDS);
}

static void
a_child_in_its_parents_place_with_the_parent_in_it_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "work/c");
	move(x, "work/temp", "work/c/t");
	move(x, "work/c", "work/temp");
	all_back(x, b);
}

static void
a_child_and_its_grandparent_swapped_come_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "elsewhere/c");
	move(x, "work", "elsewhere/c/w");
	move(x, "elsewhere/c", "work");
	all_back(x, b);
}

static void
a_symbolic_link_to_the_moved_directory_is_not_the_directory(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, COMMANDS, "elsewhere/moved");
	must(symlink(at(x, "elsewhere/moved"), at(x, COMMANDS)));
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, COMMANDS);
}

static void
a_fifo_in_a_directorys_place_does_not_block(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, "work/temp", "elsewhere/moved");
	must(mkfifo(at(x, "work/temp"), 0600));
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, "work/temp");
}

static void
a_file_replaced_by_another_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, OUTPUT, "elsewhere/moved");
	put(x, OUTPUT, "kept=1\n");
	all_back(x, b);
	found(x, FINDING_REPLACED, OUTPUT);
	assert_int_equal(x->f.count, 1);
}

static void
a_file_replaced_by_a_symbolic_link_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, OUTPUT, "elsewhere/moved");
	must(symlink(at(x, "elsewhere/moved"), at(x, OUTPUT)));
	all_back(x, b);
	found(x, FINDING_REPLACED, OUTPUT);
}

static void
a_file_replaced_by_a_fifo_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, ENV, "elsewhere/moved");
	must(mkfifo(at(x, ENV), 0600));
	all_back(x, b);
	found(x, FINDING_REPLACED, ENV);
}

static void
a_file_replaced_by_a_full_directory_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, ENV, "elsewhere/moved");
	dir(x, ENV);
	put(x, ENV "/something", "of value");
	all_back(x, b);
	found(x, FINDING_REPLACED, ENV);
	reads(x, "elsewhere/moved/something", "of value");
}

static void
two_files_swapped_come_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	must(renameat2(AT_FDCWD, at(x, OUTPUT), AT_FDCWD, at(x, ENV), RENAME_EXCHANGE));
	all_back(x, b);
	found(x, FINDING_REPLACED, OUTPUT);
}

static void
files_rotated_among_steps_come_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, OUTPUT, "elsewhere/moved");
	move(x, ENV, OUTPUT);
	move(x, SUMMARY, ENV);
	move(x, "elsewhere/moved", SUMMARY);
	all_back(x, b);
	reads(x, SUMMARY, "# so far\n");
}

static void
a_removed_file_is_made_anew(void **state)
{
	struct scratch *x = *state;
	struct stat st;

	must(chmod(at(x, OUTPUT), 0640));
	take(x);
	must(unlink(at(x, OUTPUT)));
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	found(x, FINDING_REMOVED, OUTPUT);
	assert_int_equal(x->f.count, 1);
	must(stat(at(x, OUTPUT), &st));
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_nlink, 1);
	assert_true(snapshot_has_inode(x->s, &st));
	assert_int_equal(snapshot_append(x->s, 0, "a=b\n", 4, &x->e), 0);
	reads(x, OUTPUT, "kept=1\na=b\n");
}

static void
a_removed_file_is_made_anew_from_its_spare(void **state)
{
	struct scratch *x = *state;

	take(x);
	assert_int_equal(snapshot_reserve(x->s, 0, 4096, &x->e), 0);
	must(unlink(at(x, OUTPUT)));
	put(x, OUTPUT, "lane-class=ok\n");
	must(unlink(at(x, ENV)));
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	reads(x, ENV, "");
	found(x, FINDING_REPLACED, OUTPUT);
	found(x, FINDING_REMOVED, ENV);
	assert_int_equal(count_names(x, "quarantine"), 0);
}

static void
a_removed_directory_is_made_anew_with_all_that_was_in_it(void **state)
{
	struct scratch *x = *state;
	struct stat st;

	must(chmod(at(x, COMMANDS), 0711));
	take(x);
	must(unlink(at(x, OUTPUT)));
	must(unlink(at(x, ENV)));
	must(unlink(at(x, SUMMARY)));
	must(unlink(at(x, OTHER)));
	must(rmdir(at(x, COMMANDS)));
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	reads(x, ENV, "");
	reads(x, SUMMARY, "# so far\n");
	reads(x, OTHER, "other=1\n");
	must(stat(at(x, COMMANDS), &st));
	assert_int_equal(st.st_mode & 07777, 0711);
	found(x, FINDING_PATH_MOVED, COMMANDS);
	found(x, FINDING_REMOVED, OUTPUT);
}

static void
a_removed_directory_takes_back_files_that_still_exist(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, OUTPUT, "elsewhere/o");
	move(x, ENV, "elsewhere/e");
	move(x, SUMMARY, "elsewhere/s");
	move(x, OTHER, "elsewhere/x");
	must(rmdir(at(x, COMMANDS)));
	must(symlink("/nowhere", at(x, COMMANDS)));
	restore(x);
	assert_int_equal(inode(x, OUTPUT), b.output);
	assert_int_equal(inode(x, OTHER), b.other);
	reads(x, SUMMARY, "# so far\n");
	assert_int_equal(count_names(x, "quarantine"), 0);
}

static void
a_removed_chain_is_made_anew(void **state)
{
	struct scratch *x = *state;
	char command[400];

	take(x);
	snprintf(command, sizeof command, "rm -rf '%s'", at(x, "work"));
	assert_int_equal(system(command), 0);
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	reads(x, OTHER, "other=1\n");
	found(x, FINDING_PATH_MOVED, "work");
	found(x, FINDING_PATH_MOVED, "work/temp");
}

static void
ancestors_without_any_permission_are_opened_and_closed_again(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	must(chmod(at(x, COMMANDS), 0));
	must(chmod(at(x, "work/temp"), 0));
	must(chmod(at(x, "work"), 0));
	all_back(x, b);
	found(x, FINDING_METADATA, "work");
	found(x, FINDING_METADATA, "work/temp");
	found(x, FINDING_METADATA, COMMANDS);
	assert_int_equal(x->f.count, 3);
}

static void
moved_directories_without_any_permission_come_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);
	struct stat st;

	move(x, COMMANDS, "elsewhere/moved");
	dir(x, COMMANDS);
	must(chmod(at(x, COMMANDS), 0));
	must(chmod(at(x, "elsewhere/moved"), 0));
	must(chmod(at(x, "elsewhere"), 0));
	must(chmod(at(x, "work/temp"), 0));
	all_back(x, b);
	must(stat(at(x, COMMANDS), &st));
	assert_int_equal(st.st_mode & 07777, 0755);
	must(stat(at(x, "elsewhere"), &st));
	assert_int_equal(st.st_mode & 07777, 0);
}

/* A directory whose path is longer than any path may be. */
static int
deep_directory(const struct scratch *x)
{
	char name[201];
	int fd = open(at(x, "elsewhere"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	memset(name, 'd', 200);
	name[200] = '\0';
	for (int i = 0; i < 30; i++) {
		int below;

		must(mkdirat(fd, name, 0755));
		must(below = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
		close(fd);
		fd = below;
	}
	return fd;
}

static void
a_directory_beyond_any_path_comes_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);
	int deep = deep_directory(x);

	must(renameat(AT_FDCWD, at(x, COMMANDS), deep, "moved"));
	forge(x);
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, COMMANDS);
	close(deep);
}

static void
a_directory_beyond_any_path_is_found_among_30000_others(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);
	int deep = deep_directory(x);
	char name[32];

	for (int i = 0; i < 30000; i++) {
		snprintf(name, sizeof name, "%d", i);
		must(mkdirat(deep, name, 0755));
		if (i == 20000)
			must(renameat(AT_FDCWD, at(x, COMMANDS), deep, "moved"));
	}
	forge(x);
	all_back(x, b);
	close(deep);
}

static void
a_file_beyond_any_path_gets_its_name_back_and_the_other_is_reported(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);
	int deep = deep_directory(x);

	must(renameat(AT_FDCWD, at(x, OUTPUT), deep, "moved"));
	put(x, OUTPUT, "lane-class=ok\n");
	assert_int_equal(snapshot_restore(x->s, &x->f, &x->e), -1);
	assert_int_equal(inode(x, OUTPUT), b.output);
	reads(x, OUTPUT, "kept=1\n");
	found(x, FINDING_REPLACED, OUTPUT);
	assert_true(finding_of(x, FINDING_REPLACED, OUTPUT)->restored);
	found(x, FINDING_LINKED, OUTPUT);
	assert_false(finding_of(x, FINDING_LINKED, OUTPUT)->restored);
	close(deep);
}

static void
a_name_with_a_newline_and_deleted_in_it_is_found(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	move(x, OUTPUT, "elsewhere/f\n (deleted)");
	move(x, COMMANDS, "elsewhere/a\nb (deleted)");
	dir(x, "elsewhere/a\nb");
	put(x, "elsewhere/f\n", "kept=1\n");
	forge(x);
	all_back(x, b);
	found(x, FINDING_PATH_MOVED, COMMANDS);
}

static void
a_hard_link_is_reported_as_what_could_not_be_undone(void **state)
{
	struct scratch *x = *state;

	take(x);
	must(link(at(x, OUTPUT), at(x, "elsewhere/link")));
	assert_int_equal(snapshot_restore(x->s, &x->f, &x->e), -1);
	found(x, FINDING_LINKED, OUTPUT);
	assert_int_equal(x->f.count, 1);
	assert_false(x->f.list[0].restored);
}

static void
a_file_left_with_another_name_only_gets_its_own_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);

	must(link(at(x, OUTPUT), at(x, "elsewhere/link")));
	must(unlink(at(x, OUTPUT)));
	assert_int_equal(snapshot_restore(x->s, &x->f, &x->e), -1);
	assert_int_equal(inode(x, OUTPUT), b.output);
	found(x, FINDING_REMOVED, OUTPUT);
	found(x, FINDING_LINKED, OUTPUT);
}

static void
both_names_of_an_allowed_hard_link_come_back(void **state)
{
	struct scratch *x = *state;
	char output[256], name[256];
	const struct guard_request requests[] = {{output, "GITHUB_OUTPUT"}, {name, "--guard"}};

	must(link(at(x, OUTPUT), at(x, "elsewhere/name")));
	snprintf(output, sizeof output, "%s", at(x, OUTPUT));
	snprintf(name, sizeof name, "%s", at(x, "elsewhere/name"));
	assert_int_equal(take_snapshot(&x->s, requests, 2, true, &x->e), 0);
	assert_int_not_equal(snapshot_index(x->s, 0), snapshot_index(x->s, 1));
	must(unlink(output));
	must(unlink(name));
	put(x, "elsewhere/name", "forged");
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	assert_int_equal(inode(x, OUTPUT), inode(x, "elsewhere/name"));
	found(x, FINDING_REMOVED, OUTPUT);
	found(x, FINDING_REPLACED, "elsewhere/name");
}

/* The step's directory by way of a symbolic link, as a runner set up on a second disk has it. */
static void
take_by_link(struct scratch *x)
{
	char output[256];
	const struct guard_request request = {output, "GITHUB_OUTPUT"};

	must(symlink("../work/../work/temp/", at(x, "elsewhere/link")));
	snprintf(output, sizeof output, "%s",
	    at(x, "elsewhere/link/_runner_file_commands/set_output_11d0"));
	assert_int_equal(take_snapshot(&x->s, &request, 1, false, &x->e), 0);
	assert_string_equal(snapshot_path(x->s, 0), at(x, OUTPUT));
}

static void
a_symbolic_link_on_the_way_that_was_replaced_comes_back(void **state)
{
	struct scratch *x = *state;
	ino_t link;

	take_by_link(x);
	link = inode(x, "elsewhere/link");
	move(x, "elsewhere/link", "elsewhere/moved");
	must(symlink("/nowhere", at(x, "elsewhere/link")));
	restore(x);
	assert_int_equal(inode(x, "elsewhere/link"), link);
	found(x, FINDING_PATH_MOVED, "elsewhere/link");
	reads(x, "elsewhere/link/_runner_file_commands/set_output_11d0", "kept=1\n");
}

static void
a_symbolic_link_on_the_way_that_was_removed_is_made_anew(void **state)
{
	struct scratch *x = *state;

	take_by_link(x);
	must(unlink(at(x, "elsewhere/link")));
	dir(x, "elsewhere/link");
	restore(x);
	found(x, FINDING_PATH_MOVED, "elsewhere/link");
	reads(x, "elsewhere/link/_runner_file_commands/set_output_11d0", "kept=1\n");
	assert_int_equal(count_names(x, "quarantine"), 0);
}

static void
an_older_file_in_a_guarded_ones_place_is_kept(void **state)
{
	struct scratch *x = *state;

	put(x, "elsewhere/mine", "of value");
	usleep(20000); /* so that its birth time is before the snapshot by any clock */
	take(x);
	must(unlink(at(x, OUTPUT)));
	move(x, "elsewhere/mine", OUTPUT);
	restore(x);
	reads(x, OUTPUT, "kept=1\n");
	assert_int_equal(count_names(x, "quarantine"), 1);
	assert_non_null(strstr(x->f.list[0].detail, "it is kept as "));
}

static void
a_child_without_the_bytes_puts_the_names_back(void **state)
{
	struct scratch *x = *state;
	struct before b = begin(x);
	int status;
	pid_t child;

	assert_int_equal(snapshot_reserve(x->s, 0, 4096, &x->e), 0);
	move(x, "work/temp", "elsewhere/moved");
	must(unlink(at(x, "elsewhere/moved/_runner_file_commands/set_env_11d0")));
	must(unlink(at(x, "elsewhere/moved/_runner_file_commands/step_summary_11d0")));
	child = fork();
	if (child == 0)
		_exit(snapshot_restore_names(x->s, &x->f, &x->e) == 0 ? 0 : 1);
	must(waitpid(child, &status, 0));
	assert_int_equal(status, 0);
	assert_int_equal(inode(x, OUTPUT), b.output);
	reads(x, ENV, "");
	reads(x, SUMMARY, "# so far\n");
}

static int
new_mount_namespace(void)
{
	if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* Run it in a child, whose mount namespace goes with it; 77 says that it can't have one. */
static void
in_child(struct scratch *x, int (*run)(struct scratch *))
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(run(x));
	must(waitpid(child, &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("skipped: no mount namespaces here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static int
remove_a_file_with_two_mounts(struct scratch *x)
{
	char output[256], alias[256];
	const struct guard_request requests[] = {{alias, "--guard"}, {output, "GITHUB_OUTPUT"}};

	if (new_mount_namespace() != 0 ||
	    mount(at(x, COMMANDS), at(x, "elsewhere/file_commands"), NULL, MS_BIND, NULL) != 0)
		return 77;
	snprintf(output, sizeof output, "%s", at(x, OUTPUT));
	snprintf(alias, sizeof alias, "%s", at(x, "elsewhere/file_commands/set_output_11d0"));
	if (take_snapshot(&x->s, requests, 2, false, &x->e) != 0 ||
	    snapshot_reserve(x->s, 0, 4096, &x->e) != 0)
		return 1;
	must(unlink(output));
	if (snapshot_restore(x->s, &x->f, &x->e) != 0)
		return 2;
	reads(x, OUTPUT, "kept=1\n");
	reads(x, "elsewhere/file_commands/set_output_11d0", "kept=1\n");
	return count_names(x, "quarantine") == 0 ? 0 : 3;
}

static void
one_file_by_two_mounts_is_made_anew_once(void **state)
{
	dir(*state, "elsewhere/file_commands");
	in_child(*state, remove_a_file_with_two_mounts);
}

/* The guarded directory is a mount point here, and a leg whose namespace lacks it moves it. */
static int
move_a_mount_point(struct scratch *x)
{
	char output[256];
	const struct guard_request request = {output, "GITHUB_OUTPUT"};
	int parent;

	if (new_mount_namespace() != 0 ||
	    mount(at(x, COMMANDS), at(x, "elsewhere/file_commands"), NULL, MS_BIND, NULL) != 0)
		return 77;
	parent = open(at(x, "elsewhere"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(output, sizeof output, "%s", at(x, "elsewhere/file_commands/set_output_11d0"));
	if (take_snapshot(&x->s, &request, 1, false, &x->e) != 0)
		return 1;
	if (elsewhere_rename(parent, "file_commands", parent, "moved", 0) != 0)
		return 2;
	dir(x, "elsewhere/file_commands");
	put(x, "elsewhere/file_commands/set_output_11d0", "lane-class=ok\n");
	if (snapshot_restore(x->s, &x->f, &x->e) != 0)
		return 3;
	reads(x, "elsewhere/file_commands/set_output_11d0", "kept=1\n");
	if (inode(x, "elsewhere/file_commands") != inode(x, COMMANDS))
		return 4;
	return finding_of(x, FINDING_PATH_MOVED, "elsewhere/file_commands") != NULL ? 0 : 5;
}

static void
a_mount_point_that_was_moved_from_outside_its_namespace_comes_back(void **state)
{
	dir(*state, "elsewhere/file_commands");
	in_child(*state, move_a_mount_point);
}

#define promise(name) cmocka_unit_test_setup_teardown(name, scratch_open, scratch_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    promise(nothing_is_found_where_nothing_was_done),
	    promise(a_directory_that_was_moved_away_comes_back),
	    promise(a_forged_directory_is_swapped_for_the_original),
	    promise(a_moved_parent_comes_back),
	    promise(a_moved_grandparent_comes_back),
	    promise(every_ancestor_moved_at_once_comes_back),
	    promise(the_original_is_found_below_the_forged_one),
	    promise(a_parent_moved_below_its_child_comes_back),
	    promise(a_child_in_its_parents_place_with_the_parent_in_it_comes_back),
	    promise(a_child_and_its_grandparent_swapped_come_back),
	    promise(a_symbolic_link_to_the_moved_directory_is_not_the_directory),
	    promise(a_fifo_in_a_directorys_place_does_not_block),
	    promise(a_file_replaced_by_another_comes_back),
	    promise(a_file_replaced_by_a_symbolic_link_comes_back),
	    promise(a_file_replaced_by_a_fifo_comes_back),
	    promise(a_file_replaced_by_a_full_directory_comes_back),
	    promise(two_files_swapped_come_back),
	    promise(files_rotated_among_steps_come_back),
	    promise(a_removed_file_is_made_anew),
	    promise(a_removed_file_is_made_anew_from_its_spare),
	    promise(a_removed_directory_is_made_anew_with_all_that_was_in_it),
	    promise(a_removed_directory_takes_back_files_that_still_exist),
	    promise(a_removed_chain_is_made_anew),
	    promise(ancestors_without_any_permission_are_opened_and_closed_again),
	    promise(moved_directories_without_any_permission_come_back),
	    promise(a_directory_beyond_any_path_comes_back),
	    promise(a_directory_beyond_any_path_is_found_among_30000_others),
	    promise(a_file_beyond_any_path_gets_its_name_back_and_the_other_is_reported),
	    promise(a_name_with_a_newline_and_deleted_in_it_is_found),
	    promise(a_hard_link_is_reported_as_what_could_not_be_undone),
	    promise(a_file_left_with_another_name_only_gets_its_own_back),
	    promise(both_names_of_an_allowed_hard_link_come_back),
	    promise(a_symbolic_link_on_the_way_that_was_replaced_comes_back),
	    promise(a_symbolic_link_on_the_way_that_was_removed_is_made_anew),
	    promise(an_older_file_in_a_guarded_ones_place_is_kept),
	    promise(a_child_without_the_bytes_puts_the_names_back),
	    promise(one_file_by_two_mounts_is_made_anew_once),
	    promise(a_mount_point_that_was_moved_from_outside_its_namespace_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
