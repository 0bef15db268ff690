/* Recording one guarded inode; see content.h. */
#include "guard/content.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* What pread(2) moves at once at most, 0x7ffff000 bytes, is above CONTENT_MAX; shorter happens. */
ssize_t
content_read(int fd, void *buffer, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)buffer + done, size - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int
content_write(int fd, const void *buffer, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n =
		    pwrite(fd, (const char *)buffer + done, size - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC; /* pwrite(2) leaves open what nothing written means */
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

void
content_free(struct content *c)
{
	if (c->bytes != NULL)
		(void)munmap(c->bytes, c->size);
	c->bytes = NULL;
	xattrs_free(&c->xattrs);
	fd_drop(&c->fd);
}

void
content_look_writable(struct content *c)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", c->fd);
	c->writable = faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0;
}

static int
open_held(struct content *c, int dir, const char *name, bool read_only)
{
	/* O_NONBLOCK: should it be a FIFO by now, fstat must get to say so */
	c->fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (c->fd < 0)
		return -1;
	content_look_writable(c);
	return c->writable || read_only ? 0 : -1;
}

/* Put another description of the same file, open in another way, in the place of c->fd. */
static int
reopen(struct content *c, int flags)
{
	char path[32];
	AUTO_FD int fd = -1;

	snprintf(path, sizeof path, "/proc/self/fd/%d", c->fd);
	fd = open(path, flags | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || dup3(fd, c->fd, O_CLOEXEC) < 0)
		return -1;
	c->writing = flags == O_RDWR;
	return 0;
}

int
content_open_for_writing(struct content *c)
{
	/* Our own lease would make us wait for ourselves. */
	if (c->leased)
		(void)fcntl(c->fd, F_SETLEASE, F_UNLCK);
	c->leased = false;
	if (c->writing || reopen(c, O_RDWR) == 0)
		return 0;
	if (errno != EACCES || fchmod(c->fd, (c->st.st_mode & 07777) | S_IRUSR | S_IWUSR) != 0)
		return -1;
	return reopen(c, O_RDWR);
}

int
content_open_for_reading(struct content *c)
{
	return c->writing ? reopen(c, O_RDONLY) : 0;
}

static int
map_memory(struct content *c)
{
	void *memory =
	    mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -1;
	c->bytes = memory;
	if (madvise(memory, c->size, MADV_DONTFORK) != 0 ||
	    madvise(memory, c->size, MADV_DONTDUMP) != 0)
		return -1;
	if (c->size >= HUGE_PAGE)
		(void)madvise(memory, c->size, MADV_HUGEPAGE); /* only a matter of speed */
	return 0;
}

static int
read_bytes(struct content *c)
{
	unsigned char beyond;
	ssize_t n;

	if (c->size > 0 && map_memory(c) != 0)
		return -1;
	n = content_read(c->fd, c->bytes, c->size, 0);
	if (n < 0)
		return -1;
	/* Not by st_size alone: some file systems only know the size once one has read. */
	if ((size_t)n == c->size)
		n += content_read(c->fd, &beyond, 1, n);
	if ((size_t)n != c->size) {
		errno = EAGAIN;
		return -1;
	}
	return c->size > 0 ? mprotect(c->bytes, c->size, PROT_READ) : 0;
}

static int
record_all(struct content *c, const struct stat *seen)
{
	struct stat after;

	if (fstat(c->fd, &c->st) != 0)
		return -1;
	errno = EAGAIN;
	if (!S_ISREG(c->st.st_mode) || c->st.st_dev != seen->st_dev || c->st.st_ino != seen->st_ino)
		return -1;
	if (!c->copied)
		return xattrs_record(&c->xattrs, c->fd);
	errno = EFBIG;
	if (c->st.st_size < 0 || (size_t)c->st.st_size > CONTENT_MAX)
		return -1;
	c->size = c->end = (size_t)c->st.st_size;
	if (read_bytes(c) != 0 || xattrs_record(&c->xattrs, c->fd) != 0 ||
	    fstat(c->fd, &after) != 0)
		return -1;
	errno = EAGAIN;
	if (after.st_size != c->st.st_size || after.st_mtim.tv_sec != c->st.st_mtim.tv_sec ||
	    after.st_mtim.tv_nsec != c->st.st_mtim.tv_nsec)
		return -1;
	c->hash = XXH3_128bits(c->bytes, c->size);
	c->ended = c->size == 0 || c->bytes[c->size - 1] == '\n';
	return 0;
}

int
content_record(
    struct content *c, int dir, const char *name, const struct stat *st, enum content_how how)
{
	int errnum;

	*c = (struct content){.fd = -1, .copied = how != RECORD_NO_BYTES};
	if (open_held(c, dir, name, how != RECORD_WRITABLE) == 0 && record_all(c, st) == 0)
		return 0;
	errnum = errno;
	content_free(c);
	errno = errnum;
	return -1;
}
