/*
 * A leg's view of the file system: which paths it can only read.
 *
 * The plan is made outside, in plain data; view_build() carries it out inside a mount namespace
 * that the calling process has to itself, with CAP_SYS_ADMIN in the user namespace owning it
 * (user_namespaces(7), mount_namespaces(7)). Nothing here knows what the paths are for.
 */
#ifndef BINDMOUNT_VIEW_H
#define BINDMOUNT_VIEW_H

#include "bindmount/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A path and what it has to lead to. path is absolute and free of symbolic links. */
struct view_path {
	char *path;
	dev_t dev;
	ino_t ino;
	bool
	    passing; /* somebody may remove or replace it at any time: then what is there, if anything, will do */
	const char *stand_in; /* of a hidden one: where path with this constant behind it leads to
	                         something, that is seen in its place and not a mask; or NULL */
};

struct view_paths {
	struct view_path *list;
	size_t count;
};

/* Add a copy of path, unless the same path is already there. -1: errno ENOMEM. */
int view_paths_add(struct view_paths *v, const char *path, dev_t dev, ino_t ino);
/* Shorter paths first, so that a directory comes before what is in it. */
void view_paths_sort(struct view_paths *v);
void view_paths_free(struct view_paths *v);

/*
 * Open p->path as it is now (O_PATH), no link followed, and see that it is the inode it has to be: what is mounted and
 * where is taken from such a descriptor, so that nobody can put something else between a check and a mount.
 */
int view_open(const struct view_path *p, struct error *e);
/* True if path leads to what fd is open on no more: the kernel has several errors for a mount on that. */
bool view_is_elsewhere(int fd, const char *path);
/* True for a passing path that leads nowhere by now. */
bool view_path_is_gone(const struct view_path *p);

/* Files that the leg gets private copies of, which it can write; see decoy.h. */
struct view_decoys {
	struct view_paths
	    dirs; /* directories that get an empty one in their place, with the copies in it */
	struct view_paths files;
	uid_t uid; /* whose they are */
	gid_t gid;
};

struct view {
	struct view_paths
	    read_only; /* each subtree becomes read-only, wherever else it is mounted too */
	struct view_paths pinned; /* directories in which nothing can be made, renamed or removed,
	                             wherever else they are mounted too; see pin.h */
	struct view_paths
	    hidden;             /* each is masked: a directory by an empty one, anything else by an
	                             empty file that can't be opened */
	struct view_paths kept; /* what lies below a hidden directory and stays reachable */
	struct view_paths writable; /* if there are any the view is strict: these directories alone
	                               can be written; see strict.h */
	struct view_paths shown;    /* strict: what stays where it is below a private directory */
	struct view_path temp;      /* strict: a directory that a private one stands for, or path
	                               NULL */
	char *scratch; /* strict: an empty directory is made here if that is in a private one and
	                  there is none, or NULL */
	struct view_path private; /* that one, which lies in it */
	struct view_decoys decoys;
	struct view_path cwd; /* the leg's working directory */
	bool other_procs; /* with fresh_proc: other mounts of proc are covered too, see procs.h */
	bool root;        /* with fresh_proc: for a root without most capabilities, see engine.h */
	bool fresh_proc;  /* the caller is PID 1 of a pid namespace and /proc has to show it */
};

/*
 * Build the view, in this order:
 * - all mounts become private;
 * - what lies above: the pinned directories are pinned (pin.h), or the strict view is made (strict.h);
 * - every path of read_only, and each alias of it through another mount of the same file system, is read-only
 *   before the first process can see it, and checked to lead to the same inode;
 * - every path of hidden and each alias of it is masked (mask.h), so that what is hidden in a read-only tree is
 *   gone, and what is kept of it is read-only;
 * - decoys are put in their places, and *decoys becomes the descriptor that decoy_put_all() gives, or -1;
 * - /proc is a fresh one, left untouched so that a nested sandbox can mount its own;
 * - other mounts of proc are covered (procs.h), and a root leg is confined (engine.h), where that is asked for;
 * - the working directory is entered by path and checked.
 * open_tree(2), mount_setattr(2) and move_mount(2) are used where the kernel and its filters let them (Linux
 * 5.12), else bind mounts that are remounted; pinned directories and the strict view need them.
 */
int view_build(const struct view *view, int *decoys, struct error *e);

/*
 * Enter cwd by path and check that it is the directory it has to be: by path, since a directory that
 * was inherited lies below the binds. The last step of view_build(); for a process without a view of
 * its own it is the only one.
 */
int view_enter(const struct view_path *cwd, struct error *e);

#endif
