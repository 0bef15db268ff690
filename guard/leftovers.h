/*
 * What others hold on a guarded file: processes that were there before this run, or that somebody outside
 * started. The launcher can't end them, but it can say that they are there.
 */
#ifndef GUARD_LEFTOVERS_H
#define GUARD_LEFTOVERS_H

#include "bindmount/error.h"

#include <stdbool.h>
#include <stddef.h>

enum leftover_kind {
	LEFTOVER_WRITER, /* somebody has it open for writing (F_SETLEASE, fcntl(2), finds that out) */
	LEFTOVER_LOCK,   /* somebody holds a lock on it; the runner's own shared lock would fail */
	LEFTOVER_LINK,   /* it has another name */
	LEFTOVER_CHANGED, /* no guarded file: one that the leg may only read, see guard/keep.h */
};

struct leftover {
	enum leftover_kind kind;
	bool before; /* seen before the leg; else after everything was put back */
	char *path;  /* owned; raw bytes */
};

struct leftovers {
	struct leftover *list;
	size_t count;
};

/*
 * Look at the file that fd is open on, read-only, and add what is found. The caller must not have it
 * open for writing. A file system without leases, or somebody else's file, says nothing about writers.
 * -1 with errno ENOMEM.
 */
int leftovers_look(struct leftovers *l, int fd, const char *path, bool before);

/*
 * True if nobody else has the file open that fd, the caller's only descriptor on it, is open on for
 * writing, and it has no other name. False says nothing: then ask leftovers_look().
 */
bool leftovers_none(int fd);

/* leftovers_look() by path; what is not a regular file is passed over. */
int leftovers_look_at(struct leftovers *l, const char *path, bool before);

/*
 * Note that path was changed while the leg ran, unless somebody has it open for writing: then that is who
 * does it. -1 with errno ENOMEM.
 */
int leftovers_note_change(struct leftovers *l, const char *path);

/* "open for writing by another process", ... */
const char *leftover_text(enum leftover_kind kind);

void leftovers_free(struct leftovers *l);

#endif
