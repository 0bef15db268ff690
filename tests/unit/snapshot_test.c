/* What a snapshot records, what it shows, and what it refuses. */
#include "tests/unit/scratch.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

static int
take_one(struct scratch *x, const char *path, bool allow_hard_links)
{
	const struct guard_request request = {path, "GITHUB_OUTPUT"};

	return take_snapshot(&x->s, &request, 1, allow_hard_links, &x->e);
}

/* Refused, in words that name the source and hold `why`, and with a cure. */
static void
refused(struct scratch *x, const char *path, const char *why)
{
	assert_int_equal(take_one(x, path, false), -1);
	assert_null(x->s);
	if (strstr(x->e.what, why) == NULL && strstr(strerror(x->e.errnum), why) == NULL)
		fail_msg("'%s' says nothing of '%s'", x->e.what, why);
	assert_non_null(strstr(x->e.what, "GITHUB_OUTPUT"));
	assert_string_not_equal(x->e.cure, "");
	assert_null(strchr(x->e.what, '\n'));
	x->e = (struct error){0};
}

static void
it_holds_the_bytes_and_where_they_came_from(void **state)
{
	struct scratch *x = *state;
	const void *bytes;
	uint8_t digest[16];
	size_t size;

	take(x);
	bytes = snapshot_bytes(x->s, snapshot_index(x->s, 0), &size);
	assert_int_equal(size, 7);
	assert_memory_equal(bytes, "kept=1\n", 7);
	assert_string_equal(snapshot_path(x->s, 0), at(x, OUTPUT));
	assert_false(snapshot_is_neighbour(x->s, 0));
	assert_int_equal(snapshot_stat(x->s, 0)->st_ino, inode(x, OUTPUT));
	assert_null(snapshot_bytes(x->s, snapshot_index(x->s, 1), &size));
	assert_int_equal(size, 0);
	/* of nothing: as xxhsum -H2 prints it */
	snapshot_fingerprint(x->s, snapshot_index(x->s, 1), digest);
	assert_memory_equal(
	    digest, "\x99\xaa\x06\xd3\x01\x47\x98\xd8\x60\x01\xc3\x24\x46\x8d\x49\x7f", 16);
}

static void
the_neighbours_in_a_runners_directory_are_recorded_too(void **state)
{
	struct scratch *x = *state;
	struct stat st;

	must(symlink("set_output_11d0", at(x, COMMANDS "/link")));
	must(mkfifo(at(x, COMMANDS "/fifo"), 0600));
	take(x);
	assert_int_equal(snapshot_count(x->s), 4);
	assert_true(snapshot_is_neighbour(x->s, 2));
	assert_true(snapshot_is_neighbour(x->s, 3));
	must(stat(at(x, OTHER), &st));
	assert_true(snapshot_has_inode(x->s, &st));
	must(stat(at(x, COMMANDS), &st));
	assert_true(snapshot_has_inode(x->s, &st));
	must(stat(at(x, "work/temp"), &st));
	assert_false(snapshot_has_inode(x->s, &st));
}

static void
neighbours_in_any_other_directory_are_nobodys_business(void **state)
{
	struct scratch *x = *state;

	put(x, "elsewhere/a", "");
	put(x, "elsewhere/b", "");
	assert_int_equal(take_one(x, at(x, "elsewhere/a"), false), 0);
	assert_int_equal(snapshot_count(x->s), 1);
}

static void
the_leg_may_only_read_guarded_directories_and_files_outside_of_them(void **state)
{
	struct scratch *x = *state;
	char output[256], env[256], other[256];
	const struct guard_request requests[] = {{output, "O"}, {env, "E"}, {other, "--guard"}};
	struct view_paths v = {0};

	put(x, "elsewhere/a", "");
	snprintf(output, sizeof output, "%s",
	    at(x, "elsewhere/../work//temp/./_runner_file_commands/"
		  "set_output_11d0"));
	snprintf(env, sizeof env, "%s", at(x, ENV));
	snprintf(other, sizeof other, "%s", at(x, "elsewhere/a"));
	assert_int_equal(take_snapshot(&x->s, requests, 3, false, &x->e), 0);
	assert_int_equal(snapshot_read_only_paths(x->s, &v, &x->e), 0);
	assert_int_equal(v.count, 2);
	assert_string_equal(v.list[0].path, at(x, COMMANDS));
	assert_int_equal(v.list[0].ino, inode(x, COMMANDS));
	assert_string_equal(v.list[1].path, at(x, "elsewhere/a"));
	assert_int_equal(v.list[1].ino, inode(x, "elsewhere/a"));
	view_paths_free(&v);
}

