/*
 * A file that the launcher writes for itself, --status or --audit: what it must not be, whatever name led to it.
 */
#ifndef GUARD_OWNFILE_H
#define GUARD_OWNFILE_H

#include "bindmount/error.h"
#include "guard/snapshot.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Refused is the inode of one of the n requests, and of what the runner keeps beside one. option names the file. */
int ownfile_check_requests(const char *option, const struct guard_request *requests, size_t n,
    const struct stat *st, struct error *e);

/*
 * Likewise; and what descriptor 0, 1 or 2 is open on, a path in the runner's directory, and a file with a second hard
 * link unless that is allowed.
 */
int ownfile_check(const char *option, const char *path, bool allow_hard_links,
    const struct guard_request *requests, size_t n, const struct stat *st, struct error *e);

/* Find the path of what fd, of which st is known, is open on: false if it has none, or it leads elsewhere. */
bool ownfile_find(int fd, const struct stat *st, char name[PATH_MAX]);

#endif
