/* Building the leg's view. See view.h. */
#include "bindmount/view.h"

#include "bindmount/alias.h"
#include "bindmount/cleanup.h"
#include "bindmount/cleanup.h"
#include "bindmount/mask.h"
#include "bindmount/mountinfo.h"
#include "bindmount/pin.h"
#include "bindmount/readonly.h"
#include "bindmount/userns.h"

#include <errno.h>
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

/*
 * Pins first, since they lie above and bring along what is mounted below; then covers, so that a mask lies
 * over them and what is kept has them. The names are found before any of it: neither pins nor covers add
 * any, and a mask would take some away.
 */
static int
hold(const struct view *view, struct error *e)
{
	struct view_paths read_only = {0}, hidden = {0};
	struct mountinfo m;
	int result;

	if (view->read_only.count + view->pinned.count + view->hidden.count == 0)
		return 0;
	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	result = alias_add_all(&read_only, &m, &view->read_only, false, e);
	if (result == 0)
		result = alias_add_all(&hidden, &m, &view->hidden, true, e);
	if (result == 0)
		result = pin_all(&view->pinned, &m, e);
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

/* Why a mount of proc was refused where others were not. Leaves errno alone. */
static const char *
proc_cure(int errnum)
{
	struct mountinfo m;
	bool masked = false;
	int saved = errno;

	if (errnum == EPERM && mountinfo_read(&m) == 0) {
		for (size_t i = 0; i < m.count; i++)
			masked |= mountinfo_masks_proc(&m.list[i]);
		mountinfo_free(&m);
	}
	errno = saved;
	return masked ? "parts of /proc are masked here, as in a container: start that with an "
	                "unmasked "
	                "/proc (docker run --security-opt systempaths=unconfined, Kubernetes "
	                "procMount: "
	                "Unmasked), or choose --share-pid or --isolation none"
	              : userns_cure(errnum);
}

int
view_build(const struct view *view, struct error *e)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return error_set(e, errno, userns_cure(errno), "can't make the mounts private");
	if (hold(view, e) != 0)
		return -1;
	if (view->fresh_proc &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return error_set(e, errno, proc_cure(errno), "can't mount a fresh /proc");
	return view_enter(&view->cwd, e);
}