static void
one_file_named_twice_is_one_file(void **state)
{
	struct scratch *x = *state;
	char a[256], b[256];
	const struct guard_request requests[] = {{a, "GITHUB_OUTPUT"}, {b, "--guard"}};

	snprintf(a, sizeof a, "%s", at(x, OUTPUT));
	snprintf(b, sizeof b, "%s", at(x, "elsewhere/../" OUTPUT));
	assert_int_equal(take_snapshot(&x->s, requests, 2, false, &x->e), 0);
	assert_int_equal(snapshot_index(x->s, 0), snapshot_index(x->s, 1));
}

static void
a_relative_path_starts_at_the_working_directory(void **state)
{
	struct scratch *x = *state;
	char cwd[4096];

	assert_non_null(getcwd(cwd, sizeof cwd));
	must(chdir(at(x, "work/temp")));
	assert_int_equal(take_one(x, "_runner_file_commands/set_output_11d0", false), 0);
	must(chdir(cwd));
	assert_string_equal(snapshot_path(x->s, 0), at(x, OUTPUT));
}

static void
a_working_directory_that_is_gone_is_refused(void **state)
{
	struct scratch *x = *state;
	char cwd[4096];

	assert_non_null(getcwd(cwd, sizeof cwd));
	dir(x, "gone");
	must(chdir(at(x, "gone")));
	must(rmdir(at(x, "gone")));
	refused(x, "file", "working directory");
	must(chdir(cwd));
}

static void
any_byte_may_be_in_a_path(void **state)
{
	struct scratch *x = *state;
	static const char name[] = "elsewhere/ a\n\"b'\\\xff\xfe\x1b$(x)";

	put(x, name, "v");
	assert_int_equal(take_one(x, at(x, name), false), 0);
	assert_string_equal(snapshot_path(x->s, 0), at(x, name));
	must(unlink(at(x, name)));
	restore(x);
	reads(x, name, "v");
}

