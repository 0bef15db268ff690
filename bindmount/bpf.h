/* What the seccomp filters here are written with: classic BPF over struct seccomp_data (seccomp(2)). */
#ifndef BINDMOUNT_BPF_H
#define BINDMOUNT_BPF_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

/* BPF_ARCH: the architecture whose system call numbers the headers give; not defined where it is not known here. */
#if defined(__x86_64__)
#define BPF_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define BPF_ARCH AUDIT_ARCH_AARCH64
#endif

#define BPF_LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
/* The halves of an argument: both architectures are little-endian. */
#define BPF_LOAD_LOW(n) BPF_LOAD(args[n])
#define BPF_LOAD_HIGH(n)                                                                           \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]) + 4)
#define BPF_RETURN(what)       BPF_STMT(BPF_RET | BPF_K, (what))
#define BPF_IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define BPF_REFUSE(errnum)     BPF_RETURN(SECCOMP_RET_ERRNO | (errnum))

#endif
