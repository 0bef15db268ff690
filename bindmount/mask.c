/* Masks. See mask.h. */
#include "bindmount/mask.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/piece.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PIECE = 32, /* the name of a piece in the tmpfs */
	ATTEMPTS = 100,
};

static const char file_piece[] = "file";
static const char directory_piece[] = "directory";

struct masks {
	const struct view_path **list; /* parents before what is below them */
	size_t count;
	const struct view_paths *kept;
	int root; /* of the tmpfs */
	dev_t dev;
};

static bool
is_below(const char *path, const char *dir)
{
	return mountinfo_below(path, dir) && strcmp(path, dir) != 0;
}

static int
compare(const void *a, const void *b)
{
	const struct view_path *const *one = a, *const *other = b;

	return strcmp((*one)->path, (*other)->path);
}

/* Hidden already with a directory above it, and not brought back by something kept in between. */
static bool
is_covered(const struct masks *m, const char *path)
{
	for (size_t i = 0; i < m->count; i++) {
		bool back = false;

		if (!is_below(path, m->list[i]->path))
			continue;
		for (size_t k = 0; k < m->kept->count; k++)
			back = back || (is_below(m->kept->list[k].path, m->list[i]->path) &&
					   mountinfo_below(path, m->kept->list[k].path));
		if (!back)
			return true;
	}
	return false;
}

static int
choose(struct masks *m, const struct view_paths *hidden)
{
	const struct view_path **all = calloc(hidden->count, sizeof *all);

	if (all == NULL)
		return -1;
	for (size_t i = 0; i < hidden->count; i++)
		all[i] = &hidden->list[i];
	qsort(all, hidden->count, sizeof *all, compare);
	m->list = all;
	for (size_t i = 0; i < hidden->count; i++)
		if (!is_covered(m, all[i]->path))
			m->list[m->count++] = all[i];
	return 0;
}

static bool
keeps_something(const struct masks *m, const char *dir)
{
	for (size_t k = 0; k < m->kept->count; k++)
		if (is_below(m->kept->list[k].path, dir))
			return true;
	return false;
}

/* The mode is what it says, whatever the umask. */
static int
make_directory(int root, const char *name)
{
	if (mkdirat(root, name, 0755) != 0)
		return errno == EEXIST ? 0 : -1;
	return fchmodat(root, name, 0555, 0);
}

static int
make_file(int root, const char *name)
{
	AUTO_FD int fd = openat(root, name, O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);

	return fd >= 0 ? 0 : -1;
}

/* Something in the piece to bind `kept`, which lies below dir, on. */
static int
make_stub(const struct masks *m, const char *piece, const char *dir, const char *kept)
{
	AUTO_FREE char *name = NULL;
	struct stat st;

	if (lstat(kept, &st) != 0)
		return errno == ENOENT ? 0 : -1;
	if (asprintf(&name, "%s%s", piece, kept + strlen(dir)) < 0) {
		name = NULL;
		return -1;
	}
	for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (make_directory(m->root, name) != 0)
			return -1;
		*slash = '/';
	}
	return S_ISDIR(st.st_mode) ? make_directory(m->root, name) : make_file(m->root, name);
}

static const char *
piece_of(char piece[PIECE], size_t index)
{
	snprintf(piece, PIECE, "%zu", index);
	return piece;
}

/* A directory that keeps something has a piece of its own. */
static int
make_pieces(const struct masks *m)
{
	char piece[PIECE];

	if (make_file(m->root, file_piece) != 0 || make_directory(m->root, directory_piece) != 0)
		return -1;
	for (size_t i = 0; i < m->count; i++) {
		const char *dir = m->list[i]->path;

		if (!keeps_something(m, dir))
			continue;
		if (make_directory(m->root, piece_of(piece, i)) != 0)
			return -1;
		for (size_t k = 0; k < m->kept->count; k++)
			if (is_below(m->kept->list[k].path, dir) &&
			    make_stub(m, piece, dir, m->kept->list[k].path) != 0)
				return -1;
	}
	return 0;
}

/* A clone of a read-only mount is read-only, so it is made so once, before it is seen anywhere. */
static int
mount_pieces(struct masks *m)
{
	struct stat st;

	m->root = piece_begin("legguard-masks", "size=64k,mode=0755");
	if (m->root < 0 || fstat(m->root, &st) != 0 || make_pieces(m) != 0)
		return -1;
	m->dev = st.st_dev;
	return piece_make_read_only();
}

