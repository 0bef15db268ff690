/*
 * landlock-abi N COMMAND [ARG]...
 *
 * Runs a command that finds a kernel of Landlock ABI N: landlock_create_ruleset(2), asked for the version,
 * answers N. All else is this kernel's own doing, so a program that believes it enforces what ABI N can, for
 * real; N is to be no more than the kernel has. The answer comes from a helper process by seccomp's user
 * notification (Linux 5.5); it ends with the last process that may ask.
 */
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, VERSION_FLAG = 1 };

static int
receive(int socket)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &data,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof control};
	int fd;

	if (recvmsg(socket, &m, 0) != 1 || CMSG_FIRSTHDR(&m) == NULL)
		_exit(1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static void
send_descriptor(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
			 .cmsg_level = SOL_SOCKET,
			 .cmsg_type = SCM_RIGHTS}};
	char byte = 0;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &data,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof control};

	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
	if (sendmsg(socket, &m, 0) != 1)
		err(125, "sendmsg");
}

static _Noreturn void
answer(int listener, int abi)
{
	struct seccomp_notif request;
	struct pollfd p = {.fd = listener, .events = POLLIN};

	for (;;) {
		struct seccomp_notif_resp response = {0};

		if (poll(&p, 1, -1) < 0)
			continue;
		if ((p.revents & POLLIN) == 0)
			_exit(0);
		memset(&request, 0, sizeof request);
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
			continue; /* who asked is gone */
		response.id = request.id;
		if (request.data.args[2] == VERSION_FLAG)
			response.val = abi;
		else
			response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}

static int
install(void)
{
	static const struct sock_filter program[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CREATE_RULESET, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
	    .len = sizeof program / sizeof program[0], .filter = (struct sock_filter *)program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		err(125, "no_new_privs");
	return (int)syscall(
	    SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

int
main(int argc, char **argv)
{
	pid_t middleman;
	int pair[2], abi = argc > 2 ? atoi(argv[1]) : 0, listener;

	if (abi <= 0)
		errx(125, "usage: landlock-abi N COMMAND [ARG]...");
	if (abi > syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG))
		errx(125, "the kernel's Landlock has not even ABI %d", abi);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		err(125, "socketpair");
	/* Twice, so that the command has no child that it does not know of. */
	switch (middleman = fork()) {
	case -1:
		err(125, "fork");
	case 0:
		if (fork() != 0)
			_exit(0);
		close(pair[0]);
		listener = receive(pair[1]);
		/* Nobody is to wait for the end of what this process holds open. */
		syscall(SYS_close_range, 0u, (unsigned int)listener - 1, 0u);
		syscall(SYS_close_range, (unsigned int)listener + 1, ~0u, 0u);
		answer(listener, abi);
	default:
		waitpid(middleman, NULL, 0);
	}
	listener = install();
	if (listener < 0)
		err(125, "seccomp");
	send_descriptor(pair[0], listener);
	close(listener);
	execvp(argv[2], argv + 2);
	err(127, "%s", argv[2]);
}
