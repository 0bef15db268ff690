/*
 * Opening a file to write to, by a name that others may change at the same time.
 *
 * A launcher that is root must not be led to another file than the one it was told of: not by a symbolic link, and not
 * by one that comes or goes between two looks. So it walks the path by hand, holds every component, and
 * opens the last one in the directory that it holds, without following anything. If all of it is root's
 * that is done with root's rights; else with those of the first owner from "/" down who is not root
 * (guard/rights.h), who may have his own names lead anywhere, and then nobody else's link is followed.
 * Anybody else opens it as ever: his rights are those of whoever could mislead him.
 */
#ifndef GUARD_SINK_H
#define GUARD_SINK_H

#include "bindmount/error.h"
#include "guard/rights.h"

#include <stdbool.h>
#include <sys/types.h>

struct sink {
	int fd; /* O_NONBLOCK; owned until taken */
	bool made;
	struct rights rights; /* it was opened with */
	int parent; /* O_PATH, the directory it is in, and its name there; -1 and NULL if */
	char *name; /* it was opened by its path */
};

/*
 * Open path, and make it with this mode if it is not there. flags, of open(2), are the access mode, O_APPEND, and
 * O_NOFOLLOW if the last component may be no link. A root refuses a path whose directory is
 * not there, and one that becomes another one meanwhile. *s is to be given back in either case.
 */
int sink_open(
    struct sink *s, const char *path, int flags, mode_t mode, const char *option, struct error *e);

/* Remove what was made. path is where it lies if it was opened by its path. */
void sink_remove(const struct sink *s, const char *path);

void sink_close(struct sink *s);

#endif
