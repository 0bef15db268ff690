/*
 * Room to restore and to publish on a disk that the leg has filled.
 *
 * Blocks behind the end of a file (fallocate(2) with FALLOC_FL_KEEP_SIZE) are the file's own and
 * make a later append succeed on ext4, xfs, tmpfs. They do not where the file system copies on
 * write (btrfs), and a leg that could truncate the file would have freed them; for that there is a
 * ballast on each file system, an unnamed file whose blocks are given back before anything is
 * restored.
 *
 * A file made anew takes an inode, too. The first one becomes what was the ballast; each of the
 * others takes one that has become free by then, that of the file it replaces.
 */
#ifndef GUARD_RESERVE_H
#define GUARD_RESERVE_H

#include "guard/held.h"

/* Give the ballast back to the file system. The first step of every repair, and free to repeat. */
void reserve_free_ballast(struct snapshot *s);

/* An empty file without a name, to be given one in dir; -1 if there is none. */
int reserve_take_spare(struct snapshot *s, const struct chain_node *dir);

/* Give back what was reserved and not needed. Does nothing in a child of who took the snapshot. */
void reserve_release(struct snapshot *s);

/* The same for one file, by who took the snapshot. */
void reserve_release_content(struct content *c);

#endif
