/*
 * Building the leg's view. See view.h.
 *
 * Read-only is a property of a mount, not of a file: a second mount of the same file system is a
 * second way in. So every path is looked for in all mounts first, and all names that are found are
 * treated alike.
 */
#include "bindmount/view.h"

#include "bindmount/cleanup.h"
#include "bindmount/mask.h"
#include "bindmount/mountinfo.h"
#include "bindmount/readonly.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int
view_paths_add(struct view_paths *v, const char *path, dev_t dev, ino_t ino)
{
	AUTO_FREE char *copy = NULL;
	struct view_path *list;

	for (size_t i = 0; i < v->count; i++)
		if (strcmp(v->list[i].path, path) == 0)
			return 0;
	copy = strdup(path);
	if (copy == NULL)
		return -1;
	list = reallocarray(v->list, v->count + 1, sizeof *list);
	if (list == NULL)
		return -1;
	v->list = list;
	list[v->count++] = (struct view_path){.path = ptr_take(&copy), .dev = dev, .ino = ino};
	return 0;
}

void
view_paths_free(struct view_paths *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->list[i].path);
	free(v->list);
	*v = (struct view_paths){0};
}

/* The mount in which path lies for a process that looks it up now. */
static const struct mount_entry *
mount_of(const struct mountinfo *m, const char *path, struct stat *st)
{
	struct statx stx;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, &stx) !=
		0 ||
	    stat(path, st) != 0)
		return NULL;
	errno = ENOSYS;
	if ((stx.stx_mask & STATX_MNT_ID) == 0)
		return NULL;
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].id == (int)stx.stx_mnt_id)
			return &m->list[i];
	errno = ENOENT;
	return NULL;
}

/*
 * Add p's names in all other mounts to *v. A mount that can't be reached at its own point, being
 * covered or behind a directory closed to this user, is closed to the leg as well: mounts made here
 * are locked for it.
 */
static int
add_aliases(
    struct view_paths *v, const struct mountinfo *m, const struct view_path *p, struct error *e)
{
	struct stat st;
	const struct mount_entry *home = mount_of(m, p->path, &st);

	if (home == NULL)
		return error_set(e, errno, NULL, "can't find the mount of %s", p->path);
	for (size_t i = 0; i < m->count; i++) {
		const struct mount_entry *other = &m->list[i];
		AUTO_FREE char *alias =
		    other != home ? mountinfo_alias(home, other, p->path) : NULL;

		if (alias == NULL) {
			if (other != home && errno != 0)
				return error_set(e, errno, NULL, "can't name %s", p->path);
			continue;
		}
		if (mount_of(m, alias, &st) == other &&
		    view_paths_add(v, alias, st.st_dev, st.st_ino) != 0)
			return error_set(e, errno, NULL, "can't note %s", alias);
	}
	return 0;
}

/* All names of paths: their own, and those in other mounts. One that may be gone is left out then. */
static int
add_names(struct view_paths *all, const struct mountinfo *m, const struct view_paths *paths,
    bool may_be_gone, struct error *e)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct view_path *p = &paths->list[i];
		struct stat st;

		if (may_be_gone && lstat(p->path, &st) != 0 && errno == ENOENT)
			continue;
		if (view_paths_add(all, p->path, p->dev, p->ino) != 0)
			return error_set(e, errno, NULL, "can't note %s", p->path);
		if (add_aliases(all, m, p, e) != 0)
			return -1;
	}
	return 0;
}

/*
 * Covers first, so that a mask lies over them and what is kept has them. The names are found before
 * either: a cover adds none, and a mask would take some away.
 */
static int
cover_and_mask(const struct view *view, struct error *e)
{
	struct view_paths read_only = {0}, hidden = {0};
	struct mountinfo m;
	int result;

	if (view->read_only.count == 0 && view->hidden.count == 0)
		return 0;
	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	result = add_names(&read_only, &m, &view->read_only, false, e);
	if (result == 0)
		result = add_names(&hidden, &m, &view->hidden, true, e);
	for (size_t i = 0; i < read_only.count && result == 0; i++)
		result = readonly_cover(&read_only.list[i], e);
	if (result == 0 && hidden.count > 0) {
		result = mask_all(&hidden, &view->kept, e);
		if (result == 0 && !view->fresh_proc)
			result = mask_uncover_proc(e);
	}
	mountinfo_free(&m);
	view_paths_free(&read_only);
	view_paths_free(&hidden);
	return result;
}

int
view_enter(const struct view_path *cwd, struct error *e)
{
	struct stat st;

	if (chdir(cwd->path) != 0 || stat(".", &st) != 0)
		return error_set(e, errno, NULL, "can't enter the leg's directory %s", cwd->path);
	if (st.st_dev != cwd->dev || st.st_ino != cwd->ino)
		return error_set(
		    e, 0, NULL, "%s leads to another directory than before", cwd->path);
	return 0;
}

int
view_build(const struct view *view, struct error *e)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return error_set(e, errno, userns_cure(errno), "can't make the mounts private");
	if (cover_and_mask(view, e) != 0)
		return -1;
	if (view->fresh_proc &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return error_set(e, errno, userns_cure(errno), "can't mount a fresh /proc");
	return view_enter(&view->cwd, e);
}
