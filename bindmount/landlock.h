/*
 * A leg's view where there are no namespaces: a Landlock ruleset (landlock(7)) that leaves everything
 * writable but some paths.
 *
 * Landlock can only allow: what a rule grants for a directory holds for all below it, and nothing takes it
 * away again. So a path is protected by granting its directory nothing, and every other entry of that
 * directory everything, and so on up to "/". What this costs: in the directories above a protected path
 * nothing can be made, removed or renamed; what is in them already stays writable. And a kernel that
 * enforces any such right refuses every mount, so sandboxes that need one fail inside.
 *
 * Not covered by any right: modes, owners, times, extended attributes, locks, and connecting to sockets
 * that have a path.
 *
 * The first part is pure: which rights there are, and what has to be left out where. The second walks the
 * directories.
 */
#ifndef BINDMOUNT_LANDLOCK_H
#define BINDMOUNT_LANDLOCK_H

#include "bindmount/error.h"
#include "bindmount/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a kernel of this ABI can deny of changing files: each later one has more to deny. */
uint64_t landlock_write_rights(int abi);

/* Of such rights, those that a rule on an inode of this type may grant (st_mode). Never device nodes. */
uint64_t landlock_grant(uint64_t rights, mode_t type);

/* Denied rights leave no way to shorten a file that can't be written. */
bool landlock_denies_truncation(int abi);

/* One entry of one directory that gets no rights of its own. */
struct landlock_gap {
	char *dir;        /* absolute, without a slash at the end except for "/" */
	const char *name; /* points into the string that dir begins, behind its end */
};

/* Sorted by dir and then by name (strcmp), each once. */
struct landlock_gaps {
	struct landlock_gap *list;
	size_t count;
};

/*
 * What has to be left out for each of the paths to be protected. A path below another one adds nothing:
 * nobody looks into what is protected as a whole. Without "/" among them every dir is above some path; with it
 * there are no gaps, as there is nothing beside it. -1: errno ENOMEM. To be given back with landlock_gaps_free().
 */
int landlock_gaps(struct landlock_gaps *g, const struct view_paths *paths);
void landlock_gaps_free(struct landlock_gaps *g);

/* True if nothing can be made directly in dir: it is protected itself, or above something that is. */
bool landlock_closes(const struct view_paths *paths, const char *dir);

/* So many directory entries are looked at for one ruleset, at the most. */
enum { LANDLOCK_ENTRIES_MAX = 200000 };

/*
 * Make the ruleset for view: what is read_only, by any of its names, can't be changed; what is hidden and is no socket
 * can't be changed or read. Beside what is protected in a proc file system, nothing below a process. With the scopes
 * for signals and abstract sockets where the ABI, that of the kernel, has them. Returns the descriptor, close-on-exec,
 * for landlock_enter(). -1 with *e: there are too many entries, or a path does not lead to its inode any more.
 */
int landlock_build(const struct view *view, int abi, struct error *e);

/* Confine the calling process, which has no_new_privs, and all its children to come. -1: errno. */
int landlock_enter(int ruleset);

#endif
