/* Parts of a file system, put in many places. See piece.h. */
#include "bindmount/piece.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PATH = 512 };

/* Unless somebody was here before, whose tmpfs covers it now. */
static int
enter_proc(void)
{
	struct statfs fs;

	if (statfs(".", &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC &&
	    faccessat(AT_FDCWD, "self", F_OK, 0) == 0)
		return 0;
	return chdir(PIECE_PLACE);
}

int
piece_begin(const char *source, const char *options)
{
	if (enter_proc() != 0 || mount(source, PIECE_PLACE, "tmpfs", PIECE_FLAGS, options) != 0)
		return -1;
	return open(PIECE_PLACE, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int
piece_make_read_only(void)
{
	return mount(NULL, PIECE_PLACE, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | PIECE_FLAGS, NULL);
}

/* Move a clone of from/name to the place of `to`. -1 with errno; ENOSYS and EPERM may come from a filter. */
static int
move_clone(int from, const char *name, unsigned int flags, int to)
{
	AUTO_FD int tree =
	    sys_open_tree(from, name, flags | SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return -1;
	return sys_move_mount(
	    tree, "", to, "", SYS_MOVE_MOUNT_F_EMPTY_PATH | SYS_MOVE_MOUNT_T_EMPTY_PATH);
}

/* Bind the path `from` on what `to` is open on, whatever covers that by now. */
static int
bind_on(const char *from, int to, unsigned long flags)
{
	char path[32];

	snprintf(path, sizeof path, "self/fd/%d", to);
	return mount(from, path, NULL, MS_BIND | flags, NULL);
}

int
piece_put(int root, const char *name, int on)
{
	char path[PATH];

	if (move_clone(root, name, 0, on) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	snprintf(path, sizeof path, PIECE_PLACE "/%s", name);
	return bind_on(path, on, 0);
}

int
piece_put_back(int from, int on)
{
	char path[32];

	if (move_clone(from, "", AT_EMPTY_PATH | SYS_AT_RECURSIVE, on) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	snprintf(path, sizeof path, "self/fd/%d", from);
	return bind_on(path, on, MS_REC);
}
