/* Looking a path up in all mounts. See alias.h. */
#include "bindmount/alias.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

const struct mount_entry *
alias_home(const struct mountinfo *m, const char *path)
{
	struct statx stx;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &stx) != 0)
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

int
alias_add(
    struct view_paths *v, const struct mountinfo *m, const struct view_path *p, struct error *e)
{
	struct stat st;
	const struct mount_entry *home = alias_home(m, p->path);
	size_t first = v->count;

	if (home == NULL && view_path_is_gone(p))
		return 0;
	if (home == NULL)
		return error_set(e, errno, NULL, "can't find the mount of %s", p->path);
	if (view_paths_add(v, p->path, p->dev, p->ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", p->path);
	for (size_t i = 0; i < m->count; i++) {
		const struct mount_entry *other = &m->list[i];
		AUTO_FREE char *alias =
		    other != home ? mountinfo_alias(home, other, p->path) : NULL;

		if (alias == NULL) {
			if (other != home && errno != 0)
				return error_set(e, errno, NULL, "can't name %s", p->path);
			continue;
		}
		if (alias_home(m, alias) == other && stat(alias, &st) == 0 &&
		    view_paths_add(v, alias, st.st_dev, st.st_ino) != 0)
			return error_set(e, errno, NULL, "can't note %s", alias);
	}
	for (size_t i = first; i < v->count; i++) {
		v->list[i].passing = p->passing;
		v->list[i].stand_in = p->stand_in;
	}
	return 0;
}

int
alias_add_all(struct view_paths *v, const struct mountinfo *m, const struct view_paths *paths,
    bool may_be_gone, struct error *e)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct view_path *p = &paths->list[i];
		struct stat st;

		if (may_be_gone && lstat(p->path, &st) != 0 && errno == ENOENT)
			continue;
		if (alias_add(v, m, p, e) != 0)
			return -1;
	}
	return 0;
}
