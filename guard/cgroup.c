/* A control group of the leg's own. See cgroup.h. */
#include "guard/cgroup.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FREEZE_ROUNDS = 50, EMPTY_MS = 20 };

static int
write_at(int dir, const char *name, const char *text)
{
	AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

/* The caller's own group: the line "0::PATH" of /proc/self/cgroup. malloc'd, or NULL. */
static char *
own_path(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char *line = NULL, *path = NULL;
	size_t room = 0;

	if (file == NULL)
		return NULL;
	while (path == NULL && getline(&line, &room, file) > 0)
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = '\0';
			path = strdup(line + 3);
		}
	free(line);
	fclose(file);
	return path;
}

/* Where the cgroup2 that `below` lies in is mounted. malloc'd, or NULL. */
static char *
find_mount(const char *below)
{
	struct mountinfo m;
	char *found = NULL;

	if (mountinfo_read(&m) != 0)
		return NULL;
	for (size_t i = 0; i < m.count && found == NULL; i++)
		if (strcmp(m.list[i].type, "cgroup2") == 0 && strcmp(m.list[i].root, "/") == 0 &&
		    mountinfo_below(below, m.list[i].point))
			found = strdup(m.list[i].point);
	mountinfo_free(&m);
	return found;
}

/* path as the cgroup2 mount m shows it; malloc'd. NULL: it does not, or errno ENOMEM. */
static char *
seen_through(const struct mount_entry *m, const char *path)
{
	const char *rest = strcmp(m->root, "/") == 0 ? path : path + strlen(m->root);
	char *whole;

	if (strcmp(m->type, "cgroup2") != 0 || !mountinfo_below(path, m->root) ||
	    asprintf(&whole, "%s%s", m->point, strcmp(rest, "/") == 0 ? "" : rest) < 0)
		return NULL;
	return whole;
}

