/* Who holds the launcher's control group. See delegation.h. */
#include "guard/delegation.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/cgroup.h"
#include "guard/hide.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char reason[] = "the leg's user can write to our control group";

/* What ends, stops or moves the members. The root of a hierarchy has not all of them. */
static const char *const levers[] = {
    "cgroup.procs", "cgroup.threads", "cgroup.kill", "cgroup.freeze"};

/* Of groups only the one that the leg is known to have counts. A read-only mount is none where the leg mounts. */
static bool
may_write(const struct identity *leg, const struct stat *st)
{
	return st->st_uid == leg->uid || (st->st_mode & S_IWOTH) != 0 ||
	       ((st->st_mode & S_IWGRP) != 0 &&
		   (st->st_gid == leg->gid || leg->kind == IDENTITY_CALLER));
}

static bool
holds(const struct identity *leg, const char *dir)
{
	AUTO_FD int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	for (size_t i = 0; fd >= 0 && i < sizeof levers / sizeof levers[0]; i++)
		if (fstatat(fd, levers[i], &st, 0) == 0 && may_write(leg, &st))
			return true;
	return false;
}

/* In the group at path or one above it, as far as they are mounted. path is cut short. */
static bool
holds_any(const struct identity *leg, char *path)
{
	char *slash;

	while (cgroup_is_at(path)) {
		if (holds(leg, path))
			return true;
		slash = strrchr(path, '/');
		if (slash == NULL || slash == path)
			break;
		*slash = '\0';
	}
	return false;
}

static bool
is_held(const struct identity *leg)
{
	AUTO_FREE char *path = cgroup_own_directory(NULL);

	return path != NULL && holds_any(leg, path);
}

static int
close_mount(struct plan *p, const char *point, struct error *e)
{
	struct stat st;

	/* What another mount lies over can't be reached. */
	if (!cgroup_is_at(point) || lstat(point, &st) != 0)
		return 0;
	if (p->options->isolation == ISOLATION_NAMESPACE)
		return hide_path(p, point, &st, reason, e);
	if (view_paths_add(&p->view.read_only, point, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", point);
	return 0;
}

int
delegation_plan(struct plan *p, bool *needed, struct error *e)
{
	struct mountinfo m;
	int result = 0;

	*needed = p->options->isolation != ISOLATION_NONE &&
	          (p->leg.kind == IDENTITY_ROOT || is_held(&p->leg));
	if (!*needed)
		return 0;
	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	for (size_t i = 0; i < m.count && result == 0; i++)
		if (strcmp(m.list[i].type, "cgroup2") == 0)
			result = close_mount(p, m.list[i].point, e);
	mountinfo_free(&m);
	return result;
}
