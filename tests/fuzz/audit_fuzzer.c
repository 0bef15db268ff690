/*
 * The reader of audit records: any file. What the quick way takes for a line jansson takes too, with the same members; both
 * ways of reading a line agree; and whatever the file is, there is a verdict, a table and a page of it in which no byte is
 * anything but printable ASCII.
 */
#include "tests/fuzz/fuzz.h"

#include "guard/audit/html.h"
#include "guard/audit/page.h"
#include "guard/audit/runjson.h"
#include "guard/audit/runs.h"
#include "guard/audit/scan.h"
#include "guard/audit/verify.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
check_scan(const char *text, size_t size)
{
	struct scan s;
	json_error_t error;
	json_t *root;

	if (!scan_object(&s, text, size))
		return;
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	FUZZ_CHECK(json_is_object(root) && json_object_size(root) == s.count);
	for (size_t i = 0; i < s.count; i++) {
		const struct scan_value *v = &s.list[i].value;
		char *name = strndup(s.list[i].name, s.list[i].size);
		const json_t *value = json_object_get(root, name);

		free(name);
		FUZZ_CHECK(value != NULL && json_typeof(value) == v->type);
		FUZZ_CHECK(v->type != JSON_INTEGER || v->number == json_integer_value(value));
		FUZZ_CHECK(v->text == NULL ||
			   (json_string_length(value) == v->size &&
			       memcmp(json_string_value(value), v->text, v->size) == 0));
	}
	json_decref(root);
}

static void
check_line(const char *text, size_t size)
{
	struct audit_line quick, slow;
	struct line_problem p, q;
	int result = line_read(&quick, text, size, false, &p);

	FUZZ_CHECK(line_read(&slow, text, size, true, &q) == result);
	FUZZ_CHECK(p.fault == q.fault && strcmp(p.text, q.text) == 0);
	if (result != 0)
		return;
	FUZZ_CHECK(quick.seq == slow.seq && quick.event == slow.event &&
		   quick.final == slow.final &&
		   memcmp(quick.run, slow.run, sizeof quick.run) == 0 &&
		   memcmp(quick.prev, slow.prev, sizeof quick.prev) == 0);
	line_free(&quick);
	line_free(&slow);
}

static void
check_text(const char *text)
{
	for (; *text != '\0'; text++)
		FUZZ_CHECK((*text >= ' ' && *text <= '~') || *text == '\n');
}

static int
take_run(void *arg, const struct run *r, struct error *e)
{
	FILE *out = arg;
	json_t *object = runjson_object(r);
	char *text = json_dumps(object, JSON_COMPACT);

	(void)e;
	FUZZ_CHECK(page_row(out, r) == 0 && page_run(out, r) == 0);
	FUZZ_CHECK(text != NULL);
	check_text(text);
	free(text);
	json_decref(object);
	return 0;
}

static int
take_line(
    void *arg, uint64_t number, struct audit_line *l, const unsigned char *hash, struct error *e)
{
	return runs_add(arg, number, l, hash, e);
}

static void
check_file(const char *path)
{
	static const struct audit_choice all;
	struct error e = {0};
	char *page = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&page, &size);
	struct runs runs = {.choice = &all, .finished = take_run, .arg = out};
	struct walk *w = calloc(1, sizeof *w);

	FUZZ_CHECK(w != NULL && out != NULL);
	*w = (struct walk){.path = path, .content = true, .line = take_line, .arg = &runs};
	FUZZ_CHECK(walk_file(w, &e) == 0 && runs_end(&runs, &e) == 0);
	FUZZ_CHECK(page_top(out, w, runs.shown) == 0 && fclose(out) == 0);
	check_text(page);
	FUZZ_CHECK(strstr(page, "<script") == NULL);
	text = verify_text(w, &e);
	FUZZ_CHECK(text != NULL);
	check_text(text);
	free(text);
	free(page);
	walk_free(w);
	free(w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("record", MFD_CLOEXEC);
	const char *text = (const char *)data;
	char path[32];

	for (size_t at = 0; at < size;) {
		const char *lf = memchr(text + at, '\n', size - at);
		size_t length = lf != NULL ? (size_t)(lf - text) - at : size - at;

		check_scan(text + at, length);
		check_line(text + at, length);
		at += length + 1;
	}
	FUZZ_CHECK(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	check_file(path);
	(void)close(fd);
	return 0;
}
