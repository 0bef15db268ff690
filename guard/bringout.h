/*
 * A private RUNNER_TEMP for a leg in the strict view or the Landlock tier, and what becomes of its content.
 *
 * The private directory lies in the real one, on the same file system, so what the leg made is brought out by
 * renaming. Its name begins with `_legguard-`. For each entry of the real directory there is one of the same
 * kind in it, a stub, on which the view shows that entry.
 *
 * What can't be brought out is never deleted: it stays where it is, and the notes say where.
 */
#ifndef GUARD_BRINGOUT_H
#define GUARD_BRINGOUT_H

#include "bindmount/error.h"
#include "bindmount/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	BRINGOUT_STUBS_MAX = 4096, /* each costs a mount */
	BRINGOUT_MAX = 10000,      /* entries that are brought out */
	BRINGOUT_MS = 2000,        /* and how long that may take */
};

struct bringout {
	int real, private; /* -1: there is none */
	char *path;        /* of the private one */
	char **stubs;      /* their names, in order */
	size_t n_stubs;
};

#define BRINGOUT_NONE ((struct bringout){.real = -1, .private = -1})

/* What came of it. */
struct brought_out {
	bool tried;
	size_t moved;
	size_t left;     /* what is still in the private directory, up to BRINGOUT_LEFT_MAX */
	char *where;     /* that, if it is still there, else NULL; owned */
	char *first;     /* the name of one that was left; untrusted; owned; may be NULL */
	const char *why; /* and why, in a few words, or NULL */
};

enum { BRINGOUT_LEFT_MAX = 100000 };

/*
 * Make the private directory in view->temp, for user uid and group gid, and note it in view->private. Does
 * nothing if there is no view->temp. *b is to be given back with bringout_end() in either case.
 */
int bringout_begin(struct bringout *b, struct view *view, uid_t uid, gid_t gid, struct error *e);

/*
 * The same without a view, for a leg that has to be told of it by a variable: b->path, in temp, is empty, and the leg
 * finds what is in temp where it is.
 */
int bringout_beside(struct bringout *b, const char *temp, uid_t uid, gid_t gid, struct error *e);

/*
 * Nobody of the leg is alive: move what it made to the real directory. Not moved is what would replace
 * something, what has a name that begins with `_`, since such names are the runner's, what is neither a
 * file nor a directory nor a symbolic link, and what is too much. Links are not followed. stop is asked now
 * and then; with `leave` nothing is moved at all, for the reason `leave`.
 */
void bringout_collect(
    struct bringout *b, const char *leave, bool (*stop)(void), struct brought_out *result);

/* Remove the stubs, and the private directory if it is empty then. */
void bringout_end(struct bringout *b);

#endif
