/* What an honest leg's own sandbox does: bubblewrap, or its steps where it is not installed. */
#ifndef BINDMOUNT_SANDBOX_H
#define BINDMOUNT_SANDBOX_H

#include "bindmount/error.h"

#include <sys/types.h>

/*
 * Become bubblewrap with pid and net namespaces, /proc and /dev of its own, in which it shows its
 * --version. Returns only if that can't be executed: -1 with errno, ENOENT where it is not installed.
 */
int sandbox_run_bubblewrap(void);

/*
 * The same steps in a child: user, mount, pid and net namespaces, the identity map, a root that is
 * replaced by pivot_root(2), a fresh /proc, a /dev with a devpts.
 */
int sandbox_imitate(uid_t uid, gid_t gid, struct error *e);

#endif
