/* Attacks on the names of guarded files, and of the directories above. */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory in place of `path`, with the forged file below it where the output is. */
static bool
put_forged_tree(const struct brief *b, const char *path)
{
	char part[STEP_PATH];

	if (mkdir(path, 0755) != 0)
		return false;
	snprintf(part, sizeof part, "%s", b->output);
	for (char *slash = part + strlen(path) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(part, 0755) != 0)
			return false;
		*slash = '/';
	}
	return leg_forge(
	    open(b->output, O_WRONLY | O_CREAT | O_EXCL, 0644), "forge the file there");
}

/*
 * Where something can be moved to: beside the job, or beside itself, which is on the same mount even where
 * others are not.
 */
static const char *
aside(const struct brief *b, enum step_item item, int attempt, char *path)
{
	if (attempt == 0)
		snprintf(path, STEP_PATH, "%.256s/aside", b->step.top);
	else
		snprintf(path, STEP_PATH, "%.256s.aside", b->step.path[item]);
	return path;
}

/* Rename it away, to `away`. */
static bool
move_aside(const struct brief *b, enum step_item item, const char *what, char *away)
{
	for (int attempt = 0; attempt < 2; attempt++)
		if (leg_try(rename(b->step.path[item], aside(b, item, attempt, away)) == 0, what))
			return true;
	return false;
}

static void
unlink_file(const struct brief *b)
{
	leg_try(unlink(b->output) == 0, "remove");
}

static void
recreate(const struct brief *b)
{
	if (leg_try(unlink(b->output) == 0, "remove"))
		leg_forge(open(b->output, O_WRONLY | O_CREAT | O_EXCL, 0644), "make anew");
}

static void
replace(const struct brief *b)
{
	leg_forged_file(b, "forged");
	leg_try(rename("forged", b->output) == 0, "rename another file over it");
}

static void
exchange(const struct brief *b)
{
	leg_forged_file(b, "forged");
	leg_try(renameat2(AT_FDCWD, "forged", AT_FDCWD, b->output, RENAME_EXCHANGE) == 0,
	    "exchange it with another file");
}

static void
move_file(const struct brief *b)
{
	leg_try(rename(b->output, "moved") == 0, "move it to the workspace");
}

static void
symlink_file(const struct brief *b)
{
	char target[STEP_PATH];

	leg_forged_file(b, "forged");
	snprintf(target, sizeof target, "%.256s/forged", b->step.workspace);
	if (leg_try(unlink(b->output) == 0, "remove"))
		leg_try(symlink(target, b->output) == 0, "put a symbolic link there");
}

static void
fifo(const struct brief *b)
{
	if (leg_try(unlink(b->output) == 0, "remove"))
		leg_try(mkfifo(b->output, 0644) == 0, "put a named pipe there");
}

static void
directory(const struct brief *b)
{
	if (leg_try(unlink(b->output) == 0, "remove"))
		leg_try(mkdir(b->output, 0755) == 0, "put a directory there");
}

