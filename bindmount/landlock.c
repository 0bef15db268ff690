/* Which rights there are, and where they have to be left out; then the walk that grants the others. */
#include "bindmount/landlock.h"

#include "bindmount/alias.h"
#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

uint64_t
landlock_write_rights(int abi)
{
	uint64_t rights = SYS_LANDLOCK_FS_WRITE_FILE | SYS_LANDLOCK_FS_REMOVE_DIR |
	                  SYS_LANDLOCK_FS_REMOVE_FILE | SYS_LANDLOCK_FS_MAKE_CHAR |
	                  SYS_LANDLOCK_FS_MAKE_DIR | SYS_LANDLOCK_FS_MAKE_REG |
	                  SYS_LANDLOCK_FS_MAKE_SOCK | SYS_LANDLOCK_FS_MAKE_FIFO |
	                  SYS_LANDLOCK_FS_MAKE_BLOCK | SYS_LANDLOCK_FS_MAKE_SYM;

	if (abi >= SYS_LANDLOCK_REFER_ABI)
		rights |= SYS_LANDLOCK_FS_REFER;
	if (landlock_denies_truncation(abi))
		rights |= SYS_LANDLOCK_FS_TRUNCATE;
	return abi > 0 ? rights : 0;
}

uint64_t
landlock_grant(uint64_t rights, mode_t type)
{
	if (S_ISDIR(type))
		return rights & ~(SYS_LANDLOCK_FS_MAKE_CHAR | SYS_LANDLOCK_FS_MAKE_BLOCK);
	/* The kernel takes no others for what is not a directory. */
	return rights &
	       (SYS_LANDLOCK_FS_WRITE_FILE | SYS_LANDLOCK_FS_READ_FILE | SYS_LANDLOCK_FS_TRUNCATE);
}

bool
landlock_denies_truncation(int abi)
{
	return abi >= SYS_LANDLOCK_TRUNCATE_ABI;
}

/* Is paths[i] below another one? */
static bool
is_inside(const struct view_paths *paths, size_t i)
{
	for (size_t k = 0; k < paths->count; k++)
		if (k != i && mountinfo_below(paths->list[i].path, paths->list[k].path) &&
		    strcmp(paths->list[i].path, paths->list[k].path) != 0)
			return true;
	return false;
}

/* One gap for each component of path. */
static int
add_gaps(struct landlock_gaps *g, const char *path)
{
	for (const char *slash = path; slash != NULL && slash[1] != '\0';
	     slash = strchr(slash + 1, '/')) {
		size_t dir = slash == path ? 1 : (size_t)(slash - path);
		size_t name = strcspn(slash + 1, "/");
		struct landlock_gap *list = reallocarray(g->list, g->count + 1, sizeof *list);
		char *text;

		if (list == NULL)
			return -1;
		g->list = list;
		text = calloc(dir + 1 + name + 1, 1);
		if (text == NULL)
			return -1;
		memcpy(text, path, dir);
		memcpy(text + dir + 1, slash + 1, name);
		list[g->count++] = (struct landlock_gap){.dir = text, .name = text + dir + 1};
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const struct landlock_gap *x = a, *y = b;
	int order = strcmp(x->dir, y->dir);

	return order != 0 ? order : strcmp(x->name, y->name);
}

int
landlock_gaps(struct landlock_gaps *g, const struct view_paths *paths)
{
	size_t kept = 0;

	*g = (struct landlock_gaps){0};
	for (size_t i = 0; i < paths->count; i++)
		if (!is_inside(paths, i) && add_gaps(g, paths->list[i].path) != 0)
			return -1;
	if (g->count == 0)
		return 0;
	qsort(g->list, g->count, sizeof *g->list, compare);
	for (size_t i = 0; i < g->count; i++)
		if (i > 0 && compare(&g->list[i], &g->list[kept - 1]) == 0)
			free(g->list[i].dir);
		else
			g->list[kept++] = g->list[i];
	g->count = kept;
	return 0;
}

void
landlock_gaps_free(struct landlock_gaps *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->list[i].dir);
	free(g->list);
	*g = (struct landlock_gaps){0};
}

