/* Private writable copies in the place of files, in the caller's mount namespace. */
#ifndef BINDMOUNT_DECOY_H
#define BINDMOUNT_DECOY_H

#include "bindmount/error.h"
#include "bindmount/view.h"

#include <sys/types.h>

enum {
	DECOY_BYTES = 16 * 1024 * 1024, /* what all copies together can take */
	DECOY_NAME = 300,               /* "3/" and a file's name */
};

/*
 * Over each directory of decoys->dirs put an empty, writable one, over each file of decoys->files a copy of it as it is
 * now, with a newline at its end if it has bytes and lacks one: in its directory if that is one of dirs, else alone.
 * They belong to decoys->uid and gid. All are pieces of one tmpfs of DECOY_BYTES. *root becomes an O_PATH descriptor on
 * its root, which works in other mount namespaces, too; decoy_name() says what a file is called there.
 *
 * As after mask_all(), the working directory is another one then, and the tmpfs lies on /proc: the caller mounts a fresh
 * one over it or calls mask_uncover_proc().
 */
int decoy_put_all(const struct view_decoys *decoys, int *root, struct error *e);

/* The name of files->list[index] below the root. */
const char *decoy_name(const struct view_decoys *decoys, size_t index, char name[DECOY_NAME]);

#endif
