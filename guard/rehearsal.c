/* A run that does nothing. See rehearsal.h. */
#include "guard/rehearsal.h"

#include "bindmount/cleanup.h"
#include "guard/outcome.h"
#include "guard/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUN_MS = 20 * 1000 };

static char **
without_file_commands(char *const *env)
{
	size_t n = 0, count = 0;
	char **kept;

	while (env[count] != NULL)
		count++;
	kept = calloc(count + 1, sizeof *kept);
	for (size_t i = 0; kept != NULL && i < count; i++)
		if (!plan_is_file_command(env[i]))
			kept[n++] = env[i];
	return kept;
}

/* Nothing is written, so one file, which is there for certain, can be read-only for it. */
static int
parse(struct options *o, char *argv[10], const char *program, const char *tier, struct error *e)
{
	const char *const words[] = {"run", "--isolation", tier, "--no-outputs", "--read-only",
	    program, "--", program, "--version", NULL};

	_Static_assert(sizeof words / sizeof words[0] == 10, "the size of argv");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		argv[i] = (char *)words[i]; /* as execv(3) has it: they are only read */
	return options_parse(o, sizeof words / sizeof words[0] - 1, argv, e);
}

static int
plan_bare(struct rehearsal *r, struct error *e)
{
	struct view *view = &r->plan.view;
	struct stat st;

	plan_free(&r->plan);
	view->cwd.path = realpath(".", NULL);
	if (view->cwd.path == NULL)
		view->cwd.path = strdup("/");
	if (view->cwd.path == NULL || stat(view->cwd.path, &st) != 0)
		return error_set(e, errno, NULL, "can't find a directory");
	view->cwd.dev = st.st_dev;
	view->cwd.ino = st.st_ino;
	if (stat(r->program, &st) != 0 ||
	    view_paths_add(&view->read_only, r->program, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't find this program's file %s", r->program);
	return 0;
}

int
rehearsal_begin(struct rehearsal *r, const char *program, char *const *env,
    const struct startup *startup, struct error *e)
{
	struct error refusal = {0}; /* the run itself will say so */

	*r = (struct rehearsal){.program = program, .startup = startup};
	r->env = without_file_commands(env);
	if (r->env == NULL)
		return error_set(e, errno, NULL, "can't copy the environment");
	if (parse(&r->options, r->argv, program, "namespace", e) != 0)
		return -1;
	if (plan_begin(&r->plan, &r->options, r->env, &refusal) != 0 ||
	    plan_make(&r->plan, r->env, &refusal) != 0)
		return plan_bare(r, e);
	return 0;
}

struct attempt {
	const struct rehearsal *r;
	const char *tier;
};

static void
attempt(void *arg, struct trial_result *result)
{
	const struct attempt *a = arg;
	const struct rehearsal *r = a->r;
	char *argv[10];
	struct options o;
	struct outcome out = {0};
	AUTO_FREE char *text = NULL;

	result->state = TRIAL_MISSING;
	if (parse(&o, argv, r->program, a->tier, &result->error) != 0 ||
	    run(&o, r->startup, r->env, &out, &text, &result->error) != 0)
		return;
	if (out.exit_status == 0) {
		result->state = TRIAL_OK;
		return;
	}
	result->error = out.error;
	error_set(&result->error, out.exec_errno, NULL, "a run of %s ended with %d", r->program,
	    out.exit_status);
}

void
rehearsal_run(const struct rehearsal *r, const char *tier, struct trial_result *result)
{
	struct attempt a = {.r = r, .tier = tier};
	const struct trial t = {.ms = RUN_MS, .body = attempt, .arg = &a};

	trial_run(&t, result);
}

void
rehearsal_end(struct rehearsal *r)
{
	plan_free(&r->plan);
	options_free(&r->options);
	free(r->env);
}