bool
landlock_closes(const struct view_paths *paths, const char *dir)
{
	for (size_t i = 0; i < paths->count; i++)
		if (mountinfo_below(paths->list[i].path, dir) ||
		    mountinfo_below(dir, paths->list[i].path))
			return true;
	return false;
}

/* One walk: all that lies beside the paths gets the rights. */
struct walk {
	int ruleset;
	uint64_t rights;
	struct view_paths
	    paths; /* protected, and the directories above them: no rule may be on any */
	struct landlock_gaps gaps;
	size_t *entries; /* looked at so far */
	struct error *e;
};

static bool
is_kept_out(const struct walk *w, const struct stat *st)
{
	/* A rule is on an inode: another name of the file may be one in a protected directory. */
	if ((w->rights & SYS_LANDLOCK_FS_WRITE_FILE) != 0 && S_ISREG(st->st_mode) &&
	    st->st_nlink > 1)
		return true;
	for (size_t i = 0; i < w->paths.count; i++)
		if (w->paths.list[i].ino == st->st_ino && w->paths.list[i].dev == st->st_dev)
			return true;
	return false;
}

/* What can't be looked at, such as what is gone by now, gets nothing, which is the safe side. */
static int
allow_entry(const struct walk *w, int dirfd, const char *dir, const char *name)
{
	AUTO_FD int fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	uint64_t rights;
	struct stat st;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return error_set(w->e, errno, NULL, "can't open %s/%s", dir, name);
	/* What a link leads to has rights, or not, where it is itself. */
	if (fd < 0 || fstat(fd, &st) != 0 || S_ISLNK(st.st_mode) || is_kept_out(w, &st))
		return 0;
	rights = landlock_grant(w->rights, st.st_mode);
	if (rights == 0 || sys_landlock_allow(w->ruleset, fd, rights) == 0 || errno == EBADFD)
		return 0; /* EBADFD: a file of the kernel's own, such as a namespace's */
	return error_set(w->e, errno, NULL, "can't add a Landlock rule for %s/%s", dir, name);
}

/* n gaps, all in one directory. */
static bool
is_gap(const struct landlock_gap *gaps, size_t n, const char *name)
{
	const struct landlock_gap wanted = {.dir = gaps->dir, .name = name};

	return bsearch(&wanted, gaps, n, sizeof *gaps, compare) != NULL;
}

static bool
is_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Those that run now are outsiders; the leg's own come later, and have no rule either. */
static bool
is_process(bool proc, const char *name)
{
	return proc && name[0] >= '0' && name[0] <= '9';
}

static int
allow_entries(const struct walk *w, const struct landlock_gap *gaps, size_t n, DIR *dir)
{
	const char *path = strcmp(gaps->dir, "/") == 0 ? "" : gaps->dir;
	const bool proc = is_proc(dirfd(dir));
	const struct dirent *entry;

	while ((errno = 0, entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_gap(gaps, n, name) ||
		    is_process(proc, name))
			continue;
		if (++*w->entries > LANDLOCK_ENTRIES_MAX)
			return error_set(w->e, 0,
			    "keep what is to be protected in a directory that holds less",
			    "--isolation landlock: more than %d files lie beside what is "
			    "protected, the last ones in %s",
			    LANDLOCK_ENTRIES_MAX, gaps->dir);
		if (allow_entry(w, dirfd(dir), path, name) != 0)
			return -1;
	}
	if (errno != 0)
		return error_set(w->e, errno, NULL, "can't read %s", gaps->dir);
	return 0;
}

