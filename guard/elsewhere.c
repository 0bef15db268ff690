/* renameat2(2) that also gets past mount points; see elsewhere.h. */
#include "guard/elsewhere.h"

#include "bindmount/userns.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int
new_namespace(void)
{
	struct error ignored = {0}; /* what counts is the EBUSY that led here */
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWNS) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	return userns_map_identity(uid, gid, &ignored);
}

/* Leave every mount behind. /proc serves as the place for the new root as it exists everywhere. */
static int
empty_root(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") != 0 ||
	    chdir("/proc") != 0)
		return -1;
	/* pivot_root(2): with "." for both the old root ends up on top of the new one */
	if (syscall(SYS_pivot_root, ".", ".") != 0)
		return -1;
	return umount2(".", MNT_DETACH);
}

static int
rename_in_child(
    int old_dir, const char *old_name, int new_dir, const char *new_name, unsigned flags)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return -1;
	if (child == 0) {
		if (new_namespace() != 0 || empty_root() != 0)
			_exit(EBUSY); /* what stood in the way of the rename, not of this */
		_exit(renameat2(old_dir, old_name, new_dir, new_name, flags) == 0 ? 0 : errno);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EBUSY;
	return errno == 0 ? 0 : -1;
}

int
elsewhere_rename(
    int old_dir, const char *old_name, int new_dir, const char *new_name, unsigned flags)
{
	if (renameat2(old_dir, old_name, new_dir, new_name, flags) == 0)
		return 0;
	if (errno != EBUSY)
		return -1;
	return rename_in_child(old_dir, old_name, new_dir, new_name, flags);
}
