/*
 * Read-only binds. See readonly.h.
 *
 * The path is opened once, checked, and both the copy and its place are taken from that descriptor,
 * so that nobody can put something else between a check and a mount.
 */
#include "bindmount/readonly.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* -1 with errno; ENOSYS and EPERM may come from a system call filter. */
static int
cover_by_tree(int fd)
{
	AUTO_FD int tree = sys_open_tree(
	    fd, "", AT_EMPTY_PATH | SYS_AT_RECURSIVE | SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC);

	if (tree < 0 || sys_mount_setattr(
			    tree, "", AT_EMPTY_PATH | SYS_AT_RECURSIVE, SYS_MOUNT_ATTR_RDONLY) != 0)
		return -1;
	return sys_move_mount(
	    tree, "", fd, "", SYS_MOVE_MOUNT_F_EMPTY_PATH | SYS_MOVE_MOUNT_T_EMPTY_PATH);
}

/* mount(2): a remount has to restate the flags that are there, or a locked one gives EPERM. */
static unsigned long
restated_flags(unsigned long flag)
{
	unsigned long flags = 0;

	flags |= flag & ST_NOSUID ? MS_NOSUID : 0;
	flags |= flag & ST_NODEV ? MS_NODEV : 0;
	flags |= flag & ST_NOEXEC ? MS_NOEXEC : 0;
	flags |= flag & ST_NOATIME ? MS_NOATIME : 0;
	flags |= flag & ST_NODIRATIME ? MS_NODIRATIME : 0;
	flags |= flag & ST_RELATIME ? MS_RELATIME : 0;
	if ((flag & (ST_NOATIME | ST_RELATIME)) == 0)
		flags |= MS_STRICTATIME;
	return flags;
}

static int
remount_read_only(const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) != 0)
		return -1;
	return mount(
	    NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | restated_flags(fs.f_flag), NULL);
}

/* Bind and remount, mount by mount: MS_RDONLY is not recursive. -1 with errno. */
static int
cover_by_remount(const char *path)
{
	struct mountinfo m;
	int result = 0, saved;

	if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) != 0 || mountinfo_read(&m) != 0)
		return -1;
	for (size_t i = 0; i < m.count && result == 0; i++)
		/* A path that is covered by another mount can't be reached; the cover is listed too. */
		if (mountinfo_below(m.list[i].point, path) &&
		    (result = remount_read_only(m.list[i].point)) != 0 && errno == ENOENT)
			result = 0;
	saved = errno;
	mountinfo_free(&m);
	errno = saved;
	return result;
}

int
readonly_check(const struct view_path *p, struct error *e)
{
	AUTO_FD int fd = view_open(p, e);
	struct statvfs fs;

	if (fd < 0)
		return -1;
	if (fstatvfs(fd, &fs) != 0)
		return error_set(e, errno, NULL, "can't examine %s", p->path);
	if ((fs.f_flag & ST_RDONLY) == 0)
		return error_set(e, 0, NULL, "%s is not read-only after it was made so", p->path);
	return 0;
}

/* -1 with *e for the path, at which fd was opened. */
static int
cover(int fd, const char *path, struct error *e)
{
	if (cover_by_tree(fd) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return error_set(e, errno, userns_cure(errno), "can't make %s read-only", path);
	if (cover_by_remount(path) != 0)
		return error_set(e, errno, userns_cure(errno), "can't make %s read-only", path);
	return 0;
}

/* A mount goes with the name that it is on, so whoever may replace the file may be rid of it a moment later. */
static int
cover_passing(const char *path, struct error *e)
{
	AUTO_FD int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct error failure = {0};
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		return 0;
	if (fd >= 0 && cover(fd, path, &failure) == 0)
		return 0;
	if (fd < 0)
		error_set(&failure, errno, NULL, "can't open %s in the leg's view", path);
	if (failure.errnum == ENOENT || (fd >= 0 && view_is_elsewhere(fd, path)))
		return 0;
	*e = failure;
	return -1;
}

int
readonly_cover(const struct view_path *p, struct error *e)
{
	AUTO_FD int fd = -1;

	if (p->passing)
		return cover_passing(p->path, e);
	fd = view_open(p, e);
	if (fd < 0 || cover(fd, p->path, e) != 0)
		return -1;
	return readonly_check(p, e);
}
