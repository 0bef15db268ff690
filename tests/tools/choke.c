/*
 * choke PID
 *
 * Takes its descriptors from a process (RLIMIT_NOFILE to 0), by the number that the system call has in each table a
 * process here can use, and prints a line for each: the table, and `done` or the error's number. Exit status 0 if
 * one of them did.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int done;

static void
tell(const char *table, long error)
{
	if (error == 0)
		printf("%s done\n", table);
	else
		printf("%s %ld\n", table, error);
	done |= error == 0;
}

#ifdef __x86_64__
/* 32 bits: the arguments are cut to that, so the limit has to lie low. */
static long
by_i386(pid_t pid, const struct rlimit *limit)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(340L), "b"((long)pid), "c"((long)RLIMIT_NOFILE), "d"(limit), "S"(0L)
			 : "memory");
	return -(int)result;
}
#endif

int
main(int argc, char **argv)
{
	struct rlimit *limit = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS
#ifdef __x86_64__
		| MAP_32BIT
#endif
	    ,
	    -1, 0);
	pid_t pid;

	if (argc != 2 || limit == MAP_FAILED)
		errx(2, "usage: choke PID");
	pid = (pid_t)strtol(argv[1], NULL, 10);
	*limit = (struct rlimit){0, 0};
	/* The kernel looks at the low half of the number only. */
	tell("high",
	    syscall(SYS_prlimit64, (1L << 32) | pid, RLIMIT_NOFILE, limit, NULL) == 0 ? 0 : errno);
#ifdef __x86_64__
	tell("x32", syscall(0x40000000 + 302, pid, RLIMIT_NOFILE, limit, NULL) == 0 ? 0 : errno);
	tell("i386", by_i386(pid, limit));
#endif
	tell("own", syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, limit, NULL) == 0 ? 0 : errno);
	return !done;
}
