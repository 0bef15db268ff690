/* bounded: writes that come to an end, over real pipes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void
what_has_room_is_written_when_the_time_is_over(void **state)
{
	int ends[2];
	char got[8];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(bounded_write_all(ends[1], "text", 4, 0), 0);
	assert_int_equal(read(ends[0], got, sizeof got), 4);
	assert_memory_equal(got, "text", 4);
	close(ends[0]);
	close(ends[1]);
}

/* More than the pipe takes: the write itself waits, and is interrupted. */
static void
a_reader_that_takes_nothing_is_given_up(void **state)
{
	static char block[1 << 20];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(bounded_write_all(ends[1], block, sizeof block, bounded_now() + 1), -1);
	assert_int_equal(errno, ETIMEDOUT);
	assert_int_equal(bounded_write_all(ends[1], block, sizeof block, 0), -1);
	assert_int_equal(errno, ETIMEDOUT);
	close(ends[0]);
	close(ends[1]);
}

static void
a_pending_signal_ends_the_wait(void **state)
{
	static char block[1 << 20];
	sigset_t set;
	int ends[2], got;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(bounded_write_all(ends[1], block, sizeof block, BOUNDED_NEVER), -1);
	assert_int_equal(errno, ETIMEDOUT);
	assert_int_equal(sigwait(&set, &got), 0);
	close(ends[0]);
	close(ends[1]);
}

static void
a_reader_that_is_gone_is_an_error(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(bounded_write_all(ends[1], "text", 4, BOUNDED_NEVER), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_has_room_is_written_when_the_time_is_over),
	    cmocka_unit_test(a_reader_that_takes_nothing_is_given_up),
	    cmocka_unit_test(a_pending_signal_ends_the_wait),
	    cmocka_unit_test(a_reader_that_is_gone_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
