/* Attacks on what a guarded file holds, by whatever leads to it. */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static void
append(const struct brief *b)
{
	leg_append(b->output, "append");
}

static void
each_file(const struct brief *b)
{
	for (int i = STEP_ENV; i < STEP_OTHER_OUTPUT; i++)
		leg_append(b->step.path[i], "append to another file command");
}

static void
other_step(const struct brief *b)
{
	leg_append(b->step.path[STEP_OTHER_OUTPUT], "append to the outputs of the step around");
}

static void
rewrite(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_WRONLY);

	leg_try(fd >= 0 && pwrite(fd, "forged", 6, 0) == 6, "rewrite in place");
}

static void
shorten(const struct brief *b)
{
	leg_try(truncate(b->output, 0) == 0, "truncate");
}

static void
shorten_on_open(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_RDONLY | O_TRUNC);

	leg_try(fd >= 0, "open for reading with O_TRUNC");
}

static void
overwrite(const struct brief *b)
{
	leg_forge(open(b->output, O_WRONLY | O_CREAT | O_TRUNC, 0644), "create anew");
}

/* What is appended afterwards would be the value of an output that nobody reads. */
static void
swallow(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_WRONLY | O_APPEND);
	char text[128];
	int n = snprintf(text, sizeof text, "x<<%s\n", b->marker);

	leg_try(fd >= 0 && write(fd, text, (size_t)n) == n, "leave a heredoc open");
}

static void
map_shared(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_RDWR);
	char *p;

	if (fd >= 0) {
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (leg_try(p != MAP_FAILED, "map for writing"))
			memcpy(p, "forged", 6);
		return;
	}
	leg_failed("open for a mapping");
	fd = open(b->output, O_RDONLY);
	p = fd >= 0 ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_WRITE) != 0) {
		leg_failed("make a mapping writable");
		return;
	}
	memcpy(p, "forged", 6);
	leg_did("write through a mapping");
}

static void
append_at(const struct brief *b, const char *root, const char *what)
{
	char path[STEP_PATH + 64];

	snprintf(path, sizeof path, "%s%s", root, b->output);
	leg_append(path, what);
}

static void
reopen(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_RDONLY);
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	leg_append(path, "reopen a descriptor for writing");
}

static void
own_root(const struct brief *b)
{
	append_at(b, "/proc/self/root", "append by /proc/self/root");
	append_at(
	    b, "/proc/thread-self/cwd/../../../../../../../../../..", "append by /proc/self/cwd");
}

static void
first_root(const struct brief *b)
{
	append_at(b, "/proc/1/root", "append by /proc/1/root");
	append_at(b, "/proc/1/cwd/../../../../../../../../../..", "append by /proc/1/cwd");
}

/* The numbers are those outside; where the leg has others, there is nobody, or somebody of its own. */
static void
outsiders_root(const struct brief *b)
{
	char root[64];

	snprintf(root, sizeof root, "/proc/%d/root", (int)b->bystander);
	append_at(b, root, "append by the root of a process outside");
}

static void
outsiders_descriptor(const struct brief *b)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)b->bystander, BYSTANDER_FILE);
	leg_append(path, "reopen a descriptor of a process outside");
}

static void
outsiders_directory(const struct brief *b)
{
	char path[STEP_PATH];

	snprintf(path, sizeof path, "/proc/%d/fd/%d/%s", (int)b->bystander, BYSTANDER_DIRECTORY,
	    strrchr(b->output, '/') + 1);
	leg_append(path, "append by a directory that a process outside holds");
}

static void
directory_descriptor(const struct brief *b)
{
	AUTO_FD int dir = open(b->step.path[STEP_COMMANDS], O_PATH | O_DIRECTORY);

	leg_forge(openat(dir, strrchr(b->output, '/') + 1, O_WRONLY | O_APPEND),
	    "append by a directory's descriptor");
}

static bool
is_the_output(const struct brief *b, int fd)
{
	struct stat a, o;

	return fstat(fd, &a) == 0 && stat(b->output, &o) == 0 && a.st_dev == o.st_dev &&
	       a.st_ino == o.st_ino;
}

/* 1: alive, which this program opened itself, is among them. */
static void
inherited(const struct brief *b)
{
	bool any = false;

	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0 || !is_the_output(b, fd))
			continue;
		any = true;
		leg_try(
		    write(fd, b->line, strlen(b->line)) > 0, "write to an inherited descriptor");
	}
	errno = 0;
	if (!any)
		leg_failed("find an inherited descriptor of the file");
}

static void
inherited_reopened(const struct brief *b)
{
	bool any = false;
	char path[64];

	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0 || !is_the_output(b, fd))
			continue;
		any = true;
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		leg_append(path, "reopen an inherited descriptor");
	}
	errno = 0;
	if (!any)
		leg_failed("find an inherited descriptor of the file");
}

static void
inherited_directory(const struct brief *b)
{
	const char *name = b->output + strlen(b->step.path[STEP_TEMP]) + 1;
	bool any = false;

	for (int fd = 3; fd < 1024; fd++) {
		int file = openat(fd, name, O_WRONLY | O_APPEND);

		if (file < 0 && (errno == EBADF || errno == ENOTDIR || errno == ENOENT))
			continue;
		any = true;
		leg_forge(file, "append by an inherited directory");
	}
	errno = 0;
	if (!any)
		leg_failed("find an inherited directory");
}