bool
cgroup_is_at(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

char *
cgroup_own_directory(char **mount)
{
	/* Where it is on most machines, which saves the reading of all mounts. */
	static const struct mount_entry usual = {
	    .root = "/", .point = "/sys/fs/cgroup", .type = "cgroup2"};
	AUTO_FREE char *path = own_path();
	AUTO_FREE char *found = NULL;
	struct mountinfo m;

	/* One that lies above the own cgroup namespace is not to be reached from it. */
	if (path == NULL || strncmp(path, "/..", 3) == 0)
		return NULL;
	found = mount == NULL ? seen_through(&usual, path) : NULL;
	if (found != NULL && cgroup_is_at(found))
		return ptr_take(&found);
	if (mountinfo_read(&m) != 0)
		return NULL;
	for (size_t i = 0; i < m.count; i++) {
		AUTO_FREE char *whole = seen_through(&m.list[i], path);

		if (whole == NULL || !cgroup_is_at(whole))
			continue;
		free(found);
		found = ptr_take(&whole);
		if (mount != NULL)
			*mount = strdup(m.list[i].point);
		mountinfo_free(&m);
		return ptr_take(&found);
	}
	mountinfo_free(&m);
	return NULL;
}

/* The directory of the caller's own group, or -1: none, or not mounted here. */
static int
open_own(struct cgroup *g)
{
	AUTO_FREE char *whole = cgroup_own_directory(&g->mount);

	if (whole == NULL || g->mount == NULL)
		return -1;
	return open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
open_given(struct cgroup *g, const char *base, struct error *e)
{
	AUTO_FREE char *real = realpath(base, NULL);
	AUTO_FD int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (real == NULL || fd < 0)
		return error_set(
		    e, errno, "name an existing cgroup v2 directory", "--cgroup: %s", base);
	g->mount = find_mount(real);
	if (g->mount == NULL)
		return error_set(e, 0, "name a directory below a cgroup2 mount",
		    "--cgroup: %s is no cgroup v2 directory", base);
	return fd_take(&fd);
}

int
cgroup_make(struct cgroup *g, const char *base, struct error *e)
{
	static const char cure[] = "delegate it to this user: its directory and its cgroup.procs";
	unsigned int number;

	*g = (struct cgroup){.parent = -1, .dir = -1};
	g->parent = base != NULL ? open_given(g, base, e) : open_own(g);
	if (g->parent < 0)
		return base != NULL ? -1 : 0;
	/* Moving the leg needs this file as well; without it the group would stay empty. */
	if (faccessat(g->parent, "cgroup.procs", W_OK, AT_EACCESS) != 0)
		return base != NULL ? error_set(e, errno, cure, "--cgroup: can't use %s", base) : 0;
	if (random_fill(&number, sizeof number) != 0)
		return error_set(e, errno, NULL, "can't name the leg's cgroup");
	snprintf(g->name, sizeof g->name, "legguard-%d-%08x", (int)getpid(), number);
	if (mkdirat(g->parent, g->name, 0755) != 0)
		return base != NULL ? error_set(e, errno, cure, "--cgroup: can't use %s", base) : 0;
	g->dir = openat(g->parent, g->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir < 0)
		return error_set(e, errno, NULL, "can't open the leg's cgroup");
	return 0;
}

int
cgroup_enter(int dir)
{
	return write_at(dir, "cgroup.procs", "0");
}

/* Kill each process that `name` lists in dir and below it. */
static void
kill_listed(int dir)
{
	AUTO_FD int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	int pid;

	if (file == NULL)
		return;
	(void)fd_take(&fd);
	/* Frozen or killed, a member keeps its number until its parent, frozen too, has reaped it. */
	while (fscanf(file, "%d", &pid) == 1)
		if (pid > 0)
			(void)kill(pid, SIGKILL);
	fclose(file);
}

typedef void (*visitor)(int parent, const char *name, int dir);

/* Visit all groups below dir, the deepest first. */
static void
visit_below(int dir, visitor visit)
{
	AUTO_FD int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again >= 0 ? fdopendir(again) : NULL;
	struct dirent *entry;

	if (list == NULL)
		return;
	(void)fd_take(&again);
	while ((entry = readdir(list)) != NULL) {
		AUTO_FD int below = -1;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		visit_below(below, visit);
		visit(dir, entry->d_name, below);
	}
	closedir(list);
}

static void
visit_kill(int parent, const char *name, int dir)
{
	(void)parent;
	(void)name;
	kill_listed(dir);
}

static void
visit_remove(int parent, const char *name, int dir)
{
	(void)dir;
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

int
cgroup_kill(int dir)
{
	if (write_at(dir, "cgroup.kill", "1") == 0)
		return 0;
	for (int i = 0; i < FREEZE_ROUNDS && !cgroup_wait_empty(dir, 0); i++) {
		if (write_at(dir, "cgroup.freeze", "1") != 0)
			return -1;
		visit_below(dir, visit_kill);
		kill_listed(dir);
		if (write_at(dir, "cgroup.freeze", "0") != 0)
			return -1;
		(void)cgroup_wait_empty(dir, 20);
	}
	return 0;
}

bool
cgroup_wait_empty(int dir, int ms)
{
	AUTO_FD int fd = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct pollfd p = {.fd = fd, .events = POLLPRI};
	char text[256];

	if (fd < 0)
		return false;
	for (;;) {
		ssize_t n = pread(fd, text, sizeof text - 1, 0);

		if (n < 0)
			return false;
		text[n] = '\0';
		if (strstr(text, "populated 0") != NULL)
			return true;
		/* The kernel marks each change of the file with POLLPRI. */
		if (poll(&p, 1, ms) <= 0)
			return false;
	}
}

void
cgroup_remove(struct cgroup *g)
{
	if (g->dir >= 0) {
		visit_below(g->dir, visit_remove);
		/* A process is out of its group a moment after it was reaped. */
		if (unlinkat(g->parent, g->name, AT_REMOVEDIR) != 0 && errno == EBUSY &&
		    cgroup_wait_empty(g->dir, EMPTY_MS)) {
			visit_below(g->dir, visit_remove);
			(void)unlinkat(g->parent, g->name, AT_REMOVEDIR);
		}
	}
	fd_drop(&g->dir);
	fd_drop(&g->parent);
	free(g->mount);
	g->mount = NULL;
}
