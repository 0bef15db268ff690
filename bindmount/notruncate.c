/* The filter. See notruncate.h. */
#include "bindmount/notruncate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCH

#define LOAD(what)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define RETURN(what)       BPF_STMT(BPF_RET | BPF_K, (what))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define REFUSE(errnum)     RETURN(SECCOMP_RET_ERRNO | (errnum))

/* Refuse the call with that number. */
#define DENY(nr, errnum) IF((nr), 0, 1), REFUSE(errnum)

/*
 * Refuse the call with that number if its argument of flags (the low half of it: both architectures are
 * little-endian) has O_TRUNC and an access mode that writes nothing: O_RDONLY, or 3, which Linux takes as
 * well. Otherwise allow it.
 */
#define CHECK_FLAGS(nr, argument)                                                                  \
	IF((nr), 0, 7), LOAD(args[argument]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TRUNC, 0, 4), \
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE), IF(O_WRONLY, 2, 0), IF(O_RDWR, 1, 0),  \
	    REFUSE(EACCES), RETURN(SECCOMP_RET_ALLOW)

static const struct sock_filter program[] = {
    LOAD(arch),
    IF(OWN_ARCH, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
#ifdef __x86_64__
    /* x32, which has numbers of its own under the same architecture */
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    REFUSE(ENOSYS),
    CHECK_FLAGS(SYS_open, 1),
#endif
    CHECK_FLAGS(SYS_openat, 2),
    CHECK_FLAGS(SYS_open_by_handle_at, 2),
    DENY(SYS_truncate, EACCES),
    DENY(SYS_openat2, ENOSYS),
    DENY(SYS_io_uring_setup, ENOSYS),
    RETURN(SECCOMP_RET_ALLOW),
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
