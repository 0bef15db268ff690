/* The leg's own directories for temporary files. See privatetemp.h. */
#include "guard/privatetemp.h"

#include "bindmount/cleanup.h"
#include "bindmount/landlock.h"
#include "bindmount/mountinfo.h"
#include "guard/environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	REMOVED_MAX = 500000, /* entries removed, in all */
	HURRIED_MAX = 20000,  /* some tenths of a second's work */
	DEPTH_MAX = 64,       /* directories in one another that are emptied, one descriptor each */
};

/* The variable, if the leg has it and not by an option. */
static const char *
inherited(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->options->n_env; i++)
		if (strcmp(p->options->env[i].name, name) == 0)
			return NULL;
	return environment_get(p->leg_env, name);
}

/* The canonical path of a directory that is closed to the leg, else NULL; malloc'd. */
static char *
closed(const struct plan *p, const char *dir)
{
	char *real = dir != NULL ? realpath(dir, NULL) : NULL;

	if (real != NULL && !landlock_closes(&p->view.read_only, real)) {
		free(real);
		return NULL;
	}
	return real;
}

static bool
may_change_tmpdir(const struct plan *p)
{
	if (p->options->clear_env)
		return false;
	for (size_t i = 0; i < p->options->n_env; i++)
		if (strcmp(p->options->env[i].name, "TMPDIR") == 0)
			return false;
	return true;
}

/* Below something protected there is no place that stays writable. */
static bool
is_usable(const struct plan *p, const char *dir)
{
	for (size_t i = 0; i < p->view.read_only.count; i++)
		if (mountinfo_below(dir, p->view.read_only.list[i].path))
			return false;
	return faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0;
}

static int
find_base(
    struct private_temp *t, const struct plan *p, const char *const *candidates, struct error *e)
{
	for (; *candidates != NULL; candidates++) {
		AUTO_FREE char *real = realpath(*candidates, NULL);

		if (real != NULL && is_usable(p, real)) {
			t->base = ptr_take(&real);
			return 0;
		}
	}
	return error_set(e, 0, "set TMPDIR to a directory that the leg may write",
	    "there is no place for the leg's temporary files");
}

static int
tell(struct plan *p, const char *variable, const char *path, struct error *e)
{
	if (environment_set(&p->leg_env, variable, path) != 0)
		return error_set(e, errno, NULL, "can't set %s for the leg", variable);
	return 0;
}

static int
make_tmp(struct private_temp *t, struct plan *p, struct error *e)
{
	AUTO_FREE char *tmp = NULL;

	if (asprintf(&tmp, "%s/_legguard-tmp-XXXXXX", t->base) < 0)
		tmp = NULL;
	if (tmp == NULL || mkdtemp(tmp) == NULL)
		return error_set(e, errno, NULL,
		    "can't make a directory for the leg's temporary files in %s", t->base);
	t->tmp = ptr_take(&tmp);
	if (geteuid() != p->leg.uid && lchown(t->tmp, p->leg.uid, p->leg.gid) != 0)
		return error_set(e, errno, NULL, "can't give the leg %s", t->tmp);
	return tell(p, "TMPDIR", t->tmp, e);
}

int
private_temp_make(
    struct private_temp *t, struct bringout *b, struct plan *p, bool dry_run, struct error *e)
{
	const char *runner_temp = inherited(p, "RUNNER_TEMP");
	const char *tmpdir = inherited(p, "TMPDIR");
	const char *usual = tmpdir != NULL ? tmpdir : "/tmp";
	const char *const candidates[] = {runner_temp != NULL ? runner_temp : usual, usual, NULL};
	AUTO_FREE char *closed_tmp = may_change_tmpdir(p) ? closed(p, usual) : NULL;

	t->real = closed(p, runner_temp);
	/* It may be read-only as that was asked for. */
	if (t->real != NULL && !is_usable(p, t->real)) {
		free(t->real);
		t->real = NULL;
	}
	if (closed_tmp != NULL && find_base(t, p, candidates, e) != 0)
		return -1;
	if (dry_run)
		return 0;
	if (t->real != NULL && (bringout_beside(b, t->real, p->leg.uid, p->leg.gid, e) != 0 ||
				   tell(p, "RUNNER_TEMP", b->path, e) != 0))
		return -1;
	return t->base != NULL ? make_tmp(t, p, e) : 0;
}

/* Empty the directory `name` in parent, and remove it. Links are not followed. */
static void
remove_tree(int parent, const char *name, int depth, int *left)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *entry;
	DIR *dir;

	if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL && fd >= 0)
		close(fd);
	if (dir != NULL)
		(void)fchmod(fd, 0700); /* or what is in it could not be removed */
	while (dir != NULL && depth<DEPTH_MAX && * left> 0 && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		--*left;
		if (unlinkat(fd, entry->d_name, 0) != 0 && errno == EISDIR)
			remove_tree(fd, entry->d_name, depth + 1, left);
	}
	if (dir != NULL)
		closedir(dir);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

void
private_temp_end(struct private_temp *t, bool dead, bool hurry)
{
	int left = hurry ? HURRIED_MAX : REMOVED_MAX;

	if (t->tmp != NULL && dead)
		remove_tree(AT_FDCWD, t->tmp, 0, &left);
	else if (t->tmp != NULL)
		(void)rmdir(
		    t->tmp); /* somebody may be in there, but there may never have been a leg */
	free(t->real);
	free(t->base);
	free(t->tmp);
	*t = PRIVATE_TEMP_NONE;
}
