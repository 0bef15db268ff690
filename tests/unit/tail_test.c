/* tail: the last bytes of what passes through pipes, with nothing missing and nothing twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/tail.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
fill(char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 7 + i / 251);
}

/* The kept bytes are the end of the stream's first `total`, and as many as were promised. */
static void
ends_with(const struct tail *t, const char *stream, size_t total)
{
	size_t least = total < TAIL_BYTES ? total : TAIL_BYTES;

	assert_true(t->used >= least && t->used <= total);
	assert_memory_equal(t->bytes, stream + total - t->used, t->used);
}

/* Through two pipes, moving `step` at a time of what was looked at: a reader that is slow. */
static void
pass(size_t total, size_t piece, size_t step)
{
	char *stream = malloc(total), *sink = malloc(total);
	struct tail t = {0};
	size_t written = 0, passed = 0, unseen;
	int in[2], out[2];

	fill(stream, total);
	assert_int_equal(pipe2(in, O_NONBLOCK), 0);
	assert_int_equal(pipe2(out, O_NONBLOCK), 0);
	while (passed < total) {
		size_t more = total - written < piece ? total - written : piece, peeked;
		ssize_t n = more > 0 ? write(in[1], stream + written, more) : 0;

		written += n > 0 ? (size_t)n : 0;
		unseen = tail_unseen(&t, in[0], total);
		peeked = unseen == 0 ? tail_peek(&t, in[0], total) : unseen;
		assert_true(peeked > 0);
		n = splice(
		    in[0], NULL, out[1], NULL, peeked < step ? peeked : step, SPLICE_F_NONBLOCK);
		assert_true(n > 0);
		if (unseen == 0)
			tail_moved(&t, peeked, (size_t)n);
		assert_int_equal(read(out[0], sink + passed, (size_t)n), n);
		passed += (size_t)n;
	}
	assert_memory_equal(sink, stream, total);
	ends_with(&t, stream, total);
	tail_free(&t);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	free(stream);
	free(sink);
}

static void
streams_of_all_sizes_keep_their_end(void **state)
{
	(void)state;
	pass(1, 1, 1);
	pass(1000, 100, 1000);
	pass(TAIL_BYTES, 4096, 4096);
	pass(TAIL_BYTES + 1, 1, 4096);
	pass(300000, 65536, 65536);
	pass(300000, 1000, 65536);
}

static void
a_slow_reader_makes_nothing_appear_twice(void **state)
{
	(void)state;
	pass(1000, 1000, 3);
	pass(100000, 65536, 1000);
	pass(200000, 65536, 40000);
}

static void
bytes_that_were_read_are_kept_as_well(void **state)
{
	static char stream[5 * TAIL_BYTES];
	struct tail t = {0};

	(void)state;
	fill(stream, sizeof stream);
	tail_add(&t, stream, 10);
	ends_with(&t, stream, 10);
	tail_add(&t, stream + 10, 3 * TAIL_BYTES);
	ends_with(&t, stream, 3 * TAIL_BYTES + 10);
	for (size_t at = 3 * TAIL_BYTES + 10; at + 100 <= sizeof stream; at += 100) {
		tail_add(&t, stream + at, 100);
		ends_with(&t, stream, at + 100);
	}
	tail_free(&t);
}

static void
an_empty_pipe_says_nothing(void **state)
{
	struct tail t = {0};
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	assert_int_equal(tail_peek(&t, p[0], 100), 0);
	close(p[1]);
	assert_int_equal(tail_peek(&t, p[0], 100), 0);
	close(p[0]);
	assert_int_equal(t.used, 0);
	tail_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(streams_of_all_sizes_keep_their_end),
	    cmocka_unit_test(a_slow_reader_makes_nothing_appear_twice),
	    cmocka_unit_test(bytes_that_were_read_are_kept_as_well),
	    cmocka_unit_test(an_empty_pipe_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
