/*
 * What the comparison after the leg found changed.
 *
 * A finding names one guarded path (or one of its ancestors) and the kind of change; the list
 * keeps the order in which they were found. All of them were put back unless `restored` is false.
 */
#ifndef GUARD_FINDINGS_H
#define GUARD_FINDINGS_H

#include "guard/fingerprint.h"

#include <stdbool.h>
#include <stddef.h>

enum finding_kind {
	FINDING_REWRITTEN,  /* bytes of the old length differ */
	FINDING_APPENDED,   /* the old bytes are a proper prefix of what was there */
	FINDING_TRUNCATED,  /* what was there is a proper prefix of the old bytes */
	FINDING_REPLACED,   /* the path led to another inode, of whatever type */
	FINDING_REMOVED,    /* the path led to nothing */
	FINDING_PATH_MOVED, /* an ancestor directory or symbolic link was moved or replaced */
	FINDING_LINKED,     /* the file has more links than before */
	FINDING_OPENED, /* somebody was about to open it for writing, and the leg was ended for it */
	FINDING_METADATA, /* mode, owner, or extended attributes differ */
};

struct finding {
	enum finding_kind kind;
	bool restored;
	char *path;         /* the path concerned; owned; raw bytes */
	char *detail;       /* a few words for people, or NULL; owned; raw bytes */
	struct found found; /* what was there, if that is known */
};

struct findings {
	struct finding *list;
	size_t count;
};

/* Add one. path and detail (may be NULL) are copied. Returns -1 with errno ENOMEM. */
int findings_add(struct findings *f, enum finding_kind kind, bool restored, const char *path,
    const char *detail);

/* Give the last one what was found there, which becomes its own. */
void findings_attach(struct findings *f, struct found *found);

/* True if one of them could not be put back. */
bool findings_unrestored(const struct findings *f);

/* "rewritten", "path-moved", ... */
const char *finding_name(enum finding_kind kind);

void findings_free(struct findings *f);

#endif