static void
a_path_longer_than_any_system_call_takes_can_be_guarded(void **state)
{
	struct scratch *x = *state;
	char name[201], path[8000];
	int fd = open(at(x, "elsewhere"), O_PATH | O_CLOEXEC), file;
	size_t n = (size_t)snprintf(path, sizeof path, "%s", at(x, "elsewhere"));

	memset(name, 'd', 200);
	name[200] = '\0';
	for (int i = 0; i < 30; i++) {
		int below;

		must(mkdirat(fd, name, 0755));
		must(below = openat(fd, name, O_PATH | O_CLOEXEC));
		close(fd);
		fd = below;
		n += (size_t)snprintf(path + n, sizeof path - n, "/%s", name);
	}
	must(file = openat(fd, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	close(file);
	snprintf(path + n, sizeof path - n, "/f");
	assert_int_equal(take_one(x, path, false), 0);
	must(unlinkat(fd, "f", 0));
	restore(x);
	assert_int_equal(faccessat(fd, "f", F_OK, 0), 0);
	close(fd);
}

static void
a_link_on_the_way_is_followed_and_guarded_as_what_it_leads_to(void **state)
{
	struct scratch *x = *state;

	must(symlink("../work", at(x, "elsewhere/relative")));
	must(symlink(at(x, "elsewhere/relative/temp"), at(x, "elsewhere/absolute")));
	assert_int_equal(
	    take_one(
		x, at(x, "elsewhere/absolute/../temp/_runner_file_commands/set_env_11d0"), false),
	    0);
	assert_string_equal(snapshot_path(x->s, 0), at(x, ENV));
}

static void
what_is_no_regular_file_is_refused(void **state)
{
	struct scratch *x = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	refused(x, "", "empty");
	refused(x, at(x, COMMANDS), "a directory");
	refused(x, at(x, COMMANDS "/."), "a directory");
	refused(x, "/", "a directory");
	refused(x, at(x, "work/missing"), "missing");
	refused(x, at(x, "work/missing/file"), "missing");
	refused(x, at(x, OUTPUT "/file"), "Not a directory");
	refused(x, at(x, OUTPUT "/"), "Not a directory");
	refused(x, "/dev/null", "a device");
	must(symlink(at(x, OUTPUT), at(x, "elsewhere/link")));
	refused(x, at(x, "elsewhere/link"), "a symbolic link");
	must(symlink("loop", at(x, "elsewhere/loop")));
	refused(x, at(x, "elsewhere/loop/file"), "symbolic links");
	must(mkfifo(at(x, "elsewhere/fifo"), 0600));
	refused(x, at(x, "elsewhere/fifo"), "a FIFO");
	snprintf(address.sun_path, sizeof address.sun_path, "%s", at(x, "elsewhere/socket"));
	must(bind(fd, (struct sockaddr *)&address, sizeof address));
	refused(x, at(x, "elsewhere/socket"), "a socket");
	close(fd);
}

static void
a_message_about_a_hostile_name_is_one_printable_line(void **state)
{
	struct scratch *x = *state;

	refused(x, at(x, "elsewhere/\x1b[2J\n::error::forged"), "cannot follow");
}

static void
a_second_hard_link_is_refused_unless_allowed(void **state)
{
	struct scratch *x = *state;

	must(link(at(x, OUTPUT), at(x, "elsewhere/link")));
	refused(x, at(x, OUTPUT), "hard links");
	assert_int_equal(take_one(x, at(x, OUTPUT), true), 0);
	restore(x);
	assert_int_equal(x->f.count, 0);
}

static void
a_file_that_cannot_be_written_is_refused(void **state)
{
	struct scratch *x = *state;

	if (geteuid() == 0) {
		print_message("skipped: root can write everything\n");
		skip();
	}
	must(chmod(at(x, OUTPUT), 0444));
	refused(x, at(x, OUTPUT), "cannot record");
}

static void
a_file_of_somebody_else_is_refused(void **state)
{
	struct scratch *x = *state;

	if (geteuid() != 0) {
		print_message("skipped: only root can give a file away\n");
		skip();
	}
	must(chown(at(x, OUTPUT), 1002, 1002));
	must(chmod(at(x, OUTPUT), 0666));
	must(chmod(x->root, 0755));
	must(seteuid(1001));
	refused(x, at(x, OUTPUT), "belongs to uid 1002");
	must(seteuid(0));
	assert_int_equal(take_one(x, at(x, OUTPUT), false), 0);
}

static void
a_neighbour_that_cannot_be_read_is_left_out(void **state)
{
	struct scratch *x = *state;

	if (geteuid() == 0) {
		print_message("skipped: root can read everything\n");
		skip();
	}
	must(chmod(at(x, OTHER), 0));
	must(chmod(at(x, SUMMARY), 0444));
	take(x);
	assert_int_equal(snapshot_count(x->s), 3);
	must(chmod(at(x, COMMANDS), 0311));
	snapshot_free(x->s);
	take(x);
	assert_int_equal(snapshot_count(x->s), 2);
}

static void
many_neighbours_leave_descriptors_for_the_launcher(void **state)
{
	struct scratch *x = *state;
	struct rlimit limit, less;
	char name[128];
	int fd;

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, COMMANDS "/set_output_%d", i);
		put(x, name, "");
	}
	must(getrlimit(RLIMIT_NOFILE, &limit));
	less = limit;
	less.rlim_cur = 256;
	must(setrlimit(RLIMIT_NOFILE, &less));
	take(x);
	must(fd = open("/dev/null", O_RDONLY | O_CLOEXEC));
	assert_true(fd < 160);
	close(fd);
	must(setrlimit(RLIMIT_NOFILE, &limit));
	/* The one of the same step is among those that are held. */
	must(unlink(at(x, SUMMARY)));
	restore(x);
	reads(x, SUMMARY, "# so far\n");
}

