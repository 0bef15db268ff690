/*
 * Putting the components of a path back to their places; see names.h.
 *
 * A directory is found through its "..", which works at any depth, for any name, and does not
 * depend on what the path to it is. Anything else has no ".." and is found by the path that the
 * kernel knows for the descriptor, proc(5), if that can be confirmed.
 *
 * The first try is RENAME_EXCHANGE, which needs no room for a new entry on a full disk. It can't
 * work where one of both lies below the other (EINVAL), where the foreign directory may not be
 * written to (EACCES) or on file systems without it; then the foreign entry is moved aside in its
 * directory.
 */
#include "guard/names.h"

#include "bindmount/cleanup.h"
#include "guard/elsewhere.h"
#include "guard/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where something is now. */
struct place {
	int dir;
	char *name;
	struct names_opened opened; /* dir */
};

static void
place_drop(struct place *at)
{
	names_close_up(&at->opened);
	fd_drop(&at->dir);
	free(at->name);
	at->name = NULL;
}

#define AUTO_PLACE __attribute__((cleanup(place_drop)))
#define NOWHERE    ((struct place){.dir = -1, .opened = {.fd = -1}})

static void
proc_path(char path[static 40], int fd)
{
	snprintf(path, 40, "/proc/self/fd/%d", fd);
}

int
names_chmod(int fd, mode_t mode)
{
	char path[40];

	proc_path(path, fd);
	return chmod(path, mode);
}

void
names_open_up(struct names_opened *o, int fd)
{
	struct stat st;

	*o = (struct names_opened){.fd = fd};
	if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) || (st.st_mode & S_IRWXU) == S_IRWXU)
		return;
	o->mode = st.st_mode & 07777;
	o->changed = names_chmod(fd, o->mode | S_IRWXU) == 0;
}

void
names_close_up(struct names_opened *o)
{
	if (o->changed)
		(void)names_chmod(
		    o->fd, o->mode); /* of a recorded directory it is looked at later */
	o->changed = false;
}

int
names_look(int dir, const char *name, struct stat *st)
{
	AUTO_OPENED struct names_opened opened = {.fd = dir};

	if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != EACCES)
		return -1;
	names_open_up(&opened, dir);
	return fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW);
}

char *
names_path_of(int fd)
{
	char path[40], text[PATH_MAX + 1];
	ssize_t n;

	proc_path(path, fd);
	n = readlink(path, text, sizeof text);
	/* ENAMETOOLONG, and "(unreachable)" in front of it outside of our root */
	return n > 0 && (size_t)n < sizeof text && text[0] == '/' ? strndup(text, (size_t)n) : NULL;
}

static bool
leads_to(int dir, const char *name, const struct stat *st)
{
	struct stat now;

	return fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && chain_same(&now, st);
}

/* The name in dir that leads to st, or NULL. */
static char *
scan(int dir, const struct stat *st)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	char *name = NULL;

	if (listing == NULL) {
		cleanup_fd(&fd);
		return NULL;
	}
	while (name == NULL && (entry = readdir(listing)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		/* Not by d_ino: under a mount point and on overlayfs it is another number. */
		if (entry->d_type != DT_UNKNOWN && entry->d_type != IFTODT(st->st_mode))
			continue;
		if (leads_to(dir, entry->d_name, st))
			name = strdup(entry->d_name);
	}
	(void)closedir(listing);
	return name;
}

static int
find_directory(const struct chain_node *node, struct place *at)
{
	AUTO_FREE char *path = names_path_of(node->fd);

	at->dir = openat(node->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at->dir < 0)
		return -1;
	names_open_up(&at->opened, at->dir);
	/* The name may end in " (deleted)" and mean it, so only the inode counts. */
	if (path != NULL && leads_to(at->dir, strrchr(path, '/') + 1, &node->st))
		at->name = strdup(strrchr(path, '/') + 1);
	else
		at->name = scan(at->dir, &node->st);
	return at->name != NULL ? 0 : -1;
}

static int
find_other(const struct chain_node *node, struct place *at)
{
	AUTO_FREE char *path = names_path_of(node->fd);
	char *name;

	if (path == NULL)
		return -1;
	name = strrchr(path, '/');
	at->name = strdup(name + 1);
	name[name == path ? 1 : 0] = '\0';
	at->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at->dir < 0 || at->name == NULL)
		return -1;
	names_open_up(&at->opened, at->dir);
	return leads_to(at->dir, at->name, &node->st) ? 0 : -1;
}

static int
find(const struct chain_node *node, struct place *at)
{
	int rc = S_ISDIR(node->st.st_mode) ? find_directory(node, at) : find_other(node, at);

	if (rc != 0)
		errno = ENOENT;
	return rc;
}

