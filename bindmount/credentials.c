/* Becoming another user for good. See credentials.h. */
#include "bindmount/credentials.h"

#include "bindmount/caps.h"

#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Raw system calls: those of the C library want to do the same in all threads, and this may be a process
 * that shares its memory with another one until it calls exec.
 */
static int
set_ids(uid_t uid, gid_t gid, struct error *e)
{
	if (syscall(SYS_setgroups, 0, NULL) != 0)
		return error_set(
		    e, errno, "give root CAP_SETGID", "can't give up the supplementary groups");
	if (syscall(SYS_setresgid, gid, gid, gid) != 0)
		return error_set(
		    e, errno, "give root CAP_SETGID", "can't become group %u", (unsigned)gid);
	if (syscall(SYS_setresuid, uid, uid, uid) != 0)
		return error_set(
		    e, errno, "give root CAP_SETUID", "can't become user %u", (unsigned)uid);
	return 0;
}

static int
check_ids(uid_t uid, gid_t gid, struct error *e)
{
	uid_t u[3];
	gid_t g[3];

	if (getresuid(&u[0], &u[1], &u[2]) != 0 || getresgid(&g[0], &g[1], &g[2]) != 0)
		return error_set(e, errno, NULL, "can't read the user and group ids");
	for (int i = 0; i < 3; i++)
		if (u[i] != uid || g[i] != gid)
			return error_set(e, 0, NULL, "the process did not become user %u, group %u",
			    (unsigned)uid, (unsigned)gid);
	if (getgroups(0, NULL) != 0 || syscall(SYS_setresuid, -1, 0, -1) == 0)
		return error_set(
		    e, 0, NULL, "user %u has kept some of root's rights", (unsigned)uid);
	return 0;
}

int
credentials_become(uid_t uid, gid_t gid, struct error *e)
{
	if (caps_bound(0, e) != 0 || set_ids(uid, gid, e) != 0 || caps_drop(0, e) != 0)
		return -1;
	/* What a keyring of root's session gives to who has inherited it, it gives to any uid. A kernel or a
	 * filter without this call has no keyrings for the leg either. */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return error_set(e, errno, NULL, "can't make a session keyring");
	return check_ids(uid, gid, e);
}
