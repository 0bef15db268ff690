/*
 * Acting in the file system with no more rights than somebody who is not root.
 *
 * A launcher that is root puts things back in directories that the leg, and others of its uid who may be alive,
 * can write: whatever a name leads to may be another thing at the next system call. What is done there by
 * name is therefore done with the leg's own rights (setfsuid(2), which also takes root's capabilities over
 * files away): what the leg did it could undo, and what the leg could not have done is not done for it. Signals and
 * tracing go by other ids, so the launcher stays out of its reach meanwhile.
 *
 * What is done by descriptor on an inode that has been held since before the leg needs none of this.
 */
#ifndef GUARD_RIGHTS_H
#define GUARD_RIGHTS_H

#include "bindmount/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct rights {
	bool other; /* false: the caller's own, and uid and gid mean nothing */
	uid_t uid;
	gid_t gid;
};

/*
 * Once, by root, before any rights are taken: give up the supplementary groups, which setfsuid(2) would
 * leave, and see that it takes the capabilities away.
 */
int rights_prepare(struct error *e);

/* Take them on. -1 with errno: then the caller still has its own. */
int rights_take(const struct rights *r);

/* Have one's own again. */
void rights_give_back(const struct rights *r);

#endif
