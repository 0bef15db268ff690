/* Becoming another user for good. */
#ifndef BINDMOUNT_CREDENTIALS_H
#define BINDMOUNT_CREDENTIALS_H

#include "bindmount/error.h"

#include <sys/types.h>

/*
 * From root become uid and gid, neither of them 0: no supplementary groups, all ids of both kinds, a session
 * keyring of its own, no capability in any set, no_new_privs. Checked afterwards, and nothing of it can be
 * undone. The process must not be made dumpable between this and its exec: it may share memory with root.
 */
int credentials_become(uid_t uid, gid_t gid, struct error *e);

#endif
