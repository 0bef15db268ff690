/* legguard classify. See judge.h. */
#include "guard/judge.h"

#include "bindmount/cleanup.h"
#include "guard/classify.h"
#include "guard/infile.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>
#include <jansson.h>

static const char usage[] = "write legguard classify FILE [--exit-status N] [--json]";

struct judging {
	const char *path;
	int exit_status; /* -1: not given */
	bool json;
};

static int
read_arguments(struct judging *j, int argc, char **argv, struct error *e)
{
	const char *problem = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			j->json = true;
		} else if (strcmp(argv[i], "--exit-status") == 0 && argv[i + 1] != NULL) {
			j->exit_status = (int)strtonum(argv[++i], 0, 255, &problem);
			if (problem != NULL)
				return error_set(
				    e, 0, usage, "--exit-status %s is no exit status", argv[i]);
		} else if ((argv[i][0] == '-' && argv[i][1] != '\0') || j->path != NULL) {
			return error_set(e, 0, usage, "%s is not understood", argv[i]);
		} else {
			j->path = argv[i];
		}
	}
	return j->path != NULL ? 0 : error_set(e, 0, usage, "no file given");
}

static int
read_file(struct classifier *c, const char *path, struct error *e)
{
	static char buffer[64 * 1024];
	ssize_t n;
	int fd;

	if (infile_open(path, &fd, e) != 0)
		return -1;
	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		classify_feed(c, buffer, (size_t)n);
	if (n < 0)
		error_set(e, errno, NULL, "can't read %s", path);
	infile_close(fd);
	return n < 0 ? -1 : 0;
}

/* malloc'd, NULL without memory. */
static char *
render(const struct classify_result *r, enum lane lane, bool json)
{
	json_t *object, *fields = NULL;
	char *text = NULL, *line = NULL;

	if (!json)
		return asprintf(&line, "%s\n", lane_name(lane)) >= 0 ? line : NULL;
	object = json_pack("{s:s}", "class", lane_name(lane));
	if (r->found && lane != LANE_ERROR)
		fields = classify_fields(r);
	if (fields == NULL || json_object_update(object, fields) == 0)
		text = json_dumps(object, JSON_COMPACT);
	if (text != NULL && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	json_decref(fields);
	json_decref(object);
	return line;
}

int
judge_command(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e)
{
	struct judging j = {.exit_status = -1};
	struct classifier c = {0};
	int result = -1;

	(void)env;
	/* There is nothing to settle: a signal may end it while it reads. */
	(void)sigprocmask(SIG_SETMASK, &startup->mask, NULL);
	*status = 0;
	if (read_arguments(&j, argc, argv, e) == 0 && read_file(&c, j.path, e) == 0) {
		if (j.exit_status < 0)
			j.exit_status = c.result.is_error ? 1 : 0;
		/* As waitpid(2) has it for a process that ended by itself. */
		*text = render(&c.result, classify_end(&c, j.exit_status << 8), j.json);
		result = *text != NULL ? 0 : error_set(e, ENOMEM, NULL, "can't print the class");
	}
	classify_free(&c);
	return result;
}
