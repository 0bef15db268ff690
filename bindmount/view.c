/* Building the leg's view. See view.h. */
#include "bindmount/view.h"

#include "bindmount/alias.h"
#include "bindmount/cleanup.h"
#include "bindmount/engine.h"
#include "bindmount/decoy.h"
#include "bindmount/mask.h"
#include "bindmount/mountinfo.h"
#include "bindmount/pin.h"
#include "bindmount/procs.h"
#include "bindmount/readonly.h"
#include "bindmount/strict.h"
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

bool
view_is_elsewhere(int fd, const char *path)
{
	struct stat was, now;

	return fstat(fd, &was) == 0 && (was.st_nlink == 0 || lstat(path, &now) != 0 ||
					   now.st_dev != was.st_dev || now.st_ino != was.st_ino);
}

bool
view_path_is_gone(const struct view_path *p)
{
	struct stat st;

	return p->passing && lstat(p->path, &st) != 0 && errno == ENOENT;
}

static int
by_length(const void *a, const void *b)
{
	size_t m = strlen(((const struct view_path *)a)->path);
	size_t n = strlen(((const struct view_path *)b)->path);

	return (m > n) - (m < n);
}

void
view_paths_sort(struct view_paths *v)
{
	if (v->count > 0)
		qsort(v->list, v->count, sizeof *v->list, by_length);
}

void
view_paths_free(struct view_paths *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->list[i].path);
	free(v->list);
	*v = (struct view_paths){0};
}

int
view_open(const struct view_path *p, struct error *e)
{
	AUTO_FD int fd = open(p->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return error_set(e, errno, NULL, "can't open %s in the leg's view", p->path);
	if (st.st_dev != p->dev || st.st_ino != p->ino)
		return error_set(e, 0,
		    "something is replacing it: end what else runs here and try again",
		    "%s leads to another file in the leg's view", p->path);
	return fd_take(&fd);
}

/* Which names are covered: where nothing can be written anyway, those of ways in are enough. */
static int
find_covered(
    struct view_paths *v, const struct view *view, const struct mountinfo *m, struct error *e)
{
	if (view->writable.count > 0)
		return strict_ways_in(v, view, m, e);
	return alias_add_all(v, m, &view->read_only, false, e);
}

/* What lies above, and brings along what is mounted below. */
static int
build_frame(const struct view *view, const struct mountinfo *m, struct error *e)
{
	if (view->writable.count > 0)
		return strict_build(view, e);
	return pin_all(&view->pinned, m, e);
}

static int
cover_all(const struct view *view, const struct view_paths *covered, struct error *e)
{
	for (size_t i = 0; i < covered->count; i++)
		if (readonly_cover(&covered->list[i], e) != 0)
			return -1;
	return view->writable.count > 0 ? strict_check(view, e) : 0;
}

static int
mask_hidden(const struct view *view, const struct view_paths *hidden, struct error *e)
{
	if (hidden->count == 0)
		return 0;
	if (mask_all(hidden, &view->kept, e) != 0)
		return -1;
	return view->fresh_proc ? 0 : mask_uncover_proc(e);
}

static int
put_decoys(const struct view *view, int *decoys, struct error *e)
{
	if (view->decoys.files.count == 0)
		return 0;
	if (decoy_put_all(&view->decoys, decoys, e) != 0)
		return -1;
	return view->fresh_proc ? 0 : mask_uncover_proc(e);
}

/*
 * The frame first; then covers, so that a mask lies over them and what is kept has them. The names are found
 * before any of it: neither frame nor covers add any, and a mask would take some away.
 */
static int
hold(const struct view *view, struct error *e)
{
	struct view_paths covered = {0}, hidden = {0};
	struct mountinfo m;
	int result = 0;

	if (view->read_only.count + view->pinned.count + view->hidden.count +
		view->writable.count ==
	    0)
		return 0;
	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	if (find_covered(&covered, view, &m, e) != 0 ||
	    alias_add_all(&hidden, &m, &view->hidden, true, e) != 0 ||
	    build_frame(view, &m, e) != 0 || cover_all(view, &covered, e) != 0 ||
	    mask_hidden(view, &hidden, e) != 0)
		result = -1;
	mountinfo_free(&m);
	view_paths_free(&covered);
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

/* Why a mount of proc was refused where others were not. Leaves errno alone. */
static const char *
proc_cure(int errnum)
{
	struct mountinfo m;
	bool masked = false;
	int saved = errno;

	/* The masks' own mount may still be on it, where the fresh one was to be. It was to end anyway. */
	if (access("/proc/self", F_OK) != 0)
		(void)umount2("/proc", MNT_DETACH);
	if (errnum == EPERM && mountinfo_read(&m) == 0) {
		for (size_t i = 0; i < m.count; i++)
			masked |= mountinfo_masks_proc(&m.list[i]);
		mountinfo_free(&m);
	}
	errno = saved;
	return masked ? "parts of /proc are masked here, as in a container: start that with an "
	                "unmasked /proc "
	                "(docker run --security-opt systempaths=unconfined, Kubernetes procMount: "
	                "Unmasked), or "
	                "choose --share-pid, or --isolation landlock, or --isolation none"
	              : userns_cure(errnum);
}

int
view_build(const struct view *view, int *decoys, struct error *e)
{
	*decoys = -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return error_set(e, errno, userns_cure(errno), "can't make the mounts private");
	if (hold(view, e) != 0 || put_decoys(view, decoys, e) != 0)
		return -1;
	if (view->fresh_proc &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return error_set(e, errno, proc_cure(errno), "can't mount a fresh /proc");
	if (view->fresh_proc && view->other_procs && procs_cover(e) != 0)
		return -1;
	if (view->root && (engine_confine(e) != 0 || engine_take_descriptors(e) != 0))
		return -1;
	return view_enter(&view->cwd, e);
}
