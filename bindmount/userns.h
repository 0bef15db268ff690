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

/*
 * What to do on this machine when an unprivileged user namespace, or a mount in one, was refused
 * with errnum. A string constant. Leaves errno alone: it is called beside it, as an argument.
 */
const char *userns_cure(int errnum);

/* Give up every capability for good, the bounding set too, and forbid gaining any on exec. */
int userns_drop_capabilities(struct error *e);

#endif
