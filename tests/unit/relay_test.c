/* relay: bytes on their way, over real pipes, files and sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/cleanup.h"
#include "guard/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const char text[] = "the leg's words";
enum { TEXT = sizeof text - 1 };

static void
open_relay(struct relay *r, int to)
{
	struct error e = {0};

	assert_int_equal(relay_open(r, to, &e), 0);
}

static void
say(const struct relay *r, const void *data, size_t size)
{
	assert_int_equal(write(r->leg_end, data, size), size);
}

static void
expect(int fd, const void *data, size_t size)
{
	char *got = malloc(size + 1);

	assert_non_null(got);
	assert_int_equal(read(fd, got, size + 1), size);
	assert_memory_equal(got, data, size);
	free(got);
}

static void
what_is_written_arrives_and_the_end_is_seen(void **state)
{
	struct relay r;
	int to[2];
	uint64_t left = UINT64_MAX;

	(void)state;
	assert_int_equal(pipe(to), 0);
	open_relay(&r, to[1]);
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	say(&r, text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	expect(to[0], text, TEXT);
	assert_int_equal(left, UINT64_MAX - TEXT);
	say(&r, text, TEXT);
	relay_started(&r);
	assert_int_equal(relay_pump(&r, &left), RELAY_END);
	expect(to[0], text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_END);
	relay_close(&r);
	close(to[0]);
	close(to[1]);
}

/* Write to a file in memory through a relay; flags are added to its descriptor. */
static void
to_a_file(int flags)
{
	AUTO_FD int fd = memfd_create("out", MFD_CLOEXEC);
	struct relay r;
	uint64_t left = UINT64_MAX;
	char got[64];

	assert_int_equal(fcntl(fd, F_SETFL, flags), 0);
	open_relay(&r, fd);
	say(&r, text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	say(&r, text, TEXT);
	relay_started(&r);
	assert_int_equal(relay_pump(&r, &left), RELAY_END);
	assert_int_equal(pread(fd, got, sizeof got, 0), 2 * TEXT);
	assert_memory_equal(got, text, TEXT);
	assert_memory_equal(got + TEXT, text, TEXT);
	relay_close(&r);
}

static void
a_file_takes_it(void **state)
{
	(void)state;
	to_a_file(0);
}

static void
a_file_opened_for_appending_takes_it(void **state)
{
	(void)state;
	to_a_file(O_APPEND);
}

/* Fill `to` until it takes no more, then empty it: every byte arrives once, in order. */
static void
through_a_full(int to, int reader)
{
	static unsigned char block[4096], got[65536];
	struct relay r;
	uint64_t left = UINT64_MAX;
	size_t said = 0, heard = 0;
	struct pollfd p[2];
	ssize_t n;

	open_relay(&r, to);
	assert_int_equal(fcntl(r.leg_end, F_SETFL, O_NONBLOCK), 0);
	do { /* until neither the relay nor its pipe has room */
		for (size_t i = 0; i < sizeof block; i++)
			block[i] = (unsigned char)((said + i) % 251);
		n = write(r.leg_end, block, sizeof block);
		said += n > 0 ? (size_t)n : 0;
		assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	} while (n == sizeof block || !r.wants_room);
	assert_int_equal(relay_poll(&r, p), 1);
	assert_int_equal(p[0].fd, r.to);
	assert_int_equal(p[0].events, POLLOUT);
	relay_started(&r);
	while (heard < said) {
		n = read(reader, got, sizeof got);
		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(got[i], (heard + (size_t)i) % 251);
		heard += (size_t)n;
		(void)relay_pump(&r, &left);
	}
	assert_int_equal(relay_pump(&r, &left), RELAY_END);
	relay_close(&r);
}

static void
a_full_pipe_is_waited_for_and_nothing_is_lost(void **state)
{
	int to[2];

	(void)state;
	assert_int_equal(pipe(to), 0);
	through_a_full(to[1], to[0]);
	close(to[0]);
	close(to[1]);
}

static void
a_full_socket_is_waited_for_and_nothing_is_lost(void **state)
{
	int to[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, to), 0);
	through_a_full(to[1], to[0]);
	close(to[0]);
	close(to[1]);
}

