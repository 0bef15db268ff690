/* What one run is going to do. See plan.h. */
#include "guard/plan.h"

#include "bindmount/cleanup.h"
#include "bindmount/landlock.h"
#include "bindmount/notruncate.h"
#include "bindmount/sys.h"
#include "guard/doors.h"
#include "guard/doorvars.h"
#include "guard/environment.h"
#include "guard/grammar.h"
#include "guard/hide.h"
#include "guard/machine.h"
#include "guard/managed.h"
#include "guard/outcome.h"
#include "guard/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The runner's file-command files, in the order in which it processes them (actions/runner 2.336). */
static const struct {
	const char *variable;
	bool pairs; /* its grammar is that of name=value and name<<delimiter */
} file_commands[] = {
    {"GITHUB_PATH", false},
    {"GITHUB_ENV", true},
    {"GITHUB_STEP_SUMMARY", false},
    {"GITHUB_STATE", true},
    {"GITHUB_OUTPUT", true},
    {"GITHUB_ARTIFACTS", false},
    {"GITHUB_ARTIFACTS_LIST", false},
};

enum { FILE_COMMANDS = sizeof file_commands / sizeof file_commands[0] };

bool
plan_is_file_command(const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (size_t i = 0; i < FILE_COMMANDS; i++)
		if (strncmp(file_commands[i].variable, variable, n) == 0 &&
		    file_commands[i].variable[n] == '\0')
			return true;
	return false;
}

static void
request(struct plan *p, const char *path, const char *source)
{
	p->requests[p->n_requests++] = (struct guard_request){.path = path, .source = source};
}

int
plan_begin(struct plan *p, const struct options *o, char *const *env, struct error *e)
{
	*p = (struct plan){.options = o, .output_request = PLAN_NO_OUTPUT};
	p->requests = calloc(FILE_COMMANDS + o->guard.count + 1, sizeof *p->requests);
	if (p->requests == NULL)
		return error_set(e, errno, NULL, "can't plan the run");
	for (size_t i = 0; i < FILE_COMMANDS; i++) {
		const char *path = environment_get(env, file_commands[i].variable);

		if (path == NULL)
			continue;
		if (strcmp(file_commands[i].variable, "GITHUB_OUTPUT") == 0)
			p->output_request = p->n_requests;
		request(p, path, file_commands[i].variable);
	}
	for (size_t i = 0; i < o->guard.count; i++)
		request(p, o->guard.list[i], "--guard");
	return 0;
}

void
plan_guard_status(struct plan *p, const char *path, const char *source)
{
	request(p, path, source);
}

static int
plan_directory(struct plan *p, struct error *e)
{
	const char *wanted = p->options->directory;
	struct view_path *cwd = &p->view.cwd;
	struct stat st;

	cwd->path = realpath(wanted != NULL ? wanted : ".", NULL);
	if (cwd->path == NULL && wanted == NULL)
		return error_set(e, errno, "change to an existing directory, or name one with -C",
		    "the working directory can't be found by its path");
	if (cwd->path == NULL || stat(cwd->path, &st) != 0)
		return error_set(e, errno, "name an existing directory with -C", "-C: %s",
		    wanted != NULL ? wanted : ".");
	if (!S_ISDIR(st.st_mode))
		return error_set(
		    e, ENOTDIR, "name an existing directory with -C", "-C: %s", wanted);
	cwd->dev = st.st_dev;
	cwd->ino = st.st_ino;
	return 0;
}

/* What the leg could change, but not without that being asked for. An unconfined leg can change it all. */
static int
plan_protected(struct plan *p, char *const *env, struct error *e)
{
	if (p->options->isolation == ISOLATION_NONE)
		return 0;
	if (protected_find(&p->protected, p->options, env, p->view.cwd.path, p->leg.uid, e) != 0 ||
	    protected_add_to(&p->protected, &p->view.read_only, e) != 0)
		return -1;
	for (size_t i = 0; i < p->protected.secrets.count; i++) {
		const char *path = p->protected.secrets.list[i].path;
		struct stat st;

		if (stat(path, &st) == 0 &&
		    hide_path(p, path, &st, "the runner's credentials", e) != 0)
			return -1;
	}
	return 0;
}

/* Only a view of the leg's own has doors to close. */
static int
plan_doors(struct plan *p, char *const *env, struct error *e)
{
	p->scopes =
	    p->options->isolation != ISOLATION_NONE && sys_landlock_abi() >= SYS_LANDLOCK_SCOPE_ABI;
	if (p->options->isolation != ISOLATION_NAMESPACE)
		return 0;
	if (doors_close(p, env, p->leg.uid, e) != 0)
		return -1;
	return doorvars_remove(p, env, e);
}

static bool
is_under_actions(char *const *env)
{
	const char *actions = environment_get(env, "GITHUB_ACTIONS");

	return actions != NULL && strcmp(actions, "true") == 0;
}

/* Under the runner, unless told otherwise. */
static bool
neutralizes(const struct plan *p)
{
	enum workflow_commands asked = p->options->workflow_commands;

	return asked == WORKFLOW_COMMANDS_DEFAULT ? p->under_actions
	                                          : asked == WORKFLOW_COMMANDS_NEUTRALIZE;
}

