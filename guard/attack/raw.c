/* What only an attack needs of the kernel. See raw.h. */
#include "guard/attack/raw.h"

#include "bindmount/cleanup.h"
#include "guard/passing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* The same numbers on every architecture since Linux 5.1. */
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif
#ifndef SYS_fsconfig
#define SYS_fsconfig 431
#endif
#ifndef SYS_fspick
#define SYS_fspick 433
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

enum { FSCONFIG_FLAG = 0, FSCONFIG_RECONFIGURE = 7, IOPRIO_PROCESS = 1 };

int
raw_mount_clear(const char *path, uint64_t attributes)
{
	struct {
		uint64_t set, clear, propagation, userns_fd;
	} attr = {.clear = attributes};

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, 0x8000u, &attr, sizeof attr);
}

int
raw_reconfigure_rw(const char *path)
{
	AUTO_FD int fd = (int)syscall(SYS_fspick, AT_FDCWD, path, RAW_FSPICK_NO_AUTOMOUNT);

	if (fd < 0 || syscall(SYS_fsconfig, fd, FSCONFIG_FLAG, "rw", NULL, 0) != 0)
		return -1;
	return (int)syscall(SYS_fsconfig, fd, FSCONFIG_RECONFIGURE, NULL, NULL, 0);
}

int
raw_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

int
raw_pidfd_getfd(int pidfd, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

int
raw_ioprio_get(pid_t pid)
{
	return (int)syscall(SYS_ioprio_get, IOPRIO_PROCESS, pid);
}

int
raw_ioprio_set(pid_t pid, int value)
{
	return (int)syscall(SYS_ioprio_set, IOPRIO_PROCESS, pid, value);
}

int
raw_userfaultfd(int flags)
{
	return (int)syscall(SYS_userfaultfd, flags);
}

long
raw_keyctl(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return syscall(SYS_keyctl, operation, a, b, c, d);
}

long
raw_add_key(const char *type, const char *name, const void *data, size_t size, int ring)
{
	return syscall(SYS_add_key, type, name, data, size, ring);
}

int
raw_terminal(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) != 0)
		return -1;
	cfmakeraw(&t);
	return tcsetattr(fd, TCSANOW, &t);
}

pid_t
raw_clone(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags, 0L, 0L, 0L, 0L);
}

/* --- io_uring */

struct ring {
	int fd;
	struct io_uring_params p;
	unsigned char *sq, *cq;
	struct io_uring_sqe *sqes;
};

static int
ring_open(struct ring *r)
{
	memset(r, 0, sizeof *r);
	r->fd = (int)syscall(SYS_io_uring_setup, 4, &r->p);
	if (r->fd < 0)
		return -1;
	r->sq = mmap(NULL, r->p.sq_off.array + r->p.sq_entries * sizeof(uint32_t),
	    PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->cq = mmap(NULL, r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe),
	    PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
	r->sqes = mmap(NULL, r->p.sq_entries * sizeof *r->sqes, PROT_READ | PROT_WRITE, MAP_SHARED,
	    r->fd, IORING_OFF_SQES);
	return r->sq == MAP_FAILED || r->cq == MAP_FAILED || r->sqes == MAP_FAILED ? -1 : 0;
}

/* One operation, waited for. */
static int
ring_do(struct ring *r, const struct io_uring_sqe *sqe)
{
	volatile uint32_t *tail = (uint32_t *)(r->sq + r->p.sq_off.tail);
	volatile uint32_t *head = (uint32_t *)(r->cq + r->p.cq_off.head);
	uint32_t index = *tail & *(uint32_t *)(r->sq + r->p.sq_off.ring_mask);
	const struct io_uring_cqe *done;

	r->sqes[index] = *sqe;
	((uint32_t *)(r->sq + r->p.sq_off.array))[index] = index;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	done = (struct io_uring_cqe *)(r->cq + r->p.cq_off.cqes) +
	       (*head & *(uint32_t *)(r->cq + r->p.cq_off.ring_mask));
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	if (done->res >= 0)
		return done->res;
	errno = -done->res;
	return -1;
}

int
raw_io_uring_append(const char *path, const void *bytes, size_t size)
{
	struct io_uring_sqe sqe = {.opcode = IORING_OP_OPENAT,
	    .fd = AT_FDCWD,
	    .addr = (uintptr_t)path,
	    .open_flags = O_WRONLY | O_APPEND};
	struct ring r;
	int result = -1;
	AUTO_FD int fd = ring_open(&r) == 0 ? ring_do(&r, &sqe) : -1;

	if (fd >= 0) {
		sqe = (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
		    .fd = fd,
		    .addr = (uintptr_t)bytes,
		    .len = (uint32_t)size};
		result = ring_do(&r, &sqe);
	}
	if (r.fd >= 0)
		(void)close(r.fd); /* the mappings end with the leg */
	return result;
}

/* --- sockets */

socklen_t
raw_unix_address(struct sockaddr_un *a, enum door d, const struct step *s, const char *marker)
{
	char path[STEP_PATH];
	bool abstract = d == DOOR_ABSTRACT || d == DOOR_ABSTRACT_DESCRIPTOR;
	size_t n = strlen(bystander_door(d, s, marker, path, sizeof path));

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (n + 1 > sizeof a->sun_path) {
		errno = ENAMETOOLONG;
		return 0;
	}
	memcpy(a->sun_path + (abstract ? 1 : 0), path, n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
}

int
raw_send_descriptor(int socket, int fd)
{
	return passing_send(socket, "d", 1, fd);
}

int
raw_receive_descriptor(int socket)
{
	char byte;
	int fd;

	if (passing_receive(socket, &byte, 1, 0, &fd) != 1) {
		fd_drop(&fd);
		return -1;
	}
	if (fd < 0)
		errno = EBADMSG;
	return fd;
}
