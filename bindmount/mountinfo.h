/*
 * /proc/self/mountinfo (proc(5)), and what a path is called through other mounts.
 *
 * Pure: works on text. Paths are raw bytes, the file's octal escapes undone.
 */
#ifndef BINDMOUNT_MOUNTINFO_H
#define BINDMOUNT_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

struct mount_entry {
	int id;
	unsigned int major, minor; /* of the file system; differs from st_dev on btrfs */
	char *root;                /* path inside that file system which is visible here */
	char *point;               /* where it is mounted */
	char *type;                /* of the file system: "ext4"; empty if the line does not say */
};

struct mountinfo {
	struct mount_entry *list;
	size_t count;
	char *text; /* root and point point into it */
};

/* Parse text (malloc'd, NUL-terminated), which the result owns from then on. -1: errno. */
int mountinfo_parse(struct mountinfo *m, char *text);

/* Read and parse the caller's own. -1: errno. */
int mountinfo_read(struct mountinfo *m);

void mountinfo_free(struct mountinfo *m);

/* True if path is dir or below it; both absolute, without a trailing slash except for "/". */
bool mountinfo_below(const char *path, const char *dir);

/*
 * True if m lies over a part of /proc, as container engines have it. For a process in a user namespace the
 * kernel refuses a fresh /proc then, which would show what is masked.
 */
bool mountinfo_masks_proc(const struct mount_entry *m);

/*
 * The name under which `path`, which lies in the mount `home`, is reached through the mount
 * `other`; malloc'd. NULL with errno 0 if it is not reached there, NULL with errno ENOMEM.
 * If only a part of what is below path is mounted at `other`, that mount's point is the name.
 */
char *mountinfo_alias(
    const struct mount_entry *home, const struct mount_entry *other, const char *path);

#endif
