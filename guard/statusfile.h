/* Where the status object goes: opened before the leg, written after it. */
#ifndef GUARD_STATUSFILE_H
#define GUARD_STATUSFILE_H

#include "bindmount/error.h"
#include "guard/options.h"

#include <sys/types.h>

struct statusfile {
	int fd;     /* -1 if no status was asked for; owned */
	char *path; /* canonical, if it is a regular file opened by name: such a file has to be guarded
	               like the step's, or the leg writes its own status; else NULL. Owned. */
};

/* Open what --status or --status-fd names. A regular file is created if need be, and emptied. */
int statusfile_open(struct statusfile *f, const struct options *o, mode_t mask, struct error *e);

/* Write text through the descriptor. */
int statusfile_write(const struct statusfile *f, const char *text, struct error *e);

void statusfile_close(struct statusfile *f);

#endif
