/* Pinning directories. See pin.h. */
#include "bindmount/pin.h"

#include "bindmount/alias.h"
#include "bindmount/cleanup.h"
#include "bindmount/root.h"
#include "bindmount/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int
mount_error(struct error *e, const char *path)
{
	const char *cure = NULL;

	if (errno == ENOSPC)
		cure = "raise the sysctl fs.mount-max";
	else if (errno == ENOSYS || errno == EPERM)
		cure = "run it where open_tree(2), move_mount(2) and mount_setattr(2) are let "
		       "through, or leave out --pin";
	return error_set(e, errno, cure, "can't pin %s", path);
}

static int
open_directory(const struct view_path *p, struct error *e)
{
	AUTO_FD int fd = open(p->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return error_set(e, errno,
		    "let the leg's user list it, or use --writable instead of --pin",
		    "can't list %s to pin it", p->path);
	if (fstat(fd, &st) != 0 || st.st_dev != p->dev || st.st_ino != p->ino)
		return error_set(e, 0,
		    "something is replacing it: end what else runs here and try again",
		    "%s leads to another directory in the leg's view", p->path);
	return fd_take(&fd);
}

/*
 * Cover dir with a copy that is read-only itself; the mounts below it come along as they are, for without
 * them it can't be copied: they are locked, mount_namespaces(7). Returns a descriptor on the copy.
 */
static int
cover(int dir)
{
	AUTO_FD int tree = sys_open_tree(dir, "",
	    AT_EMPTY_PATH | SYS_AT_RECURSIVE | SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC);

	if (tree < 0 || sys_mount_setattr(tree, "", AT_EMPTY_PATH, SYS_MOUNT_ATTR_RDONLY) != 0 ||
	    sys_move_mount(
		tree, "", dir, "", SYS_MOVE_MOUNT_F_EMPTY_PATH | SYS_MOVE_MOUNT_T_EMPTY_PATH) != 0)
		return -1;
	return fd_take(&tree);
}

/*
 * Bind one child of dir, which still leads below the cover, to the same name on it. What has gone meanwhile
 * needs no binding, and a symbolic link can't be a mount point: it is as unchangeable as its name.
 */
static int
bind_back(int dir, const char *name, int top)
{
	AUTO_FD int child = sys_open_tree(dir, name,
	    AT_SYMLINK_NOFOLLOW | SYS_AT_RECURSIVE | SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC);

	if (child < 0)
		return errno == ENOENT ? 0 : -1;
	if (sys_move_mount(child, "", top, name, SYS_MOVE_MOUNT_F_EMPTY_PATH) == 0)
		return 0;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

static int
bind_children(const struct view_path *p, int dir, int top, size_t *left, struct error *e)
{
	AUTO_FD int copy = dup(dir);
	DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;
	int result = 0;

	if (list == NULL)
		return error_set(e, errno, NULL, "can't list %s to pin it", p->path);
	(void)fd_take(&copy);
	while (result == 0 && (errno = 0, entry = readdir(list)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    entry->d_type == DT_LNK)
			continue;
		if ((*left)-- == 0)
			result = error_set(e, 0,
			    "tidy up, or use --writable, which needs no mount for each entry",
			    "--pin: more than %d entries in the directories to pin, in %s the last",
			    PIN_CHILDREN_MAX, p->path);
		else if (bind_back(dir, entry->d_name, top) != 0)
			result = mount_error(e, p->path);
	}
	if (result == 0 && errno != 0)
		result = error_set(e, errno, NULL, "can't list %s to pin it", p->path);
	closedir(list);
	return result;
}

static int
pin(const struct view_path *p, size_t *left, struct error *e)
{
	AUTO_FD int dir = open_directory(p, e);
	AUTO_FD int top = -1;

	if (dir < 0)
		return -1;
	top = cover(dir);
	if (top < 0)
		return mount_error(e, p->path);
	if (strcmp(p->path, "/") == 0 && root_enter(top, e) != 0)
		return -1;
	return bind_children(p, dir, top, left, e);
}

/* The name of a part of the directory is none of the directory itself. */
static bool
is_one_of(const struct view_path *p, const struct view_paths *dirs)
{
	for (size_t i = 0; i < dirs->count; i++)
		if (dirs->list[i].dev == p->dev && dirs->list[i].ino == p->ino)
			return true;
	return false;
}

int
pin_all(const struct view_paths *dirs, const struct mountinfo *m, struct error *e)
{
	struct view_paths all = {0};
	size_t left = PIN_CHILDREN_MAX;
	int result = alias_add_all(&all, m, dirs, false, e);

	/* From the top down: what a directory is covered with comes with its children as they are then. */
	view_paths_sort(&all);
	for (size_t i = 0; i < all.count && result == 0; i++)
		if (is_one_of(&all.list[i], dirs))
			result = pin(&all.list[i], &left, e);
	view_paths_free(&all);
	return result;
}
