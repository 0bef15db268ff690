/*
 * The guarded files as they were before the leg: names, inodes, bytes and metadata.
 *
 * snapshot_walk() walks every path from "/" down and keeps a descriptor on each component, since
 * (dev, ino) identifies a file only while something holds it: inode numbers are reused at once.
 * The bytes are kept in anonymous memory that is neither dumped nor inherited by children
 * (MADV_DONTDUMP, MADV_DONTFORK). All descriptors are close-on-exec.
 *
 * After the leg is gone, and proven gone, snapshot_restore() makes names and bytes what they were;
 * only then is anything appended with snapshot_append().
 */
#ifndef GUARD_SNAPSHOT_H
#define GUARD_SNAPSHOT_H

#include "bindmount/error.h"
#include "bindmount/view.h"
#include "guard/findings.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct snapshot;

/* One file to guard. */
struct guard_request {
	const char *path;   /* as given; relative to the launcher's working directory */
	const char *source; /* who named it, for messages: "GITHUB_OUTPUT" or "--guard" */
};

/* True for the name of a directory that the runner keeps file-command files in. */
bool snapshot_is_runners(const char *name);

/*
 * Begin a snapshot of n files: their names. Two requests that lead to one inode by the same path are
 * one file. A path under a directory named `_runner_file_commands` or `file_commands` makes that
 * directory a guarded directory. Refused, with the cure in *e: a path that is missing, a directory, a
 * symbolic link (at the last component), a FIFO, a socket, a device, empty; a file whose owner is not
 * the caller, unless the caller is root; a file with a second hard link unless allow_hard_links.
 * requests has to stay until snapshot_record() returns. *out is to be given back with
 * snapshot_free().
 */
int snapshot_walk(struct snapshot **out, const struct guard_request *requests, size_t n,
    bool allow_hard_links, struct error *e);

/*
 * The leg is going to be of that uid and gid, not the caller's, who is root. From here on the caller has no
 * supplementary groups, and restoring goes by guard/rights.h. Refused: a guarded file that is set-user-ID or
 * set-group-ID. Called between walk and record.
 */
int snapshot_for_leg(struct snapshot *s, uid_t uid, gid_t gid, struct error *e);

/*
 * Complete it: the bytes of each file, and of every other regular file in a guarded directory. Refused:
 * a file that can't be opened for reading and writing, or that changes while it is read. Until then
 * only snapshot_read_only_paths() and snapshot_free() may be called.
 */
int snapshot_record(struct snapshot *s, struct error *e);

void snapshot_free(struct snapshot *s);

/* Index of the file that requests[i] named, for the functions below. */
size_t snapshot_index(const struct snapshot *s, size_t i);

/* The bytes as recorded (NULL for an empty file) and their number. They stay the snapshot's. */
const void *snapshot_bytes(const struct snapshot *s, size_t index, size_t *size);

/* Where the file ends now: behind the bytes as recorded, and what was appended to them. */
size_t snapshot_end(const struct snapshot *s, size_t index);

/* XXH3-128 of the bytes in its canonical (big-endian) form: a fingerprint for logs, no proof. */
void snapshot_fingerprint(const struct snapshot *s, size_t index, uint8_t digest[16]);

/* Number of recorded files, guarded ones and neighbours, and the canonical path of each. */
size_t snapshot_count(const struct snapshot *s);
const char *snapshot_path(const struct snapshot *s, size_t index);
/* True for a neighbour: a file that was not named, only found in a guarded directory. */
bool snapshot_is_neighbour(const struct snapshot *s, size_t index);
/* stat(2) result as recorded. */
const struct stat *snapshot_stat(const struct snapshot *s, size_t index);

/* True if st is one of the recorded files (guarded or neighbour) or a guarded directory. */
bool snapshot_has_inode(const struct snapshot *s, const struct stat *st);

/*
 * Add to *v what the leg may only read: the guarded directories, and each guarded file that is in
 * none. Paths are canonical.
 */
