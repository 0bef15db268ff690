/*
 * What a mount alone can't hold.
 *
 * A read-only bind covers one name. A leg that may make namespaces of its own can bind a directory beside
 * it, without what is mounted below, rename an ancestor of the guarded file into that, and reach the
 * file where nothing covers it; then move everything back. So the inodes are watched as well:
 *
 * - Each directory above has a watch on renames in it (F_NOTIFY, fcntl(2)), wherever they are done.
 * - Each file of this step has a read lease (F_SETLEASE). An open for writing or a truncation, by whatever
 *   name, has to wait until the lease is given up, and the launcher gets SIGIO. If something was renamed or
 *   removed in a directory above by then, it may be the leg: that is ended first. If nothing was, the leg
 *   had no way to the file, so it is somebody outside, who may go on; what he does is put back.
 *   Leases want a file system that has them, an owner who asks, and no writer, so the launcher's own
 *   descriptor is read-only meanwhile. A file that was given up has no lease any more.
 */
#ifndef GUARD_HOLD_H
#define GUARD_HOLD_H

#include "guard/held.h"

/*
 * True for what the leg can't rename, whatever it does: in a directory that it may not write, or where it may move
 * only what is its own (the sticky bit). node has a parent.
 */
bool hold_is_out_of_reach(const struct snapshot *s, const struct chain_node *node);

/*
 * End the hold: take note of what was broken (content.broken), give the leases up, wait a bounded time until those who
 * were waiting for that are done, and get the descriptors for writing back. The first step of a restore; nothing of
 * the leg may be alive.
 */
void hold_end(struct snapshot *s);

#endif
