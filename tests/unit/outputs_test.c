/* outputs: whatever is published, the runner reads back exactly that, lane-class last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/grammar.h"
#include "guard/outputs.h"
#include "guard/random.h"
#include "tests/unit/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COUNT(list) (sizeof list / sizeof list[0])

enum { PAIRS = 32 };

/* This definition is the one that the program gets: its first words can be scripted. */
static int scripted; /* that many calls give bytes 0, 1, 2, ... */
static int asked;    /* calls so far */

int
random_fill(void *buffer, size_t size)
{
	asked++;
	if (scripted < 0) {
		errno = ENOSYS;
		return -1;
	}
	if (scripted > 0) {
		scripted--;
		for (size_t i = 0; i < size; i++)
			((unsigned char *)buffer)[i] = (unsigned char)i;
		return 0;
	}
	assert_int_equal(getrandom(buffer, size, 0), size);
	return 0;
}

static const char scripted_delimiter[] = "ghadelimiter_000102030405060708090a0b0c0d0e0f";

struct published {
	char *block;
	size_t size;
	struct runner_pair pairs[PAIRS];
	int n;
};

static void
publish(struct published *p, const struct output *list, size_t n, const struct outputs_facts *facts)
{
	struct error e = {0};

	assert_int_equal(outputs_render(list, n, facts, &p->block, &p->size, &e), 0);
	assert_true(p->size <= outputs_bound(list, n));
	assert_int_equal(grammar_check("block", p->block, p->size, &e), 0);
	p->n = runner_read(p->block, p->size, p->pairs, PAIRS);
	assert_int_equal(p->n, n + 4);
}

static void
expect(const struct published *p, const char *name, const char *value)
{
	const struct runner_pair *pair = runner_output(p->pairs, p->n, name);

	assert_non_null(pair);
	assert_int_equal(pair->value_size, strlen(value));
	assert_memory_equal(pair->value, value, pair->value_size);
}

static void
the_facts_are_published_and_the_class_is_last(void **state)
{
	const struct outputs_facts facts = {
	    .exit_code = 120, .tampered = true, .reaped = false, .lane = LANE_TAMPERED};
	struct published p;

	(void)state;
	publish(&p, NULL, 0, &facts);
	expect(&p, "exit-code", "120");
	expect(&p, "tampered", "true");
	expect(&p, "reaped", "false");
	expect(&p, "lane-class", "tampered");
	assert_memory_equal(p.pairs[p.n - 1].name, "lane-class", 10);
	free(p.block);
}

static void
the_longest_facts_fit_the_bound(void **state)
{
	const struct outputs_facts facts = {.exit_code = -2147483647 - 1,
	    .tampered = false,
	    .reaped = true,
	    .lane = LANE_CREDIT_STOP};
	struct published p;

	(void)state;
	publish(&p, NULL, 0, &facts);
	expect(&p, "exit-code", "-2147483648");
	expect(&p, "tampered", "false");
	expect(&p, "reaped", "true");
	expect(&p, "lane-class", "credit-stop");
	free(p.block);
}

static void
any_value_is_read_back_exactly(void **state)
{
	static const char *const values[] = {"", "x", "\n", "\n\n\n", "a\n", "\na", "a\nb\n\n",
	    "\r", "a\r\nb\r\n", "a=b", "lane-class=ok", "x<<E\ny\nE", "x<<ghadelimiter_\n",
	    "ghadelimiter_", "\nghadelimiter_00000000000000000000000000000000\nlane-class=ok\n",
	    "::set-output name=a::b", "\xff\xfe\x80", "\xc3\xa9 \xe2\x82\xac", " \t ", "'\"`$(x)",
	    "\x1b[0m"};
	struct output list[COUNT(values)];
	char names[COUNT(values)][8];
	const struct outputs_facts facts = {.lane = LANE_OK};
	struct published p;

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		snprintf(names[i], sizeof names[i], "n%zu", i);
		list[i] = (struct output){.name = names[i], .value = values[i]};
	}
	publish(&p, list, COUNT(list), &facts);
	for (size_t i = 0; i < COUNT(values); i++)
		expect(&p, names[i], values[i]);
	free(p.block);
}

static void
the_last_entry_of_a_name_is_the_launchers(void **state)
{
	/* The command line refuses such a name; if it did not, it would still lose. */
	struct output list[] = {{(char *)"LANE-class", "ok"}};
	const struct outputs_facts facts = {.exit_code = 1, .lane = LANE_ERROR};
	struct published p;

	(void)state;
	publish(&p, list, 1, &facts);
	expect(&p, "lane-class", "error");
	free(p.block);
}

