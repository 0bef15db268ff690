/*
 * Building the strict view. See strict.h.
 *
 * What is to be bound is opened first, where it is, and cloned when its place is ready: a mount that is
 * covered can still be cloned through a descriptor.
 */
#include "bindmount/strict.h"

#include "bindmount/alias.h"
#include "bindmount/cleanup.h"
#include "bindmount/readonly.h"
#include "bindmount/root.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Everybody writes there, and expects little to stay. */
static const char *const private_places[] = {"/tmp", "/dev/shm"};

enum {
	PLACES = sizeof private_places / sizeof private_places[0],
	TREE = SYS_AT_RECURSIVE | SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC,
	ON = SYS_MOVE_MOUNT_F_EMPTY_PATH | SYS_MOVE_MOUNT_T_EMPTY_PATH,
};

struct strict {
	const struct view *view;
	int *writable; /* descriptors of view->writable, one each */
	int *shown;    /* of view->shown; -1 where there is no need */
	int private, temp, proc;
};

/* True if path is one of dirs or below one. */
static bool
is_in(const struct view_paths *dirs, const char *path)
{
	for (size_t i = 0; i < dirs->count; i++)
		if (mountinfo_below(path, dirs->list[i].path))
			return true;
	return false;
}

bool
strict_is_private(const struct view *view, const char *path)
{
	for (size_t i = 0; i < PLACES; i++)
		if (mountinfo_below(path, private_places[i]) &&
		    !is_in(&view->writable, private_places[i]))
			return !is_in(&view->writable, path);
	return false;
}

static int
mount_error(struct error *e, const char *what, const char *path)
{
	if (errno == ENOSYS)
		return error_set(e, errno,
		    "run it where open_tree(2), move_mount(2) and mount_setattr(2) are let "
		    "through, or leave out --writable",
		    "can't %s %s", what, path);
	return error_set(e, errno, userns_cure(errno), "can't %s %s", what, path);
}

/* What will be writable is taken from where it is so. */
static int
open_writable(struct strict *s, struct error *e)
{
	const struct view *v = s->view;

	for (size_t i = 0; i < v->writable.count; i++)
		if ((s->writable[i] = view_open(&v->writable.list[i], e)) < 0)
			return -1;
	if (v->temp.path != NULL && (s->private = view_open(&v->private, e)) < 0)
		return -1;
	if (!v->fresh_proc) {
		s->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (s->proc < 0)
			return error_set(e, errno, NULL, "can't open /proc");
	}
	return 0;
}

static int
replace_root(struct error *e)
{
	AUTO_FD int old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int tree = sys_open_tree(old, "", AT_EMPTY_PATH | TREE);

	if (tree < 0 ||
	    sys_mount_setattr(tree, "", AT_EMPTY_PATH | SYS_AT_RECURSIVE, SYS_MOUNT_ATTR_RDONLY) !=
		0 ||
	    sys_move_mount(tree, "", old, "", ON) != 0)
		return mount_error(e, "make everything read-only below", "/");
	return root_enter(tree, e);
}

static bool
needs_showing(const struct view *v, const char *path)
{
	for (size_t i = 0; i < PLACES; i++)
		if (strcmp(path, private_places[i]) == 0)
			return false;
	return strict_is_private(v, path) &&
	       (v->temp.path == NULL || !mountinfo_below(path, v->temp.path));
}

/* What will be read-only is taken from the copy of the root. */
static int
open_shown(struct strict *s, struct error *e)
{
	const struct view *v = s->view;

	for (size_t i = 0; i < v->shown.count; i++)
		if (needs_showing(v, v->shown.list[i].path) &&
		    (s->shown[i] = view_open(&v->shown.list[i], e)) < 0)
			return -1;
	return v->temp.path != NULL && (s->temp = view_open(&v->temp, e)) < 0 ? -1 : 0;
}

static int
mount_private_places(const struct view *v, struct error *e)
{
	struct stat st;

	for (size_t i = 0; i < PLACES; i++) {
		const char *place = private_places[i];

		if (is_in(&v->writable, place) || stat(place, &st) != 0 || !S_ISDIR(st.st_mode))
			continue;
		if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
			return mount_error(e, "mount a private", place);
	}
	return 0;
}

