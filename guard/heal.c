/* Comparing and putting back bytes and metadata; see heal.h. */
#include "guard/heal.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* As much as fits into the second-level cache together with the bytes it is compared with. */
#define BLOCK ((size_t)256 << 10)

struct difference {
	bool differs; /* within what both have */
	bool shorter;
	bool longer;
};

static size_t
block_size(const struct content *c, size_t offset)
{
	return c->size - offset < BLOCK ? c->size - offset : BLOCK;
}

static int
compare(const struct content *c, unsigned char *buffer, struct difference *d)
{
	ssize_t n = 0;
	size_t offset = 0;

	*d = (struct difference){0};
	while (offset < c->size && !d->shorter) {
		size_t want = block_size(c, offset);

		n = content_read(c->fd, buffer, want, (off_t)offset);
		if (n < 0)
			return -1;
		d->shorter = (size_t)n < want;
		d->differs = d->differs || memcmp(buffer, c->bytes + offset, (size_t)n) != 0;
		offset += (size_t)n;
	}
	if (d->shorter)
		return 0;
	n = content_read(c->fd, buffer, 1, (off_t)c->size);
	d->longer = n > 0;
	return n < 0 ? -1 : 0;
}

/* Write the blocks that differ; the others need not be dirtied, nor found room for. */
static int
rewrite(const struct content *c, unsigned char *buffer, bool longer)
{
	/* What is too much may be what fills the disk. */
	if (longer && ftruncate(c->fd, (off_t)c->size) != 0)
		return -1;
	for (size_t offset = 0; offset < c->size;) {
		size_t want = block_size(c, offset);
		ssize_t n = content_read(c->fd, buffer, want, (off_t)offset);

		if (n < 0)
			return -1;
		if (((size_t)n < want || memcmp(buffer, c->bytes + offset, want) != 0) &&
		    content_write(c->fd, c->bytes + offset, want, (off_t)offset) != 0)
			return -1;
		offset += want;
	}
	return ftruncate(c->fd, (off_t)c->size);
}

static enum finding_kind
kind_of(const struct difference *d)
{
	if (d->differs)
		return FINDING_REWRITTEN;
	if (d->longer)
		return FINDING_APPENDED;
	return FINDING_TRUNCATED;
}

void
heal_time(const struct content *c, int fd)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, c->st.st_mtim};

	(void)futimens(fd, times);
}

/* Compared once more: whoever is writing to it still would otherwise go unnoticed. */
static int
put_back(struct content *c, unsigned char *buffer, struct difference *d)
{
	bool longer = d->longer;

	if (content_open_for_writing(c) != 0 || rewrite(c, buffer, longer) != 0)
		return -1;
	return compare(c, buffer, d);
}

enum heal
heal_bytes(
    struct content *c, enum finding_kind *kind, char detail[HEAL_DETAIL], struct found *found)
{
	AUTO_FREE unsigned char *buffer = malloc(c->size < BLOCK ? c->size + 1 : BLOCK);
	struct difference d;
	struct stat now;

	*kind = FINDING_REWRITTEN;
	detail[0] = '\0';
	if (buffer == NULL || compare(c, buffer, &d) != 0 || fstat(c->fd, &now) != 0)
		return HEAL_FAILED;
	if (!d.differs && !d.shorter && !d.longer)
		return HEAL_SAME;
	*kind = kind_of(&d);
	snprintf(detail, HEAL_DETAIL, "%zu bytes became %lld", c->size, (long long)now.st_size);
	if (found != NULL)
		found_read(found, c->fd);
	/* What fails once, for lack of memory perhaps, need not fail again. */
	if (put_back(c, buffer, &d) != 0 && put_back(c, buffer, &d) != 0)
		return HEAL_FAILED;
	heal_time(c, c->fd);
	errno = EAGAIN;
	return d.differs || d.shorter || d.longer ? HEAL_FAILED : HEAL_RESTORED;
}

void
heal_describe(char detail[HEAL_DETAIL], const struct stat *was, const struct stat *is)
{
	int n = 0;

	detail[0] = '\0';
	if (((was->st_mode ^ is->st_mode) & 07777) != 0)
		n = snprintf(detail, HEAL_DETAIL, "mode %04o became %04o",
		    (unsigned)was->st_mode & 07777, (unsigned)is->st_mode & 07777);
	if (was->st_uid != is->st_uid || was->st_gid != is->st_gid)
		snprintf(detail + n, HEAL_DETAIL - (size_t)n, "%sowner %u:%u became %u:%u",
		    n > 0 ? ", " : "", (unsigned)was->st_uid, (unsigned)was->st_gid,
		    (unsigned)is->st_uid, (unsigned)is->st_gid);
}

enum heal
heal_metadata(const struct content *c, char detail[HEAL_DETAIL])
{
	const mode_t mode = c->st.st_mode & 07777;
	struct stat now;
	bool attributes;
	int errnum = 0;

	detail[0] = '\0';
	if (fstat(c->fd, &now) != 0)
		return HEAL_FAILED;
	heal_describe(detail, &c->st, &now);
	/* Owner, mode, attributes, mode: each may change the one before (chown(2), acl(5)). */
	if ((now.st_uid != c->st.st_uid || now.st_gid != c->st.st_gid) &&
	    fchown(c->fd, c->st.st_uid, c->st.st_gid) != 0)
		errnum = errno;
	if (detail[0] != '\0' && fchmod(c->fd, mode | S_IRUSR | S_IWUSR) != 0)
		errnum = errno;
	if (xattrs_put_back(&c->xattrs, c->fd, &attributes) != 0)
		errnum = errno;
	if (attributes)
		strcat(detail, detail[0] != '\0' ? ", attributes changed" : "attributes changed");
	if (detail[0] == '\0' && errnum == 0)
		return HEAL_SAME;
	if (fchmod(c->fd, mode) != 0)
		errnum = errno;
	errno = errnum;
	return errnum != 0 ? HEAL_FAILED : HEAL_RESTORED;
}
