/* Decoys and imports in a run. See carry.h. */
#include "guard/carry.h"

#include "bindmount/cleanup.h"
#include "bindmount/decoy.h"
#include "guard/leftovers.h"
#include "guard/outputs.h"
#include "guard/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const variables[IMPORT_KINDS] = {
    [IMPORT_OUTPUT] = "GITHUB_OUTPUT",
    [IMPORT_ENV] = "GITHUB_ENV",
    [IMPORT_STATE] = "GITHUB_STATE",
    [IMPORT_PATH] = "GITHUB_PATH",
    [IMPORT_SUMMARY] = "GITHUB_STEP_SUMMARY",
};

/* What a summary takes besides its text: the longest fence twice, and what is around. */
enum { SUMMARY_EXTRA = 256, SUMMARY_MAX = 1024 * 1024, PATHS_ROOM = 64 * 1024 };

static bool
asks_for(const struct options *o, enum import_kind kind)
{
	for (size_t i = 0; i < o->n_imports; i++)
		if (o->imports[i].kind == kind)
			return true;
	return false;
}

/* Index of the request that a variable of the environment made, or PLAN_NO_OUTPUT. */
static size_t
request_of(const struct plan *p, enum import_kind kind)
{
	for (size_t i = 0; i < p->n_requests; i++)
		if (strcmp(p->requests[i].source, variables[kind]) == 0)
			return i;
	return PLAN_NO_OUTPUT;
}

