/*
 * What is to stay as it is beside the guarded files: the paths that the leg may only read.
 *
 * A mount makes them read-only by one name. A leg that makes namespaces of its own can move a directory above
 * them to where the mount does not show (guard/hold.h). So:
 *
 * - A KEEP_FILE is held and put back as a guarded file is: by inode, bytes, metadata, and with a lease. A KEEP_SHARED
 *   one likewise, until its lease is broken by somebody who can't be the leg: then it is his.
 * - Of a KEEP_LOG file, which others append to, the launcher among them, name and metadata are put back; it has no lease, and
 *   what is in it is for the launcher to check.
 * - Of a KEEP_TREE or KEEP_NAMES the name is put back. A tree is too large to be copied, so it is only seen whether
 *   anything in a KEEP_TREE was changed. Whoever changes an inode sets its ctime, and nobody can set that back; moving
 *   a directory sets its own and that of the one it is in. If no directory on the way to the tree has both set, then
 *   none was moved, and the mount has held. Else each ctime in the tree is compared with the time when the leg was about to start.
 * - A KEEP_LOOSE file may be somebody else's, who goes on writing it: it is seen whether it was changed. That is a finding
 *   only if a directory above it may have been moved; else it is noted.
 */
#ifndef GUARD_KEEP_H
#define GUARD_KEEP_H

#include "bindmount/error.h"
#include "guard/leftovers.h"
#include "guard/snapshot.h"

enum keep { KEEP_FILE, KEEP_SHARED, KEEP_LOG, KEEP_TREE, KEEP_NAMES, KEEP_LOOSE };

/*
 * Keep path, which is canonical and was seen to be st, from now to snapshot_restore(): after snapshot_reserve(),
 * before snapshot_hold(). Of a file that can't be read, is another user's, has other names or is being written only the
 * mount is relied on. What has gone meanwhile, or is in the snapshot already, is passed over. path has to
 * stay as long as the snapshot. -1 with *e.
 */
int snapshot_keep(
    struct snapshot *s, const char *path, const struct stat *st, enum keep keep, struct error *e);

/* After snapshot_restore(): add what was changed by nobody knows whom. -1 with errno ENOMEM. */
int snapshot_note_changes(const struct snapshot *s, struct leftovers *l);

/* For snapshot_restore(), before it moves anything: true if a file or tree was changed and can't be put back. */
bool keep_compare(struct snapshot *s, struct findings *f);

#endif
