/*
 * Room to restore and to publish on a disk that the leg has filled.
 *
 * Blocks behind the end of a file (fallocate(2) with FALLOC_FL_KEEP_SIZE) are the file's own and make
 * a later append succeed on ext4, xfs, tmpfs. They do not where the file system copies on write
 * (btrfs), and a leg that could truncate the file would have freed them; there a ballast file is
 * given back before anything is restored. Names take room as well: a spare unnamed file per guarded
 * one is an inode that can't run out.
 */
#ifndef GUARD_RESERVE_H
#define GUARD_RESERVE_H

#include "guard/snapshot.h"

/* Give the ballast back to the file system. The first step of every repair, and free to repeat. */
void reserve_free_ballast(struct snapshot *s);

/* Give back what was reserved and not needed. Does nothing in a child of who took the snapshot. */
void reserve_release(struct snapshot *s);

#endif
