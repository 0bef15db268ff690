/* Extended attributes, recorded and put back; see xattrs.h. */
#include "guard/xattrs.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

void
xattrs_free(struct xattrs *x)
{
	for (size_t i = 0; i < x->count; i++) {
		free(x->list[i].name);
		free(x->list[i].value);
	}
	free(x->list);
	*x = (struct xattrs){0};
}

/* Names that are shown and yet can't be read, or are gone by now, are none of ours. */
static bool
beyond_us(int errnum)
{
	return errnum == EPERM || errnum == EACCES || errnum == ENOTSUP || errnum == ENODATA;
}

static int
record_one(struct xattrs *x, int fd, const char *name)
{
	ssize_t size = fgetxattr(fd, name, NULL, 0);
	AUTO_FREE void *value = NULL;
	AUTO_FREE char *copy = NULL;
	struct xattr *list;

	if (size < 0)
		return beyond_us(errno) ? 0 : -1;
	value = malloc((size_t)size + 1);
	copy = strdup(name);
	if (value == NULL || copy == NULL)
		return -1;
	size = fgetxattr(fd, name, value, (size_t)size);
	if (size < 0)
		return beyond_us(errno) ? 0 : -1;
	list = reallocarray(x->list, x->count + 1, sizeof *list);
	if (list == NULL)
		return -1;
	x->list = list;
	list[x->count++] = (struct xattr){ptr_take(&copy), ptr_take(&value), (size_t)size};
	return 0;
}

int
xattrs_record(struct xattrs *x, int fd)
{
	ssize_t size = flistxattr(fd, NULL, 0);
	AUTO_FREE char *names = NULL;

	*x = (struct xattrs){0};
	if (size <= 0)
		return size == 0 || errno == ENOTSUP ? 0 : -1;
	names = malloc((size_t)size);
	if (names == NULL)
		return -1;
	size = flistxattr(fd, names, (size_t)size);
	if (size < 0)
		return -1;
	for (const char *name = names; name < names + size; name += strlen(name) + 1) {
		if (record_one(x, fd, name) != 0) {
			xattrs_free(x);
			return -1;
		}
	}
	return 0;
}

static const struct xattr *
find(const struct xattrs *x, const char *name)
{
	for (size_t i = 0; i < x->count; i++)
		if (strcmp(x->list[i].name, name) == 0)
			return &x->list[i];
	return NULL;
}

static bool
same(const struct xattr *a, const struct xattr *b)
{
	return b != NULL && a->size == b->size && memcmp(a->value, b->value, a->size) == 0;
}

/* Setting or removing name failed or not: does that count? */
static bool
counts(int rc, const char *name)
{
	return rc != 0 && errno != ENODATA &&
	       (strncmp(name, "user.", 5) == 0 || strncmp(name, "system.posix_acl_", 17) == 0);
}

int
xattrs_put_back(const struct xattrs *x, int fd, bool *changed)
{
	struct xattrs now;
	int errnum = 0;

	*changed = false;
	if (xattrs_record(&now, fd) != 0)
		return -1;
	for (size_t i = 0; i < now.count; i++) {
		if (find(x, now.list[i].name) != NULL)
			continue;
		*changed = true;
		if (counts(fremovexattr(fd, now.list[i].name), now.list[i].name))
			errnum = errno;
	}
	for (size_t i = 0; i < x->count; i++) {
		const struct xattr *want = &x->list[i];

		if (same(want, find(&now, want->name)))
			continue;
		*changed = true;
		if (counts(fsetxattr(fd, want->name, want->value, want->size, 0), want->name))
			errnum = errno;
	}
	xattrs_free(&now);
	errno = errnum;
	return errnum != 0 ? -1 : 0;
}