static void
tmpfile_link(const struct brief *b)
{
	AUTO_FD int fd = open(b->step.workspace, O_TMPFILE | O_WRONLY, 0644);
	char path[64];

	if (fd < 0 || write(fd, b->line, strlen(b->line)) < 0) {
		leg_untried("make a file without a name");
		return;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (leg_try(unlink(b->output) == 0, "remove"))
		leg_try(linkat(AT_FDCWD, path, AT_FDCWD, b->output, AT_SYMLINK_FOLLOW) == 0,
		    "give its name to a file without one");
}

static void
beside(const struct brief *b)
{
	char path[STEP_PATH];

	snprintf(path, sizeof path, "%.256s/set_env_00000000", b->step.path[STEP_COMMANDS]);
	leg_forge(open(path, O_WRONLY | O_CREAT | O_EXCL, 0644), "make a file beside");
}

static void
replace_directory(const struct brief *b, enum step_item item, const char *what)
{
	char away[STEP_PATH];

	if (move_aside(b, item, what, away))
		put_forged_tree(b, b->step.path[item]);
}

static void
rename_directory(const struct brief *b)
{
	replace_directory(b, STEP_COMMANDS, "rename the directory");
}

static void
rename_parent(const struct brief *b)
{
	replace_directory(b, STEP_TEMP, "rename the directory above");
}

static void
rename_grandparent(const struct brief *b)
{
	replace_directory(b, STEP_JOB, "rename the directory above that");
}

/* The other one holds the forged file under the right names. */
static void
exchange_directories(const struct brief *b, enum step_item item)
{
	const char *below = b->output + strlen(b->step.path[item]) + 1;
	char other[STEP_PATH], file[2 * STEP_PATH];

	if (mkdir(aside(b, item, 0, other), 0755) != 0 &&
	    mkdir(aside(b, item, 1, other), 0755) != 0) {
		leg_failed("make a directory to exchange it with");
		return;
	}
	snprintf(file, sizeof file, "%s/%s", other, below);
	for (char *slash = file + strlen(other) + 1; (slash = strchr(slash, '/')) != NULL;
	     slash++) {
		*slash = '\0';
		(void)mkdir(file, 0755);
		*slash = '/';
	}
	AUTO_FD int forged = open(file, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (forged < 0 || write(forged, b->line, strlen(b->line)) < 0)
		leg_failed("prepare a directory to exchange it with");
	leg_try(renameat2(AT_FDCWD, other, AT_FDCWD, b->step.path[item], RENAME_EXCHANGE) == 0,
	    "exchange the directory with another");
}

static void
exchange_directory(const struct brief *b)
{
	exchange_directories(b, STEP_COMMANDS);
}

static void
exchange_parent(const struct brief *b)
{
	exchange_directories(b, STEP_TEMP);
}

static void
swap_symlink(const struct brief *b, enum step_item item)
{
	char away[STEP_PATH];

	if (move_aside(b, item, "rename it away", away))
		leg_try(symlink(away, b->step.path[item]) == 0, "put a symbolic link there");
}

static void
symlink_directory(const struct brief *b)
{
	swap_symlink(b, STEP_COMMANDS);
}

static void
symlink_parent(const struct brief *b)
{
	swap_symlink(b, STEP_TEMP);
}

static void
symlink_grandparent(const struct brief *b)
{
	swap_symlink(b, STEP_JOB);
}

static void
move_into_workspace(const struct brief *b)
{
	leg_try(rename(b->step.path[STEP_COMMANDS], "moved") == 0, "move the directory elsewhere");
}

static void
chmod_directory(const struct brief *b)
{
	leg_try(chmod(b->step.path[STEP_COMMANDS], 0) == 0, "chmod the directory");
}

static void
chmod_ancestors(const struct brief *b)
{
	leg_try(chmod(b->step.path[STEP_TEMP], 0) == 0, "chmod the directory above");
	leg_try(chmod(b->step.path[STEP_JOB], 0) == 0, "chmod the directory above that");
}

/* --- by a descriptor, in a namespace with another root, where nothing is a mount point */

static void
leave_root(void)
{
	if (mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0 && chdir("/tmp") == 0 &&
	    mkdir("old", 0700) == 0 && raw_pivot_root(".", "old") == 0 && chdir("/") == 0 &&
	    umount2("/old", MNT_DETACH) == 0)
		return;
	leg_failed("replace the root in a namespace of its own");
	_exit(0);
}

/* A directory's descriptor, in a namespace with another root. */
static int
open_and_leave(const char *path)
{
	int dir = open(path, O_PATH | O_DIRECTORY);

	if (dir < 0)
		leg_failed("open the directory");
	if (dir < 0 || !leg_nest(CLONE_NEWNS))
		_exit(0);
	leave_root();
	return dir;
}

static void
descriptor_unlink(const struct brief *b)
{
	int dir = open_and_leave(b->step.path[STEP_COMMANDS]);

	leg_try(unlinkat(dir, strrchr(b->output, '/') + 1, 0) == 0, "remove it by a descriptor");
}

static void
replace_by_descriptor(const struct brief *b, enum step_item item)
{
	char path[STEP_PATH], *name;
	int dir;

	snprintf(path, sizeof path, "%s", b->step.path[item]);
	name = strrchr(path, '/') + 1;
	name[-1] = '\0';
	dir = open_and_leave(path);
	leg_forge(openat(dir, "forged", O_CREAT | O_WRONLY, 0644), "make a file beside");
	leg_try(renameat(dir, "forged", dir, name) == 0, "rename it over the file");
}

static void
descriptor_replace(const struct brief *b)
{
	replace_by_descriptor(b, STEP_OUTPUT);
}

static void
descriptor_replace_script(const struct brief *b)
{
	replace_by_descriptor(b, STEP_SCRIPT);
}

static void
descriptor_replace_action(const struct brief *b)
{
	replace_by_descriptor(b, STEP_ACTION_CODE);
}

static void
rename_by_descriptor(const struct brief *b, enum step_item item)
{
	const char *name = strrchr(b->step.path[item], '/') + 1;
	int dir = open_and_leave(b->step.path[item + 1]), made;

	if (!leg_try(
		renameat(dir, name, dir, "aside") == 0, "rename the directory by a descriptor"))
		return;
	leg_try(mkdirat(dir, name, 0755) == 0, "make another one");
	made = openat(dir, name, O_PATH | O_DIRECTORY);
	if (item == STEP_COMMANDS)
		leg_forge(openat(made, strrchr(b->output, '/') + 1, O_CREAT | O_WRONLY, 0644),
		    "forge the file there");
}

static void
descriptor_rename(const struct brief *b)
{
	rename_by_descriptor(b, STEP_COMMANDS);
}

static void
descriptor_rename_parent(const struct brief *b)
{
	rename_by_descriptor(b, STEP_TEMP);
}

/* The contents, by the same way. */
static void
descriptor_append(const struct brief *b)
{
	int dir = open_and_leave(b->step.path[STEP_TEMP]);

	leg_forge(openat(dir, b->output + strlen(b->step.path[STEP_TEMP]) + 1, O_WRONLY | O_APPEND),
	    "append by a descriptor");
}

/* Two levels at once: what is put back one by one has to be found first. */
static void
swap_levels(const struct brief *b)
{
	char away[STEP_PATH], inner[2 * STEP_PATH];

	if (!move_aside(b, STEP_TEMP, "rename the directory above", away))
		return;
	snprintf(inner, sizeof inner, "%s/inner", away);
	leg_try(mkdir(b->step.path[STEP_TEMP], 0755) == 0, "put another in its place");
	leg_try(rename(b->step.path[STEP_TEMP], inner) == 0, "move that into the first");
	leg_try(rename(away, b->step.path[STEP_JOB]) == 0 ||
		    symlink(inner, b->step.path[STEP_TEMP]) == 0,
	    "and a link in place of both");
}

#define BIND    "read-only mount"
#define RESTORE "restore; --pin, --writable hold it"

static const struct attack list[] = {
    {"unlink", "remove the file", BIND, unlink_file, 0, NULL, NULL},
    {"recreate", "remove the file and make another of that name", BIND, recreate, 0, NULL, NULL},
    {"replace", "rename a forged file over it", BIND, replace, 0, NULL, NULL},
    {"exchange", "exchange it with a forged file", BIND, exchange, 0, NULL, NULL},
    {"move", "move it elsewhere", BIND, move_file, 0, NULL, NULL},
    {"symlink", "a symbolic link in its place", BIND, symlink_file, 0, NULL, NULL},
    {"fifo", "a named pipe in its place, for the runner to hang on", BIND, fifo, 0, NULL, NULL},
    {"directory", "a directory in its place", BIND, directory, 0, NULL, NULL},
    {"tmpfile", "a file of O_TMPFILE linked in its place", BIND, tmpfile_link, 0, NULL, NULL},
    {"create-beside", "a new file in the directory of the file commands", BIND, beside, 0, NULL,
	NULL},
    {"chmod-dir", "take all permissions off the directory", BIND, chmod_directory, 0, NULL, NULL},
    {"rename-dir", "rename the directory, and forge one", "mount point", rename_directory, 0, NULL,
	NULL},
    {"exchange-dir", "exchange the directory with a forged one", "mount point", exchange_directory,
	0, NULL, NULL},
    {"symlink-dir", "a symbolic link in place of the directory", "mount point", symlink_directory,
	0, NULL, NULL},
    {"move-dir", "move the directory to the workspace", "mount point", move_into_workspace, 0, NULL,
	NULL},
    {"rename-parent", "rename RUNNER_TEMP, and forge one", RESTORE, rename_parent, 0, NULL, NULL},
    {"exchange-parent", "exchange RUNNER_TEMP with a forged one", RESTORE, exchange_parent, 0, NULL,
	NULL},
    {"symlink-parent", "a symbolic link in place of RUNNER_TEMP", RESTORE, symlink_parent, 0, NULL,
	NULL},
    {"rename-grandparent", "rename the directory above RUNNER_TEMP, and forge one", RESTORE,
	rename_grandparent, 0, NULL, NULL},
    {"symlink-grandparent", "a symbolic link in place of that", RESTORE, symlink_grandparent, 0,
	NULL, NULL},
    {"chmod-ancestors", "take all permissions off the directories above", RESTORE, chmod_ancestors,
	0, NULL, NULL},
    {"dirfd-unlink", "remove the file by a descriptor, from another root", BIND, descriptor_unlink,
	0, NULL, NULL},
    {"dirfd-replace", "replace the file likewise", BIND, descriptor_replace, 0, NULL, NULL},
    {"dirfd-replace-script", "replace the step's script likewise", RESTORE,
	descriptor_replace_script, 0, NULL, NULL},
    {"dirfd-replace-action", "replace the code of an action likewise", RESTORE,
	descriptor_replace_action, 0, NULL, NULL},
    {"inverted", "RUNNER_TEMP below what was put in its place", RESTORE, swap_levels, 0, NULL,
	NULL},
    {"dirfd-rename", "rename the directory likewise", RESTORE, descriptor_rename, 0, NULL, NULL},
    {"dirfd-rename-parent", "rename RUNNER_TEMP likewise", RESTORE, descriptor_rename_parent, 0,
	NULL, NULL},
    {"dirfd-append", "append to the file likewise", "locked mounts", descriptor_append, 0, NULL,
	NULL},
};

const struct attack_group attack_names = {
    "names", "what a path leads to", list, sizeof list / sizeof list[0]};
