/* Going over to a root that was mounted on top of the old one. */
#ifndef BINDMOUNT_ROOT_H
#define BINDMOUNT_ROOT_H

#include "bindmount/error.h"

/*
 * Make top, a descriptor on what is mounted over "/", the caller's root and working directory. The kernel
 * takes no mount for a process's root by itself; and a process whose root is the topmost mount there
 * may still make user namespaces, unlike one in another directory (chroot(2), user_namespaces(7)).
 */
int root_enter(int top, struct error *e);

#endif
