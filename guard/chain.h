/*
 * Paths as trees of held components.
 *
 * Every component of a walked path, from "/" down, is a node with a descriptor on it, intermediate
 * symbolic links included: links are expanded here and not by the kernel, so that each name the
 * path depends on can be looked at again later. Paths that share components share nodes. As long as
 * a node is held its (dev, ino) can't be given to anything else. The descriptors are O_PATH,
 * because an ancestor may well be searchable without being readable.
 *
 * Nodes are in the order in which they were reached: a node's parent always comes before it.
 */
#ifndef GUARD_CHAIN_H
#define GUARD_CHAIN_H

#include "bindmount/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct chain_node {
	struct chain_node *parent; /* NULL for "/" */
	char *path;                /* of the node: its parents' names, free of symbolic links */
	const char *name;          /* last part of path */
	char *link;                /* text of a symbolic link, else NULL */
	int fd;                    /* O_PATH | O_NOFOLLOW */
	uint64_t mount;            /* id of the mount it lies on; 0 if the kernel does not say */
	struct stat st;            /* as first seen */
	int watch;                 /* read-only descriptor with a watch on renames in it, or -1 */
	bool renewed;              /* what is held has been looked up again, see chain_renew() */
	bool moved; /* it or an ancestor was found at another place; set by restore */
};

struct chain {
	struct chain_node **nodes;
	size_t count;
};

/*
 * Walk path, which is absolute or relative to the working directory, and return the node of its
 * last component. That one is not followed if it is a symbolic link. NULL with *e, which names
 * source, whoever it was that named the path.
 */
struct chain_node *chain_walk(
    struct chain *c, const char *path, const char *source, struct error *e);

/* The node of one name in a directory that is held already. NULL with errno. */
struct chain_node *chain_enter(struct chain *c, struct chain_node *parent, const char *name);

/* Make the node hold what its name leads to now. -1 with errno. */
int chain_renew(struct chain_node *node);

/* True if both are the same inode. */
bool chain_same(const struct stat *a, const struct stat *b);

/* What a node that is no regular file is: "a directory", ...; NULL for a regular file. */
const char *chain_kind(const struct stat *st);

void chain_free(struct chain *c);

#endif
