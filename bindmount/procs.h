/* Other mounts of proc than /proc. */
#ifndef BINDMOUNT_PROCS_H
#define BINDMOUNT_PROCS_H

#include "bindmount/error.h"

/*
 * Cover every other mount of a proc file system that shows processes, as that of a change-root environment does,
 * with one of the caller's pid namespace, whose first process the caller is. /proc/PID/root of a process
 * outside leads around any view; a user namespace in between refuses that, and who is without one must not get to
 * see such a process. Mounts that are covered already, by others or by a fresh /proc, are left alone.
 */
int procs_cover(struct error *e);

#endif
