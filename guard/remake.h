/*
 * Making anew what has lost its last name.
 *
 * An inode with a link count of 0 can't be given a name again (linkat(2): ENOENT), so the component
 * becomes a new inode that is like the old one: a directory by its mode and owner, a symbolic link
 * by its text, a file by its bytes and all of its metadata.
 */
#ifndef GUARD_REMAKE_H
#define GUARD_REMAKE_H

#include "guard/held.h"

/* True if what is held at fd has no name left, or was let go because of that. */
bool remake_needed(int fd);

/*
 * Close all descriptors on what has no name left. Its inodes and blocks become free, and a full
 * disk may have no others for what takes its place; the bytes are in memory.
 */
void remake_let_go(struct snapshot *s);

/*
 * A directory or symbolic link, in its place, where nothing may be. Only if the caller may take what it
 * finds there afterwards for what it has made, being alone or having no more rights than its owner, are
 * owner and mode made exactly what they were. -1 with errno.
 */
int remake_ancestor(struct chain_node *node, bool alone);

/* Give the file its name again without moving it: one more link. -1 with errno. */
int remake_link(struct held_file *file);

/*
 * A file, in its place, where nothing may be. If another name of the same inode was made anew
 * before, this becomes a link to that. -1 with errno.
 */
int remake_file(struct snapshot *s, struct held_file *file);

#endif
