/*
 * One guarded inode: its bytes, its metadata, and a descriptor that can put them back.
 *
 * Several names may lead to it (hard links that were allowed, another mount of its directory), so
 * it knows nothing of names. The bytes lie in anonymous memory of their own that is neither dumped
 * nor inherited by children: a leg must not find them, and copying the page tables of a large
 * snapshot would make every fork dear.
 */
#ifndef GUARD_CONTENT_H
#define GUARD_CONTENT_H

#include "guard/xattrs.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <xxhash.h>

struct content {
	int fd;        /* O_RDONLY, until content_open_for_writing() */
	bool writable; /* it could be opened for writing when it was recorded */
	bool writing;  /* fd is O_RDWR */
	bool remade;   /* the inode had lost its last link and fd is another one by now */
	bool copied;   /* bytes holds a copy; else there is none, see RECORD_NO_BYTES */
	bool leased;   /* fd has a lease, see guard/hold.h */
	bool
	    given_up; /* which was given up for somebody else, or could not be had because of him */
	bool intact;  /* which held until hold_end() */
	bool broken;  /* which was broken by what may have been the leg */
	bool reserved; /* blocks behind the end were asked for */
	bool ended;    /* the last byte is a newline, or there is none */
	struct stat st;
	unsigned char *bytes; /* NULL if there are none */
	size_t size;
	size_t end; /* where the next append goes: size plus what was appended */
	XXH128_hash_t hash;
	struct xattrs xattrs;
};

/* A file larger than this is no file-command file, and its copy would starve the step. */
#define CONTENT_MAX ((size_t)1 << 30)

enum content_how {
	RECORD_WRITABLE, /* it must be possible to open it for writing, too */
	RECORD_READABLE,
	RECORD_NO_BYTES, /* likewise, and the bytes are not copied */
};

/*
 * Record the regular file that is `name` in the directory dir; st is what it was seen to be.
 * -1 with errno: EAGAIN if it is another file by now or changed while it was read, EFBIG if it is larger than
 * CONTENT_MAX.
 */
int content_record(
    struct content *c, int dir, const char *name, const struct stat *st, enum content_how how);

/* See once more whether it could be opened for writing, for a caller with other rights than before. */
void content_look_writable(struct content *c);

/*
 * Make fd one that can write; its mode may have been changed meanwhile, and is ours to change back. An
 * open for writing ends the leases of others who hold the file as well, so it waits until there is
 * something to write. -1 with errno.
 */
int content_open_for_writing(struct content *c);

/* The other way round. -1 with errno. */
int content_open_for_reading(struct content *c);

void content_free(struct content *c);

/*
 * pread(2) and pwrite(2) until all is done. content_read returns less only at the end of the file.
 */
ssize_t content_read(int fd, void *buffer, size_t size, off_t offset);
int content_write(int fd, const void *buffer, size_t size, off_t offset);

#endif
