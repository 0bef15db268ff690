/* audit: a line is what the schema says, and what several runs write to one file is one chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bindmount/error.h"
#include "guard/attempted.h"
#include "guard/audit.h"
#include "guard/bounded.h"
#include "guard/executable.h"
#include "guard/fingerprint.h"
#include "guard/jsontext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
static const char empty_sha256[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static char directory[] = "/tmp/legguard-audit-XXXXXX";

/* A path in the directory of this test. */
static const char *
scratch_path(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static void
scratch_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int
make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int
remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static void
hashes_are_as_published(void **state)
{
	char text[DIGEST_TEXT];
	struct digest d;
	struct fingerprint f;

	(void)state;
	/* FIPS 180-4, the examples of NIST. */
	assert_string_equal(digest_of("abc", 3, text),
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(digest_of("", 0, text), empty_sha256);
	digest_begin(&d);
	for (int i = 0; i < 1000000; i++)
		digest_add(&d, "a", 1);
	assert_string_equal(digest_end(&d, text),
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	fingerprint_of(&f, "", 0);
	assert_int_equal(f.size, 0);
	assert_string_equal(f.sha256, empty_sha256);
	assert_string_equal(f.xxh3_128, "99aa06d3014798d86001c324468d497f");
}

static void
a_line_holds_its_place_first(void **state)
{
	char *line;

	(void)state;
	line = audit_render(
	    "00112233445566778899aabbccddeeff", 0, NULL, zeros, "{\"event\":\"start\"}");
	assert_string_equal(line,
	    "{\"v\":1,\"run\":\"00112233445566778899aabbccddeeff\",\"seq\":0,\"file_prev\":"
	    "\"0000000000000000000000000000000000000000000000000000000000000000\",\"event\":"
	    "\"start\"}\n");
	free(line);
	line =
	    audit_render("00112233445566778899aabbccddeeff", UINT64_MAX, empty_sha256, NULL, "{}");
	assert_string_equal(line,
	    "{\"v\":1,\"run\":\"00112233445566778899aabbccddeeff\",\"seq\":18446744073709551615,"
	    "\"prev\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",}\n");
	free(line);
}

static void
open_record(struct audit *a, const char *path)
{
	struct error e = {0};

	*a = AUDIT_NONE;
	assert_int_equal(audit_begin(a, &e), 0);
	assert_int_equal(journal_open(&a->journal, "--audit", path, -1, NULL, 0, &e), 0);
}

static void
add(struct audit *a, const char *event)
{
	assert_int_equal(audit_add(a, strdup(event)), 0);
}

/* The n-th line of the file, without its newline; "" if there is none. */
static const char *
line_of(const char *path, int n)
{
	static char line[JOURNAL_LINE_MAX + 1];
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	line[0] = '\0';
	while (n >= 0 && fgets(line, sizeof line, in) != NULL)
		n--;
	fclose(in);
	if (n >= 0)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static bool
has_hash(const char *path, int n, const char *name, const char *hash)
{
	char member[128];

	snprintf(member, sizeof member, "\"%s\":\"%s\"", name, hash);
	return strstr(line_of(path, n), member) != NULL;
}

static void
hash_line(const char *path, int n, char text[DIGEST_TEXT])
{
	const char *line = line_of(path, n);

	digest_of(line, strlen(line), text);
}

/* prev of the run's own, file_prev where another run's line is before it. */
static void
runs_interleave_in_one_chain(void **state)
{
	const char *path = scratch_path("record");
	char hash[3][DIGEST_TEXT];
	struct audit a, b;

	(void)state;
	open_record(&a, path);
	open_record(&b, path);
	add(&a, "{\"n\":0}");
	add(&a, "{\"n\":1}");
	assert_int_equal(audit_write(&a, bounded_now(), false), 0);
	add(&b, "{\"n\":2}");
	assert_int_equal(audit_write(&b, bounded_now(), false), 0);
	add(&a, "{\"n\":3}");
	assert_int_equal(audit_write(&a, bounded_now(), false), 0);
	for (int i = 0; i < 3; i++)
		hash_line(path, i, hash[i]);
	assert_true(has_hash(path, 0, "file_prev", zeros));
	assert_null(strstr(line_of(path, 0), "\"prev\""));
	assert_true(has_hash(path, 1, "prev", hash[0]));
	assert_null(strstr(line_of(path, 1), "file_prev"));
	assert_true(has_hash(path, 2, "file_prev", hash[1]));
	assert_null(strstr(line_of(path, 2), "\"prev\""));
	assert_true(has_hash(path, 3, "prev", hash[1]));
	assert_true(has_hash(path, 3, "file_prev", hash[2]));
	assert_true(journal_is_intact(&a.journal) && journal_is_intact(&b.journal));
	audit_close(&a);
	audit_close(&b);
	unlink(path);
}

static void
what_cannot_be_locked_is_written_later_in_order(void **state)
{
	const char *path = scratch_path("record");
	struct audit a;
	int other;

	(void)state;
	open_record(&a, path);
	other = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	add(&a, "{\"n\":0}");
	assert_int_equal(audit_write(&a, bounded_now(), false), -1);
	assert_int_equal(a.why.errnum, EWOULDBLOCK);
	add(&a, "{\"n\":1}");
	assert_int_equal(audit_write(&a, bounded_now() + 60, false), -1);
	assert_string_equal(line_of(path, 0), "");
	assert_int_equal(flock(other, LOCK_UN), 0);
	assert_int_equal(audit_write(&a, bounded_now(), false), 0);
	assert_int_equal(a.why.what[0], '\0');
	assert_non_null(strstr(line_of(path, 0), "\"n\":0"));
	assert_non_null(strstr(line_of(path, 1), "\"n\":1"));
	close(other);
	audit_close(&a);
	unlink(path);
}

static void
prepared_lines_are_written_or_forgotten(void **state)
{
	const char *path = scratch_path("record");
	char head[DIGEST_TEXT], hash[DIGEST_TEXT];
	struct audit a;

	(void)state;
	open_record(&a, path);
	add(&a, "{\"n\":0}");
	assert_int_equal(audit_write(&a, bounded_now(), true), 0);
	add(&a, "{\"n\":1}");
	assert_int_equal(audit_prepare(&a, head), 0);
	assert_string_equal(line_of(path, 1), "");
	audit_discard(&a, 0);
	add(&a, "{\"n\":2}");
	add(&a, "{\"n\":3}");
	assert_int_equal(audit_prepare(&a, head), 0);
	assert_int_equal(audit_commit(&a), 0);
	audit_release(&a);
	assert_non_null(strstr(line_of(path, 1), "\"seq\":1,"));
	assert_non_null(strstr(line_of(path, 1), "\"n\":2"));
	hash_line(path, 2, hash);
	assert_string_equal(hash, head);
	assert_string_equal(line_of(path, 3), "");
	audit_close(&a);
	unlink(path);
}

static void
a_torn_line_is_ended_and_counts(void **state)
{
	const char *path = scratch_path("record");
	char hash[DIGEST_TEXT];
	struct audit a;

	(void)state;
	scratch_write(path, "{\"v\":1,\"run");
	open_record(&a, path);
	add(&a, "{\"n\":0}");
	assert_int_equal(audit_write(&a, bounded_now(), false), 0);
	assert_string_equal(line_of(path, 0), "{\"v\":1,\"run");
	hash_line(path, 0, hash);
	assert_true(has_hash(path, 1, "file_prev", hash));
	audit_close(&a);
	unlink(path);
}

static void
what_was_written_is_compared(void **state)
{
	const char *path = scratch_path("record");
	struct audit a;
	int fd;

	(void)state;
	open_record(&a, path);
	add(&a, "{\"n\":0}");
	assert_int_equal(audit_write(&a, bounded_now(), false), 0);
	assert_true(journal_is_intact(&a.journal));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "9", 1, 60), 1);
	assert_false(journal_is_intact(&a.journal));
	close(fd);
	assert_true(journal_is_in_place(&a.journal));
	unlink(path);
	assert_false(journal_is_in_place(&a.journal));
	audit_close(&a);
}

static void
a_line_that_is_too_long_is_none(void **state)
{
	const char *path = scratch_path("record");
	char *event = malloc(JOURNAL_LINE_MAX);
	struct audit a;

	(void)state;
	open_record(&a, path);
	memset(event, ' ', JOURNAL_LINE_MAX);
	event[0] = '{';
	event[JOURNAL_LINE_MAX - 2] = '}';
	event[JOURNAL_LINE_MAX - 1] = '\0';
	assert_int_equal(audit_add(&a, event), 0);
	assert_int_equal(audit_write(&a, bounded_now(), false), -1);
	assert_string_equal(line_of(path, 0), "");
	audit_close(&a);
	unlink(path);
}

static void
text_is_made_visible_and_cut(void **state)
{
	char guarded[16], *bytes = malloc(5000);
	size_t room = 20;
	json_t *text, *list = json_array();

	(void)state;
	memset(bytes, '\1', 4999);
	bytes[4999] = '\0';
	text = jsontext(bytes);
	assert_in_range(json_string_length(text), JSONTEXT_MAX - 4, JSONTEXT_MAX);
	json_decref(text);
	text = jsontext("a\n\"\xff");
	assert_string_equal(json_string_value(text), "a\\n\"M^?");
	json_decref(text);
	assert_true(json_is_null(jsontext(NULL)));
	/* Nothing is written behind the room for it. */
	memset(guarded, 'x', sizeof guarded);
	error_visible(guarded, 8, "0123456789");
	assert_in_range(strlen(guarded), 6, 7);
	assert_int_equal(guarded[8], 'x');
	list = jsontext_append(list, &room, "12345678");
	list = jsontext_append(list, &room, "\"\"\"\"\"");
	list = jsontext_append(list, &room, "");
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	free(bytes);
}

static void
attempts_are_names_without_what_was_there(void **state)
{
	static const char before[] = "a=1\nb=2\n", after[] = "a=1\nb=3\nc<<E\nx\nE\nb=4\nd<<E\n";
	struct attempted a;

	(void)state;
	assert_int_equal(
	    attempted_read(&a, GRAMMAR_PAIRS, before, strlen(before), after, strlen(after)), 0);
	assert_int_equal(a.total, 3);
	assert_int_equal(a.count, 2);
	assert_string_equal(a.names[0], "b");
	assert_string_equal(a.names[1], "c");
	assert_string_equal(attempted_error(a.error), "not-closed");
	attempted_free(&a);
	assert_int_equal(attempted_read(&a, GRAMMAR_LINES, "x\n", 2, "x\ny\nz\n", 6), 0);
	assert_int_equal(a.total, 2);
	assert_int_equal(a.count, 0);
	assert_null(attempted_error(a.error));
	attempted_free(&a);
	assert_int_equal(attempted_read(&a, GRAMMAR_PAIRS, NULL, 0, "", 0), 0);
	assert_int_equal(a.total, 0);
	attempted_free(&a);
}

/* As execvp(3): along PATH, in order, with empty parts for the working directory. */
static void
a_command_is_looked_up(void **state)
{
	char *dir = strdup(scratch_path("bin")), *script = NULL, *env[2] = {NULL, NULL}, *path;
	char sha256[DIGEST_TEXT], expected[DIGEST_TEXT];

	(void)state;
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_true(asprintf(&script, "%s/tool", dir) > 0);
	scratch_write(script, "#!/bin/sh\n");
	assert_true(asprintf(&env[0], "PATH=/no/such:%s:/bin", dir) > 0);
	path = executable_find("tool", env, "/", sha256);
	assert_null(path); /* it is not executable */
	assert_int_equal(chmod(script, 0700), 0);
	path = executable_find("tool", env, "/", sha256);
	assert_string_equal(path, script);
	assert_string_equal(sha256, ""); /* a script */
	free(path);
	free(env[0]);
	env[0] = strdup("PATH=/no/such::");
	path = executable_find("tool", env, dir, sha256);
	assert_string_equal(path, script);
	free(path);
	path = executable_find("./tool", env, dir, sha256);
	assert_non_null(path);
	free(path);
	path = executable_find("/proc/self/exe", env, "/", sha256);
	assert_string_equal(path, "/proc/self/exe");
	assert_int_equal(strlen(sha256), DIGEST_TEXT - 1);
	memcpy(expected, sha256, sizeof expected);
	free(path);
	free(env[0]);
	env[0] = NULL; /* /bin:/usr/bin */
	path = executable_find("sh", env, "/", sha256);
	assert_non_null(path);
	assert_string_not_equal(sha256, expected);
	free(path);
	unlink(script);
	rmdir(dir);
	free(script);
	free(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hashes_are_as_published),
	    cmocka_unit_test(a_line_holds_its_place_first),
	    cmocka_unit_test(runs_interleave_in_one_chain),
	    cmocka_unit_test(what_cannot_be_locked_is_written_later_in_order),
	    cmocka_unit_test(prepared_lines_are_written_or_forgotten),
	    cmocka_unit_test(a_torn_line_is_ended_and_counts),
	    cmocka_unit_test(what_was_written_is_compared),
	    cmocka_unit_test(a_line_that_is_too_long_is_none),
	    cmocka_unit_test(text_is_made_visible_and_cut),
	    cmocka_unit_test(attempts_are_names_without_what_was_there),
	    cmocka_unit_test(a_command_is_looked_up),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
