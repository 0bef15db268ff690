/*
 * Comparing the bytes and the metadata of a recorded inode, and putting them back in place.
 *
 * Bytes are compared as bytes: size and times can be set to anything, and a hash proves nothing
 * against somebody who knows it.
 */
#ifndef GUARD_HEAL_H
#define GUARD_HEAL_H

#include "guard/content.h"
#include "guard/findings.h"

/* Room for what a difference is described with. */
#define HEAL_DETAIL 160

/* The outcome of a comparison. */
enum heal {
	HEAL_SAME,
	HEAL_RESTORED,
	HEAL_FAILED, /* errno says why */
};

/*
 * On a difference *kind and detail say what it was, and *found, unless NULL, what was there; that is to be given back with
 * found_free().
 */
enum heal heal_bytes(
    struct content *c, enum finding_kind *kind, char detail[HEAL_DETAIL], struct found *found);
enum heal heal_metadata(const struct content *c, char detail[HEAL_DETAIL]);

/*
 * "mode 0644 became 0600", "owner ..." for what differs between was and is; empty if nothing does.
 */
void heal_describe(char detail[HEAL_DETAIL], const struct stat *was, const struct stat *is);

/* Put the time of the last change of the bytes back. No error: it harms nobody. */
void heal_time(const struct content *c, int fd);

#endif
