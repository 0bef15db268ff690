/* audit/links: which line of a chain is to blame. Lines are made with hashes that are nothing but numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/audit/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 32 };

/* A file: line i of it has the hash i + 1 until something is done to it. */
struct file {
	struct audit_line lines[LINES];
	int hashes[LINES];
	bool unreadable[LINES];
	size_t count;
	int next; /* hash */
};

static void
number(unsigned char *out, size_t size, int n)
{
	memset(out, 0, size);
	memcpy(out, &n, sizeof n);
}

/* The run's next line; 'A', 'B', ...: in lower case its last. */
static void
append(struct file *f, char run)
{
	struct audit_line *l = &f->lines[f->count];
	bool final = run >= 'a';
	int own = -1;

	number(l->run, LINE_RUN, final ? run - 'a' + 'A' : run);
	for (size_t i = 0; i < f->count; i++)
		if (memcmp(f->lines[i].run, l->run, LINE_RUN) == 0) {
			own = (int)i;
			l->seq++;
		}
	l->final = final;
	l->has_prev = own >= 0;
	l->has_file_prev = own < 0 || (size_t)own + 1 < f->count;
	number(l->prev, LINE_HASH, l->has_prev ? f->hashes[own] : 0);
	number(l->file_prev, LINE_HASH,
	    l->has_file_prev && f->count > 0 ? f->hashes[f->count - 1] : 0);
	f->hashes[f->count++] = ++f->next;
}

static struct file
make(const char *runs)
{
	struct file f = {0};

	for (; *runs != '\0'; runs++)
		append(&f, *runs);
	return f;
}

static void
move(struct file *f, size_t to, size_t from, size_t n)
{
	memmove(&f->lines[to], &f->lines[from], n * sizeof f->lines[0]);
	memmove(&f->hashes[to], &f->hashes[from], n * sizeof f->hashes[0]);
}

/* Lines are counted from 1, as they are in what is found. */
static void delete (struct file *f, size_t line)
{
	move(f, line - 1, line, f->count - line);
	f->count--;
}

static void
repeat(struct file *f, size_t line)
{
	move(f, line, line - 1, f->count - line + 1);
	f->count++;
}

static void
swap(struct file *f, size_t line)
{
	struct audit_line l = f->lines[line - 1];
	int hash = f->hashes[line - 1];

	move(f, line - 1, line, 1);
	f->lines[line] = l;
	f->hashes[line] = hash;
}

static void
change(struct file *f, size_t line)
{
	f->hashes[line - 1] = ++f->next;
}

/* As "kind line at", and a "?" if it is doubtful, one after another. */
static void
note(void *arg, const struct links_fault *fault)
{
	char *text = arg, sentence[LINKS_TEXT];
	size_t size = strlen(text);

	snprintf(text + size, 512 - size, "%s%s %d %d%s", size > 0 ? ", " : "",
	    links_kind_name(fault->kind), (int)fault->line, (int)fault->at,
	    fault->doubtful ? "?" : "");
	assert_non_null(strstr(links_text(sentence, fault), "line"));
}

static void
expect(const struct file *f, const char *expected, size_t open)
{
	char found[512] = "";
	struct links k = {.fault = note, .arg = found};
	struct line_problem p = {.fault = LINE_NO_JSON};

	for (size_t i = 0; i < f->count; i++) {
		unsigned char hash[LINE_HASH];

		number(hash, sizeof hash, f->hashes[i]);
		if (f->unreadable[i])
			links_add_unreadable(&k, i + 1, &p, hash);
		else
			assert_int_equal(links_add(&k, i + 1, &f->lines[i], hash), 0);
	}
	links_end(&k, false);
	assert_string_equal(found, expected);
	assert_int_equal(k.open, open);
	links_free(&k);
}

static void
what_is_whole_has_no_fault(void **state)
{
	static const char *const whole[] = {
	    "", "Aa", "AAAaBBb", "AABBABab", "ABCabc", "ABba", "ABCcba"};

	(void)state;
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
		struct file f = make(whole[i]);

		expect(&f, "", 0);
	}
}

static void
a_run_without_an_end_is_open(void **state)
{
	struct file f = make("AABBbCc");

	(void)state;
	expect(&f, "", 1);
}

static void
a_changed_line_is_named(void **state)
{
	struct file f = make("AAAAa");

	(void)state;
	change(&f, 3);
	expect(&f, "changed 3 4", 0);
	f = make("AABBab");
	change(&f, 4); /* what comes next is of another run */
	expect(&f, "changed-or-missing 4 5, changed 4 6?", 0);
	f = make("AaBb");
	change(&f, 2);
	expect(&f, "changed-or-missing 2 3", 0);
	/* What it says of the line before it was changed: the line after it says so. */
	f = make("AAAAa");
	number(f.lines[2].prev, LINE_HASH, 99);
	change(&f, 3);
	expect(&f, "changed 2 3?, changed 3 4", 0);
	f = make("AAAa");
	f.lines[2].seq = 7;
	change(&f, 3);
	expect(&f, "misplaced 2 3, changed 3 4?", 0);
	/* Nobody vouches for the last line. */
	f = make("AAa");
	number(f.lines[2].prev, LINE_HASH, 99);
	expect(&f, "changed 2 3?", 0);
}

