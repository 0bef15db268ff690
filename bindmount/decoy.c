/* Decoys. See decoy.h. */
#include "bindmount/decoy.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/piece.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory of dirs that a file lies in, or the number of dirs. */
static size_t
directory_of(const struct view_decoys *d, const char *file)
{
	const char *slash = strrchr(file, '/');
	size_t i;

	for (i = 0; i < d->dirs.count; i++)
		if (strlen(d->dirs.list[i].path) == (size_t)(slash - file) &&
		    strncmp(d->dirs.list[i].path, file, (size_t)(slash - file)) == 0)
			break;
	return i;
}

const char *
decoy_name(const struct view_decoys *d, size_t index, char name[DECOY_NAME])
{
	const char *path = d->files.list[index].path;
	size_t dir = directory_of(d, path);

	if (dir < d->dirs.count)
		snprintf(name, DECOY_NAME, "%zu/%s", dir, strrchr(path, '/') + 1);
	else
		snprintf(name, DECOY_NAME, "f%zu", index);
	return name;
}

static int
give(int fd, const struct view_decoys *d, mode_t mode)
{
	/* Without the right to, the owner is the right one already. */
	if (fchmod(fd, mode) != 0 || (fchown(fd, d->uid, d->gid) != 0 && errno != EPERM))
		return -1;
	return 0;
}

static int
copy(int from, int to)
{
	char buffer[16 * 1024], last = '\n';
	ssize_t n;

	while ((n = read(from, buffer, sizeof buffer)) > 0) {
		if (write(to, buffer, (size_t)n) != n)
			return -1;
		last = buffer[n - 1];
	}
	/* What is appended begins a line, as it would have in the end. */
	return n < 0 || (last != '\n' && write(to, "\n", 1) != 1) ? -1 : 0;
}

static int
make_copy(const struct view_decoys *d, size_t index, int root, struct error *e)
{
	const struct view_path *file = &d->files.list[index];
	char name[DECOY_NAME];
	AUTO_FD int from =
	    open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AUTO_FD int to = -1;
	struct stat st;

	if (from < 0 || fstat(from, &st) != 0)
		return error_set(e, errno, NULL, "can't open %s in the leg's view", file->path);
	if (st.st_dev != file->dev || st.st_ino != file->ino)
		return error_set(e, 0,
		    "something is replacing it: end what else runs here and try again",
		    "%s leads to another file in the leg's view", file->path);
	to =
	    openat(root, decoy_name(d, index, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || give(to, d, st.st_mode & 07777) != 0 || copy(from, to) != 0)
		return error_set(e, errno, NULL, "can't make a copy of %s", file->path);
	return 0;
}

static int
make_directory(const struct view_decoys *d, size_t index, int root, struct error *e)
{
	char name[32];
	AUTO_FD int fd = -1;

	snprintf(name, sizeof name, "%zu", index);
	if (mkdirat(root, name, 0700) == 0)
		fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || give(fd, d, 0755) != 0)
		return error_set(
		    e, errno, NULL, "can't make a copy of %s", d->dirs.list[index].path);
	return 0;
}

/* Put the piece of that name over p. */
static int
put(const char *name, const struct view_path *p, int root, struct error *e)
{
	AUTO_FD int on = view_open(p, e);
	struct stat st, made;

	if (on < 0)
		return -1;
	if (piece_put(root, name, on) != 0)
		return error_set(e, errno, userns_cure(errno), "can't put a copy over %s", p->path);
	if (lstat(p->path, &st) != 0 || fstatat(root, name, &made, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_dev != made.st_dev || st.st_ino != made.st_ino)
		return error_set(
		    e, 0, NULL, "%s is not the copy after that was put over it", p->path);
	return 0;
}

static int
put_pieces(const struct view_decoys *d, int root, struct error *e)
{
	char name[DECOY_NAME];

	for (size_t i = 0; i < d->dirs.count; i++) {
		snprintf(name, sizeof name, "%zu", i);
		if (put(name, &d->dirs.list[i], root, e) != 0)
			return -1;
	}
	for (size_t i = 0; i < d->files.count; i++)
		if (directory_of(d, d->files.list[i].path) == d->dirs.count &&
		    put(decoy_name(d, i, name), &d->files.list[i], root, e) != 0)
			return -1;
	return 0;
}

int
decoy_put_all(const struct view_decoys *d, int *root, struct error *e)
{
	AUTO_FD int made = -1;
	char options[64];

	snprintf(options, sizeof options, "size=%d,nr_inodes=1024,mode=0755", DECOY_BYTES);
	made = piece_begin("legguard-decoys", options);
	if (made < 0)
		return error_set(
		    e, errno, userns_cure(errno), "can't mount a file system for the decoys");
	for (size_t i = 0; i < d->dirs.count; i++)
		if (make_directory(d, i, made, e) != 0)
			return -1;
	for (size_t i = 0; i < d->files.count; i++)
		if (make_copy(d, i, made, e) != 0)
			return -1;
	if (put_pieces(d, made, e) != 0)
		return -1;
	*root = fd_take(&made);
	return 0;
}
