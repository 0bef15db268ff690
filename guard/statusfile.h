/*
 * Where the status object goes: opened before the leg, written after it.
 *
 * What is opened here belongs to somebody, and nothing of it may be lost because it was named by
 * mistake: a file is emptied only when it is known to be none of those the run guards or passes the
 * leg's output to.
 */
#ifndef GUARD_STATUSFILE_H
#define GUARD_STATUSFILE_H

#include "bindmount/error.h"
#include "guard/options.h"
#include "guard/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct statusfile {
	int fd;             /* -1 if no status was asked for, or it was refused; owned */
	const char *option; /* that named it */
	bool file;          /* it is a regular file */
	char *path; /* canonical, if it has to be guarded like the step's files, or the leg writes
	                       its own status; else NULL. Owned. */
};

/*
 * Open what --status or --status-fd names. A file named by --status is created if need be, and emptied;
 * what is behind a descriptor is added to. Refused, and left as it is: a file that is one of the n
 * requests, or one beside them in the runner's directory, or that descriptor 0, 1 or 2 is open on, by
 * whatever name (--status-fd 1 and 2 may say that they mean those); a file with a second hard link, unless
 * that is allowed; a FIFO that has a name, since the leg could write to it first.
 */
int statusfile_open(struct statusfile *f, const struct options *o,
    const struct guard_request *requests, size_t n, mode_t mask, struct error *e);

/* Write text through the descriptor. Its reader is waited for until then, see bounded.h. */
int statusfile_write(const struct statusfile *f, const char *text, int64_t until, struct error *e);

void statusfile_close(struct statusfile *f);

#endif
