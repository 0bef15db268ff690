/*
 * What a struct snapshot holds, for the files that implement guard/snapshot.h and for nobody else.
 *
 * Names and inodes are kept apart: a node of the chain is a name, a content is an inode, and a
 * held_file says which name has to lead to which inode.
 */
#ifndef GUARD_HELD_H
#define GUARD_HELD_H

#include "guard/chain.h"
#include "guard/content.h"
#include "guard/keep.h"
#include "guard/rights.h"
#include "guard/snapshot.h"

#include <time.h>

struct held_file {
	struct chain_node *node;
	struct content *content; /* shared by the names of one inode */
	bool neighbour;
	bool own_step; /* a neighbour that belongs to the same step as a guarded file */
	bool kept;     /* by guard/keep.h */
	bool shared;   /* if so: it may be somebody else's */
	bool log;      /* if so: others append to it */
};

/* What is kept without a copy, see guard/keep.h. */
struct held_tree {
	struct chain_node *node; /* the directory; of a loose file, the one it is in */
	const char *path;        /* the caller's */
	const char *name;        /* of a loose file: the end of path */
	struct stat st;          /* as first seen */
	enum keep keep;
	bool touched; /* the directory was changed in some way; see keep_compare() */
	bool moved;   /* a component of the way to it may have been moved, back as well */
	bool noted;   /* it was changed by who knows whom */
};

/* What is set aside on one file system, to be given back before anything is restored on it. */
struct ballast {
	dev_t dev;
	uint64_t mount; /* names can be given to it on this mount only (linkat(2): EXDEV) */
	int fd;         /* an unnamed file, or -1 */
	size_t size;
	bool weighs; /* it has blocks, and gets more with each reservation */
};

struct snapshot {
	struct chain chain;
	struct held_file *files;
	size_t file_count;
	struct content **contents;
	size_t content_count;
	size_t own_nodes; /* the chain's first: of guarded files; the rest is of what is kept */
	struct held_tree *trees;
	size_t tree_count;
	struct chain_node **guarded; /* the guarded directories */
	size_t guarded_count;
	const struct guard_request *requests; /* the caller's */
	struct chain_node **requested;        /* request -> name */
	size_t *index;                        /* request -> file */
	size_t request_count;
	struct ballast *ballasts;
	size_t ballast_count;
	bool suspicious;       /* a directory may have been moved while the files were held */
	struct timespec taken; /* by the coarse clock, which inode times follow */
	struct rights leg;     /* the leg's, if they are not the launcher's */
	struct timespec since; /* likewise: when the files were all held, shortly before the leg */
	bool keeps_found; /* what is found changed is kept as it was found */
	pid_t taker;           /* children that have a copy must not give back what is reserved */
};

/*
 * Record the file at node and add it; a file that is there already is found again. Returns its index, or
 * -1 with errno as content_record() sets it.
 */
ssize_t held_add(struct snapshot *s, struct chain_node *node, bool neighbour, enum content_how how);

/*
 * Record the regular files beside the guarded ones in each guarded directory. What can't be read,
 * has gone meanwhile, or would take descriptors that the launcher needs for itself is left out:
 * only lack of memory is an error (-1 with errno).
 */
int neighbours_add(struct snapshot *s);

#endif
