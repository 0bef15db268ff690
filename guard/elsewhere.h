/*
 * renameat2(2) that also gets past mount points.
 *
 * A name that is a mount point in our mount namespace can't be renamed in it: EBUSY. In a
 * namespace that does not have the mount it can be, and the mount goes with the name. (That is how
 * a leg moves the file-command directory of a container action, which is a mount of its own.)
 */
#ifndef GUARD_ELSEWHERE_H
#define GUARD_ELSEWHERE_H

/*
 * As renameat2(2). On EBUSY a child tries again in a mount namespace whose root is an empty tmpfs;
 * the directories are held by descriptor and work there as well. -1 with errno.
 */
int elsewhere_rename(
    int old_dir, const char *old_name, int new_dir, const char *new_name, unsigned flags);

#endif
