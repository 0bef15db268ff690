/* See writable.h. */
#include "guard/writable.h"

#include "bindmount/alias.h"
#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/strict.h"
#include "guard/chain.h"
#include "guard/environment.h"
#include "guard/held.h"
#include "guard/hide.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char beside[] =
    "name directories beside it, or take it out with --unprotect if it is protected by default";

/* A name that the leg may change takes a mask along only in one of the mounts that show it. */
static const char apart[] = "name directories beside it";

static const char *
is_in(const struct view_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (mountinfo_below(path, paths->list[i].path))
			return paths->list[i].path;
	return NULL;
}

static int
add_named(struct plan *p, const char *name, struct error *e)
{
	AUTO_FREE char *real = realpath(name, NULL);
	struct stat st;

	if (real == NULL || stat(real, &st) != 0)
		return error_set(e, errno, "name an existing directory", "--writable: %s", name);
	if (!S_ISDIR(st.st_mode))
		return error_set(e, ENOTDIR, "name the directory it is in", "--writable: %s", name);
	if (strcmp(real, "/") == 0)
		return error_set(
		    e, 0, "name directories, or use --pin", "--writable: / is everything");
	if (mountinfo_below(real, "/proc"))
		return error_set(e, 0, "name something else", "--writable: %s is in /proc", real);
	if (view_paths_add(&p->view.writable, real, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", real);
	return 0;
}

/* dir as it was named, against a name of what is read-only or hidden, path. */
static int
check_pair(const char *dir, const char *alias, const char *path, bool hidden, struct error *e)
{
	if (mountinfo_below(alias, dir))
		return error_set(e, 0, hidden ? apart : beside,
		    "--writable: %s holds %s%s%s, which the leg %s", dir, alias,
		    strcmp(alias, path) != 0 ? ", another name of " : "",
		    strcmp(alias, path) != 0 ? path : "",
		    hidden ? "could uncover" : "must not write");
	if (!hidden && mountinfo_below(dir, alias))
		return error_set(e, 0, beside,
		    "--writable: %s lies in %s, which the leg must not write", dir, path);
	return 0;
}

/* Through mounts that are in a writable directory the view sees to it; dir itself must not be such a mount's. */
static int
check_aliases(
    const char *dir, const char *path, bool hidden, const struct mountinfo *m, struct error *e)
{
	const struct mount_entry *home = alias_home(m, path);

	if (home == NULL)
		return error_set(e, errno, NULL, "can't find the mount of %s", path);
	for (size_t i = 0; i < m->count; i++) {
		const struct mount_entry *other = &m->list[i];
		AUTO_FREE char *alias = NULL;

		if (other == home || !mountinfo_below(dir, other->point))
			continue;
		alias = mountinfo_alias(home, other, path);
		if (alias == NULL && errno != 0)
			return error_set(e, errno, NULL, "can't name %s", path);
		if (alias != NULL && check_pair(dir, alias, path, hidden, e) != 0)
			return -1;
	}
	return 0;
}

/* By all its names. */
static int
check_path(
    const char *dir, const char *path, bool hidden, const struct mountinfo *m, struct error *e)
{
	return check_pair(dir, path, path, hidden, e) != 0 ? -1
	                                                   : check_aliases(dir, path, hidden, m, e);
}

/* A name on the way to what. A directory is found by other names if what it leads to is. */
static int
check_step(const char *dir, const struct chain_node *node, const char *what,
    const struct mountinfo *m, struct error *e)
{
	if (strcmp(node->path, dir) != 0 && mountinfo_below(node->path, dir))
		return error_set(e, 0, "name it by a path that the leg can't change",
		    "--writable: %s holds %s, which is on the way to %s", dir, node->path, what);
	return node->link != NULL ? check_aliases(dir, node->path, false, m, e) : 0;
}

static int
check(const struct plan *p, const struct snapshot *s, const struct mountinfo *m, struct error *e)
{
	const struct view *v = &p->view;

	for (size_t i = 0; i < v->writable.count; i++) {
		const char *dir = v->writable.list[i].path;

		for (size_t k = 0; k < v->read_only.count; k++) {
			const struct view_path *path = &v->read_only.list[k];

			if (!view_path_is_gone(path) &&
			    check_path(dir, path->path, false, m, e) != 0)
				return -1;
		}
		for (size_t k = 0; k < v->hidden.count; k++)
			if (hide_is_named(p, k) &&
			    check_path(dir, v->hidden.list[k].path, true, m, e) != 0)
				return -1;
		for (size_t k = 0; k < s->chain.count; k++)
			if (check_step(dir, s->chain.nodes[k], "a guarded file", m, e) != 0)
				return -1;
	}
	return 0;
}

/* A name as it was given: no part of it, nor of a link on the way, may be where the leg could put another. */
static int
check_way(const struct view *v, const char *name, const char *source, const struct mountinfo *m,
    struct error *e)
{
	struct chain way = {0};
	AUTO_FREE char *text = NULL;
	struct error lost = {0};
	int result = 0;

	/* With "." behind it a link at the end is followed; that fails at a file's end, when all is walked. */
	if (asprintf(&text, "%s/.", name) < 0) {
		text = NULL;
		return error_set(e, ENOMEM, NULL, "can't note %s", name);
	}
	if (chain_walk(&way, text, source, &lost) == NULL && lost.errnum != ENOTDIR &&
	    lost.errnum != ENOENT) {
		*e = lost;
		result = -1;
	}
	for (size_t i = 0; i < v->writable.count; i++)
		for (size_t k = 0; k < way.count && result == 0; k++)
			result = check_step(v->writable.list[i].path, way.nodes[k], source, m, e);
	chain_free(&way);
	return result;
}

static int
check_ways(const struct plan *p, char *const *env, const struct mountinfo *m, struct error *e)
{
	static const char *const variables[] = {"GITHUB_EVENT_PATH", "GITHUB_ACTION_PATH",
	    "ACTIONS_RUNNER_HOOK_JOB_STARTED", "ACTIONS_RUNNER_HOOK_JOB_COMPLETED",
	    "ACTIONS_RUNNER_CONTAINER_HOOKS"};
	const struct options *o = p->options;
	const struct {
		const char *name, *source;
	} named[] = {{o->audit_path, "--audit"}, {o->audit_otlp, "--audit-otlp"},
	    {o->status_path, "--status"}, {o->managed_settings, "--managed-settings"}};

	for (size_t i = 0; i < o->read_only.count; i++)
		if (check_way(&p->view, o->read_only.list[i], "--read-only", m, e) != 0)
			return -1;
	for (size_t i = 0; i < o->hide.count; i++)
		if (check_way(&p->view, o->hide.list[i], "--hide", m, e) != 0)
			return -1;
	for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
		if (named[i].name != NULL &&
		    check_way(&p->view, named[i].name, named[i].source, m, e) != 0)
			return -1;
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *name = environment_get(env, variables[i]);
		AUTO_FREE char *real = name != NULL ? realpath(name, NULL) : NULL;

		/* What is left out is the leg's to change. */
		if (real != NULL && protected_get(&p->protected, real) != NULL &&
		    check_way(&p->view, name, variables[i], m, e) != 0)
			return -1;
	}
	return 0;
}

static bool
is_place(const char *path)
{
	return strcmp(path, "/tmp") == 0 || strcmp(path, "/dev/shm") == 0;
}

/* A path that has to stay below a private place, if it is there at all. */
static int
show(struct view *v, const char *path, struct error *e)
{
	AUTO_FREE char *real = path != NULL && path[0] == '/' ? realpath(path, NULL) : NULL;
	struct stat st;

	if (real == NULL || stat(real, &st) != 0 || is_place(real) || !strict_is_private(v, real))
		return 0;
	if (view_paths_add(&v->shown, real, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", real);
	return 0;
}

/* Where the command may be: in a directory of PATH, or beside what it is named by. */
static int
show_command(struct plan *p, struct error *e)
{
	const char *path = environment_get(p->leg_env, "PATH"), *word = p->options->command[0];
	AUTO_FREE char *copy = strdup(path != NULL ? path : "");
	AUTO_FREE char *command =
	    word != NULL && strchr(word, '/') != NULL ? realpath(word, NULL) : NULL;
	char *save;

	if (copy == NULL)
		return error_set(e, errno, NULL, "can't note where the command is");
	for (char *dir = strtok_r(copy, ":", &save); dir != NULL; dir = strtok_r(NULL, ":", &save))
		if (show(&p->view, dir, e) != 0)
			return -1;
	return show(&p->view, command, e);
}

static int
show_all(struct plan *p, char *const *env, struct error *e)
{
	static const char *const variables[] = {"GITHUB_WORKSPACE", "GITHUB_ACTION_PATH", "HOME"};
	struct view *v = &p->view;

	for (size_t i = 0; i < v->read_only.count; i++)
		if (show(v, v->read_only.list[i].path, e) != 0)
			return -1;
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		if (show(v, environment_get(env, variables[i]), e) != 0)
			return -1;
	return show(v, v->cwd.path, e) != 0 ? -1 : show_command(p, e);
}

/* A RUNNER_TEMP that is writable anyway needs no private one. */
static int
plan_temp(struct view *v, const char *path, struct error *e)
{
	AUTO_FREE char *real = path != NULL ? realpath(path, NULL) : NULL;
	struct stat st;

	if (real == NULL || stat(real, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    is_in(&v->writable, real) != NULL)
		return 0;
	if (is_in(&v->read_only, real) != NULL)
		return error_set(e, 0, "leave out the --read-only, or unset RUNNER_TEMP",
		    "RUNNER_TEMP, %s, is in %s, which is read-only", real,
		    is_in(&v->read_only, real));
	v->temp = (struct view_path){.path = ptr_take(&real), .dev = st.st_dev, .ino = st.st_ino};
	return 0;
}

static int
check_directory(const struct view *v, struct error *e)
{
	if (strict_is_private(v, v->cwd.path) && writable_look(v, v->cwd.path) == PLACE_WRITABLE &&
	    (v->temp.path == NULL || strcmp(v->cwd.path, v->temp.path) != 0))
		return error_set(e, 0, "name another one with -C, or add it with --writable",
		    "--writable: the leg's directory, %s, is a private one then", v->cwd.path);
	return 0;
}

int
writable_plan(struct plan *p, const struct snapshot *s, char *const *env, struct error *e)
{
	const struct words *names = &p->options->writable;
	struct view *v = &p->view;
	struct mountinfo m;
	int result;

	if (names->count == 0)
		return 0;
	for (size_t i = 0; i < names->count; i++)
		if (add_named(p, names->list[i], e) != 0)
			return -1;
	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	result = check(p, s, &m, e);
	if (result == 0)
		result = check_ways(p, env, &m, e);
	mountinfo_free(&m);
	/* Where TMPDIR is below /tmp it is private with it. */
	if (result == 0 && environment_get(p->leg_env, "TMPDIR") != NULL)
		v->scratch = realpath(environment_get(p->leg_env, "TMPDIR"), NULL);
	if (result != 0 || plan_temp(v, environment_get(env, "RUNNER_TEMP"), e) != 0 ||
	    show_all(p, env, e) != 0 || check_directory(v, e) != 0)
		return -1;
	view_paths_sort(&v->writable);
	view_paths_sort(&v->shown);
	return 0;
}

enum writable_place
writable_look(const struct view *v, const char *path)
{
	if (is_in(&v->writable, path) != NULL)
		return PLACE_WRITABLE;
	if (v->temp.path != NULL && mountinfo_below(path, v->temp.path))
		return strcmp(path, v->temp.path) == 0 ? PLACE_WRITABLE : PLACE_READ_ONLY;
	if (!strict_is_private(v, path))
		return PLACE_READ_ONLY;
	if (is_in(&v->shown, path) != NULL)
		return PLACE_READ_ONLY;
	if (v->scratch != NULL && mountinfo_below(path, v->scratch))
		return PLACE_WRITABLE;
	return is_place(path) ? PLACE_WRITABLE : PLACE_NOT_THERE;
}