static void
each_entry_has_a_fresh_delimiter_of_128_bits(void **state)
{
	const struct outputs_facts facts = {.lane = LANE_OK};
	char seen[8][64];
	struct published p;
	size_t n = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		publish(&p, NULL, 0, &facts);
		for (int i = 0; i < p.n; i++) {
			const char *at = p.pairs[i].name + p.pairs[i].name_size + 2;
			size_t size = strcspn(at, "\n");

			assert_int_equal(size, strlen(scripted_delimiter));
			memcpy(seen[n], at, size);
			seen[n][size] = '\0';
			assert_int_equal(
			    strspn(strchr(seen[n++], '_') + 1, "0123456789abcdef"), 32);
		}
		free(p.block);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(seen[i], seen[k]);
}

static void
a_delimiter_that_the_entry_holds_is_not_used(void **state)
{
	struct output in_value[] = {{(char *)"a", scripted_delimiter}};
	struct output in_name[] = {{(char *)scripted_delimiter, "a"}};
	const struct outputs_facts facts = {.lane = LANE_OK};
	struct published p;

	(void)state;
	scripted = 2;
	asked = 0;
	publish(&p, in_value, 1, &facts);
	expect(&p, "a", scripted_delimiter);
	assert_int_equal(asked, 5 + 2);
	free(p.block);
	scripted = 1;
	asked = 0;
	publish(&p, in_name, 1, &facts);
	expect(&p, scripted_delimiter, "a");
	assert_int_equal(asked, 5 + 1);
	free(p.block);
}

static void
without_random_bytes_there_are_no_outputs(void **state)
{
	const struct output list[] = {{(char *)"a", "b"}};
	const struct outputs_facts facts = {.lane = LANE_OK};
	struct error e = {0};
	char *block = NULL;
	size_t size;

	(void)state;
	scripted = -1;
	assert_int_equal(outputs_render(list, 1, &facts, &block, &size, &e), -1);
	assert_null(block);
	assert_int_equal(e.errnum, ENOSYS);
	scripted = 0;
}

static void
names_of_the_launcher_are_reserved_in_any_case(void **state)
{
	(void)state;
	assert_true(outputs_reserved("exit-code"));
	assert_true(outputs_reserved("Tampered"));
	assert_true(outputs_reserved("REAPED"));
	assert_true(outputs_reserved("lane-CLASS"));
	assert_false(outputs_reserved("lane-class "));
	assert_false(outputs_reserved("lane"));
	assert_false(outputs_reserved(""));
}

static void
names_that_come_back_the_same_are_accepted(void **state)
{
	static const char *const names[] = {"a", "lane_class", " a ", "a b", "a<b", "<a", "\t",
	    "\xc3\xa9", "a\xef\xbb\xbf", "-", "\"a\""};
	const struct outputs_facts facts = {.lane = LANE_OK};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct output list[] = {{(char *)names[i], "value"}};
		struct error e = {0};
		struct published p;

		assert_int_equal(outputs_check_name(names[i], "--set-output", &e), 0);
		publish(&p, list, 1, &facts);
		expect(&p, names[i], "value");
		free(p.block);
	}
}

static void
names_that_would_come_back_as_others_are_refused(void **state)
{
	static const char *const names[] = {"", "=", "a=b", "a<<b", "<<", "a<", "<", "a\nb", "\n",
	    "a\r", "\r", "a\xff", "\xef\xbf\xbd", "\xef\xbb\xbf-a"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct error e = {0};

		assert_int_equal(outputs_check_name(names[i], "--set-output", &e), -1);
		assert_non_null(strstr(e.what, "--set-output"));
		assert_string_not_equal(e.cure, "");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_facts_are_published_and_the_class_is_last),
	    cmocka_unit_test(the_longest_facts_fit_the_bound),
	    cmocka_unit_test(any_value_is_read_back_exactly),
	    cmocka_unit_test(the_last_entry_of_a_name_is_the_launchers),
	    cmocka_unit_test(each_entry_has_a_fresh_delimiter_of_128_bits),
	    cmocka_unit_test(a_delimiter_that_the_entry_holds_is_not_used),
	    cmocka_unit_test(without_random_bytes_there_are_no_outputs),
	    cmocka_unit_test(names_of_the_launcher_are_reserved_in_any_case),
	    cmocka_unit_test(names_that_come_back_the_same_are_accepted),
	    cmocka_unit_test(names_that_would_come_back_as_others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