static void
a_removed_line_is_named(void **state)
{
	struct file f = make("AAAAa");

	(void)state;
	delete (&f, 3);
	expect(&f, "missing 2 3", 0);
	f = make("AAAa");
	delete (&f, 1);
	expect(&f, "missing 0 1", 0);
	f = make("AaBBbCc");
	delete (&f, 5);
	delete (&f, 4);
	delete (&f, 3);
	expect(&f, "changed-or-missing 2 3", 0);
	f = make("ABAab"); /* what was between two lines of one run */
	delete (&f, 2);
	expect(&f, "missing 1 2, missing 0 4?", 0);
	f = make("AaBb");
	delete (&f, 1);
	delete (&f, 1);
	expect(&f, "changed-or-missing 0 1", 0);
}

static void
a_repeated_line_is_named(void **state)
{
	struct file f = make("AAAa");

	(void)state;
	repeat(&f, 2);
	expect(&f, "repeated 2 3", 0);
	f = make("Aa");
	repeat(&f, 2);
	expect(&f, "repeated 2 3", 0);
	f = make("AAAAa"); /* farther away */
	f.lines[5] = f.lines[4], f.hashes[5] = f.hashes[4];
	f.lines[4] = f.lines[1], f.hashes[4] = f.hashes[1];
	f.count++;
	expect(&f, "misplaced 4 5", 0);
}

static void
swapped_lines_are_named(void **state)
{
	static const char *const whole[] = {"AAAa", "AABBab", "AaBb", "ABab"};

	(void)state;
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		for (size_t line = 1; line < strlen(whole[i]); line++) {
			struct file f = make(whole[i]);
			char expected[64];

			swap(&f, line);
			snprintf(expected, sizeof expected, "swapped %zu %zu", line, line + 1);
			expect(&f, expected, 0);
		}
}

static void
a_line_of_another_run_in_between_is_named(void **state)
{
	struct file f = make("AAa"), other = make("ABb");

	(void)state;
	move(&f, 2, 1, 2);
	f.count++;
	f.lines[1] = other.lines[1]; /* a start that vouches for line 1 */
	f.hashes[1] = 77;
	expect(&f, "apart 2 3", 1);
}

static void
an_unreadable_line_is_one_fault(void **state)
{
	struct file f = make("AAAAa");

	(void)state;
	change(&f, 3);
	f.unreadable[2] = true;
	expect(&f, "unreadable 3 3", 0);
	f = make("AABBab");
	change(&f, 4);
	f.unreadable[3] = true;
	expect(&f, "unreadable 4 4", 0);
	f = make("AAa");
	change(&f, 1);
	f.unreadable[0] = true;
	expect(&f, "unreadable 1 1", 0);
	/* It hides no more lines than it can have been. */
	f = make("AAAAAa");
	change(&f, 3);
	f.unreadable[2] = true;
	delete (&f, 4);
	expect(&f, "unreadable 3 3, missing 2 4", 0);
}

static void
too_many_open_runs_are_a_fault(void **state)
{
	char found[512] = "";
	struct links k = {.fault = note, .arg = found};
	unsigned char hash[LINE_HASH] = {0};

	(void)state;
	for (int i = 1; i <= LINKS_OPEN_MAX + 2; i++) {
		struct audit_line l = {.has_file_prev = true};

		number(l.run, LINE_RUN, i);
		memcpy(l.file_prev, hash, sizeof hash);
		number(hash, sizeof hash, i);
		assert_int_equal(links_add(&k, (uint64_t)i, &l, hash), 0);
	}
	links_end(&k, false);
	assert_string_equal(found, "too-many-open 65537 65537");
	assert_int_equal(k.open, LINKS_OPEN_MAX);
	links_free(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_whole_has_no_fault),
	    cmocka_unit_test(a_run_without_an_end_is_open),
	    cmocka_unit_test(a_changed_line_is_named),
	    cmocka_unit_test(a_removed_line_is_named),
	    cmocka_unit_test(a_repeated_line_is_named),
	    cmocka_unit_test(swapped_lines_are_named),
	    cmocka_unit_test(a_line_of_another_run_in_between_is_named),
	    cmocka_unit_test(an_unreadable_line_is_one_fault),
	    cmocka_unit_test(too_many_open_runs_are_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
