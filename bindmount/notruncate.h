/*
 * Denying truncation where Landlock can't yet (ABI below 3, Linux before 6.2).
 *
 * There open(2) with O_TRUNC and without write access, and truncate(2), empty a file that the ruleset
 * keeps from being written. A seccomp filter (seccomp(2)) can't tell one file from another, so it denies
 * both for all files: EACCES. What could do the same unseen is not there for the process: openat2(2), which
 * has its flags in memory, and io_uring_setup(2) fail with ENOSYS. System calls of another architecture
 * (32-bit programs) end the process, as their numbers are others.
 */
#ifndef BINDMOUNT_NOTRUNCATE_H
#define BINDMOUNT_NOTRUNCATE_H

#include <stdbool.h>

/* The kernel has such filters, and this is an architecture whose numbers are known here. */
bool notruncate_possible(void);

/* For the calling process, which has no_new_privs, and all its children to come. -1: errno. */
int notruncate_enter(void);

#endif