static int
allow_beside(const struct walk *w, const struct landlock_gap *gaps, size_t n)
{
	int fd = open(gaps->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int result;

	if (dir == NULL && fd < 0 && (errno == EACCES || errno == ENOENT))
		return 0; /* nothing beside it can be found, so nothing gets rights */
	if (dir == NULL) {
		error_set(w->e, errno, NULL, "can't read %s", gaps->dir);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	result = allow_entries(w, gaps, n, dir);
	closedir(dir);
	return result;
}

/* The directories above count as protected when it comes to their inodes. */
static int
note_directories(struct walk *w)
{
	for (size_t i = 0; i < w->gaps.count; i++) {
		const char *dir = w->gaps.list[i].dir;
		struct stat st;

		if (i > 0 && strcmp(dir, w->gaps.list[i - 1].dir) == 0)
			continue;
		if (lstat(dir, &st) != 0 && errno == ENOENT)
			continue;
		if (lstat(dir, &st) != 0 ||
		    view_paths_add(&w->paths, dir, st.st_dev, st.st_ino) != 0)
			return error_set(w->e, errno, NULL, "can't examine %s", dir);
	}
	return 0;
}

static int
walk_all(struct walk *w)
{
	size_t next;

	if (landlock_gaps(&w->gaps, &w->paths) != 0)
		return error_set(w->e, errno, NULL, "can't plan the Landlock rules");
	if (note_directories(w) != 0)
		return -1;
	for (size_t i = 0; i < w->gaps.count; i = next) {
		for (next = i + 1; next < w->gaps.count; next++)
			if (strcmp(w->gaps.list[next].dir, w->gaps.list[i].dir) != 0)
				break;
		if (allow_beside(w, &w->gaps.list[i], next - i) != 0)
			return -1;
	}
	return 0;
}

static int
check(const struct view_paths *paths, struct error *e)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct view_path *p = &paths->list[i];
		struct stat st;

		if (p->passing)
			continue;
		if (lstat(p->path, &st) != 0)
			return error_set(e, errno, NULL, "can't examine %s", p->path);
		if (st.st_dev != p->dev || st.st_ino != p->ino)
			return error_set(
			    e, 0, NULL, "%s leads to another file than before", p->path);
	}
	return 0;
}

/* Of what is hidden, what Landlock can hide: what is opened, so no sockets. */
static int
find_hidden(struct view_paths *files, const struct view_paths *hidden, struct error *e)
{
	for (size_t i = 0; i < hidden->count; i++) {
		const struct view_path *p = &hidden->list[i];
		struct stat st;

		if (lstat(p->path, &st) != 0 || S_ISSOCK(st.st_mode))
			continue;
		if (view_paths_add(files, p->path, st.st_dev, st.st_ino) != 0)
			return error_set(e, errno, NULL, "can't note %s", p->path);
	}
	return 0;
}

/* Both walks. hidden holds what is hidden but for the sockets. */
static int
fill(
    int ruleset, const struct view *view, const struct view_paths *hidden, int abi, struct error *e)
{
	size_t entries = 0;
	struct walk writing = {
	    .ruleset = ruleset, .rights = landlock_write_rights(abi), .entries = &entries, .e = e};
	struct walk reading = {
	    .ruleset = ruleset, .rights = SYS_LANDLOCK_FS_READ_FILE, .entries = &entries, .e = e};
	struct mountinfo m;
	int result = -1;

	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	if (alias_add_all(&writing.paths, &m, &view->read_only, false, e) == 0 &&
	    check(&writing.paths, e) == 0 &&
	    alias_add_all(&writing.paths, &m, hidden, true, e) == 0 &&
	    alias_add_all(&reading.paths, &m, hidden, true, e) == 0 && walk_all(&writing) == 0 &&
	    (hidden->count == 0 || walk_all(&reading) == 0))
		result = 0;
	mountinfo_free(&m);
	landlock_gaps_free(&writing.gaps);
	landlock_gaps_free(&reading.gaps);
	view_paths_free(&writing.paths);
	view_paths_free(&reading.paths);
	return result;
}

int
landlock_build(const struct view *view, int abi, struct error *e)
{
	uint64_t rights = landlock_write_rights(abi), scopes = 0;
	struct view_paths hidden = {0};
	AUTO_FD int ruleset = -1;
	int result = -1;

	if (find_hidden(&hidden, &view->hidden, e) != 0)
		goto out;
	if (hidden.count > 0)
		rights |= SYS_LANDLOCK_FS_READ_FILE;
	if (abi >= SYS_LANDLOCK_SCOPE_ABI)
		scopes = SYS_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | SYS_LANDLOCK_SCOPE_SIGNAL;
	ruleset = sys_landlock_create(rights, scopes);
	if (ruleset < 0) {
		error_set(e, errno, NULL, "can't make a Landlock ruleset");
		goto out;
	}
	if (fill(ruleset, view, &hidden, abi, e) == 0)
		result = fd_take(&ruleset);
out:
	view_paths_free(&hidden);
	return result;
}

int
landlock_enter(int ruleset)
{
	return sys_landlock_enter(ruleset);
}
