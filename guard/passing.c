/* Handing a descriptor on. See passing.h. */
#include "guard/passing.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Room for one descriptor, aligned as its header wants it. */
union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static struct msghdr
make_message(struct iovec *data, union control *control)
{
	return (struct msghdr){.msg_iov = data,
	    .msg_iovlen = 1,
	    .msg_control = control->room,
	    .msg_controllen = sizeof control->room};
}

int
passing_send(int socket, const void *data, size_t size, int fd)
{
	struct iovec bytes = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
	union control control = {0};
	struct msghdr message = make_message(&bytes, &control);
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(rights), &fd, sizeof fd);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

ssize_t
passing_receive(int socket, void *data, size_t size, int flags, int *fd)
{
	struct iovec bytes = {.iov_base = data, .iov_len = size};
	union control control = {0};
	struct msghdr message = make_message(&bytes, &control);
	ssize_t n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *rights = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*fd = -1;
	if (rights != NULL && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(rights), sizeof *fd);
	return n;
}
