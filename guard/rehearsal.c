/* A run that does nothing. See rehearsal.h. */
#include "guard/rehearsal.h"

#include "bindmount/cleanup.h"
#include "guard/doors.h"
#include "guard/outcome.h"
#include "guard/run.h"
#include "guard/sudo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/*
 * The words of the command: nothing is written, so one file, which is there for certain, can be read-only
 * for it. Another user may not get to that file by its path, nor to our directory.
 */
static void
compose(char *argv[REHEARSAL_WORDS], const char *program, const char *tier, const char *user)
{
	const char *const words[] = {
	    "run", "--isolation", tier, "--no-outputs", "--read-only", program};
	const char *const other[] = {"-C", "/", "--user", user};
	const char *const command[] = {"--", "/proc/self/exe", "--version", NULL};
	size_t n = 0;

	_Static_assert(
	    sizeof words + sizeof other + sizeof command <= REHEARSAL_WORDS * sizeof(char *),
	    "room for all words");
	/* As execv(3) has it: they are only read. */
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		argv[n++] = (char *)words[i];
	for (size_t i = 0; user != NULL && i < sizeof other / sizeof other[0]; i++)
		argv[n++] = (char *)other[i];
	for (size_t i = 0; i < sizeof command / sizeof command[0]; i++)
		argv[n++] = (char *)command[i];
}

static int
parse(struct options *o, char *argv[REHEARSAL_WORDS], struct error *e)
{
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	return options_parse(o, argc, argv, e);
}

static int
plan_bare(struct rehearsal *r, struct error *e)
{
	struct view *view = &r->plan.view;
	struct stat st;

	plan_free(&r->plan);
	r->plan.options = &r->options;
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
	return doors_close(&r->plan, r->env, getuid(), e);
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
	compose(r->argv, program, "namespace", NULL);
	if (parse(&r->options, r->argv, e) != 0)
		return -1;
	if (plan_begin(&r->plan, &r->options, r->env, &refusal) != 0 ||
	    plan_make(&r->plan, r->env, &refusal) != 0)
		return plan_bare(r, e);
	return 0;
}

struct attempt {
	const struct rehearsal *r;
	const char *tier, *user;
};

static void
attempt(void *arg, struct trial_result *result)
{
	const struct attempt *a = arg;
	const struct rehearsal *r = a->r;
	char *argv[REHEARSAL_WORDS];
	struct options o;
	struct outcome out = {0};
	AUTO_FREE char *text = NULL;

	result->state = TRIAL_MISSING;
	compose(argv, r->program, a->tier, a->user);
	if (parse(&o, argv, &result->error) != 0 ||
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
rehearsal_run(
    const struct rehearsal *r, const char *tier, const char *user, struct trial_result *result)
{
	struct attempt a = {.r = r, .tier = tier, .user = user};
	const struct trial t = {.ms = RUN_MS, .body = attempt, .arg = &a};

	trial_run(&t, result);
}

static void
attempt_as_root(void *arg, struct trial_result *result)
{
	const struct attempt *a = arg;
	char *argv[REHEARSAL_WORDS + 3] = {"sudo", "-n", (char *)a->r->program};
	int status;

	compose(argv + 3, a->r->program, a->tier, a->user);
	status = sudo_run(argv, result);
	if (status == 0)
		result->state = TRIAL_OK;
	else if (status > 0)
		result->state = TRIAL_MISSING;
}

void
rehearsal_run_as_root(const struct rehearsal *r, const char *user, struct trial_result *result)
{
	struct attempt a = {.r = r, .tier = "namespace", .user = user};
	const struct trial t = {.ms = RUN_MS, .body = attempt_as_root, .arg = &a};

	trial_run(&t, result);
}

void
rehearsal_end(struct rehearsal *r)
{
	plan_free(&r->plan);
	options_free(&r->options);
	free(r->env);
}