static void
the_limit_lets_through_what_is_under_it(void **state)
{
	struct relay r;
	int to[2];
	uint64_t left = TEXT + 3;

	(void)state;
	assert_int_equal(pipe(to), 0);
	open_relay(&r, to[1]);
	say(&r, text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	say(&r, text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_LIMIT);
	assert_int_equal(left, 0);
	expect(to[0], "the leg's wordsthe", TEXT + 3);
	r.discard = true;
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	relay_started(&r);
	assert_int_equal(relay_pump(&r, &left), RELAY_END);
	relay_close(&r);
	close(to[0]);
	close(to[1]);
}

static void
exactly_the_limit_is_not_too_much(void **state)
{
	struct relay r;
	int to[2];
	uint64_t left = TEXT;

	(void)state;
	assert_int_equal(pipe(to), 0);
	open_relay(&r, to[1]);
	say(&r, text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	relay_started(&r);
	assert_int_equal(relay_pump(&r, &left), RELAY_END);
	expect(to[0], text, TEXT);
	relay_close(&r);
	close(to[0]);
	close(to[1]);
}

static void
a_reader_that_went_away_is_noticed_while_the_leg_is_silent(void **state)
{
	struct relay r;
	struct pollfd p[2];
	int to[2];
	uint64_t left = UINT64_MAX;

	(void)state;
	assert_int_equal(pipe(to), 0);
	open_relay(&r, to[1]);
	assert_int_equal(relay_poll(&r, p), 2);
	close(to[0]);
	assert_true(poll(p, 2, 0) > 0);
	assert_int_equal(relay_pump(&r, &left), RELAY_READER_GONE);
	assert_int_equal(errno, EPIPE);
	relay_close(&r);
	close(to[1]);
}

static void
a_reader_that_went_away_is_noticed_when_the_leg_writes(void **state)
{
	struct relay r;
	int to[2];
	uint64_t left = UINT64_MAX;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, to), 0);
	open_relay(&r, to[1]);
	close(to[0]);
	say(&r, text, TEXT);
	assert_int_equal(relay_pump(&r, &left), RELAY_READER_GONE);
	assert_int_equal(errno, EPIPE);
	relay_close(&r);
	close(to[1]);
}

static void
a_leg_that_never_stops_writing_leaves_the_launcher_its_turn(void **state)
{
	AUTO_FD int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	struct relay r;
	uint64_t left = UINT64_MAX;

	(void)state;
	open_relay(&r, null);
	fd_drop(&r.from);
	r.from = fd_take(&zero); /* a source that always has more */
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	r.discard = true;
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	relay_close(&r);
}

/* Somebody who can't be shown to be gone may hold its end for ever. */
static void
what_is_dropped_is_not_waited_for(void **state)
{
	int to[2];
	struct relay r;
	uint64_t left = UINT64_MAX;

	(void)state;
	assert_int_equal(pipe2(to, O_NONBLOCK), 0);
	open_relay(&r, to[1]);
	for (int i = 0; i < 1000 && !r.wants_room; i++) {
		assert_int_equal(write(r.leg_end, "text", 4), 4);
		assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
		while (write(to[1], "full", 4) > 0)
			continue;
	}
	assert_true(r.wants_room);
	r.discard = true;
	assert_int_equal(relay_pump(&r, &left), RELAY_AGAIN);
	assert_false(r.wants_room);
	relay_close(&r);
	close(to[0]);
	close(to[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_arrives_and_the_end_is_seen),
	    cmocka_unit_test(a_file_takes_it),
	    cmocka_unit_test(a_file_opened_for_appending_takes_it),
	    cmocka_unit_test(a_full_pipe_is_waited_for_and_nothing_is_lost),
	    cmocka_unit_test(a_full_socket_is_waited_for_and_nothing_is_lost),
	    cmocka_unit_test(the_limit_lets_through_what_is_under_it),
	    cmocka_unit_test(exactly_the_limit_is_not_too_much),
	    cmocka_unit_test(a_reader_that_went_away_is_noticed_while_the_leg_is_silent),
	    cmocka_unit_test(a_reader_that_went_away_is_noticed_when_the_leg_writes),
	    cmocka_unit_test(a_leg_that_never_stops_writing_leaves_the_launcher_its_turn),
	    cmocka_unit_test(what_is_dropped_is_not_waited_for),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
