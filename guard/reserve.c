/*
 * Room to restore and to publish, and the publishing itself; see reserve.h and snapshot.h.
 *
 * Appending is here because the blocks that were reserved behind the end of a file are used by it,
 * and what it leaves of them has to be given back to the file system.
 */
#include "guard/reserve.h"

#include "bindmount/cleanup.h"
#include "guard/held.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/uio.h>
#include <sys/vfs.h>

/*
 * What names, new inodes and the trees of a copying file system may take besides the bytes. xfs
 * wants to see some hundred blocks free before it makes a directory, whatever it then uses.
 */
#define BALLAST_EXTRA ((size_t)1 << 20)

static int
full(int errnum, const char *path, struct error *e)
{
	return error_set(e, errnum, "free some space on its file system",
	    "no room to restore %s and to append to it", path);
}

static bool
no_room(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT;
}

/* fallocate(2); a file system that can't is none of our business, a full one is. */
static int
set_aside(int fd, int mode, size_t from, size_t bytes)
{
	int rc;

	do
		rc = fallocate(fd, mode, (off_t)from, (off_t)bytes);
	while (rc != 0 && errno == EINTR);
	return rc != 0 && no_room(errno) ? -1 : 0;
}

/* An unnamed file in node's directory, which nobody can open and which goes with its descriptor. */
static int
unnamed_file(const struct chain_node *node)
{
	return openat(node->parent->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

/* True if blocks reserved behind the end of an empty file are all that it and its name may need. */
static bool
writes_in_place(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC;
}

static size_t
recorded_on(const struct snapshot *s, dev_t dev)
{
	size_t size = 0;

	for (size_t i = 0; i < s->content_count; i++)
		if (s->contents[i]->st.st_dev == dev)
			size += s->contents[i]->size;
	return size;
}

static struct ballast *
find_ballast(struct snapshot *s, dev_t dev)
{
	for (size_t i = 0; i < s->ballast_count; i++)
		if (s->ballasts[i].dev == dev)
			return &s->ballasts[i];
	return NULL;
}

static struct ballast *
add_ballast(struct snapshot *s, dev_t dev)
{
	struct ballast *ballasts =
	    reallocarray(s->ballasts, s->ballast_count + 1, sizeof *ballasts);

	if (ballasts == NULL)
		return NULL;
	s->ballasts = ballasts;
	ballasts[s->ballast_count] = (struct ballast){.dev = dev, .fd = -1};
	return &ballasts[s->ballast_count++];
}

/*
 * The bytes that would have to be found room for if a leg truncated every file and filled the disk.
 */
static size_t
ballast_size(const struct snapshot *s, const struct content *c)
{
	size_t recorded = recorded_on(s, c->st.st_dev);

	/* Empty files have nothing to be put back, and the usual step has only those. */
	return recorded == 0 && writes_in_place(c->fd) ? 0 : recorded + BALLAST_EXTRA;
}

/*
 * See that there is a ballast on the file's file system. If it has any weight, `bytes` are added.
 */
static int
weigh_down(struct snapshot *s, const struct held_file *file, size_t bytes)
{
	struct ballast *ballast = find_ballast(s, file->content->st.st_dev);

	if (ballast == NULL) {
		ballast = add_ballast(s, file->content->st.st_dev);
		if (ballast == NULL)
			return -1;
		ballast->fd = unnamed_file(file->node);
		ballast->mount = file->node->parent->mount;
		if (ballast->fd < 0)
			return no_room(errno) ? -1 : 0;
		ballast->weighs = ballast_size(s, file->content) > 0;
		bytes += ballast_size(s, file->content);
	}
	if (ballast->fd < 0 || !ballast->weighs || bytes == 0)
		return 0;
	if (set_aside(ballast->fd, 0, ballast->size, bytes) != 0)
		return -1;
	ballast->size += bytes;
	return 0;
}

static int
weigh_down_all(struct snapshot *s, struct error *e)
{
	for (size_t i = 0; i < s->file_count; i++)
		if (!s->files[i].neighbour && weigh_down(s, &s->files[i], 0) != 0)
			return full(errno, s->files[i].node->path, e);
	return 0;
}

int
snapshot_reserve(struct snapshot *s, size_t index, size_t bytes, struct error *e)
{
	struct content *c = s->files[index].content;

	if (weigh_down_all(s, e) != 0)
		return -1;
	if (bytes == 0)
		return 0;
	c->reserved = true;
	bytes++; /* a newline may come before */
	if (content_open_for_writing(c) != 0 ||
	    set_aside(c->fd, FALLOC_FL_KEEP_SIZE, c->end, bytes) != 0 ||
	    weigh_down(s, &s->files[index], bytes) != 0)
		return full(errno, s->files[index].node->path, e);
	return 0;
}

void
reserve_free_ballast(struct snapshot *s)
{
	for (size_t i = 0; i < s->ballast_count; i++) {
		struct ballast *ballast = &s->ballasts[i];

		/* The inode stays: it is what the first file to be made anew becomes. */
		if (ballast->size > 0 && ftruncate(ballast->fd, 0) != 0)
			fd_drop(&ballast->fd);
		ballast->size = 0;
	}
}

int
reserve_take_spare(struct snapshot *s, const struct chain_node *dir)
{
	struct ballast *ballast = find_ballast(s, dir->st.st_dev);

	if (ballast == NULL || ballast->size > 0 || ballast->mount != dir->mount)
		return -1;
	return fd_take(&ballast->fd);
}

/*
 * ftruncate(2) to the size a file has already frees the blocks behind it. It is a change of the
 * file to the kernel, as the reservation was, so the time goes back to what it had been.
 */
static void
release_blocks(struct content *c)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, c->st.st_mtim};

	if (!c->reserved)
		return;
	c->reserved = false;
	if (content_open_for_writing(c) == 0 && ftruncate(c->fd, (off_t)c->end) == 0 &&
	    c->end == c->size)
		(void)futimens(c->fd, times); /* a wrong time harms nobody */
}

