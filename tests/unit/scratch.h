/*
 * A directory of a test's own, with a runner's file-command directory in it, and what the tests of
 * the snapshot do there. Everything is real; everything is gone afterwards.
 */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include "guard/snapshot.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMANDS "work/temp/_runner_file_commands"
#define OUTPUT   COMMANDS "/set_output_11d0"
#define ENV      COMMANDS "/set_env_11d0"
#define SUMMARY  COMMANDS "/step_summary_11d0" /* of the same step, not asked for */
#define OTHER    COMMANDS "/set_output_22e1"   /* of another step */

struct scratch {
	char root[128];
	struct snapshot *s;
	struct findings f;
	struct error e;
};

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, strerror(errno));                                \
	} while (0)

/* The absolute path of one in the scratch directory; good for the next few calls. */
static inline const char *
at(const struct scratch *x, const char *path)
{
	static char paths[8][8192];
	static unsigned turn;
	char *text = paths[turn++ % 8];

	snprintf(text, sizeof paths[0], "%s/%s", x->root, path);
	return text;
}

static inline void
put(const struct scratch *x, const char *path, const char *text)
{
	int fd = open(at(x, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, 0644) != 0)
		fail_msg("writing %s: %s", path, strerror(errno));
	close(fd);
}

static inline void
reads(const struct scratch *x, const char *path, const char *text)
{
	char buffer[4096];
	int fd = open(at(x, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buffer, sizeof buffer - 1) : -1;

	if (n < 0)
		fail_msg("reading %s: %s", path, strerror(errno));
	close(fd);
	buffer[n] = '\0';
	assert_string_equal(buffer, text);
}

static inline ino_t
inode(const struct scratch *x, const char *path)
{
	struct stat st;

	if (lstat(at(x, path), &st) != 0)
		fail_msg("%s: %s", path, strerror(errno));
	return st.st_ino;
}

static inline bool
exists(const struct scratch *x, const char *path)
{
	struct stat st;

	return lstat(at(x, path), &st) == 0;
}

static inline void
dir(const struct scratch *x, const char *path)
{
	must(mkdir(at(x, path), 0755));
	must(chmod(at(x, path), 0755));
}

static inline void
move(const struct scratch *x, const char *from, const char *to)
{
	must(rename(at(x, from), at(x, to)));
}

static inline int
scratch_open(void **state)
{
	static const char *const dirs[] = {"work", "work/temp", COMMANDS, "elsewhere"};
	struct scratch *x = calloc(1, sizeof *x);
	const char *tmp = getenv("TMPDIR");

	snprintf(x->root, sizeof x->root, "%s/legguard-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(x->root) == NULL)
		return -1;
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
		dir(x, dirs[i]);
	put(x, OUTPUT, "kept=1\n");
	put(x, ENV, "");
	put(x, SUMMARY, "# so far\n");
	put(x, OTHER, "other=1\n");
	*state = x;
	return 0;
}

static inline int
scratch_close(void **state)
{
	struct scratch *x = *state;
	char command[400];
	int rc;

	snapshot_free(x->s);
	findings_free(&x->f);
	snprintf(command, sizeof command, "chmod -R u+rwx '%s' 2>/dev/null; rm -rf '%s'", x->root,
	    x->root);
	rc = system(command);
	free(x);
	return rc;
}

/* Both parts of a snapshot. */
static inline int
take_snapshot(struct snapshot **out, const struct guard_request *requests, size_t n,
    bool allow_hard_links, struct error *e)
{
	if (snapshot_walk(out, requests, n, allow_hard_links, e) != 0)
		return -1;
	if (snapshot_record(*out, e) == 0)
		return 0;
	snapshot_free(*out);
	*out = NULL;
	return -1;
}

/* Take the snapshot of the step's two files. */
static inline void
take(struct scratch *x)
{
	char output[256], env[256];
	const struct guard_request requests[] = {{output, "GITHUB_OUTPUT"}, {env, "GITHUB_ENV"}};

	snprintf(output, sizeof output, "%s", at(x, OUTPUT));
	snprintf(env, sizeof env, "%s", at(x, ENV));
	if (take_snapshot(&x->s, requests, 2, false, &x->e) != 0)
		fail_msg("snapshot_take: %s", x->e.what);
}

static inline void
restore(struct scratch *x)
{
	if (snapshot_restore(x->s, &x->f, &x->e) != 0)
		fail_msg("snapshot_restore: %s: %s", x->e.what, strerror(x->e.errnum));
	assert_false(findings_unrestored(&x->f));
}

static inline const struct finding *
finding_of(const struct scratch *x, enum finding_kind kind, const char *path)
{
	for (size_t i = 0; i < x->f.count; i++)
		if (x->f.list[i].kind == kind && strcmp(x->f.list[i].path, at(x, path)) == 0)
			return &x->f.list[i];
	return NULL;
}

/* Found exactly this once. */
static inline void
found(const struct scratch *x, enum finding_kind kind, const char *path)
{
	if (finding_of(x, kind, path) != NULL)
		return;
	for (size_t i = 0; i < x->f.count; i++)
		print_message("found: %s %s: %s\n", finding_name(x->f.list[i].kind),
		    x->f.list[i].path, x->f.list[i].detail ? x->f.list[i].detail : "");
	fail_msg("no finding %s for %s", finding_name(kind), path);
}

/* How many names in the scratch directory contain text. */
static inline int
count_names(const struct scratch *x, const char *text)
{
	char command[400];
	FILE *pipe;
	int n = -1;

	snprintf(
	    command, sizeof command, "find '%s' -name '*%s*' 2>/dev/null | wc -l", x->root, text);
	pipe = popen(command, "r");
	if (pipe == NULL || fscanf(pipe, "%d", &n) != 1)
		fail_msg("find: %s", strerror(errno));
	pclose(pipe);
	return n;
}

#endif
