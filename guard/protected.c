/* What is read-only for the leg by default. See protected.h. */
#include "guard/protected.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/candidate.h"
#include "guard/environment.h"
#include "guard/runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static DIR *
list_directory(const char *path)
{
	AUTO_FD int fd =
	    path != NULL ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;

	if (listing != NULL)
		(void)fd_take(&fd);
	return listing;
}

/* A regular file of RUNNER_TEMP; 1 if it has been added. */
static int
temp_file(struct search *s, DIR *listing, const struct dirent *entry)
{
	const char *temp = s->places[TEMP].path;
	bool script = runner_is_script(entry->d_name);
	char *path;
	struct stat st;

	if ((entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN) ||
	    fstatat(dirfd(listing), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	/* Where RUNNER_TEMP is the workspace, what is in it is for the leg to work on. */
	if (!script && s->places[WORKSPACE].path != NULL &&
	    strcmp(temp, s->places[WORKSPACE].path) == 0)
		return 0;
	if (asprintf(&path, "%s/%s", temp[1] != '\0' ? temp : "", entry->d_name) < 0)
		return error_set(s->e, ENOMEM, NULL, "can't note %s", entry->d_name);
	if (candidate_add(s, path, &st, script ? "a step's script" : "in RUNNER_TEMP",
		script ? EXCLUSIVE : 0) != 0)
		return -1;
	return 1;
}

static int
temp_files(struct search *s)
{
	DIR *listing = list_directory(s->places[TEMP].path);
	const struct dirent *entry;
	size_t found = 0;
	int result = 0;

	if (listing == NULL)
		return 0;
	while (result >= 0 && (entry = readdir(listing)) != NULL) {
		result = temp_file(s, listing, entry);
		found += result > 0 && s->p->list[s->p->count - 1].left_out == NULL;
		if (found > PROTECTED_FILES_MAX)
			result = error_set(s->e, 0,
			    "keep them in a directory of their own, or say --unprotect "
			    "\"$RUNNER_TEMP\"",
			    "RUNNER_TEMP, %s, holds more than %zu files, too many to protect",
			    s->places[TEMP].path, PROTECTED_FILES_MAX);
	}
	(void)closedir(listing);
	return result < 0 ? -1 : 0;
}

/* The runner keeps actions beside RUNNER_TEMP, and below its root where it has no other directory for work. */
static int
actions(struct search *s, const char *root)
{
	if (candidate_in(s, s->places[TEMP].path, "../_actions", "the runner's actions", 0) != 0 ||
	    candidate_in(s, root, "_work/_actions", "the runner's actions", 0) != 0)
		return -1;
	return candidate_try(
	    s, environment_get(s->env, "GITHUB_ACTION_PATH"), "GITHUB_ACTION_PATH", 0);
}

static int
secret(struct search *s, const char *root, const char *name)
{
	AUTO_FREE char *path = NULL, *real = NULL;
	struct stat st;

	if (asprintf(&path, "%s/%s", root, name) < 0)
		path = NULL;
	real = path != NULL ? realpath(path, NULL) : NULL;
	if (real == NULL || stat(real, &st) != 0)
		return 0;
	if (candidate_reason(s, real, &st, 0) != NULL)
		return 0;
	if (view_paths_add(&s->p->secrets, real, st.st_dev, st.st_ino) != 0)
		return error_set(s->e, errno, NULL, "can't note %s", real);
	return 0;
}

/* After an update "bin" is a link: nothing can be mounted on that, but it can be put back. */
static int
link_in(struct search *s, const char *dir, const char *name)
{
	char *path;
	struct stat st;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return error_set(s->e, ENOMEM, NULL, "can't note %s", name);
	if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode)) {
		free(path);
		return 0;
	}
	if (candidate_add(s, path, &st, "a link of the runner's", 0) != 0)
		return -1;
	s->p->list[s->p->count - 1].inside = true; /* it has no mount */
	return 0;
}

/* The runner itself goes on writing its logs. */
static int
runner_code(struct search *s, const char *root, const char *name)
{
	if (candidate_in(
		s, root, name, "the runner's own", strcmp(name, "_diag") == 0 ? NAMES : 0) != 0)
		return -1;
	return link_in(s, root, name);
}

static int
runner_parts(struct search *s, const char *root)
{
	DIR *listing = list_directory(root);
	const struct dirent *entry;
	int result = 0;

	while (result == 0 && listing != NULL && (entry = readdir(listing)) != NULL)
		switch (runner_part(entry->d_name)) {
		case RUNNER_PART_CODE:
			result = runner_code(s, root, entry->d_name);
			break;
		case RUNNER_PART_SECRET:
			result = secret(s, root, entry->d_name);
			break;
		case RUNNER_PART_NONE:
			break;
		}
	if (listing != NULL)
		(void)closedir(listing);
	/* What a job's container has of it. */
	return result == 0 ? candidate_try(s, "/__e", "the runner's own", 0) : -1;
}