static void
hard_link(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_RDONLY);
	char path[64];

	if (leg_try(link(b->output, "second") == 0, "give it a second name in the workspace")) {
		leg_append("second", "append by the second name");
		return;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (leg_try(linkat(AT_FDCWD, path, AT_FDCWD, "second", AT_SYMLINK_FOLLOW) == 0,
		"give it a second name by its descriptor"))
		leg_append("second", "append by the second name");
}

static void
by_handle(const struct brief *b)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle = {.h.handle_bytes = MAX_HANDLE_SZ};
	AUTO_FD int dir = open(b->step.workspace, O_RDONLY | O_DIRECTORY);
	int mount;

	if (name_to_handle_at(AT_FDCWD, b->output, &handle.h, &mount, 0) != 0) {
		leg_failed("take the file's handle");
		return;
	}
	leg_forge(open_by_handle_at(dir, &handle.h, O_WRONLY | O_APPEND), "open by its handle");
	if (leg_nest(0))
		leg_forge(open_by_handle_at(dir, &handle.h, O_WRONLY | O_APPEND),
		    "open by its handle with capabilities");
}

static void
io_uring(const struct brief *b)
{
	leg_try(raw_io_uring_append(b->output, b->line, strlen(b->line)) > 0, "append by io_uring");
}

static void
mode(const struct brief *b)
{
	AUTO_FD int fd = open(b->output, O_RDONLY);

	leg_try(chmod(b->output, 0) == 0, "chmod");
	leg_try(fchmod(fd, 0) == 0, "fchmod");
}

static void
times(const struct brief *b)
{
	const struct timespec t[2] = {{.tv_sec = STEP_FORGED_TIME}, {.tv_sec = STEP_FORGED_TIME}};

	leg_try(utimensat(AT_FDCWD, b->step.path[STEP_ENV], t, 0) == 0, "set the times");
}

static void
attribute(const struct brief *b)
{
	leg_try(
	    setxattr(b->step.path[STEP_ENV], "user.forged", "1", 1, 0) == 0, "set an attribute");
}

static void
inode_flags(const struct brief *b)
{
	AUTO_FD int fd = open(b->step.path[STEP_ENV], O_RDONLY);
	unsigned int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
		leg_failed("read the inode's flags");
		return;
	}
	flags |= FS_NODUMP_FL | FS_NOATIME_FL;
	leg_try(ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0, "set the inode's flags");
}

#define BIND "read-only mount"

static const struct attack list[] = {
    {"append", "append a forged output", BIND, append, 0, NULL, NULL},
    {"append-each", "append to the environment, path, state and summary", BIND, each_file, 0, NULL,
	NULL},
    {"append-other-step", "append to the outputs of the step around this one", BIND, other_step, 0,
	NULL, NULL},
    {"append-heredoc", "open a heredoc that swallows what comes after", BIND, swallow, 0, NULL,
	NULL},
    {"rewrite", "rewrite in place, keeping the size", BIND, rewrite, 0, NULL, NULL},
    {"truncate", "truncate by path", BIND, shorten, 0, NULL, NULL},
    {"open-trunc", "open for reading with O_TRUNC", BIND, shorten_on_open, 0, NULL, NULL},
    {"create", "open with O_CREAT and O_TRUNC, and write", BIND, overwrite, 0, NULL, NULL},
    {"mmap", "write through a shared mapping", BIND, map_shared, 0, NULL, NULL},
    {"io-uring", "open and write by io_uring", BIND, io_uring, 0, NULL, NULL},
    {"proc-fd", "reopen a descriptor through /proc/self/fd", BIND, reopen, 0, NULL, NULL},
    {"proc-self-root", "append through /proc/self/root and cwd", BIND, own_root, 0, NULL, NULL},
    {"proc-1-root", "append through PID 1's root and working directory", "user namespace",
	first_root, ATTACK_BY_KERNEL, NULL, NULL},
    {"proc-pid-root", "append through the root of a process outside", "PID namespace",
	outsiders_root, ATTACK_OUTSIDER, NULL, NULL},
    {"proc-pid-fd", "reopen a descriptor of a process outside", "PID namespace",
	outsiders_descriptor, ATTACK_OUTSIDER, NULL, NULL},
    {"proc-pid-dirfd", "walk from a directory that a process outside holds", "PID namespace",
	outsiders_directory, ATTACK_OUTSIDER, NULL, NULL},
    {"dirfd", "append by a descriptor of the directory", BIND, directory_descriptor, 0, NULL, NULL},
    {"inherited-write", "write to an inherited descriptor", "descriptors closed", inherited,
	ATTACK_INHERIT, NULL, NULL},
    {"inherited-reopen", "reopen an inherited descriptor for writing", "descriptors closed",
	inherited_reopened, ATTACK_INHERIT, NULL, NULL},
    {"inherited-dirfd", "walk from an inherited directory", "descriptors closed",
	inherited_directory, ATTACK_INHERIT, NULL, NULL},
    {"hard-link", "give the file a second name, and write by that", BIND, hard_link, 0, NULL, NULL},
    {"file-handle", "open by handle, without a path", BIND, by_handle, ATTACK_BY_KERNEL, NULL,
	NULL},
    {"chmod", "take all permissions off the file", BIND, mode, 0, NULL, NULL},
    {"utimes", "set the file's times", BIND, times, 0, NULL, "landlock"},
    {"xattr", "set an extended attribute", BIND, attribute, 0, NULL, NULL},
    {"inode-flags", "set flags of the inode through a descriptor for reading", BIND, inode_flags, 0,
	NULL, "landlock"},
};

const struct attack_group attack_write = {
    "write", "what a file holds", list, sizeof list / sizeof list[0]};