/* Rename without replacing anything. */
static int
move(int old_dir, const char *old_name, int new_dir, const char *new_name)
{
	struct stat st;

	if (elsewhere_rename(old_dir, old_name, new_dir, new_name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -1;
	/*
	 * rename(2): so says a file system without RENAME_NOREPLACE; nobody is there to race with.
	 */
	if (fstatat(new_dir, new_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return elsewhere_rename(old_dir, old_name, new_dir, new_name, 0);
}

static char *
place_path(const struct place *at)
{
	AUTO_FREE char *dir = names_path_of(at->dir);
	char *path;

	if (dir == NULL || asprintf(&path, "%s/%s", dir[1] != '\0' ? dir : "", at->name) < 0)
		return NULL;
	return path;
}

int
names_put_back(struct names *n, struct chain_node *node, bool foreign, char **left)
{
	AUTO_OPENED struct names_opened parent, own;
	AUTO_PLACE struct place at = NOWHERE;
	int dir = node->parent->fd;

	names_open_up(&parent, dir);
	/* rename(2): a directory whose ".." changes has to be writable itself */
	names_open_up(&own, node->fd);
	if (find(node, &at) != 0)
		return -1;
	if (foreign) {
		if (elsewhere_rename(at.dir, at.name, dir, node->name, RENAME_EXCHANGE) == 0) {
			*left = place_path(&at);
			goto verify;
		}
		place_drop(&at);
		at = NOWHERE;
		if (names_clear(n, node) != 0 || find(node, &at) != 0)
			return -1;
	}
	if (move(at.dir, at.name, dir, node->name) != 0)
		return -1;
verify:
	errno = ESTALE;
	return leads_to(dir, node->name, &node->st) ? 0 : -1;
}

int
names_clear(struct names *n, struct chain_node *node)
{
	AUTO_OPENED struct names_opened parent;
	struct quarantined *list, *q;
	uint64_t number;

	names_open_up(&parent, node->parent->fd);
	list = reallocarray(n->list, n->count + 1, sizeof *list);
	if (list == NULL)
		return -1;
	n->list = list;
	q = &list[n->count];
	*q = (struct quarantined){.parent = node->parent, .finding = SIZE_MAX};
	if (random_fill(&number, sizeof number) != 0)
		return -1;
	snprintf(
	    q->name, sizeof q->name, ".legguard-quarantine-%016llx", (unsigned long long)number);
	if (fstatat(node->parent->fd, node->name, &q->st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    move(node->parent->fd, node->name, node->parent->fd, q->name) != 0)
		return -1;
	n->count++;
	return 0;
}

void
names_blame(struct names *n, size_t from, size_t finding)
{
	for (size_t i = from; i < n->count; i++)
		n->list[i].finding = finding;
}

/*
 * Made since the snapshot, and by no more than one name: then it is the leg's and not something of
 * the user's that the leg had moved there. A birth time can't be set, unlike the others.
 */
static bool
is_new(const struct names *n, const struct quarantined *q)
{
	struct statx stx;

	if (statx(q->parent->fd, q->name, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_NLINK, &stx) !=
	    0)
		return false;
	/* Without birth times: what holds no data does no harm by going. */
	if (!(stx.stx_mask & STATX_BTIME))
		return S_ISLNK(q->st.st_mode) || S_ISFIFO(q->st.st_mode) || S_ISSOCK(q->st.st_mode);
	if (stx.stx_nlink > 1)
		return false;
	if (stx.stx_btime.tv_sec != n->since.tv_sec)
		return stx.stx_btime.tv_sec > n->since.tv_sec;
	return stx.stx_btime.tv_nsec >= (uint32_t)n->since.tv_nsec;
}

/* True if it is gone, or was never the leg's but one of the originals. */
static bool
dispose(const struct names *n, const struct quarantined *q)
{
	if (!leads_to(q->parent->fd, q->name, &q->st))
		return true;
	/* Only an empty directory goes: what is in a full one may be anybody's. */
	if (S_ISDIR(q->st.st_mode))
		return unlinkat(q->parent->fd, q->name, AT_REMOVEDIR) == 0;
	return is_new(n, q) && unlinkat(q->parent->fd, q->name, 0) == 0;
}

void
names_finish(struct names *n, struct findings *f)
{
	for (size_t i = 0; i < n->count; i++) {
		const struct quarantined *q = &n->list[i];
		AUTO_OPENED struct names_opened parent;
		struct finding *finding = q->finding < f->count ? &f->list[q->finding] : NULL;
		char *detail;

		names_open_up(&parent, q->parent->fd);
		if (dispose(n, q) || finding == NULL)
			continue;
		if (asprintf(&detail, "%s%sit is kept as %s/%s",
			finding->detail ? finding->detail : "", finding->detail ? "; " : "",
			q->parent->parent ? q->parent->path : "", q->name) < 0)
			continue;
		free(finding->detail);
		finding->detail = detail;
	}
	free(n->list);
	n->list = NULL;
	n->count = 0;
}
