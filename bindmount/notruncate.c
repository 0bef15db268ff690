/* The filter. See notruncate.h. */
#include "bindmount/notruncate.h"

#include "bindmount/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

#ifdef BPF_ARCH

/* Refuse the call with that number. */
#define DENY(nr, errnum) BPF_IF((nr), 0, 1), BPF_REFUSE(errnum)

/*
 * Refuse the call with that number if its argument of flags (the low half of it: both architectures are
 * little-endian) has O_TRUNC and an access mode that writes nothing: O_RDONLY, or 3, which Linux takes as
 * well. Otherwise allow it.
 */
#define CHECK_FLAGS(nr, argument)                                                                  \
	BPF_IF((nr), 0, 7), BPF_LOAD(args[argument]),                                              \
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TRUNC, 0, 4),                                   \
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE), BPF_IF(O_WRONLY, 2, 0),                \
	    BPF_IF(O_RDWR, 1, 0), BPF_REFUSE(EACCES), BPF_RETURN(SECCOMP_RET_ALLOW)

static const struct sock_filter program[] = {
    BPF_LOAD(arch),
    BPF_IF(BPF_ARCH, 1, 0),
    BPF_RETURN(SECCOMP_RET_KILL_PROCESS),
    BPF_LOAD(nr),
#ifdef __x86_64__
    /* x32, which has numbers of its own under the same architecture */
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    BPF_REFUSE(ENOSYS),
    CHECK_FLAGS(SYS_open, 1),
#endif
    CHECK_FLAGS(SYS_openat, 2),
    CHECK_FLAGS(SYS_open_by_handle_at, 2),
    DENY(SYS_truncate, EACCES),
    DENY(SYS_openat2, ENOSYS),
    DENY(SYS_io_uring_setup, ENOSYS),
    BPF_RETURN(SECCOMP_RET_ALLOW),
};

bool
notruncate_possible(void)
{
	unsigned int action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0u, &action) == 0;
}

int
notruncate_enter(void)
{
	struct sock_fprog filter = {
	    .len = sizeof program / sizeof program[0], .filter = (struct sock_filter *)program};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#else

bool
notruncate_possible(void)
{
	return false;
}

int
notruncate_enter(void)
{
	errno = ENOSYS;
	return -1;
}

#endif
