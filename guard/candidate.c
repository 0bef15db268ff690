/* The rules for what may have to be protected. See candidate.h. */
#include "guard/candidate.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* By the mode where the leg is another user, groups counting as its own. */
static bool
is_legs(const struct search *s, const char *path, const struct stat *st)
{
	if (st->st_uid == s->leg)
		return true;
	if (s->leg == geteuid())
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
	return (st->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/*
 * True if the leg can change it, or put something else in its place: it or the directory it is in is the leg's,
 * or the leg may write there.
 */
static bool
is_in_reach(const struct search *s, char *path, const struct stat *st)
{
	char *slash = strrchr(path, '/'), saved;
	struct stat parent;
	bool reach;

	if (is_legs(s, path, st))
		return true;
	slash += slash == path; /* "/" stays */
	saved = *slash;
	*slash = '\0';
	reach = stat(path, &parent) != 0 || is_legs(s, path, &parent);
	*slash = saved;
	return reach;
}

const char *
candidate_reason(const struct search *s, const char *path, const struct stat *st, int flags)
{
	if ((flags & ASKED) != 0)
		return NULL;
	for (size_t i = 0; i < s->o->unprotect.count; i++)
		if (s->unprotect[i] != NULL && mountinfo_below(path, s->unprotect[i]))
			return "--unprotect";
	for (size_t i = 0; i < PLACES && S_ISDIR(st->st_mode); i++) {
		const struct place *place = &s->places[i];

		if (place->path == NULL)
			continue;
		if (mountinfo_below(place->path, path))
			return place->contains;
		if ((flags & OUTSIDE) != 0 && (i == CWD || i == WORKSPACE) &&
		    mountinfo_below(path, place->path))
			return place->inside;
	}
	return NULL;
}

static enum keep
keep_how(const struct stat *st, int flags)
{
	if (S_ISDIR(st->st_mode))
		return (flags & NAMES) != 0 ? KEEP_NAMES : KEEP_TREE;
	if (!S_ISREG(st->st_mode))
		return KEEP_NAMES;
	if ((flags & ASKED) != 0)
		return KEEP_SHARED;
	return (flags & EXCLUSIVE) != 0 ? KEEP_FILE : KEEP_LOOSE;
}

int
candidate_add(struct search *s, char *path, const struct stat *st, const char *why, int flags)
{
	struct protected *p = s->p;
	struct protected_path *list;
	AUTO_FREE char *owned = path;

	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->list[i].path, path) == 0) {
			if (p->list[i].keep == KEEP_LOOSE)
				p->list[i].keep = keep_how(st, flags);
			return 0;
		}
	/* Grows by doubling: the room is the next power of two at or above the count. */
	if ((p->count & (p->count - 1)) == 0) {
		list = reallocarray(p->list, p->count > 0 ? p->count * 2 : 1, sizeof *list);
		if (list == NULL)
			return error_set(s->e, errno, NULL, "can't note %s", path);
		p->list = list;
	}
	p->list[p->count++] = (struct protected_path){
	    .path = ptr_take(&owned),
	    .st = *st,
	    .why = why,
	    .left_out = candidate_reason(s, path, st, flags),
	    .keep = keep_how(st, flags),
	};
	return 0;
}

int
candidate_try(struct search *s, const char *path, const char *why, int flags)
{
	AUTO_FREE char *real = path != NULL ? realpath(path, NULL) : NULL;
	struct stat st;

	if (real == NULL || stat(real, &st) != 0 ||
	    (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) || !is_in_reach(s, real, &st))
		return 0;
	return candidate_add(s, ptr_take(&real), &st, why, flags);
}

int
candidate_in(struct search *s, const char *dir, const char *name, const char *why, int flags)
{
	AUTO_FREE char *path = NULL;

	if (dir == NULL)
		return 0;
	if (asprintf(&path, "%s/%s", dir, name) < 0) {
		path = NULL;
		return error_set(s->e, ENOMEM, NULL, "can't note %s", name);
	}
	return candidate_try(s, path, why, flags);
}

/* Where the variable is missing, the runner's file-command files are still there. */
static char *
find_temp(char *const *env)
{
	const char *path = environment_get(env, "RUNNER_TEMP");
	char *real, *slash;

	if (path == NULL)
		path = environment_get(env, "GITHUB_OUTPUT");
	real = path != NULL ? realpath(path, NULL) : NULL;
	if (real == NULL || environment_get(env, "RUNNER_TEMP") != NULL)
		return real;
	slash = strstr(real, "/_runner_file_commands/");
	if (slash != NULL && slash != real) {
		*slash = '\0';
		return real;
	}
	free(real);
	return NULL;
}

int
candidates_open(struct search *s, const char *cwd)
{
	static const struct {
		const char *variable, *contains, *inside;
	} places[PLACES] = {
	    [CWD] = {NULL, "contains the working directory", "lies in the working directory"},
	    [WORKSPACE] = {"GITHUB_WORKSPACE", "contains the workspace", "lies in the workspace"},
	    [TEMP] = {"RUNNER_TEMP", "contains RUNNER_TEMP", NULL},
	    [HOME] = {"HOME", "contains HOME", NULL},
	    [TMPDIR] = {"TMPDIR", "contains TMPDIR", NULL},
	};

	for (size_t i = 0; i < PLACES; i++) {
		const char *path = i == CWD ? cwd : environment_get(s->env, places[i].variable);

		s->places[i] = (struct place){NULL, places[i].contains, places[i].inside};
		if (path != NULL && i != TEMP)
			s->places[i].path = realpath(path, NULL);
	}
	s->places[TEMP].path = find_temp(s->env);
	s->unprotect = calloc(s->o->unprotect.count + 1, sizeof(char *));
	if (s->unprotect == NULL)
		return error_set(s->e, errno, NULL, "can't plan the run");
	/* A path that is not on this machine may be on the next one that the workflow runs on. */
	for (size_t i = 0; i < s->o->unprotect.count; i++)
		s->unprotect[i] = realpath(s->o->unprotect.list[i], NULL);
	return 0;
}

void
candidates_close(struct search *s)
{
	for (size_t i = 0; i < PLACES; i++)
		free(s->places[i].path);
	for (size_t i = 0; s->unprotect != NULL && i < s->o->unprotect.count; i++)
		free(s->unprotect[i]);
	free(s->unprotect);
}