static int
hooks(struct search *s)
{
	static const char *const names[] = {"ACTIONS_RUNNER_HOOK_JOB_STARTED",
	    "ACTIONS_RUNNER_HOOK_JOB_COMPLETED", "ACTIONS_RUNNER_CONTAINER_HOOKS"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (candidate_try(s, environment_get(s->env, names[i]), names[i], EXCLUSIVE) != 0)
			return -1;
	return 0;
}

/*
 * Its directory as well: what is beside a program of the workflow's is one of the workflow's, too. What is root's is the
 * machine's, where a leg that is root may have things to install.
 */
static int
launcher(struct search *s)
{
	AUTO_FREE char *path = realpath("/proc/self/exe", NULL);
	struct stat st;
	char *slash;

	if (path == NULL)
		return 0;
	if (candidate_try(s, path, "legguard itself", EXCLUSIVE) != 0)
		return -1;
	slash = strrchr(path, '/');
	if (slash == path)
		return 0;
	*slash = '\0';
	if (stat(path, &st) != 0 || st.st_uid == 0)
		return 0;
	return candidate_try(s, path, "the directory of legguard", NAMES | OUTSIDE);
}

static int
asked_for(struct search *s)
{
	const struct words *paths = &s->o->read_only;

	for (size_t i = 0; i < paths->count; i++) {
		AUTO_FREE char *real = realpath(paths->list[i], NULL);
		struct stat st;

		if (real == NULL || stat(real, &st) != 0)
			return error_set(s->e, errno, "name an existing path", "--read-only: %s",
			    paths->list[i]);
		if (candidate_add(s, ptr_take(&real), &st, "--read-only", ASKED) != 0)
			return -1;
	}
	return 0;
}

static int
find_all(struct search *s)
{
	AUTO_FREE char *root = runner_find(s->env, &s->p->ancestors);
	const char *temp = s->places[TEMP].path;

	if (asked_for(s) != 0)
		return -1;
	if (candidate_in(s, temp, "_github_workflow", "the event", 0) != 0 ||
	    candidate_try(s, environment_get(s->env, "GITHUB_EVENT_PATH"), "GITHUB_EVENT_PATH",
		EXCLUSIVE) != 0 ||
	    temp_files(s) != 0 || actions(s, root) != 0 || hooks(s) != 0)
		return -1;
	if (root != NULL && runner_parts(s, root) != 0)
		return -1;
	return launcher(s);
}

/* A directory is mounted with all that is in it, so what is in it needs no more, and can't be taken out. */
static int
settle(struct search *s)
{
	struct protected *p = s->p;

	for (size_t i = 0; i < p->count; i++) {
		const struct protected_path *dir = &p->list[i];

		if (!S_ISDIR(dir->st.st_mode) || dir->left_out != NULL)
			continue;
		for (size_t k = 0; k < p->count; k++)
			p->list[k].inside |= k != i && mountinfo_below(p->list[k].path, dir->path);
		for (size_t k = 0; k < s->o->unprotect.count; k++)
			if (s->unprotect[k] != NULL && mountinfo_below(s->unprotect[k], dir->path))
				return error_set(s->e, 0, "name that directory",
				    "--unprotect %s: it lies in %s (%s), which is protected as a "
				    "whole",
				    s->o->unprotect.list[k], dir->path, dir->why);
	}
	return 0;
}

int
protected_find(struct protected *p, const struct options *o, char *const *env, const char *cwd,
    uid_t leg, struct error *e)
{
	struct search s = {.p = p, .o = o, .env = env, .leg = leg, .e = e};
	int result = -1;

	*p = (struct protected){0};
	if (candidates_open(&s, cwd) == 0 && find_all(&s) == 0)
		result = settle(&s);
	candidates_close(&s);
	return result;
}

int
protected_add_to(const struct protected *p, struct view_paths *v, struct error *e)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct protected_path *one = &p->list[i];
		size_t before = v->count;

		if (one->left_out != NULL || one->inside)
			continue;
		if (view_paths_add(v, one->path, one->st.st_dev, one->st.st_ino) != 0)
			return error_set(e, errno, NULL, "can't note %s", one->path);
		if (v->count > before)
			v->list[before].passing = one->keep == KEEP_LOOSE;
	}
	return 0;
}

int
protected_keep(const struct protected *p, struct snapshot *s, struct error *e)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct protected_path *one = &p->list[i];

		/* A tree is kept with all that is in it. */
		if (one->left_out != NULL ||
		    (one->inside && (one->keep == KEEP_TREE || one->keep == KEEP_LOOSE)))
			continue;
		if (snapshot_keep(s, one->path, &one->st, one->keep, e) != 0)
			return -1;
	}
	return 0;
}

const struct protected_path *
protected_get(const struct protected *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].left_out == NULL && strcmp(p->list[i].path, path) == 0)
			return &p->list[i];
	return NULL;
}

void
protected_free(struct protected *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].path);
	free(p->list);
	view_paths_free(&p->secrets);
	processes_free(&p->ancestors);
	*p = (struct protected){0};
}
