/*
 * Attacks around a mount, which covers one name only: a directory beside is bound without what is mounted
 * below, RUNNER_TEMP is renamed into that, the file is reached where nothing covers it, and everything is
 * renamed back. See guard/hold.h.
 */
#include "guard/attack/leg.h"
#include "guard/attack/registry.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* `item`, where nothing covers it, into path. Ends the leg if the way is shut. */
static void
uncover(const struct brief *b, enum step_item item, char *path)
{
	char target[STEP_PATH];

	(void)mkdir("bare", 0755);
	(void)mkdir("beside", 0755);
	if (!leg_nest(CLONE_NEWNS))
		_exit(0);
	(void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (mount("beside", "bare", NULL, MS_BIND, NULL) != 0) {
		leg_failed("bind a directory beside");
		_exit(0);
	}
	snprintf(target, sizeof target, "%.256s/beside/t", b->step.workspace);
	if (!leg_try(rename(b->step.path[STEP_TEMP], target) == 0, "rename RUNNER_TEMP into that"))
		_exit(0);
	snprintf(path, STEP_PATH, "bare/t%s", b->step.path[item] + strlen(b->step.path[STEP_TEMP]));
}

static void
move_back(const struct brief *b)
{
	char target[STEP_PATH];

	snprintf(target, sizeof target, "%.256s/beside/t", b->step.workspace);
	leg_try(rename(target, b->step.path[STEP_TEMP]) == 0, "rename it back");
}

static void
append_to(const struct brief *b, enum step_item item)
{
	char path[STEP_PATH];

	uncover(b, item, path);
	leg_append(path, "append around the mount");
	move_back(b);
}

static void
append(const struct brief *b)
{
	append_to(b, STEP_OUTPUT);
}

static void
other_step(const struct brief *b)
{
	append_to(b, STEP_OTHER_OUTPUT);
}

static void
script(const struct brief *b)
{
	append_to(b, STEP_SCRIPT);
}

static void
event(const struct brief *b)
{
	append_to(b, STEP_EVENT);
}

static void
shorten(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_try(truncate(path, 0) == 0, "truncate around the mount");
	move_back(b);
}

static void
second_name(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_try(link(path, "bare/second") == 0, "give it a second name around the mount");
	move_back(b);
}

static void
replace(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_forge(open("bare/t/forged", O_WRONLY | O_CREAT, 0644), "make a forged file");
	leg_try(rename("bare/t/forged", path) == 0, "replace it around the mount");
	move_back(b);
}

/* Not moved back: whoever puts things back has to find the file first. */
static void
elsewhere(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_try(rename(path, "bare/hidden") == 0, "hide it around the mount");
	leg_forge(open(path, O_WRONLY | O_CREAT | O_EXCL, 0644), "forge one in its place");
	move_back(b);
}

#define HELD "lease, restore; --pin, --writable"
#define PIN  "--pin, --writable"

static const struct attack list[] = {
    {"around-append", "append to the file", HELD, append, 0, NULL, NULL},
    {"around-truncate", "truncate it", HELD, shorten, 0, NULL, NULL},
    {"around-link", "give it a second name", HELD, second_name, 0, NULL, NULL},
    {"around-replace", "rename a forged file over it", HELD, replace, 0, NULL, NULL},
    {"around-hide", "hide it elsewhere and forge another", HELD, elsewhere, 0, NULL, NULL},
    {"around-other-step", "append to the file of another step", PIN, other_step, 0, NULL, ""},
    {"around-script", "append to the step's script", PIN, script, 0, NULL, ""},
    {"around-event", "append to event.json", PIN, event, 0, NULL, ""},
};

const struct attack_group attack_around = {"around",
    "a file, by renaming a directory above into an uncovered place", list,
    sizeof list / sizeof list[0]};
