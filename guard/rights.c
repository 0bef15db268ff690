/* Somebody else's rights in the file system. See rights.h. */
#include "guard/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

int
rights_prepare(struct error *e)
{
	int bits = prctl(PR_GET_SECUREBITS);

	if (bits < 0 || (bits & SECBIT_NO_SETUID_FIXUP) != 0)
		return error_set(e, 0, "start it without the securebit no_setuid_fixup",
		    "root's capabilities would not go with root's ids");
	if (setgroups(0, NULL) != 0)
		return error_set(
		    e, errno, "give root CAP_SETGID", "can't give up the supplementary groups");
	return 0;
}

/* setfsuid(2) says nothing about success; asked for what does not exist it tells what is. */
static bool
is_set(uid_t uid, gid_t gid)
{
	return (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid;
}

int
rights_take(const struct rights *r)
{
	if (!r->other)
		return 0;
	(void)setfsgid(r->gid); /* first: it takes the capability to */
	(void)setfsuid(r->uid);
	if (is_set(r->uid, r->gid))
		return 0;
	rights_give_back(r);
	errno = EPERM;
	return -1;
}

void
rights_give_back(const struct rights *r)
{
	if (!r->other)
		return;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	prctl(PR_SET_DUMPABLE, 0); /* which a change of ids may have set to another value */
}