/* Something of the kind of st at path, in a private place, with the directories above it. */
static int
make_mount_point(const struct view *v, const char *path, const struct stat *st)
{
	AUTO_FREE char *copy = NULL;
	AUTO_FD int fd = -1;

	if (!strict_is_private(v, path) && !is_in(&v->writable, path))
		return 0;
	copy = strdup(path);
	if (copy == NULL)
		return -1;
	for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (strict_is_private(v, copy) && mkdir(copy, 0755) != 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	if (lstat(path, &(struct stat){0}) == 0)
		return 0;
	if (S_ISDIR(st->st_mode))
		return mkdir(path, 0755);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : 0;
}

/* Bind what fd is open on, with all below it, on path. */
static int
put(const struct view *v, int fd, const char *path)
{
	AUTO_FD int tree = sys_open_tree(fd, "", AT_EMPTY_PATH | TREE);
	AUTO_FD int place = -1;
	struct stat st;

	if (tree < 0 || fstat(fd, &st) != 0 || make_mount_point(v, path, &st) != 0)
		return -1;
	place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return place < 0 ? -1 : sys_move_mount(tree, "", place, "", ON);
}

/* What has gone since its place in the private directory was made has an empty one. */
static int
show_entry(int temp, int private, const char *name)
{
	AUTO_FD int entry = sys_open_tree(temp, name, AT_SYMLINK_NOFOLLOW | TREE);

	if (entry >= 0 &&
	    sys_move_mount(entry, "", private, name, SYS_MOVE_MOUNT_F_EMPTY_PATH) == 0)
		return 0;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

/* In the private directory is a place for each entry of the real one that is to be seen. */
static int
put_temp(const struct strict *s)
{
	const struct view *v = s->view;
	struct dirent *entry;
	int result = 0, fd;
	DIR *list;

	if (v->temp.path == NULL)
		return 0;
	if (put(v, s->private, v->temp.path) != 0)
		return -1;
	fd = open(v->temp.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	list = fd >= 0 ? fdopendir(fd) : NULL;
	if (list == NULL)
		return -1;
	while (result == 0 && (errno = 0, entry = readdir(list)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    entry->d_type != DT_LNK)
			result = show_entry(s->temp, fd, entry->d_name);
	if (errno != 0)
		result = -1;
	closedir(list);
	return result;
}

/* Writable for whoever the leg is: nobody else gets to see it. */
static int
make_scratch(const struct view *v)
{
	static const struct stat directory = {.st_mode = S_IFDIR};

	if (v->scratch == NULL || !needs_showing(v, v->scratch) ||
	    lstat(v->scratch, &(struct stat){0}) == 0)
		return 0;
	if (make_mount_point(v, v->scratch, &directory) == 0)
		return chmod(v->scratch, 01777);
	/* In something that is shown. */
	return errno == EROFS || errno == EACCES ? 0 : -1;
}

/* Those above first, so that what they bring along does not cover what lies below. */
static int
put_all(const struct strict *s, struct error *e)
{
	const struct view *v = s->view;

	for (size_t i = 0; i < v->shown.count; i++)
		if (s->shown[i] >= 0 && put(v, s->shown[i], v->shown.list[i].path) != 0)
			return mount_error(e, "show", v->shown.list[i].path);
	if (put_temp(s) != 0)
		return mount_error(e, "put a private directory over", v->temp.path);
	for (size_t i = 0; i < v->writable.count; i++)
		if (put(v, s->writable[i], v->writable.list[i].path) != 0)
			return mount_error(e, "make writable", v->writable.list[i].path);
	if (make_scratch(v) != 0)
		return mount_error(e, "make", v->scratch);
	/* A file system that is not the leg's own is left as it was for the leg's set-up to work. */
	if (s->proc >= 0 && put(v, s->proc, "/proc") != 0)
		return mount_error(e, "make writable", "/proc");
	return 0;
}

static int *
descriptors(size_t n)
{
	int *list = calloc(n + 1, sizeof *list);

	for (size_t i = 0; list != NULL && i < n; i++)
		list[i] = -1;
	return list;
}

static void
close_all(int *list, size_t n)
{
	for (size_t i = 0; list != NULL && i < n; i++)
		cleanup_fd(&list[i]);
	free(list);
}

int
strict_build(const struct view *view, struct error *e)
{
	struct strict s = {.view = view,
	    .writable = descriptors(view->writable.count),
	    .shown = descriptors(view->shown.count),
	    .private = -1,
	    .temp = -1,
	    .proc = -1};
	int result = -1;

	if (s.writable == NULL || s.shown == NULL)
		error_set(e, errno, NULL, "can't make the strict view");
	else if (open_writable(&s, e) == 0 && replace_root(e) == 0 && open_shown(&s, e) == 0 &&
		 mount_private_places(view, e) == 0)
		result = put_all(&s, e);
	close_all(s.writable, view->writable.count);
	close_all(s.shown, view->shown.count);
	fd_drop(&s.private);
	fd_drop(&s.temp);
	fd_drop(&s.proc);
	return result;
}

int
strict_ways_in(
    struct view_paths *v, const struct view *view, const struct mountinfo *m, struct error *e)
{
	for (size_t i = 0; i < view->read_only.count; i++) {
		const char *path = view->read_only.list[i].path;
		const struct mount_entry *home = alias_home(m, path);

		if (home == NULL && view_path_is_gone(&view->read_only.list[i]))
			continue;
		if (home == NULL)
			return error_set(e, errno, NULL, "can't find the mount of %s", path);
		for (size_t k = 0; k < m->count; k++) {
			const struct mount_entry *other = &m->list[k];
			AUTO_FREE char *alias = NULL;
			struct stat st;

			if (!is_in(&view->writable, other->point))
				continue;
			alias = mountinfo_alias(home, other, path);
			if (alias == NULL && errno != 0)
				return error_set(e, errno, NULL, "can't name %s", path);
			/* One that can't be reached is closed to the leg as well. */
			if (alias != NULL && stat(other->point, &st) == 0 &&
			    view_paths_add(v, other->point, st.st_dev, st.st_ino) != 0)
				return error_set(e, errno, NULL, "can't note %s", other->point);
		}
	}
	return 0;
}

int
strict_check(const struct view *view, struct error *e)
{
	for (size_t i = 0; i < view->read_only.count; i++)
		if (!view->read_only.list[i].passing &&
		    readonly_check(&view->read_only.list[i], e) != 0)
			return -1;
	return 0;
}
