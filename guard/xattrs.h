/*
 * Extended attributes of a file, recorded and put back (xattr(7)).
 *
 * What one may list and read is recorded: user.*, POSIX ACLs, as root trusted.* and security.*. The
 * kernel rewrites some of security.* by itself (a file capability goes when the file is written),
 * and not everyone may set it; those are put back where that is permitted and no error where not.
 */
#ifndef GUARD_XATTRS_H
#define GUARD_XATTRS_H

#include <stdbool.h>
#include <stddef.h>

struct xattr {
	char *name;
	void *value;
	size_t size;
};

struct xattrs {
	struct xattr *list;
	size_t count;
};

/* -1 with errno; a file system without extended attributes has none. */
int xattrs_record(struct xattrs *x, int fd);

/*
 * Make the attributes of fd those of x. *changed tells whether they differed. -1 with errno if one
 * could not be put back; the others are all the same. The file's mode must let the caller read and
 * write it: user.* follows the permission bits, not the descriptor.
 */
int xattrs_put_back(const struct xattrs *x, int fd, bool *changed);

void xattrs_free(struct xattrs *x);

#endif
