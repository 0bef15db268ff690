/*
 * A file of lines that several processes append to, each while it has the lock (flock(2)).
 *
 * It is opened before the leg, by a name that leads through no link at its end, and no descriptor of it is inherited. Lines
 * are appended by one write; a short one is taken back. If what is there ends in no newline, because somebody was killed in the
 * middle of a line or the disk was full, that line is ended before another one is begun.
 */
#ifndef GUARD_JOURNAL_H
#define GUARD_JOURNAL_H

#include "bindmount/error.h"
#include "guard/digest.h"
#include "guard/sink.h"
#include "guard/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { JOURNAL_LINE_MAX = 64 * 1024 }; /* a line and its newline */

/* Bytes that lie together in the file. */
struct journal_piece {
	off_t offset;
	size_t size;
};

struct journal {
	int fd; /* -1: there is none. O_RDWR | O_APPEND */
	const char *option;
	char *path; /* canonical; owned */
	struct stat st;
	struct sink made; /* how, if it was made here; without a descriptor */
	bool locked;
	bool ended; /* while it is locked: its last line is known to be ended */
	off_t end;  /* while it is locked: its size. Else where our last line ended, 0 before one */
	char *written; /* all that was appended, to be compared at the end; owned, pieces below */
	struct journal_piece *pieces;
	size_t n_pieces, written_size;
};

#define JOURNAL_NONE ((struct journal){.fd = -1, .made = {.fd = -1, .parent = -1}})

/*
 * Open the file at path, and make it (0600) if it is not there; or, without a path, the file that descriptor fd is open
 * on, anew, so that the lock is this process's own. Refused: a symbolic link, whatever is no regular file, one of the n
 * requests or a file beside them, what descriptor 0, 1 or 2 is open on, a file with a second hard link, and one that
 * begins with something else than an object. *j is to be given back with journal_close() in either case.
 */
int journal_open(struct journal *j, const char *option, const char *path, int fd,
    const struct guard_request *requests, size_t n, struct error *e);

/*
 * Lock it, and wait for that until the clock of bounded.h says so. *ours says whether the last line in it is the last one
 * that was appended here. -1 with errno, EWOULDBLOCK if somebody else keeps it.
 */
int journal_lock(struct journal *j, int64_t until, bool *ours);
void journal_unlock(struct journal *j);

/* With the lock: append whole lines, size bytes with the last newline. -1 with errno: nothing of it is there. */
int journal_append(struct journal *j, const char *lines, size_t size);

/*
 * With the lock: SHA-256 of the last line without its newline, zeros if there is none. Of a line longer than
 * JOURNAL_LINE_MAX, which is nobody's, of its end. -1 with errno.
 */
int journal_last(const struct journal *j, char text[DIGEST_TEXT]);

/* Have room for `size` more bytes, even if the disk is filled meanwhile. Not on all file systems. */
void journal_reserve(const struct journal *j, size_t size);

/* Open what the name leads to now, with all of what was there; it was made anew in place of what has no name any more. -1 with
 * errno. */
int journal_reopen(struct journal *j);

/* True if the name still leads to it. */
bool journal_is_in_place(const struct journal *j);

/* True if all that was appended is still where it was written. */
bool journal_is_intact(const struct journal *j);

/* Remove a file that was made here, if it is still there and empty, and nobody else has opened it. */
void journal_unmake(const struct journal *j);

void journal_close(struct journal *j);

#endif
