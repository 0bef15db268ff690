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
	MOVED_MAX = 10000,    /* entries brought out */
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
	return access(dir, W_OK | X_OK) == 0;
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

/* `name` in the private directory, and the variable that leads there. */
static int
provide(const struct private_temp *t, struct plan *p, const char *name, const char *variable,
    struct error *e)
{
	AUTO_FREE char *path = NULL;

	if (mkdirat(t->fd, name, 0700) != 0 ||
	    (geteuid() != p->leg.uid && fchownat(t->fd, name, p->leg.uid, p->leg.gid, 0) != 0))
		return error_set(e, errno, NULL, "can't make %s in %s", name, t->dir);
	if (asprintf(&path, "%s/%s", t->dir, name) < 0) {
		path = NULL;
		errno = ENOMEM;
	} else if (environment_set(&p->leg_env, variable, path) == 0) {
		return 0;
	}
	return error_set(e, errno, NULL, "can't set %s for the leg", variable);
}

static int
make(struct private_temp *t, struct plan *p, struct error *e)
{
	AUTO_FREE char *dir = NULL;

	if (asprintf(&dir, "%s/_legguard-XXXXXX", t->base) < 0)
		dir = NULL;
	if (dir == NULL || mkdtemp(dir) == NULL)
		return error_set(e, errno, NULL,
		    "can't make a directory for the leg's temporary files in %s", t->base);
	t->dir = ptr_take(&dir);
	t->fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->fd < 0 || (geteuid() != p->leg.uid && fchown(t->fd, p->leg.uid, p->leg.gid) != 0))
		return error_set(e, errno, NULL, "can't open %s", t->dir);
	if (t->real != NULL && provide(t, p, "temp", "RUNNER_TEMP", e) != 0)
		return -1;
	return t->tmp ? provide(t, p, "tmp", "TMPDIR", e) : 0;
}

int
private_temp_make(struct private_temp *t, struct plan *p, bool dry_run, struct error *e)
{
	const char *runner_temp = inherited(p, "RUNNER_TEMP");
	const char *tmpdir = inherited(p, "TMPDIR");
	const char *usual = tmpdir != NULL ? tmpdir : "/tmp";
	const char *const candidates[] = {runner_temp != NULL ? runner_temp : usual, usual, NULL};
	AUTO_FREE char *closed_tmp = NULL;

	*t = (struct private_temp)PRIVATE_TEMP_NONE;
	if (p->landlock_abi == 0)
		return 0;
	t->real = closed(p, runner_temp);
	closed_tmp = may_change_tmpdir(p) ? closed(p, usual) : NULL;
	t->tmp = closed_tmp != NULL;
	if (t->real == NULL && !t->tmp)
		return 0;
	if (find_base(t, p, candidates, e) != 0)
		return -1;
	return dry_run ? 0 : make(t, p, e);
}

/* Move what is in `temp` to where the leg believed to put it. */
static void
move_out(const struct private_temp *t)
{
	AUTO_FD int to = open(t->real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int from = openat(t->fd, "temp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = from >= 0 ? fdopendir(from) : NULL;
	const struct dirent *entry;

	if (dir == NULL && from >= 0)
		close(from);
	for (int n = 0; dir != NULL && to >= 0 && n < MOVED_MAX && (entry = readdir(dir)) != NULL;
	     n++)
		if (entry->d_name[0] != '_' && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			(void)renameat2(from, entry->d_name, to, entry->d_name, RENAME_NOREPLACE);
	if (dir != NULL)
		closedir(dir);
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

	if (t->fd >= 0 && dead) {
		if (t->real != NULL && !hurry)
			move_out(t);
		remove_tree(AT_FDCWD, t->dir, 0, &left);
	} else if (t->fd >= 0) {
		/* Somebody may be in there, but there may never have been a leg. */
		(void)unlinkat(t->fd, "temp", AT_REMOVEDIR);
		(void)unlinkat(t->fd, "tmp", AT_REMOVEDIR);
		(void)rmdir(t->dir);
	}
	fd_drop(&t->fd);
	free(t->base);
	free(t->dir);
	free(t->real);
	*t = (struct private_temp)PRIVATE_TEMP_NONE;
}