static void
no_descriptor_is_left_open_and_none_is_inherited(void **state)
{
	struct scratch *x = *state;
	int before, after;
	bool open_before[64];

	must(before = open("/dev/null", O_RDONLY | O_CLOEXEC));
	close(before);
	for (int i = 0; i < 64; i++)
		open_before[i] = fcntl(before + i, F_GETFD) >= 0;
	take(x);
	assert_int_equal(snapshot_reserve(x->s, 0, 4096, &x->e), 0);
	for (int i = 0; i < 64; i++) {
		int flags = open_before[i] ? -1 : fcntl(before + i, F_GETFD);

		assert_true(flags < 0 || (flags & FD_CLOEXEC) != 0);
	}
	must(unlink(at(x, OUTPUT)));
	restore(x);
	snapshot_free(x->s);
	x->s = NULL;
	must(after = open("/dev/null", O_RDONLY | O_CLOEXEC));
	close(after);
	assert_int_equal(after, before);
}

static void
a_large_file_is_held_whole(void **state)
{
	struct scratch *x = *state;
	const size_t size = (size_t)64 << 20;
	unsigned char block[4096];
	const unsigned char *bytes;
	size_t held;
	int fd;

	must(fd = open(at(x, OUTPUT), O_WRONLY | O_TRUNC | O_CLOEXEC));
	for (size_t i = 0; i < size; i += sizeof block) {
		memset(block, (int)(i / sizeof block % 251), sizeof block);
		assert_int_equal(write(fd, block, sizeof block), sizeof block);
	}
	close(fd);
	take(x);
	bytes = snapshot_bytes(x->s, 0, &held);
	assert_int_equal(held, size);
	for (size_t i = 0; i < size; i += sizeof block)
		assert_int_equal(bytes[i], i / sizeof block % 251);
	must(truncate(at(x, OUTPUT), (off_t)size - 1));
	restore(x);
	found(x, FINDING_TRUNCATED, OUTPUT);
}

static void
a_file_that_is_not_as_long_as_it_says_is_refused(void **state)
{
	/* Of size 0 and not empty, as one is that grows while it is read. */
	refused(*state, "/proc/self/comm", "changed while it was read");
}

static void
a_file_too_large_to_copy_is_refused(void **state)
{
	struct scratch *x = *state;

	must(truncate(at(x, ENV), ((off_t)1 << 30) + 1));
	refused(x, at(x, ENV), "larger than 1024 MiB");
}

#define promise(name) cmocka_unit_test_setup_teardown(name, scratch_open, scratch_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    promise(it_holds_the_bytes_and_where_they_came_from),
	    promise(the_neighbours_in_a_runners_directory_are_recorded_too),
	    promise(neighbours_in_any_other_directory_are_nobodys_business),
	    promise(the_leg_may_only_read_guarded_directories_and_files_outside_of_them),
	    promise(one_file_named_twice_is_one_file),
	    promise(a_relative_path_starts_at_the_working_directory),
	    promise(a_working_directory_that_is_gone_is_refused),
	    promise(any_byte_may_be_in_a_path),
	    promise(a_path_longer_than_any_system_call_takes_can_be_guarded),
	    promise(a_link_on_the_way_is_followed_and_guarded_as_what_it_leads_to),
	    promise(what_is_no_regular_file_is_refused),
	    promise(a_message_about_a_hostile_name_is_one_printable_line),
	    promise(a_second_hard_link_is_refused_unless_allowed),
	    promise(a_file_that_cannot_be_written_is_refused),
	    promise(a_file_of_somebody_else_is_refused),
	    promise(a_neighbour_that_cannot_be_read_is_left_out),
	    promise(many_neighbours_leave_descriptors_for_the_launcher),
	    promise(no_descriptor_is_left_open_and_none_is_inherited),
	    promise(a_large_file_is_held_whole),
	    promise(a_file_that_is_not_as_long_as_it_says_is_refused),
	    promise(a_file_too_large_to_copy_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
