/*
 * One path that may have to be protected, and the rules by which it is, or is left out. For guard/protected.c, which
 * knows what the candidates are, and for nobody else.
 */
#ifndef GUARD_CANDIDATE_H
#define GUARD_CANDIDATE_H

#include "guard/protected.h"

/* Where the leg works. */
struct place {
	char *path; /* canonical, NULL if there is none */
	const char *contains, *inside;
};

enum { CWD, WORKSPACE, TEMP, HOME, TMPDIR, PLACES };

struct search {
	struct protected *p;
	const struct options *o;
	char *const *env;
	uid_t leg;
	struct place places[PLACES];
	char **unprotect; /* canonical, NULL where there is no such path */
	struct error *e;
};

enum flags {
	EXCLUSIVE = 1, /* of a file: nobody but the runner writes it, and not while a step runs */
	NAMES = 2,     /* of a directory: the runner or others write in it meanwhile */
	OUTSIDE = 4,   /* only outside of the workspace and the working directory */
	ASKED = 8,     /* by --read-only */
};

/* Find the places. *s, of which p, o, env, leg and e are set, is to be given back with candidates_close(). -1 with *e. */
int candidates_open(struct search *s, const char *cwd);
void candidates_close(struct search *s);

/* Why the path is left out, or NULL. */
const char *candidate_reason(
    const struct search *s, const char *path, const struct stat *st, int flags);

/* Add path, which is canonical and becomes the list's, unless it is there already. -1 with *e. */
int candidate_add(struct search *s, char *path, const struct stat *st, const char *why, int flags);

/* Add what path leads to, if that is a file or directory in the leg's reach. path may be NULL. -1 with *e. */
int candidate_try(struct search *s, const char *path, const char *why, int flags);

/* The same for name in dir, which may be NULL. */
int candidate_in(struct search *s, const char *dir, const char *name, const char *why, int flags);

#endif