/* The tier for where namespaces are refused: what the kernel's Landlock can do, and who does the rest. */
static int
plan_landlock(struct plan *p, struct error *e)
{
	if (p->options->isolation != ISOLATION_LANDLOCK)
		return 0;
	p->landlock_abi = sys_landlock_abi();
	if (p->landlock_abi == 0)
		return error_set(e, errno,
		    "boot a kernel of Linux 5.13 or later with \"landlock\" among its lsm=, in a "
		    "container allow the landlock_* system calls, or choose --isolation none",
		    "--isolation landlock: the kernel has no Landlock, or it is off");
	if (p->leg.kind == IDENTITY_ROOT && machine_protect(&p->view.read_only, e) != 0)
		return -1;
	p->no_truncation = !landlock_denies_truncation(p->landlock_abi) && notruncate_possible();
	p->truncation_denied = landlock_denies_truncation(p->landlock_abi) || p->no_truncation;
	return 0;
}

static int
plan_environment(struct plan *p, char *const *env, struct error *e)
{
	struct env_change changes[IDENTITY_CHANGES];
	size_t n = identity_changes(&p->leg, env, changes);
	char **own = NULL;

	if (n > 0) {
		own = environment_change(env, changes, n, e);
		if (own == NULL)
			return -1;
		env = own;
	}
	p->leg_env = environment_make(env, p->options, &p->removed_env, e);
	if (own != NULL)
		environment_free(own);
	return p->leg_env != NULL ? 0 : -1;
}

/* A root leg writes everywhere: only a view that holds the names above keeps it from making others in their place. */
static int
plan_managed(struct plan *p, struct error *e)
{
	const struct options *o = p->options;

	if (o->managed_settings == NULL)
		return 0;
	if (p->leg.kind == IDENTITY_ROOT &&
	    (o->isolation == ISOLATION_NONE || outcome_view(o) == VIEW_DEFAULT))
		return error_set(e, 0, "use --user, or add --pin",
		    "--managed-settings %s: a root leg can replace directories above it",
		    o->managed_settings);
	return managed_check(o->managed_settings, &p->view.read_only, e);
}

int
plan_make(struct plan *p, char *const *env, struct error *e)
{
	const struct options *o = p->options;

	if (identity_find(&p->leg, o, e) != 0)
		return -1;
	p->view.other_procs = p->leg.kind == IDENTITY_USER;
	p->view.root = p->leg.kind == IDENTITY_ROOT && o->isolation == ISOLATION_NAMESPACE;
	p->view.fresh_proc = o->isolation == ISOLATION_NAMESPACE && !o->share_pid;
	p->under_actions = is_under_actions(env);
	p->neutralizes = neutralizes(p);
	if (o->n_outputs > 0 && p->output_request == PLAN_NO_OUTPUT)
		return error_set(e, 0, "run it in a step, or set GITHUB_OUTPUT to an existing file",
		    "--set-output: GITHUB_OUTPUT names no file");
	if (plan_landlock(p, e) != 0 || plan_directory(p, e) != 0 || hide_named(p, e) != 0 ||
	    plan_protected(p, env, e) != 0 || plan_doors(p, env, e) != 0 ||
	    terminal_plan(p, e) != 0 || environment_dangerous(&p->removed_env, env, o, e) != 0)
		return -1;
	if (plan_environment(p, env, e) != 0)
		return -1;
	if (o->exactly_one_env != NULL &&
	    environment_exactly_one(p->leg_env, o->exactly_one_env, e) != 0)
		return -1;
	return plan_managed(p, e);
}

/* What the runner could not read, nothing can be appended to. */
static int
check_grammar(const struct plan *p, const struct snapshot *s, struct error *e)
{
	for (size_t i = 0; i < p->n_requests; i++)
		for (size_t k = 0; k < FILE_COMMANDS; k++) {
			size_t index = snapshot_index(s, i), size;
			const void *bytes = snapshot_bytes(s, index, &size);

			if (!file_commands[k].pairs ||
			    strcmp(p->requests[i].source, file_commands[k].variable) != 0)
				continue;
			if (grammar_check(p->requests[i].path, bytes, size, e) != 0)
				return -1;
		}
	return 0;
}

/*
 * A descriptor reaches what it was opened on whatever is mounted over the path: a guarded file can be
 * written through it, or opened anew through /proc/self/fd, and a directory leads below the binds.
 */
static int
check_descriptor(int fd, const struct snapshot *s, struct error *e)
{
	static const char cure[] = "redirect it elsewhere, or from or to /dev/null";
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st) != 0)
		return error_set(e, errno, cure, "can't examine descriptor %d", fd);
	if ((flags & O_PATH) != 0)
		return error_set(e, 0, cure, "descriptor %d is an O_PATH descriptor", fd);
	if (S_ISDIR(st.st_mode))
		return error_set(e, 0, cure, "descriptor %d is a directory", fd);
	if (snapshot_has_inode(s, &st))
		return error_set(e, 0, cure, "descriptor %d is a guarded file", fd);
	return 0;
}

int
plan_check(const struct plan *p, const struct snapshot *s, struct error *e)
{
	if (check_grammar(p, s, e) != 0)
		return -1;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (check_descriptor(fd, s, e) != 0)
			return -1;
	return 0;
}

void
plan_free(struct plan *p)
{
	free(p->requests);
	protected_free(&p->protected);
	view_paths_free(&p->view.read_only);
	view_paths_free(&p->view.pinned);
	view_paths_free(&p->view.writable);
	view_paths_free(&p->view.shown);
	free(p->view.scratch);
	free(p->view.temp.path);
	free(p->view.private.path);
	view_paths_free(&p->view.hidden);
	view_paths_free(&p->view.kept);
	view_paths_free(&p->view.decoys.dirs);
	view_paths_free(&p->view.decoys.files);
	free(p->hidden_for.list);
	free(p->removed_env.list);
	free(p->view.cwd.path);
	if (p->leg_env != NULL)
		environment_free(p->leg_env);
	identity_free(&p->leg);
	*p = (struct plan){0};
}
