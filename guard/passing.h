/* Handing a descriptor on over a socket, beside data (SCM_RIGHTS, unix(7)). */
#ifndef GUARD_PASSING_H
#define GUARD_PASSING_H

#include <stddef.h>
#include <sys/types.h>

/* Send size bytes, at least one, and fd, which stays the caller's, in one message. -1 with errno. */
int passing_send(int socket, const void *data, size_t size, int fd);

/*
 * Receive up to size bytes; flags as in recvmsg(2). *fd becomes a close-on-exec descriptor that came with them, or -1.
 * Returns as recvmsg(2).
 */
ssize_t passing_receive(int socket, void *data, size_t size, int flags, int *fd);

#endif
