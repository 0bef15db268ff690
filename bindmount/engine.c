/* A root's surroundings as container engines make them. See engine.h. */
#include "bindmount/engine.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/readonly.h"
#include "bindmount/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char cure[] =
    "allow open_tree, move_mount and mount_setattr here (Linux 5.12), or say --user";

/* Memory devices and the controlling terminal: Documentation/admin-guide/devices.txt */
static const struct node {
	const char *path;
	unsigned int major, minor;
} nodes[] = {
    {"/dev/null", 1, 3},
    {"/dev/zero", 1, 5},
    {"/dev/full", 1, 7},
    {"/dev/random", 1, 8},
    {"/dev/urandom", 1, 9},
    {"/dev/tty", 5, 0},
};

enum { NODES = sizeof nodes / sizeof nodes[0] };

static const struct link {
	const char *path, *text;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/ptmx", "pts/ptmx"},
};

static const char *const read_only[] = {
    "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/sys"};

static const char *const masked[] = {"/proc/acpi", "/proc/asound", "/proc/interrupts",
    "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
    "/proc/timer_list", "/proc/timer_stats", "/sys/firmware", "/sys/devices/virtual/powercap"};

/* File systems that are the kernel's own settings, wherever they are mounted. */
static const char *const settings[] = {"sysfs", "cgroup", "cgroup2", "debugfs", "tracefs",
    "securityfs", "configfs", "efivarfs", "pstore", "bpf", "binfmt_misc", "selinuxfs", "smackfs",
    "resctrl", "nfsd", "fusectl"};

/*
 * A detached mount of the device, or -1 if there is none, or if it is another one. Read-only: the inode is the
 * machine's, with its owner and its mode. What it is a node of can be written all the same.
 */
static int
take_node(const struct node *node)
{
	AUTO_FD int fd = open(node->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISCHR(st.st_mode) ||
	    st.st_rdev != makedev(node->major, node->minor))
		return -1;
	AUTO_FD int tree =
	    sys_open_tree(fd, "", AT_EMPTY_PATH | SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC);
	if (tree < 0 || sys_mount_setattr(tree, "", AT_EMPTY_PATH, SYS_MOUNT_ATTR_RDONLY) != 0)
		return -1;
	return fd_take(&tree);
}

static int
put_node(const struct node *node, int tree, struct error *e)
{
	AUTO_FD int fd = open(node->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);

	if (fd < 0 ||
	    sys_move_mount(tree, "", AT_FDCWD, node->path, SYS_MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return error_set(e, errno, cure, "can't make %s", node->path);
	return 0;
}

/* With /dev/null nothing works; the others are a matter of taste. */
static int
fill_dev(const int trees[NODES], struct error *e)
{
	if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		"mode=755,size=64k") != 0)
		return error_set(e, errno, cure, "can't mount a minimal /dev");
	for (size_t i = 0; i < NODES; i++)
		if ((trees[i] >= 0 || i == 0) && put_node(&nodes[i], trees[i], e) != 0)
			return -1;
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		if (symlink(links[i].text, links[i].path) != 0)
			return error_set(e, errno, NULL, "can't make %s", links[i].path);
	if (mkdir("/dev/pts", 0755) != 0 || mkdir("/dev/shm", 01777) != 0 ||
	    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=0620") != 0 ||
	    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777") != 0)
		return error_set(e, errno, NULL, "can't mount /dev/pts and /dev/shm");
	if (mount(NULL, "/dev", NULL,
		MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return error_set(e, errno, NULL, "can't make /dev read-only");
	return 0;
}

static int
make_dev(struct error *e)
{
	int trees[NODES], result;

	for (size_t i = 0; i < NODES; i++)
		trees[i] = take_node(&nodes[i]);
	/* After they were taken: all other devices, on whatever disk or in whatever directory. */
	result = sys_mount_setattr(AT_FDCWD, "/", SYS_AT_RECURSIVE, SYS_MOUNT_ATTR_NODEV) == 0
	             ? fill_dev(trees, e)
	             : error_set(e, errno, cure, "can't close the machine's devices");
	for (size_t i = 0; i < NODES; i++)
		cleanup_fd(&trees[i]);
	return result;
}

/* What is not there needs nothing. */
static int
make_read_only(const char *path, struct error *e)
{
	struct view_path p = {.path = (char *)path};
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR
		           ? 0
		           : error_set(e, errno, NULL, "can't examine %s", path);
	p.dev = st.st_dev;
	p.ino = st.st_ino;
	return readonly_cover(&p, e);
}

/* A bind of a read-only mount, which /dev/null is, is read-only, too. */
static int
mask(const char *path, struct error *e)
{
	struct stat st;
	int result;

	if (lstat(path, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR
		           ? 0
		           : error_set(e, errno, NULL, "can't examine %s", path);
	result = S_ISDIR(st.st_mode)
	             ? mount("tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
			   "mode=555,size=4k")
	             : mount("/dev/null", path, NULL, MS_BIND, NULL);
	return result == 0 ? 0 : error_set(e, errno, NULL, "can't mask %s", path);
}

static bool
is_setting(const char *type)
{
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (strcmp(settings[i], type) == 0)
			return true;
	return false;
}

/* Mounts of these kinds in other places; what is covered already is covered. */
static int
close_others(struct error *e)
{
	struct mountinfo m;
	int result = 0;

	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	for (size_t i = 0; i < m.count && result == 0; i++) {
		const struct mount_entry *entry = &m.list[i];

		if (mountinfo_below(entry->point, "/proc") ||
		    mountinfo_below(entry->point, "/sys") || mountinfo_below(entry->point, "/dev"))
			continue;
		if (strcmp(entry->type, "proc") == 0)
			result = mask(entry->point, e);
		else if (is_setting(entry->type))
			result = make_read_only(entry->point, e);
	}
	mountinfo_free(&m);
	return result;
}

int
engine_confine(struct error *e)
{
	if (make_dev(e) != 0)
		return -1;
	for (size_t i = 0; i < sizeof masked / sizeof masked[0]; i++)
		if (mask(masked[i], e) != 0)
			return -1;
	for (size_t i = 0; i < sizeof read_only / sizeof read_only[0]; i++)
		if (make_read_only(read_only[i], e) != 0)
			return -1;
	return close_others(e);
}

/* A descriptor leads to the machine's node through the mount that it was opened on, which is not read-only. */
static int
take_descriptor(int fd, const struct node *node, struct error *e)
{
	int flags = fcntl(fd, F_GETFL);
	AUTO_FD int own = open(node->path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (flags < 0 || own < 0 || fcntl(own, F_SETFL, flags) != 0 || dup2(own, fd) != fd)
		return error_set(e, errno, "redirect it elsewhere",
		    "can't open %s anew for descriptor %d", node->path, fd);
	return 0;
}

int
engine_take_descriptors(struct error *e)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat st;

		if (fstat(fd, &st) != 0 || !S_ISCHR(st.st_mode))
			continue;
		for (size_t i = 0; i < NODES; i++)
			if (st.st_rdev == makedev(nodes[i].major, nodes[i].minor) &&
			    take_descriptor(fd, &nodes[i], e) != 0)
				return -1;
	}
	return 0;
}
