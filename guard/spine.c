/* Which directories --pin pins. See spine.h. */
#include "guard/spine.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/held.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct leg_user {
	uid_t uid;
	gid_t gid;
};

/* For another user than the caller: by the mode, and where a list of rights adds to it, by that's mask. */
static bool
mode_allows(const char *path, const struct stat *dir, const struct leg_user *leg)
{
	bool has_list = getxattr(path, "system.posix_acl_access", NULL, 0) > 0;

	if (dir->st_gid == leg->gid || has_list)
		return (dir->st_mode & (S_IWGRP | (has_list ? S_IWOTH : 0))) != 0;
	return (dir->st_mode & S_IWOTH) != 0;
}

/* Whether the leg could change the name of what is child in the directory path. */
static bool
can_change(
    const char *path, const struct stat *dir, const struct stat *child, const struct leg_user *leg)
{
	if (dir->st_uid == leg->uid)
		return true;
	if ((dir->st_mode & S_ISVTX) != 0 && child->st_uid != leg->uid)
		return false;
	if (geteuid() == leg->uid)
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
	return mode_allows(path, dir, leg);
}

static bool
is_read_only(const struct view *v, const char *path)
{
	for (size_t i = 0; i < v->read_only.count; i++)
		if (mountinfo_below(path, v->read_only.list[i].path))
			return true;
	return false;
}

static int
add(struct view *v, const char *path, const struct stat *dir, const struct stat *child,
    const struct leg_user *leg, struct error *e)
{
	if (!can_change(path, dir, child, leg) || is_read_only(v, path))
		return 0;
	if (view_paths_add(&v->pinned, path, dir->st_dev, dir->st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	return 0;
}

/* The directories above a path that is free of symbolic links. */
static int
add_above(struct view *v, const char *path, const struct leg_user *leg, struct error *e)
{
	AUTO_FREE char *above = strdup(path);
	struct stat child, dir;

	if (above == NULL || lstat(path, &child) != 0)
		return error_set(e, errno, NULL, "can't find what is above %s", path);
	while (strcmp(above, "/") != 0) {
		char *slash = strrchr(above, '/');

		slash[slash == above ? 1 : 0] = '\0';
		if (lstat(above, &dir) != 0)
			return error_set(e, errno, NULL, "can't examine %s", above);
		if (add(v, above, &dir, &child, leg, e) != 0)
			return -1;
		child = dir;
	}
	return 0;
}

int
spine_plan(struct view *v, const struct snapshot *s, uid_t uid, gid_t gid, struct error *e)
{
	const struct leg_user leg = {.uid = uid, .gid = gid};

	for (size_t i = 0; i < s->chain.count; i++) {
		const struct chain_node *node = s->chain.nodes[i], *dir = node->parent;

		if (dir != NULL && add(v, dir->path, &dir->st, &node->st, &leg, e) != 0)
			return -1;
	}
	for (size_t i = 0; i < v->read_only.count; i++)
		if (!view_path_is_gone(&v->read_only.list[i]) &&
		    add_above(v, v->read_only.list[i].path, &leg, e) != 0)
			return -1;
	return 0;
}
