/*
 * A file that takes the place of another one when it is whole.
 *
 * It is written under another name in the same directory, which is held open, and renamed. So whoever reads the path sees the
 * old file or the new one, and a path that leads to something other than a regular file is refused, not followed.
 */
#ifndef GUARD_AUDIT_PLACE_H
#define GUARD_AUDIT_PLACE_H

#include "bindmount/error.h"

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

struct place {
	FILE *out;          /* to write to; owned */
	const char *path;   /* not owned */
	const char *name;   /* in it */
	int directory;      /* owned */
	char temporary[64]; /* in the directory; empty when there is none */
	sigset_t mask;
};

/*
 * Nothing is left of it after place_close() unless place_commit() was called. In between all signals are blocked, so that
 * this holds for one that ends the program, too.
 */
int place_open(struct place *p, const char *path, mode_t mode, struct error *e);
int place_commit(struct place *p, struct error *e);
void place_close(struct place *p);

#endif
