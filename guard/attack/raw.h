/*
 * What only an attack needs of the kernel: system calls and constants that the C library or the headers
 * of an older system lack. Each is the bare call, -1 with errno on failure. They are kept apart from
 * bindmount/sys.h, since the program itself uses none of them.
 */
#ifndef GUARD_ATTACK_RAW_H
#define GUARD_ATTACK_RAW_H

#include "guard/attack/bystander.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define RAW_MOUNT_ATTR_RDONLY   0x01u
#define RAW_FSPICK_NO_AUTOMOUNT 0x04u

/* mount_setattr(2), clearing attributes */
int raw_mount_clear(const char *path, uint64_t attributes);
/* fspick(2), fsconfig(2): make the file system at path writable, or a new instance of it */
int raw_reconfigure_rw(const char *path);
int raw_pivot_root(const char *new_root, const char *put_old);
int raw_pidfd_getfd(int pidfd, int fd);
int raw_ioprio_get(pid_t pid);
int raw_ioprio_set(pid_t pid, int value);
int raw_userfaultfd(int flags);
long raw_keyctl(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
long raw_add_key(const char *type, const char *name, const void *data, size_t size, int ring);
/* No echo, no lines, no signals: what is typed can be read as it is. */
int raw_terminal(int fd);
/* clone(2) with just these flags, on a copy of the stack, as fork(2) does it */
pid_t raw_clone(unsigned long flags);

/*
 * io_uring(7): open path for writing at its end and write size bytes, both done by the kernel on behalf
 * of the ring. Returns what the write returned.
 */
int raw_io_uring_append(const char *path, const void *bytes, size_t size);

/* The address of a door; 0 if it is too long for one. */
socklen_t raw_unix_address(
    struct sockaddr_un *a, enum door d, const struct step *s, const char *marker);

int raw_send_descriptor(int socket, int fd);
int raw_receive_descriptor(int socket);

#endif