int snapshot_read_only_paths(const struct snapshot *s, struct view_paths *v, struct error *e);

/* Add to *v the symbolic links that lead to guarded files. */
int snapshot_link_paths(const struct snapshot *s, struct view_paths *v, struct error *e);

/*
 * See to it that snapshot_restore() can put everything back and that `bytes` more can be appended
 * to file `index`, even if the leg fills the disk: FALLOC_FL_KEEP_SIZE behind the end of the file,
 * and on each file system a ballast that is freed after the leg, an O_TMPFILE that the first file
 * to be made anew becomes. It has blocks where the file system copies on write (btrfs) or a
 * recorded file is not empty. Called before the leg, any number of times. A file system that can't
 * reserve is no error; a full one is.
 */
int snapshot_reserve(struct snapshot *s, size_t index, size_t bytes, struct error *e);

/*
 * Compare everything with the snapshot and put back what differs: names first, from "/" down, then bytes and metadata.
 * No process of the leg may be alive. Each difference goes to *f. Files of the guarded directory that belong to other
 * steps (another GUID) are compared and put back only if the directory itself or an ancestor was tampered with; else
 * only their modes, owners and attributes. Returns -1 with *e if something could not be put back (then the finding has
 * restored == false); it goes on to the rest all the same. A hard link that was added is such a thing: the name is not
 * known, so it can't be removed. What stood in a component's place is never deleted unless it was made since the
 * snapshot; it is left where the original was found, or kept beside it by the name `.legguard-quarantine-...`, and the
 * finding says where.
 */
int snapshot_restore(struct snapshot *s, struct findings *f, struct error *e);

/* From here on findings have what was found, for a record of the run. */
void snapshot_keep_found(struct snapshot *s);

/*
 * Only the names, for a child of the process that took the snapshot: the bytes are not inherited.
 * What has lost its last name is made anew from the inode that is held, as that is now.
 */
int snapshot_restore_names(struct snapshot *s, struct findings *f, struct error *e);

/*
 * Append to file `index` what the launcher publishes: one write, preceded in the same write by a
 * newline if the recorded bytes do not end in one. A short write is continued; if it can't be, the
 * file is cut back to the recorded bytes.
 */
int snapshot_append(
    struct snapshot *s, size_t index, const void *data, size_t size, struct error *e);

/*
 * Let children forked from now on have the recorded bytes, or not (as at first). For a child that is to
 * restore if its parent can't.
 */
void snapshot_inherit(const struct snapshot *s, bool inherit);

/*
 * In such a child: close every descriptor above 2 that is neither the snapshot's nor one of the n in
 * keep. Returns -1 with errno ENOMEM.
 */
int snapshot_close_others(const struct snapshot *s, const int *keep, size_t n);

/* The descriptor on file `index`, which stays the snapshot's. */
int snapshot_descriptor(const struct snapshot *s, size_t index);

/*
 * For when nothing is to be written any more: give back what is reserved, and the descriptor that can
 * write file `index`. Returns one that can only read, which stays the snapshot's, or -1 with errno.
 */
int snapshot_let_go(struct snapshot *s, size_t index);

/*
 * Hold every recorded file from here to snapshot_restore(), beyond what a mount can do: see guard/hold.h.
 * Whoever is about to open one of them for writing waits, and the caller gets SIGIO; for the first rename in
 * a directory above them it gets SNAPSHOT_RENAMED. File `skip` (or none: SIZE_MAX) is left out. Called after
 * snapshot_reserve(). Returns whether all the step's own files are held.
 */
/* No real-time signal: those need room in a queue that the leg, being the same user, can fill. */
#define SNAPSHOT_RENAMED SIGURG
bool snapshot_hold(struct snapshot *s, size_t skip);

/*
 * To be called for these signals; renamed says whether SNAPSHOT_RENAMED has been among them. True if who
 * waits may be the leg: end it, then restore. Otherwise whoever waits may go on.
 */
bool snapshot_is_attacked(struct snapshot *s, bool renamed);

#endif
