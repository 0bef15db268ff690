/* See bringout.h. */
#include "guard/bringout.h"

#include "bindmount/cleanup.h"
#include "guard/bounded.h"
#include "guard/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "_legguard-";

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A stream over dir from its first entry, independent of others. NULL with errno. */
static DIR *
list(int dir)
{
	AUTO_FD int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

	if (stream != NULL)
		(void)fd_take(&fd);
	return stream;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_stub(const struct bringout *b, const char *name)
{
	return b->n_stubs > 0 &&
	       bsearch(&name, b->stubs, b->n_stubs, sizeof *b->stubs, compare) != NULL;
}

/* Links are made anew, since nothing can be mounted on one; others get something of their kind. */
static int
make_stub(const struct bringout *b, const char *name)
{
	struct stat st;
	char text[4096];
	ssize_t n;

	if (fstatat(b->real, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISDIR(st.st_mode))
		return mkdirat(b->private, name, 0700);
	if (!S_ISLNK(st.st_mode))
		return mknodat(b->private, name, S_IFREG | 0600, 0);
	n = readlinkat(b->real, name, text, sizeof text - 1);
	if (n < 0)
		return errno == ENOENT ? 0 : -1;
	text[n] = '\0';
	return symlinkat(text, b->private, name);
}

static int
note_stub(struct bringout *b, const char *name)
{
	char **stubs = reallocarray(b->stubs, b->n_stubs + 1, sizeof *stubs);

	if (stubs == NULL)
		return -1;
	b->stubs = stubs;
	stubs[b->n_stubs] = strdup(name);
	if (stubs[b->n_stubs] == NULL)
		return -1;
	b->n_stubs++;
	return 0;
}

/* The private directories of other runs, which may be going on, are no business of this leg's. */
static int
make_stubs(struct bringout *b, const char *temp, struct error *e)
{
	DIR *stream = list(b->real);
	struct dirent *entry;
	int result = 0;

	if (stream == NULL)
		return error_set(e, errno, "let this user list it, or unset RUNNER_TEMP",
		    "can't list RUNNER_TEMP, %s", temp);
	while (result == 0 && (errno = 0, entry = readdir(stream)) != NULL) {
		if (is_dots(entry->d_name) ||
		    strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0)
			continue;
		if (b->n_stubs == BRINGOUT_STUBS_MAX)
			result = error_set(e, 0,
			    "keep them in a directory of their own, or unset RUNNER_TEMP",
			    "RUNNER_TEMP, %s, has more than %d entries", temp, BRINGOUT_STUBS_MAX);
		else if (note_stub(b, entry->d_name) != 0 || make_stub(b, entry->d_name) != 0)
			result = error_set(e, errno, NULL, "can't prepare %s", b->path);
	}
	if (result == 0 && errno != 0)
		result = error_set(e, errno, NULL, "can't list RUNNER_TEMP, %s", temp);
	closedir(stream);
	if (b->n_stubs > 0)
		qsort(b->stubs, b->n_stubs, sizeof *b->stubs, compare);
	return result;
}

static int
make_private(struct bringout *b, const char *temp, uid_t uid, gid_t gid, struct error *e)
{
	static const char cure[] = "make RUNNER_TEMP writable for this user, or unset it";
	const char *name;
	uint64_t number;

	b->real = open(temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->real < 0)
		return error_set(e, errno, cure, "can't open RUNNER_TEMP, %s", temp);
	if (random_fill(&number, sizeof number) != 0)
		return error_set(e, errno, NULL, "can't name a private directory");
	if (asprintf(&b->path, "%s/%s%016" PRIx64, temp, prefix, number) < 0) {
		b->path = NULL;
		return error_set(e, ENOMEM, NULL, "can't name a private directory");
	}
	name = strrchr(b->path, '/') + 1;
	if (mkdirat(b->real, name, 0700) != 0)
		return error_set(e, errno, cure, "can't make a private directory in %s", temp);
	b->private = openat(b->real, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->private < 0 || fchmod(b->private, 0700) != 0 ||
	    (geteuid() != uid && fchown(b->private, uid, gid) != 0))
		return error_set(e, errno, NULL, "can't prepare %s", b->path);
	return 0;
}

int
bringout_begin(struct bringout *b, struct view *view, uid_t uid, gid_t gid, struct error *e)
{
	struct stat st;

	*b = BRINGOUT_NONE;
	if (view->temp.path == NULL)
		return 0;
	if (make_private(b, view->temp.path, uid, gid, e) != 0 ||
	    make_stubs(b, view->temp.path, e) != 0)
		return -1;
	view->private.path = strdup(b->path);
	if (view->private.path == NULL || fstat(b->private, &st) != 0)
		return error_set(e, errno, NULL, "can't note %s", b->path);
	view->private.dev = st.st_dev;
	view->private.ino = st.st_ino;
	if (strcmp(view->cwd.path, view->temp.path) == 0) {
		view->cwd.dev = st.st_dev;
		view->cwd.ino = st.st_ino;
	}
	return 0;
}

int
bringout_beside(struct bringout *b, const char *temp, uid_t uid, gid_t gid, struct error *e)
{
	*b = BRINGOUT_NONE;
	return make_private(b, temp, uid, gid, e);
}

/* Some file systems (NFS) know no RENAME_NOREPLACE. Nobody of the leg is there to make use of the gap. */
static int
rename_new(const struct bringout *b, const char *name)
{
	struct stat st;

	if (renameat2(b->private, name, b->real, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -1;
	if (fstatat(b->real, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return errno == ENOENT ? renameat(b->private, name, b->real, name) : -1;
}

/* A directory that gets another parent has to be writable itself. Its mode is set by what is held, not by name. */
static int
rename_directory(const struct bringout *b, const char *name, mode_t mode)
{
	AUTO_FD int fd = -1;
	int result, saved;
	char path[64];

	if (rename_new(b, name) == 0)
		return 0;
	if (errno != EACCES)
		return -1;
	fd = openat(b->private, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd < 0 || chmod(path, 0700) != 0)
		return -1;
	result = rename_new(b, name);
	saved = errno;
	(void)chmod(path, mode);
	errno = saved;
	return result;
}

/* NULL if it was moved, else why not. */
static const char *
move_one(const struct bringout *b, const char *name)
{
	struct stat st;
	int result;

	if (name[0] == '_')
		return "its name begins with _";
	if (fstatat(b->private, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
		return "it is neither a file nor a directory nor a symbolic link";
	result = S_ISDIR(st.st_mode) ? rename_directory(b, name, st.st_mode & 07777)
	                             : rename_new(b, name);
	if (result == 0)
		return NULL;
	return errno == EEXIST ? "there is something by its name" : strerror(errno);
}

struct pass {
	const char *leave; /* why no more is moved, or NULL */
	int64_t until;
	bool (*stop)(void);
};

static void
look_at_bounds(struct pass *p, const struct brought_out *result)
{
	if (p->leave != NULL)
		return;
	if (result->moved >= BRINGOUT_MAX)
		p->leave = "there is too much";
	else if (bounded_now() >= p->until)
		p->leave = "it would take too long";
	else if (p->stop())
		p->leave = "the run was cancelled";
}

static void
leave_one(struct brought_out *result, const char *name, const char *why)
{
	if (result->left++ > 0)
		return;
	free(result->first);
	result->first = strdup(name);
	result->why = why;
}

/* Once through the directory. What is moved while it is read may hide others, so the caller looks again. */
static int
go_through(const struct bringout *b, struct pass *p, struct brought_out *result)
{
	DIR *stream = list(b->private);
	struct dirent *entry;

	result->left = 0;
	if (stream == NULL)
		return -1;
	while (result->left < BRINGOUT_LEFT_MAX && (entry = readdir(stream)) != NULL) {
		const char *why;

		if (is_dots(entry->d_name) || is_stub(b, entry->d_name))
			continue;
		look_at_bounds(p, result);
		why = p->leave != NULL ? p->leave : move_one(b, entry->d_name);
		if (why != NULL)
			leave_one(result, entry->d_name, why);
		else
			result->moved++;
	}
	closedir(stream);
	return 0;
}

/* A stub that the leg has put something in, past the mount on it, is not removed. */
static void
remove_stubs(struct bringout *b)
{
	for (size_t i = 0; i < b->n_stubs; i++) {
		struct stat st;

		if (fstatat(b->private, b->stubs[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (!S_ISREG(st.st_mode) || st.st_size == 0))
			(void)unlinkat(
			    b->private, b->stubs[i], S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
		free(b->stubs[i]);
	}
	free(b->stubs);
	b->stubs = NULL;
	b->n_stubs = 0;
}

void
bringout_collect(
    struct bringout *b, const char *leave, bool (*stop)(void), struct brought_out *result)
{
	struct pass p = {.leave = leave, .until = bounded_now() + BRINGOUT_MS, .stop = stop};
	size_t before;

	if (b->private < 0)
		return;
	result->tried = true;
	(void)fchmod(b->private, 0700); /* the leg owns it, and may have closed it */
	do {
		before = result->moved;
		if (go_through(b, &p, result) != 0)
			break;
	} while (result->moved != before && p.leave == NULL);
	remove_stubs(b);
	if (unlinkat(b->real, strrchr(b->path, '/') + 1, AT_REMOVEDIR) == 0) {
		fd_drop(&b->private);
		return;
	}
	if (result->left == 0)
		result->left = 1; /* something where a stub was */
	result->where = ptr_take(&b->path);
	fd_drop(&b->private);
}

void
bringout_end(struct bringout *b)
{
	if (b->private >= 0)
		remove_stubs(b);
	if (b->private >= 0 || (b->path != NULL && b->real >= 0))
		(void)unlinkat(b->real, strrchr(b->path, '/') + 1, AT_REMOVEDIR);
	for (size_t i = 0; i < b->n_stubs; i++)
		free(b->stubs[i]);
	free(b->stubs);
	free(b->path);
	fd_drop(&b->real);
	fd_drop(&b->private);
	*b = BRINGOUT_NONE;
}
