/* Giving up capabilities (capabilities(7)) for good, all of them or all but a few. */
#ifndef BINDMOUNT_CAPS_H
#define BINDMOUNT_CAPS_H

#include "bindmount/error.h"

#include <stdint.h>

/* The bit of a capability, CAP_..., in a set. */
#define CAPS_BIT(cap) (UINT64_C(1) << (cap))

/* Take all but `keep` out of the bounding set. Needs CAP_SETPCAP, if only to take out nothing. */
int caps_bound(uint64_t keep, struct error *e);

/*
 * Give up all but `keep`, of which only those stay that were permitted; the inheritable and ambient sets become
 * empty. Sets no_new_privs, so that no exec gives back more than the bounding set, and none at all to who
 * is not root.
 */
int caps_drop(uint64_t keep, struct error *e);

#endif
