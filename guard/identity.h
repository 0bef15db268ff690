/*
 * Who the leg is: the caller, or with --user somebody else, whom a launcher that is root runs it as.
 *
 * Names are looked for in /etc/passwd and /etc/group themselves (passwd(5), group(5)): the program is
 * linked statically, so the name service switch is out of its reach. Whoever comes from elsewhere has to be
 * given by number.
 */
#ifndef GUARD_IDENTITY_H
#define GUARD_IDENTITY_H

#include "bindmount/error.h"
#include "guard/options.h"

#include <sys/types.h>

enum identity_kind {
	IDENTITY_CALLER, /* the launcher's own ids */
	IDENTITY_USER,   /* from root to the user of --user */
	IDENTITY_ROOT,   /* --root-leg */
};

struct identity {
	enum identity_kind kind;
	uid_t uid;
	gid_t gid;
	char *name, *home,
	    *shell; /* of IDENTITY_USER, as passwd(5) has them; NULL without an entry */
};

/*
 * Find out, from the options. Refused: --user and --root-leg without being root; root without either
 * unless it is to be unconfined; an unknown name; root as a user or a group; a uid without an entry and without a
 * group given if its number is the number of a group that somebody else made. *id is to be given back
 * with identity_free() in either case.
 */
int identity_find(struct identity *id, const struct options *o, struct error *e);

void identity_free(struct identity *id);

/*
 * What becomes of the variables that say who one is: of an IDENTITY_USER with an entry, USER, LOGNAME and
 * SHELL are those of the entry, and so is HOME unless env has one that belongs to the user; without an entry
 * they go, except such a HOME. What sudo(8) left goes in any case. changes gets up to IDENTITY_CHANGES entries with
 * names that are constants and values that live as long as *id; returns their number.
 */
enum { IDENTITY_CHANGES = 16 };
size_t identity_changes(
    const struct identity *id, char *const *env, struct env_change changes[IDENTITY_CHANGES]);

#endif
