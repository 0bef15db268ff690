/*
 * System calls and constants that glibc 2.35 or the 5.15 kernel headers lack, in one place.
 *
 * Each function is the bare system call: -1 with errno on failure. Constants carry the SYS_ prefix
 * so that they never collide with a newer header's.
 */
#ifndef BINDMOUNT_SYS_H
#define BINDMOUNT_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* open_tree(2), Linux 5.2 */
#define SYS_OPEN_TREE_CLONE   1u
#define SYS_OPEN_TREE_CLOEXEC 02000000u
#define SYS_AT_RECURSIVE      0x8000u
/* move_mount(2), Linux 5.2 */
#define SYS_SO_PASSRIGHTS 83 /* Linux 6.16 */

#define SYS_MOVE_MOUNT_F_EMPTY_PATH 0x04u
#define SYS_MOVE_MOUNT_T_EMPTY_PATH 0x40u
/* mount_setattr(2), Linux 5.12 */
#define SYS_MOUNT_ATTR_RDONLY 0x01u
#define SYS_MOUNT_ATTR_NODEV  0x04u
/* landlock(7), ABI 6, Linux 6.12 */
#define SYS_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET 1u
#define SYS_LANDLOCK_SCOPE_SIGNAL               2u
#define SYS_LANDLOCK_SCOPE_ABI                  6
/* landlock(7), rights on files, ABI 1 (Linux 5.13) unless they say otherwise */
#define SYS_LANDLOCK_FS_WRITE_FILE  (1u << 1)
#define SYS_LANDLOCK_FS_READ_FILE   (1u << 2)
#define SYS_LANDLOCK_FS_REMOVE_DIR  (1u << 4)
#define SYS_LANDLOCK_FS_REMOVE_FILE (1u << 5)
#define SYS_LANDLOCK_FS_MAKE_CHAR   (1u << 6)
#define SYS_LANDLOCK_FS_MAKE_DIR    (1u << 7)
#define SYS_LANDLOCK_FS_MAKE_REG    (1u << 8)
#define SYS_LANDLOCK_FS_MAKE_SOCK   (1u << 9)
#define SYS_LANDLOCK_FS_MAKE_FIFO   (1u << 10)
#define SYS_LANDLOCK_FS_MAKE_BLOCK  (1u << 11)
#define SYS_LANDLOCK_FS_MAKE_SYM    (1u << 12)
#define SYS_LANDLOCK_FS_REFER       (1u << 13)
#define SYS_LANDLOCK_REFER_ABI      2 /* Linux 5.19 */
#define SYS_LANDLOCK_FS_TRUNCATE    (1u << 14)
#define SYS_LANDLOCK_TRUNCATE_ABI   3 /* Linux 6.2 */

int sys_open_tree(int dirfd, const char *path, unsigned int flags);
int sys_move_mount(
    int from, const char *from_path, int to, const char *to_path, unsigned int flags);
/* Set (never clear) attributes on the mount at dirfd/path, and below it with SYS_AT_RECURSIVE. */
int sys_mount_setattr(int dirfd, const char *path, unsigned int flags, uint64_t attr_set);

/*
 * A child made with the given CLONE_NEW* flags, as fork(2) makes one; SIGCHLD at its end, and a
 * close-on-exec pidfd for it in *pidfd unless that is NULL. clone3(2) where it is allowed, else
 * clone(2): container filters answer clone3 with ENOSYS, since they can't look into its argument.
 * No atfork handler runs: the child must not touch state that needs one.
 */
pid_t sys_fork(uint64_t namespaces, int *pidfd);
/* Likewise, but by clone3(2) alone: to see whether that is allowed. */
pid_t sys_fork_by_clone3(uint64_t namespaces, int *pidfd);

/*
 * A child in the given new namespaces that shares the caller's memory and runs body(arg), as vfork(2)
 * does: the caller goes on when the child has called exec or has ended, and sees what it has written
 * to memory. body needs `stack` bytes of stack, which are taken from the caller's. body must not
 * return. SIGCHLD at the child's end. Cheaper than a copy of the address space, and failures need no
 * pipe.
 */
pid_t sys_vfork(uint64_t namespaces, int (*body)(void *), void *arg, size_t stack);

int sys_pidfd_open(pid_t pid);
int sys_pidfd_send_signal(int pidfd, int sig);

/* Close all descriptors from `first` up; all from `first` to `last`. */
void sys_close_from(int first);
void sys_close_between(int first, int last);

/* The kernel's Landlock ABI; 0 if it has none or it is off. */
int sys_landlock_abi(void);
/*
 * Keep the caller and its children from sending signals to, and from connecting to abstract
 * sockets of, processes outside. Handles no file system right, since any such right would make the
 * kernel refuse every mount, and with it nested sandboxes. Needs no_new_privs. ABI 6.
 */
int sys_landlock_scope(void);
/* Forbid the caller and its children to write to any file. Needs no_new_privs. ABI 1. */
int sys_landlock_forbid_writing(void);
/*
 * A ruleset that handles these rights and scopes: what is handled is denied, except where a rule allows
 * it. Returns its descriptor, close-on-exec. Rights and scopes are those of the kernel's ABI at most.
 */
int sys_landlock_create(uint64_t rights, uint64_t scopes);
/* Allow rights on what fd, which may be O_PATH, refers to, and on all below if it is a directory. */
int sys_landlock_allow(int ruleset, int fd, uint64_t rights);
/* Confine the caller and its children, for good. Needs no_new_privs. */
int sys_landlock_enter(int ruleset);

#endif
