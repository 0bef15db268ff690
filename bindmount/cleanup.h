/*
 * Resources that give themselves back at the end of their scope.
 *
 * A variable marked with one of these owns what it holds. To hand the resource on, take it out
 * with fd_take() or ptr_take(): the variable then holds nothing and nothing is given back twice.
 */
#ifndef BINDMOUNT_CLEANUP_H
#define BINDMOUNT_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

static inline void
cleanup_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* nothing was written through it that its owner did not check */
}

static inline void
cleanup_free(void *p)
{
	free(*(void **)p);
}

#define AUTO_FD   __attribute__((cleanup(cleanup_fd)))
#define AUTO_FREE __attribute__((cleanup(cleanup_free)))

static inline int
fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void *
ptr_take(void *p)
{
	void *taken = *(void **)p;

	*(void **)p = NULL;
	return taken;
}

/* Close *fd if it is open and forget it. */
static inline void
fd_drop(int *fd)
{
	cleanup_fd(fd);
	*fd = -1;
}

#endif
