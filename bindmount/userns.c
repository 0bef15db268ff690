/*
 * User namespaces. Everything here works on the calling process; the namespaces themselves are made
 * by sys_fork().
 */
#include "bindmount/userns.h"

#include "bindmount/caps.h"
#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int
write_file(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

/* -1 if there is no such number. */
static long
read_number(const char *path)
{
	char text[32] = "";
	long number = -1;
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 || sscanf(text, "%ld", &number) != 1)
		return -1;
	return number;
}

static const char *const cures[] = {
    [USERNS_APPARMOR] =
	"AppArmor restricts unprivileged user namespaces here: give this program a "
	"profile (\"legguard doctor\" prints the two commands), or run as root "
	"\"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\", or start "
	"legguard as root with --user, or choose --isolation landlock, or --isolation none",
    [USERNS_SWITCH] =
	"unprivileged user namespaces are switched off here: run as root \"sysctl -w "
	"kernel.unprivileged_userns_clone=1\", or start legguard as root with --user, "
	"or choose --isolation landlock, or --isolation none",
    [USERNS_LIMIT] = "there may be no more user namespaces here: raise the sysctls "
		     "user.max_user_namespaces, user.max_mnt_namespaces and "
		     "user.max_pid_namespaces, or choose --isolation landlock, or --isolation none",
    [USERNS_PROFILE] =
	"an AppArmor profile confines this program, see /proc/self/attr/current: let that have "
	"\"userns,\", \"capability,\" and \"mount,\" (in a container choose --security-opt "
	"apparmor=unconfined, a seccomp profile that lets clone, unshare and mount through, and an "
	"unmasked /proc), or choose --isolation landlock, or --isolation none",
    [USERNS_FILTER] =
	"this machine or container refuses unprivileged user namespaces: allow them "
	"(in a container a seccomp profile that lets clone, unshare and mount "
	"through, and an unmasked /proc), or choose --isolation landlock, or --isolation none",
};

/* By AppArmor, in a mode in which it refuses things. */
static bool
is_confined(void)
{
	char text[4096] = "";
	AUTO_FD int fd = open("/proc/self/attr/apparmor/current", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof text - 1) > 0 &&
	       (strstr(text, " (enforce)") != NULL || strstr(text, " (kill)") != NULL);
}

static enum userns_obstacle
find_obstacle(int errnum)
{
	if (errnum == ENOSPC)
		return USERNS_LIMIT;
	if (read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		return USERNS_APPARMOR;
	if (read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		return USERNS_SWITCH;
	if (read_number("/proc/sys/user/max_user_namespaces") == 0)
		return USERNS_LIMIT;
	return is_confined() ? USERNS_PROFILE : USERNS_FILTER;
}

enum userns_obstacle
userns_obstacle(int errnum)
{
	int saved = errno;
	enum userns_obstacle obstacle = find_obstacle(errnum);

	errno = saved;
	return obstacle;
}

const char *
userns_cure_text(enum userns_obstacle obstacle)
{
	return cures[obstacle];
}

const char *
userns_cure(int errnum)
{
	return cures[userns_obstacle(errnum)];
}

int
userns_map_identity(uid_t uid, gid_t gid, struct error *e)
{
	char map[64];
	int result = -1;

	prctl(PR_SET_DUMPABLE, 1);
	/* An unprivileged writer of gid_map must have given up setgroups(2) first. */
	if (write_file("/proc/self/setgroups", "deny") != 0) {
		error_set(e, errno, userns_cure(errno), "can't write /proc/self/setgroups");
		goto out;
	}
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", map) != 0) {
		error_set(
		    e, errno, userns_cure(errno), "can't map user %u in a user namespace", uid);
		goto out;
	}
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	if (write_file("/proc/self/gid_map", map) != 0) {
		error_set(
		    e, errno, userns_cure(errno), "can't map group %u in a user namespace", gid);
		goto out;
	}
	result = 0;
out:
	prctl(PR_SET_DUMPABLE, 0);
	return result;
}

int
userns_drop_capabilities(struct error *e)
{
	return caps_bound(0, e) != 0 ? -1 : caps_drop(0, e);
}
