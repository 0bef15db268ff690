/* Attacks on the view: mounts, roots and namespaces. After each trick the file is written, if it lets itself. */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A trick with mounts is no harm by itself, in a namespace of the leg's own. */
static void
trick(bool ok, const char *what)
{
	if (!ok)
		leg_failed("%s", what);
}

static void
nest_or_end(void)
{
	if (!leg_nest(CLONE_NEWNS))
		_exit(0);
	trick(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "make the mounts private");
}

static void
unmount(const struct brief *b)
{
	nest_or_end();
	trick(umount2(b->step.path[STEP_COMMANDS], 0) == 0, "unmount");
	trick(umount2(b->output, 0) == 0, "unmount");
	leg_append(b->output, "append");
}

static void
unmount_lazily(const struct brief *b)
{
	nest_or_end();
	trick(umount2(b->step.path[STEP_COMMANDS], MNT_DETACH) == 0, "unmount lazily");
	trick(umount2(b->output, MNT_DETACH) == 0, "unmount lazily");
	leg_append(b->output, "append");
}

static void
remount(const struct brief *b)
{
	nest_or_end();
	trick(mount(NULL, b->step.path[STEP_COMMANDS], NULL, MS_REMOUNT | MS_BIND, NULL) == 0,
	    "remount writable");
	trick(mount(NULL, b->output, NULL, MS_REMOUNT | MS_BIND, NULL) == 0, "remount writable");
	leg_append(b->output, "append");
}

static void
set_attribute(const struct brief *b)
{
	nest_or_end();
	trick(raw_mount_clear(b->step.path[STEP_COMMANDS], RAW_MOUNT_ATTR_RDONLY) == 0,
	    "clear the read-only attribute");
	trick(raw_mount_clear(b->output, RAW_MOUNT_ATTR_RDONLY) == 0,
	    "clear the read-only attribute");
	trick(raw_mount_clear("/", RAW_MOUNT_ATTR_RDONLY) == 0, "clear it everywhere");
	leg_append(b->output, "append");
}

static void
reconfigure(const struct brief *b)
{
	nest_or_end();
	trick(raw_reconfigure_rw(b->step.path[STEP_COMMANDS]) == 0, "reconfigure the file system");
	leg_append(b->output, "append");
}

/* The output's name below `copy`, which shows what STEP_TEMP shows. */
static const char *
below(const struct brief *b, const char *copy, char *path)
{
	snprintf(path, STEP_PATH, "%.200s%s", copy, b->output + strlen(b->step.path[STEP_TEMP]));
	return path;
}

static void
bind_parent(const struct brief *b)
{
	char path[STEP_PATH];

	nest_or_end();
	(void)mkdir("copy", 0755);
	trick(mount(b->step.path[STEP_TEMP], "copy", NULL, MS_BIND, NULL) == 0,
	    "bind the directory above without what is mounted below");
	leg_append(below(b, "copy", path), "append in the copy");
}

static void
bind_recursively(const struct brief *b)
{
	char path[STEP_PATH];

	nest_or_end();
	(void)mkdir("copy", 0755);
	trick(mount(b->step.path[STEP_TEMP], "copy", NULL, MS_BIND | MS_REC, NULL) == 0,
	    "bind the directory above");
	trick(umount2("copy/_runner_file_commands", MNT_DETACH) == 0, "unmount in the copy");
	leg_append(below(b, "copy", path), "append in the copy");
}

static void
clone_tree(const struct brief *b)
{
	nest_or_end();
	AUTO_FD int tree = sys_open_tree(
	    AT_FDCWD, b->step.path[STEP_TEMP], SYS_OPEN_TREE_CLONE | SYS_OPEN_TREE_CLOEXEC);

	if (tree < 0) {
		leg_failed("clone the directory above without what is mounted below");
		return;
	}
	leg_forge(
	    openat(tree, b->output + strlen(b->step.path[STEP_TEMP]) + 1, O_WRONLY | O_APPEND),
	    "append in the clone");
}

static void
move_away(const struct brief *b)
{
	nest_or_end();
	(void)mkdir("copy", 0755);
	trick(mount(b->step.path[STEP_COMMANDS], "copy", NULL, MS_MOVE, NULL) == 0,
	    "move the mount away");
	leg_append(b->output, "append");
}

static void
change_root(const struct brief *b)
{
	nest_or_end();
	(void)mkdir("copy", 0755);
	trick(mount("/", "copy", NULL, MS_BIND, NULL) == 0, "bind the root without its mounts");
	trick(mount("/", "copy", NULL, MS_BIND | MS_REC, NULL) == 0, "bind the root");
	trick(chdir("copy") == 0 && raw_pivot_root(".", ".") == 0 && umount2(".", MNT_DETACH) == 0,
	    "make it the root");
	trick(chroot(".") == 0, "chroot");
	leg_append(b->output, "append");
}

