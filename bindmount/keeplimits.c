/* The filter. See keeplimits.h. */
#include "bindmount/keeplimits.h"

#include "bindmount/bpf.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* prlimit64 in the architecture's other tables of system calls, which the same process can use as well. */
enum {
	X32_PRLIMIT = 0x40000000 + 302,
	I386_PRLIMIT = 340,
	ARM_PRLIMIT = 369,
};

/* If the pid, an int, is not 0, and the pointer to the new limit is not NULL. Nine instructions. */
#define CHECK                                                                                      \
	BPF_LOAD_LOW(0), BPF_IF(0, 0, 1), BPF_RETURN(SECCOMP_RET_ALLOW), BPF_LOAD_LOW(2),          \
	    BPF_IF(0, 0, 3), BPF_LOAD_HIGH(2), BPF_IF(0, 0, 1), BPF_RETURN(SECCOMP_RET_ALLOW),     \
	    BPF_REFUSE(EPERM)

static const struct sock_filter program[] = {
#if defined(__x86_64__)
    BPF_LOAD(arch),
    BPF_IF(AUDIT_ARCH_I386, 4, 0),
    /* The x86-64 and the x32 numbers have one architecture. */
    BPF_LOAD(nr),
    BPF_IF(SYS_prlimit64, 5, 0),
    BPF_IF(X32_PRLIMIT, 4, 0),
    BPF_RETURN(SECCOMP_RET_ALLOW),
    BPF_LOAD(nr),
    BPF_IF(I386_PRLIMIT, 1, 0),
    BPF_RETURN(SECCOMP_RET_ALLOW),
#elif defined(__aarch64__)
    BPF_LOAD(arch),
    BPF_IF(AUDIT_ARCH_ARM, 3, 0),
    BPF_LOAD(nr),
    BPF_IF(SYS_prlimit64, 4, 0),
    BPF_RETURN(SECCOMP_RET_ALLOW),
    BPF_LOAD(nr),
    BPF_IF(ARM_PRLIMIT, 1, 0),
    BPF_RETURN(SECCOMP_RET_ALLOW),
#else
    BPF_LOAD(nr),
    BPF_IF(SYS_prlimit64, 1, 0),
    BPF_RETURN(SECCOMP_RET_ALLOW),
#endif
    CHECK,
};

int
keeplimits_enter(void)
{
	struct sock_fprog filter = {
	    .len = sizeof program / sizeof program[0], .filter = (struct sock_filter *)program};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