static int
put_back(int kept, const char *path)
{
	AUTO_FD int stub = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return stub >= 0 ? piece_put_back(kept, stub) : -1;
}

/* Mask the directory that `on` is open on, and bring back what is kept below it. */
static int
mask_around(const struct masks *m, size_t index, int on)
{
	const char *dir = m->list[index]->path;
	size_t n = m->kept->count;
	AUTO_FREE int *kept = calloc(n, sizeof *kept);
	char piece[PIECE];
	int result = -1;

	if (kept == NULL)
		return -1;
	for (size_t k = 0; k < n; k++)
		kept[k] = is_below(m->kept->list[k].path, dir)
		              ? open(m->kept->list[k].path, O_PATH | O_NOFOLLOW | O_CLOEXEC)
		              : -1;
	result = piece_put(m->root, piece_of(piece, index), on);
	for (size_t k = 0; k < n; k++) {
		if (kept[k] >= 0 && result == 0)
			result = put_back(kept[k], m->kept->list[k].path);
		fd_drop(&kept[k]);
	}
	return result;
}

/* 1 if something stands in for what `on` is open on, 0 if there is no such thing, -1 with errno. */
static int
put_stand_in(const struct view_path *hidden, int on)
{
	AUTO_FREE char *path = NULL;
	struct stat st;

	if (hidden->stand_in == NULL)
		return 0;
	if (asprintf(&path, "%s%s", hidden->path, hidden->stand_in) < 0) {
		path = NULL;
		return -1;
	}
	AUTO_FD int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(fd, &st) != 0)
		return -1;
	if (S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode))
		return 0;
	return piece_put_back(fd, on) == 0 ? 1 : -1;
}

/* *again: the path led to something else by then. */
static int
mask_once(const struct masks *m, size_t index, bool *again, struct error *e)
{
	const char *path = m->list[index]->path;
	AUTO_FD int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int result;

	/* What has gone since the plan was made has taken the way out with it. */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) != 0)
		return error_set(e, errno, NULL, "can't open %s in the leg's view", path);
	result = S_ISDIR(st.st_mode) ? 0 : put_stand_in(m->list[index], fd);
	if (result > 0)
		return 0;
	if (result < 0)
		; /* said below */
	else if (S_ISDIR(st.st_mode) && keeps_something(m, path))
		result = mask_around(m, index, fd);
	else
		result = piece_put(m->root, S_ISDIR(st.st_mode) ? directory_piece : file_piece, fd);
	if (result != 0) {
		error_set(e, errno, userns_cure(errno), "can't hide %s", path);
		*again = view_is_elsewhere(fd, path);
		return -1;
	}
	*again = true;
	if (lstat(path, &st) != 0)
		return error_set(e, errno, NULL, "can't examine %s", path);
	if (st.st_dev != m->dev)
		return error_set(e, 0, NULL, "%s is not hidden after it was made so", path);
	return 0;
}

/* A mount goes with its name. Whoever listens there may take that away at any time, or bind it anew. */
static int
mask(const struct masks *m, size_t index, struct error *e)
{
	bool again = true;
	int result = -1;

	for (int i = 0; i < ATTEMPTS && again; i++) {
		struct error failure = {0};

		again = false;
		result = mask_once(m, index, &again, &failure);
		if (result == 0)
			return 0;
		*e = failure;
	}
	return result;
}

int
mask_all(const struct view_paths *hidden, const struct view_paths *kept, struct error *e)
{
	struct masks m = {.kept = kept, .root = -1};
	int result = 0;

	if (choose(&m, hidden) != 0)
		return error_set(e, errno, NULL, "can't note what to hide");
	if (mount_pieces(&m) != 0)
		result = error_set(e, errno, userns_cure(errno), "can't mount the masks");
	for (size_t i = 0; i < m.count && result == 0; i++)
		result = mask(&m, i, e);
	fd_drop(&m.root);
	free(m.list);
	return result;
}

int
mask_uncover_proc(struct error *e)
{
	if (umount2(PIECE_PLACE, MNT_DETACH | UMOUNT_NOFOLLOW) != 0)
		return error_set(e, errno, NULL, "can't take the masks off %s", PIECE_PLACE);
	return 0;
}