/* The directory of the files as the upper layer: a write to the overlay would be a write to it. */
static void
overlay(const struct brief *b)
{
	char options[2 * STEP_PATH + 64], path[STEP_PATH];

	nest_or_end();
	(void)mkdir("copy", 0755);
	(void)mkdir("lower", 0755);
	snprintf(path, sizeof path, "%.256s/work", b->step.path[STEP_TEMP]);
	(void)mkdir(path, 0755);
	snprintf(options, sizeof options, "lowerdir=lower,upperdir=%.256s,workdir=%.256s,userxattr",
	    b->step.path[STEP_COMMANDS], path);
	trick(mount("overlay", "copy", "overlay", 0, options) == 0, "mount an overlay over it");
	snprintf(path, sizeof path, "copy%s", strrchr(b->output, '/'));
	leg_append(path, "append in the overlay");
}

/* --- other namespaces */

static bool
join(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, name);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && setns(fd, 0) == 0;
}

static void
join_outsider(const struct brief *b)
{
	trick(join(b->bystander, "user"), "join the user namespace of a process outside");
	trick(join(b->bystander, "mnt"), "join the mount namespace of a process outside");
	leg_append(b->output, "append");
}

static void
join_first(const struct brief *b)
{
	trick(join(1, "user"), "join the user namespace of PID 1");
	trick(join(1, "mnt"), "join the mount namespace of PID 1");
	leg_append(b->output, "append");
}

static void
join_parent(const struct brief *b)
{
	trick(join(getppid(), "user"), "join the user namespace of its parent");
	trick(join(getppid(), "mnt"), "join the mount namespace of its parent");
	leg_append(b->output, "append");
}

static void
map_everybody(const struct brief *b)
{
	AUTO_FD int map = -1;

	if (unshare(CLONE_NEWUSER) != 0) {
		leg_failed("make a user namespace");
		return;
	}
	map = open("/proc/self/uid_map", O_WRONLY);
	(void)b;
	if (map >= 0 && write(map, "0 0 4294967295\n", 15) == 15)
		leg_got("every user of the machine in its namespace");
	else
		leg_failed("map every user of the machine");
}

static void
make_device(const struct brief *b)
{
	struct stat st;

	if (stat(b->output, &st) != 0 || !leg_nest(CLONE_NEWNS))
		return;
	if (mknod("disk", S_IFBLK | 0600, st.st_dev) != 0) {
		leg_failed("make a device node of the disk below the file");
		return;
	}
	AUTO_FD int fd = open("disk", O_RDWR);
	if (fd >= 0)
		leg_got("the disk below the file");
	else
		leg_failed("open the disk");
}

#define LOCKED "locked mounts"

static const struct attack list[] = {
    {"umount", "unmount what covers the file", LOCKED, unmount, 0, NULL, NULL},
    {"umount-lazy", "unmount it lazily", LOCKED, unmount_lazily, 0, NULL, NULL},
    {"remount", "remount it writable", LOCKED, remount, 0, NULL, NULL},
    {"mount-setattr", "clear its read-only attribute", LOCKED, set_attribute, 0, NULL, NULL},
    {"fsconfig", "reconfigure the file system by fspick", LOCKED, reconfigure, 0, NULL, NULL},
    {"bind", "bind the directory above without its mounts", LOCKED, bind_parent, 0, NULL, NULL},
    {"rbind", "bind it with them, and unmount in the copy", LOCKED, bind_recursively, 0, NULL,
	NULL},
    {"open-tree", "clone the directory above without its mounts", LOCKED, clone_tree, 0, NULL,
	NULL},
    {"move-mount", "move the mount away", LOCKED, move_away, 0, NULL, NULL},
    {"pivot-root", "make a copy of the root the root", LOCKED, change_root, 0, NULL, NULL},
    {"overlay", "an overlay with the directory as its upper layer", LOCKED, overlay, 0, NULL, NULL},
    {"setns-outsider", "join the namespaces of a process outside", "PID namespace", join_outsider,
	ATTACK_OUTSIDER, NULL, NULL},
    {"setns-pid1", "join the namespaces of PID 1", "user namespace", join_first, 0, NULL, NULL},
    {"setns-parent", "join the namespaces of the leg's parent", "user namespace", join_parent, 0,
	NULL, NULL},
    {"uid-map", "map every user in a user namespace", "the kernel", map_everybody, ATTACK_BY_KERNEL,
	NULL, NULL},
    {"mknod", "make a device node of the disk", "the kernel", make_device, ATTACK_BY_KERNEL, NULL,
	NULL},
};

const struct attack_group attack_mounts = {
    "mounts", "the view itself", list, sizeof list / sizeof list[0]};
