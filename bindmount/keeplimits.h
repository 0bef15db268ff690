/*
 * Keeping a leg from the resource limits of others.
 *
 * prlimit(2) asks for no more than the same user: a leg that sees the launcher's process could take its
 * descriptors, its memory or its processor time from it. A seccomp filter (seccomp(2)) denies to set limits by a
 * pid: EPERM. One's own are set with pid 0, which is what setrlimit(3) and a shell's ulimit do; others' can
 * still be read.
 */
#ifndef BINDMOUNT_KEEPLIMITS_H
#define BINDMOUNT_KEEPLIMITS_H

/* For the calling process, which has no_new_privs, and all its children to come. -1: errno. */
int keeplimits_enter(void);

#endif
