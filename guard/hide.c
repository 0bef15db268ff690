/* Paths to hide. See hide.h. */
#include "guard/hide.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char by_option[] = "--hide";

int
hide_path(
    struct plan *p, const char *path, const struct stat *st, const char *reason, struct error *e)
{
	struct words *why = &p->hidden_for;
	const char **list = reallocarray(why->list, why->count + 1, sizeof *list);

	if (list == NULL)
		return error_set(e, errno, NULL, "can't note %s", path);
	why->list = list;
	list[why->count] = reason;
	if (view_paths_add(&p->view.hidden, path, st->st_dev, st->st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	why->count = p->view.hidden.count;
	return 0;
}

int
hide_named(struct plan *p, struct error *e)
{
	const struct words *paths = &p->options->hide;

	for (size_t i = 0; i < paths->count; i++) {
		AUTO_FREE char *real = realpath(paths->list[i], NULL);
		struct stat st;

		if (real == NULL || lstat(real, &st) != 0)
			return error_set(
			    e, errno, "name an existing path", "--hide: %s", paths->list[i]);
		if (strcmp(real, "/") == 0 || mountinfo_below(real, "/proc") ||
		    mountinfo_below("/proc", real))
			return error_set(e, 0,
			    "name something else: sandboxes in the leg need /proc as it is",
			    "--hide: %s can't be hidden", real);
		if (p->options->isolation == ISOLATION_LANDLOCK && S_ISSOCK(st.st_mode))
			return error_set(e, 0,
			    "choose --isolation namespace, or end whoever listens on it",
			    "--hide: %s is a socket, which --isolation landlock can't close", real);
		if (hide_path(p, real, &st, by_option, e) != 0)
			return -1;
	}
	return 0;
}

bool
hide_is_named(const struct plan *p, size_t i)
{
	return p->hidden_for.list[i] == by_option;
}

const char *
hide_above(const struct plan *p, const char *path)
{
	const struct view *v = &p->view;

	for (size_t k = 0; k < v->kept.count; k++)
		if (mountinfo_below(path, v->kept.list[k].path))
			return NULL;
	for (size_t i = 0; i < v->hidden.count; i++)
		if (mountinfo_below(path, v->hidden.list[i].path))
			return v->hidden.list[i].path;
	return NULL;
}

/*
 * Whether the leg may rename `entry` of the directory `dir`: a root may; of groups only the one that the leg is known
 * to have counts.
 */
static bool
may_rename(const struct plan *p, const struct stat *dir, const struct stat *entry)
{
	bool owner = dir->st_uid == p->leg.uid;
	bool writes = owner || (dir->st_mode & S_IWOTH) != 0 ||
	              ((dir->st_mode & S_IWGRP) != 0 &&
			  (dir->st_gid == p->leg.gid || p->leg.kind == IDENTITY_CALLER));

	return p->leg.kind == IDENTITY_ROOT ||
	       (writes && (owner || (dir->st_mode & S_ISVTX) == 0 || entry->st_uid == p->leg.uid));
}

/* In the strict view nothing can be moved but what is below the named directories. */
static bool
is_writable(const struct plan *p, const char *dir)
{
	const struct view_paths *writable = &p->view.writable;

	for (size_t i = 0; i < writable->count; i++)
		if (mountinfo_below(dir, writable->list[i].path))
			return true;
	return writable->count == 0;
}

bool
hide_is_movable(const struct plan *p, const char *path)
{
	AUTO_FREE char *at = strdup(path);
	struct stat dir, entry;
	char *slash;

	/* Upwards: each name, and the directory that it is in. */
	if (at == NULL)
		return true;
	while ((slash = strrchr(at, '/')) != NULL && lstat(at, &entry) == 0) {
		*slash = '\0';
		if (lstat(slash == at ? "/" : at, &dir) != 0)
			break;
		if (may_rename(p, &dir, &entry) && is_writable(p, at))
			return true;
		if (slash == at)
			break;
	}
	return false;
}

static int
check(const struct plan *p, const char *path, const char *what, struct error *e)
{
	const char *mask = hide_above(p, path);

	if (mask == NULL)
		return 0;
	for (size_t i = 0; i < p->view.hidden.count; i++)
		if (p->view.hidden.list[i].path == mask && !hide_is_named(p, i))
			return error_set(e, 0, "--allow-socket with that path leaves it open",
			    "%s %s lies in %s, which is closed to a leg", what, path, mask);
	return error_set(
	    e, 0, "name something else with --hide", "--hide: %s holds %s %s", mask, what, path);
}

int
hide_check(const struct plan *p, const struct snapshot *s, struct error *e)
{
	struct view_paths guarded = {0};
	int result;

	if (p->view.hidden.count == 0)
		return 0;
	result = snapshot_read_only_paths(s, &guarded, e);
	for (size_t i = 0; i < guarded.count && result == 0; i++)
		result = check(p, guarded.list[i].path, "the guarded", e);
	if (result == 0)
		result = check(p, p->view.cwd.path, "the leg's directory", e);
	view_paths_free(&guarded);
	return result;
}
