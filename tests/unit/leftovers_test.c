/* leftovers: what another process holds on a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/cleanup.h"
#include "guard/leftovers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];
static char file[80], other[80];

static int
make(void **state)
{
	(void)state;
	snprintf(directory, sizeof directory, "/tmp/leftovers-XXXXXX");
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(file, sizeof file, "%s/file", directory);
	snprintf(other, sizeof other, "%s/other", directory);
	AUTO_FD int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? -1 : 0;
}

static int
clean(void **state)
{
	(void)state;
	(void)unlink(file);
	(void)unlink(other);
	return rmdir(directory);
}

/* Another process that has opened the file with flags and done hold() to it; killed by release(). */
static pid_t
holder(int flags, int (*hold)(int fd))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(file, flags | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd >= 0 && (hold == NULL || hold(fd) == 0))
			(void)!write(ready[1], "r", 1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void
release(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
expect(size_t count, enum leftover_kind kind)
{
	struct leftovers l = {0};

	assert_int_equal(leftovers_look_at(&l, file, true), 0);
	assert_int_equal(l.count, count);
	if (count > 0) {
		assert_int_equal(l.list[0].kind, kind);
		assert_true(l.list[0].before);
		assert_string_equal(l.list[0].path, file);
	}
	leftovers_free(&l);
}

static void
nobody_holds_it(void **state)
{
	(void)state;
	expect(0, 0);
	expect(0, 0); /* and looking leaves nothing behind */
}

static void
a_writer_is_seen(void **state)
{
	pid_t pid = holder(O_WRONLY, NULL);

	(void)state;
	expect(1, LEFTOVER_WRITER);
	release(pid);
	expect(0, 0);
}

static void
a_reader_is_none(void **state)
{
	pid_t pid = holder(O_RDONLY, NULL);

	(void)state;
	expect(0, 0);
	release(pid);
}

static int
take_shared_flock(int fd)
{
	return flock(fd, LOCK_SH);
}

static int
take_record_lock(int fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 1};

	return fcntl(fd, F_SETLK, &lock);
}

static void
a_flock_is_seen_through_a_reader(void **state)
{
	pid_t pid = holder(O_RDONLY, take_shared_flock);

	(void)state;
	expect(1, LEFTOVER_LOCK);
	release(pid);
	expect(0, 0);
}

static void
a_record_lock_is_seen(void **state)
{
	pid_t pid = holder(O_RDONLY, take_record_lock);

	(void)state;
	expect(1, LEFTOVER_LOCK);
	release(pid);
}

static void
another_name_is_seen(void **state)
{
	(void)state;
	assert_int_equal(link(file, other), 0);
	expect(1, LEFTOVER_LINK);
	assert_int_equal(unlink(other), 0);
	expect(0, 0);
}

static void
what_is_no_regular_file_is_passed_over(void **state)
{
	struct leftovers l = {0};

	(void)state;
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(leftovers_look_at(&l, other, false), 0);
	assert_int_equal(leftovers_look_at(&l, directory, false), 0);
	assert_int_equal(leftovers_look_at(&l, "/nonexistent/file", false), 0);
	assert_int_equal(l.count, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(nobody_holds_it, make, clean),
	    cmocka_unit_test_setup_teardown(a_writer_is_seen, make, clean),
	    cmocka_unit_test_setup_teardown(a_reader_is_none, make, clean),
	    cmocka_unit_test_setup_teardown(a_flock_is_seen_through_a_reader, make, clean),
	    cmocka_unit_test_setup_teardown(a_record_lock_is_seen, make, clean),
	    cmocka_unit_test_setup_teardown(another_name_is_seen, make, clean),
	    cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_passed_over, make, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
