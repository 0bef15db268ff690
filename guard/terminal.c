/* Which terminals there are, and keeping them from the leg. See terminal.h. */
#include "guard/terminal.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/hide.h"
#include "guard/names.h"
#include "guard/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	TERMINALS = 64, /* more than a step has above it; further ones are those of people */
	GENERATIONS = 1024,
	/* Major numbers, devices.txt of the kernel's documentation. */
	VIRTUAL = 4,
	ALIASES =
	    5, /* minor 0 is /dev/tty, whichever terminal the caller has, and 1 /dev/console */
	PTY_FIRST = 136,
	PTY_LAST = 143,
};

static const char reason[] = "what is written to the step's terminal gets to the log as it is";

struct terminals {
	dev_t list[TERMINALS];
	size_t count;
};

dev_t
terminal_device(unsigned int number)
{
	return makedev((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
}

static bool
has(const struct terminals *t, dev_t device)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i] == device)
			return true;
	return false;
}

/* /dev/tty has no terminal of its own, and leads a leg, which has none, nowhere. */
static void
add(struct terminals *t, dev_t device)
{
	if (device != 0 && device != makedev(ALIASES, 0) && !has(t, device) && t->count < TERMINALS)
		t->list[t->count++] = device;
}

/* A terminal that is no pseudo-terminal may be the one that stands behind these as well. */
static void
add_device(struct terminals *t, dev_t device)
{
	add(t, device);
	if (device != 0 && (major(device) < PTY_FIRST || major(device) > PTY_LAST)) {
		add(t, makedev(ALIASES, 1));
		add(t, makedev(VIRTUAL, 0));
	}
}

static void
add_descriptor(struct terminals *t, int fd)
{
	unsigned int number;
	struct stat st;

	if (!isatty(fd) || fstat(fd, &st) != 0)
		return;
	add(t, st.st_rdev);
	if (ioctl(fd, TIOCGDEV, &number) == 0)
		add_device(t, terminal_device(number));
}

static void
add_ancestors(struct terminals *t)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct process p;

	if (procfd < 0 || process_read_self(&p, procfd) != 0)
		return;
	for (int i = 0; i < GENERATIONS; i++) {
		add_device(t, terminal_device(p.terminal));
		if (p.ppid <= 0 || process_read(&p, procfd, p.ppid) != 0)
			return;
	}
}

/* name is an entry of dir, or dir is "" and name a path. */
static int
hide_node(struct plan *p, const char *dir, const char *name, const struct stat *st, struct error *e)
{
	AUTO_FREE char *path = NULL;

	if (asprintf(&path, "%s%s%s", dir, dir[0] != '\0' ? "/" : "", name) < 0) {
		path = NULL;
		return error_set(e, ENOMEM, NULL, "can't note %s", name);
	}
	return hide_path(p, path, st, reason, e);
}

static int
hide_in(struct plan *p, const struct terminals *t, const char *place, struct error *e)
{
	AUTO_FREE char *real = realpath(place, NULL);
	DIR *dir = real != NULL ? opendir(real) : NULL;
	const struct dirent *entry;
	int result = 0;

	while (dir != NULL && result == 0 && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISCHR(st.st_mode) && has(t, st.st_rdev))
			result = hide_node(p, real, entry->d_name, &st, e);
	}
	if (dir != NULL)
		closedir(dir);
	return result;
}

/* Every mount of pseudo-terminals, or of a single one, wherever it is: the one at /dev/pts may cover another. */
static int
hide_in_mounts(struct plan *p, const struct terminals *t, struct error *e)
{
	struct mountinfo m;
	int result = 0;

	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	for (size_t i = 0; i < m.count && result == 0; i++) {
		const struct mount_entry *mount = &m.list[i];
		struct stat st;

		if (strcmp(mount->type, "devpts") != 0 || lstat(mount->point, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			result = hide_in(p, t, mount->point, e);
		else if (S_ISCHR(st.st_mode) && has(t, st.st_rdev))
			result = hide_node(p, "", mount->point, &st, e);
	}
	mountinfo_free(&m);
	return result;
}

/* Where it is, if that is elsewhere. */
static int
hide_descriptor(struct plan *p, const struct terminals *t, int fd, struct error *e)
{
	AUTO_FREE char *path = isatty(fd) ? names_path_of(fd) : NULL;
	struct stat held, st;

	if (path == NULL || fstat(fd, &held) != 0 || lstat(path, &st) != 0 ||
	    !chain_same(&held, &st) || !has(t, st.st_rdev))
		return 0;
	return hide_node(p, "", path, &st, e);
}

/* Nor one that leads to where the filtered output goes: a socket has both directions, too. */
static bool
leads_to_output(void)
{
	struct stat in, out;

	if (fstat(STDIN_FILENO, &in) != 0 || S_ISREG(in.st_mode))
		return false;
	return (fstat(STDOUT_FILENO, &out) == 0 && chain_same(&in, &out)) ||
	       (fstat(STDERR_FILENO, &out) == 0 && chain_same(&in, &out));
}

int
terminal_plan(struct plan *p, struct error *e)
{
	struct terminals t = {.count = 0};

	if (!p->neutralizes)
		return 0;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		add_descriptor(&t, fd);
	add_ancestors(&t);
	p->shuts_stdin = isatty(STDIN_FILENO) || leads_to_output();
	p->on_terminal = t.count > 0;
	if (t.count == 0 || p->options->isolation == ISOLATION_NONE)
		return 0;
	if (hide_in(p, &t, "/dev", e) != 0 || hide_in_mounts(p, &t, e) != 0)
		return -1;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (hide_descriptor(p, &t, fd, e) != 0)
			return -1;
	return 0;
}

int
terminal_shut_stdin(const struct plan *p, struct error *e)
{
	if (!p->shuts_stdin)
		return 0;
	AUTO_FD int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return error_set(e, errno, NULL,
		    "can't open /dev/null as the leg's standard input, in place of a terminal");
	return 0;
}