void
reserve_release_content(struct content *c)
{
	struct stat now;

	/* Not if the file is anything but what we left: then somebody else has it by now. */
	if (c->reserved && fstat(c->fd, &now) == 0 && (size_t)now.st_size == c->end)
		release_blocks(c);
}

void
reserve_release(struct snapshot *s)
{
	if (s->taker != getpid())
		return;
	for (size_t i = 0; i < s->content_count; i++)
		reserve_release_content(s->contents[i]);
}

/* One write of both parts. Less than all of it may have been written: *done says how much. */
static int
write_once(int fd, const struct iovec parts[2], off_t offset, size_t *done)
{
	ssize_t n;

	do
		n = pwritev(fd, parts, 2, offset);
	while (n < 0 && errno == EINTR);
	*done = n > 0 ? (size_t)n : 0;
	if (n == 0 && parts[0].iov_len + parts[1].iov_len > 0)
		errno = ENOSPC;
	return n < 0 || (n == 0 && errno == ENOSPC) ? -1 : 0;
}

static int
write_block(int fd, bool newline, const void *data, size_t size, off_t offset)
{
	char first = '\n';
	const struct iovec parts[2] = {
	    {.iov_base = &first, .iov_len = newline ? 1 : 0},
	    {.iov_base = (void *)(uintptr_t)data, .iov_len = size},
	};
	size_t done, head = parts[0].iov_len;

	if (write_once(fd, parts, offset, &done) != 0)
		return -1;
	if (done < head + size)
		return content_write(fd, (const char *)data + (done - head), size - (done - head),
		    offset + (off_t)done);
	return 0;
}

int
snapshot_append(struct snapshot *s, size_t index, const void *data, size_t size, struct error *e)
{
	struct content *c = s->files[index].content;
	bool newline = !c->ended;
	size_t end = c->end + (newline ? 1 : 0) + size;
	int errnum;

	if (size == 0)
		return 0;
	reserve_free_ballast(s);
	if (content_open_for_writing(c) != 0)
		return error_set(
		    e, errno, NULL, "cannot open %s for writing", s->files[index].node->path);
	/* The cut makes the end exact and frees what was reserved behind it. */
	if (write_block(c->fd, newline, data, size, (off_t)c->end) != 0 ||
	    ftruncate(c->fd, (off_t)end) != 0) {
		errnum = errno;
		if (ftruncate(c->fd, (off_t)c->end) != 0)
			return error_set(e, errno, NULL,
			    "%s is torn: cannot append to it, nor cut it back",
			    s->files[index].node->path);
		return error_set(e, errnum,
		    no_room(errnum) ? "free some space on its file system" : NULL,
		    "cannot append to %s", s->files[index].node->path);
	}
	c->reserved = false;
	c->end = end;
	c->ended = ((const char *)data)[size - 1] == '\n';
	return 0;
}