static int
add_decoy(struct view_decoys *d, const char *given, struct error *e)
{
	AUTO_FREE char *path = realpath(given, NULL);
	char *slash;
	struct stat st;

	if (path == NULL || stat(path, &st) != 0)
		return error_set(e, errno, NULL, "can't find %s", given);
	if (view_paths_add(&d->files, path, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	slash = strrchr(path, '/');
	*slash = '\0';
	if (!snapshot_is_runners(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path))
		return 0;
	if (stat(path, &st) != 0 || view_paths_add(&d->dirs, path, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	return 0;
}

int
carry_plan(struct plan *p, struct error *e)
{
	const struct options *o = p->options;

	for (size_t kind = 0; kind < IMPORT_KINDS; kind++)
		if (asks_for(o, (enum import_kind)kind) &&
		    request_of(p, (enum import_kind)kind) == PLAN_NO_OUTPUT)
			return error_set(e, 0, "run it in a step, or set it to an existing file",
			    "--import: %s names no file", variables[kind]);
	if (o->summary && request_of(p, IMPORT_SUMMARY) == PLAN_NO_OUTPUT)
		return error_set(e, 0, "run it in a step, or set it to an existing file",
		    "--summary: %s names no file", variables[IMPORT_SUMMARY]);
	if (!o->decoys)
		return 0;
	p->view.decoys.uid = p->leg.uid;
	p->view.decoys.gid = p->leg.gid;
	for (size_t i = 0; i < p->n_requests; i++)
		if (strncmp(p->requests[i].source, "GITHUB_", 7) == 0 &&
		    add_decoy(&p->view.decoys, p->requests[i].path, e) != 0)
			return -1;
	return 0;
}

/* What imports of that kind can take as entries. */
static size_t
bound(const struct options *o, enum import_kind kind)
{
	size_t sum = 0;

	for (size_t i = 0; i < o->n_imports; i++) {
		const struct import *one = &o->imports[i];

		if (one->kind != kind)
			continue;
		if (kind == IMPORT_PATH)
			return PATHS_ROOM;
		if (kind == IMPORT_SUMMARY)
			sum += 3 * (size_t)one->max + SUMMARY_EXTRA;
		else
			sum += outputs_entry_bound(strlen(one->name), (size_t)one->max);
	}
	return sum;
}

size_t
carry_outputs_bound(const struct options *o)
{
	return bound(o, IMPORT_OUTPUT);
}

int
carry_reserve(const struct plan *p, struct snapshot *s, struct error *e)
{
	for (size_t kind = IMPORT_ENV; kind < IMPORT_KINDS; kind++) {
		size_t size = bound(p->options, (enum import_kind)kind);

		if (kind == IMPORT_SUMMARY && p->options->summary)
			size += SUMMARY_ROOM;
		if (size > 0 &&
		    snapshot_reserve(
			s, snapshot_index(s, request_of(p, (enum import_kind)kind)), size, e) != 0)
			return -1;
	}
	return 0;
}

/*
 * The copy's bytes, or NULL with *why, or with that NULL as well and errno. The leg may have put anything in its place;
 * nobody writes to it any more.
 */
static char *
read_copy(int root, const char *name, size_t *size, const char **why)
{
	AUTO_FD int fd =
	    openat(root, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AUTO_FREE char *bytes = NULL;
	struct stat st;
	size_t got = 0;
	ssize_t n = 1;

	*why = NULL;
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > DECOY_BYTES) {
		*why = fd < 0 && errno == ENOENT ? "the leg has removed the file"
		       : fd >= 0 && S_ISREG(st.st_mode)
		           ? "the leg has made the file too large"
		           : "the leg has put something else in the file's place";
		return NULL;
	}
	bytes = malloc((size_t)st.st_size + 1);
	while (bytes != NULL && n > 0 && got < (size_t)st.st_size) {
		n = read(fd, bytes + got, (size_t)st.st_size - got);
		got += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		*why = "the file can't be read";
	*size = got;
	return n < 0 ? NULL : ptr_take(&bytes);
}

/* How much of the copy, at its start, is what was there before the leg. */
static size_t
common(const struct snapshot *s, size_t index, const char *bytes, size_t size)
{
	size_t was;
	const char *before = snapshot_bytes(s, index, &was);

	if (was == 0 || size < was || memcmp(bytes, before, was) != 0)
		return 0;
	if (before[was - 1] == '\n')
		return was;
	/* The copy got the newline that was missing. */
	return size > was && bytes[was] == '\n' ? was + 1 : 0;
}

static size_t
decoy_index(const struct view_decoys *d, const char *path)
{
	size_t i;

	for (i = 0; i < d->files.count; i++)
		if (strcmp(d->files.list[i].path, path) == 0)
			break;
	return i;
}

size_t
carry_index(const struct plan *p, const struct snapshot *s, enum import_kind kind)
{
	size_t request = request_of(p, kind);

	return request != PLAN_NO_OUTPUT ? snapshot_index(s, request) : SIZE_MAX;
}

/* NULL with *why as read_copy() has it. */
static char *
read_kind(const struct plan *p, const struct snapshot *s, const struct outcome *out,
    enum import_kind kind, size_t *size, const char **why)
{
	size_t decoy = decoy_index(&p->view.decoys, snapshot_path(s, carry_index(p, s, kind)));
	char name[DECOY_NAME];

	*why = "there is no copy of the file";
	if (decoy == p->view.decoys.files.count)
		return NULL;
	return read_copy(out->decoys, decoy_name(&p->view.decoys, decoy, name), size, why);
}

char *
carry_read(const struct plan *p, const struct snapshot *s, const struct outcome *out,
    enum import_kind kind, size_t *size)
{
	const char *why;

	return read_kind(p, s, out, kind, size, &why);
}

static int
take_kind(const struct plan *p, const struct snapshot *s, enum import_kind kind,
    struct outcome *out, struct error *e)
{
	const struct options *o = p->options;
	size_t before, index = carry_index(p, s, kind), size = 0;
	const char *why;
	AUTO_FREE char *bytes = read_kind(p, s, out, kind, &size, &why);

	if (bytes == NULL && why == NULL)
		return error_set(e, errno, NULL, "can't read what the leg has set");
	/* A larger one is dropped whole by the runner, what is not the leg's with it. */
	before = bytes != NULL ? common(s, index, bytes, size) : 0;
	if (bytes != NULL && kind == IMPORT_SUMMARY &&
	    before + SUMMARY_EXTRA + 3 * (size - before) > SUMMARY_MAX) {
		free(ptr_take(&bytes));
		why = "the summary would be larger than the runner takes";
	}
	if (bytes == NULL)
		return import_refuse(&out->importing, o->imports, o->n_imports, kind, why, e);
	return import_take(&out->importing, o->imports, o->n_imports, kind, bytes, size, before, e);
}

int
carry_take(const struct plan *p, const struct snapshot *s, struct outcome *out, struct error *e)
{
	for (size_t kind = 0; kind < IMPORT_KINDS && out->has_decoys; kind++)
		if (asks_for(p->options, (enum import_kind)kind) &&
		    take_kind(p, s, (enum import_kind)kind, out, e) != 0)
			return -1;
	return 0;
}

static size_t
accepted(const struct importing *all, enum import_kind kind, struct output *list)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].kind == kind && all->list[i].value != NULL)
			list[n++] =
			    (struct output){.name = all->list[i].name, .value = all->list[i].value};
	return n;
}

int
carry_outputs(const struct options *o, const struct importing *all, struct output **list, size_t *n,
    struct error *e)
{
	*list = calloc(all->count + o->n_outputs + 1, sizeof **list);
	if (*list == NULL)
		return error_set(e, errno, NULL, "can't list the outputs");
	*n = accepted(all, IMPORT_OUTPUT, *list);
	for (size_t i = 0; i < o->n_outputs; i++)
		(*list)[(*n)++] = o->outputs[i];
	return 0;
}

/* In a fence that is longer than any in it, so that none of it is read as Markdown or HTML. */
static void
put_summary(FILE *out, const char *text)
{
	size_t longest = 2, run = 0, size = strlen(text);

	for (const char *at = text; *at != '\0'; at++) {
		run = *at == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	fputs("\n---\n\nFrom the leg, as it wrote it:\n\n", out);
	for (size_t i = 0; i <= longest; i++)
		putc('`', out);
	fprintf(out, "text\n%s%s", text, size > 0 && text[size - 1] == '\n' ? "" : "\n");
	for (size_t i = 0; i <= longest; i++)
		putc('`', out);
	putc('\n', out);
}

/* What is to be appended to the file of that kind; malloc'd. */
static int
render(
    const struct importing *all, enum import_kind kind, char **block, size_t *size, struct error *e)
{
	AUTO_FREE struct output *list = calloc(all->count + 1, sizeof *list);
	size_t n = list != NULL ? accepted(all, kind, list) : 0;
	FILE *out;

	*block = NULL;
	*size = 0;
	if (list == NULL)
		return error_set(e, errno, NULL, "can't list what is imported");
	if (kind == IMPORT_ENV || kind == IMPORT_STATE)
		return outputs_render_pairs(list, n, block, size, e);
	out = open_memstream(block, size);
	for (size_t i = 0; i < n && out != NULL; i++)
		if (kind == IMPORT_PATH)
			fprintf(out, "%s\n", list[i].value);
		else
			put_summary(out, list[i].value);
	if (out == NULL || fclose(out) != 0)
		return error_set(e, ENOMEM, NULL, "can't render what is imported");
	return 0;
}

int
carry_append(const struct plan *p, struct snapshot *s, const struct importing *all, struct error *e)
{
	int result = 0;

	for (size_t kind = IMPORT_ENV; kind < IMPORT_KINDS; kind++) {
		AUTO_FREE char *block = NULL;
		size_t size;

		if (!asks_for(p->options, (enum import_kind)kind))
			continue;
		if (render(all, (enum import_kind)kind, &block, &size, e) != 0 ||
		    (size > 0 &&
			snapshot_append(s, snapshot_index(s, request_of(p, (enum import_kind)kind)),
			    block, size, e) != 0))
			result = -1;
	}
	return result;
}

bool
carry_summary_is_free(const struct plan *p, const struct snapshot *s)
{
	size_t request = request_of(p, IMPORT_SUMMARY);

	return request != PLAN_NO_OUTPUT &&
	       leftovers_none(snapshot_descriptor(s, snapshot_index(s, request)));
}

int
carry_append_summary(const struct plan *p, struct snapshot *s, const char *text, struct error *e)
{
	size_t request = request_of(p, IMPORT_SUMMARY), index, size = strlen(text);

	if (request == PLAN_NO_OUTPUT)
		return 0;
	index = snapshot_index(s, request);
	/* Whoever set two variables to one file gets no Markdown among the outputs. */
	for (size_t i = 0; i < p->n_requests; i++)
		if (i != request && snapshot_index(s, i) == index)
			return 0;
	if (snapshot_end(s, index) + size + 1 > SUMMARY_MAX)
		return 0;
	return snapshot_append(s, index, text, size, e);
}
