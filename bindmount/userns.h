/* User namespaces: the identity map of one uid and gid, and why a machine may refuse it. */
#ifndef BINDMOUNT_USERNS_H
#define BINDMOUNT_USERNS_H

#include "bindmount/error.h"

#include <sys/types.h>

/*
 * Map uid and gid to themselves in the calling process's new user namespace. Identity, not root: a
 * root-mapped process without CAP_SETFCAP breaks a nested bubblewrap at its own map. The process is
 * made dumpable for the writes (a non-dumpable one may not write its own map, user_namespaces(7))
 * and non-dumpable again after them.
 */
int userns_map_identity(uid_t uid, gid_t gid, struct error *e);

/* What stands in the way of unprivileged user namespaces. */
enum userns_obstacle {
	USERNS_APPARMOR, /* kernel.apparmor_restrict_unprivileged_userns, as on Ubuntu 24.04 */
	USERNS_SWITCH,   /* kernel.unprivileged_userns_clone, a patch of Debian's */
	USERNS_LIMIT,    /* user.max_user_namespaces and the like */
	USERNS_PROFILE,  /* an AppArmor profile that confines this very program */
	USERNS_FILTER, /* nothing that can be read off: a container's system call filter, as a rule */
};

/* Which of them it is on this machine, when something was refused with errnum. */
enum userns_obstacle userns_obstacle(int errnum);

/*
 * What to do on this machine when an unprivileged user namespace, or a mount in one, was refused
 * with errnum. A string constant. Leaves errno alone: it is called beside it, as an argument.
 */
const char *userns_cure(int errnum);

/* The same for an obstacle that is known. */
const char *userns_cure_text(enum userns_obstacle obstacle);

/* Give up every capability for good, the bounding set too, and forbid gaining any on exec. */
int userns_drop_capabilities(struct error *e);

#endif
