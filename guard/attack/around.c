/*
 * Attacks around a mount, which covers one name only: a directory beside is bound without what is mounted
 * below, RUNNER_TEMP is renamed into that, the file is reached where nothing covers it, and everything is
 * renamed back. See guard/hold.h.
 */
#include "guard/attack/leg.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Where it has been renamed from and to, for the way back. */
static char from[STEP_PATH], to[STEP_PATH];

static void
enter_bare(const char *place)
{
	char path[2 * STEP_PATH];

	snprintf(path, sizeof path, "%s/beside", place);
	(void)mkdir("bare", 0755);
	if (mkdir(path, 0755) != 0) {
		leg_failed("make a directory beside");
		_exit(0);
	}
	if (!leg_nest(CLONE_NEWNS))
		_exit(0);
	(void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (mount(path, "bare", NULL, MS_BIND, NULL) != 0) {
		leg_failed("bind a directory beside");
		_exit(0);
	}
	snprintf(to, sizeof to, "%.256s/beside/t", place);
}

/* What is at `path` below the directory `above`, where nothing covers it, into bare. Ends the leg if the way is shut. */
static void
uncover_below(const char *above, const char *place, const char *path, char *bare)
{
	enter_bare(place);
	snprintf(from, sizeof from, "%s", above);
	if (!leg_try(rename(from, to) == 0, "rename a directory above into that"))
		_exit(0);
	snprintf(bare, STEP_PATH, "bare/t%s", path + strlen(above));
}

static void
uncover(const struct brief *b, enum step_item item, char *path)
{
	uncover_below(b->step.path[STEP_TEMP], b->step.workspace, b->step.path[item], path);
}

static void
move_back(void)
{
	leg_try(rename(to, from) == 0, "rename it back");
}

static void
append_to(const struct brief *b, enum step_item item)
{
	char path[STEP_PATH];

	uncover(b, item, path);
	leg_append(path, "append around the mount");
	move_back();
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
	move_back();
}

static void
second_name(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_try(link(path, "bare/second") == 0, "give it a second name around the mount");
	move_back();
}

static void
replace(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_forge(open("bare/t/forged", O_WRONLY | O_CREAT, 0644), "make a forged file");
	leg_try(rename("bare/t/forged", path) == 0, "replace it around the mount");
	move_back();
}

/* Not moved back: whoever puts things back has to find the file first. */
static void
elsewhere(const struct brief *b)
{
	char path[STEP_PATH];

	uncover(b, STEP_OUTPUT, path);
	leg_try(rename(path, "bare/hidden") == 0, "hide it around the mount");
	leg_forge(open(path, O_WRONLY | O_CREAT | O_EXCL, 0644), "forge one in its place");
	move_back();
}

/* With the directory beside on the mount that the directory above is on, and one level further up. */
static void
same_mount(const struct brief *b)
{
	char path[STEP_PATH];

	uncover_below(b->step.path[STEP_TEMP], b->step.path[STEP_JOB], b->output, path);
	leg_append(path, "append around the mount");
	move_back();
}

static void
grandparent(const struct brief *b)
{
	char path[STEP_PATH];

	if (chdir(b->step.top) != 0)
		leg_failed("go there");
	uncover_below(b->step.path[STEP_JOB], b->step.top, b->output, path);
	leg_append(path, "append around the mount");
	move_back();
}

/* A socket that is covered. */
static void
order_around(const struct brief *b, enum door d)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char socket_path[STEP_PATH], above[STEP_PATH], path[STEP_PATH], answer[16];
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	bystander_door(d, &b->step, b->marker, socket_path, sizeof socket_path);
	snprintf(above, sizeof above, "%s", socket_path);
	*strrchr(above, '/') = '\0';
	uncover_below(above, b->step.workspace, socket_path, path);
	snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
	leg_try(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
		    send(fd, "order", 5, MSG_NOSIGNAL) == 5 &&
		    recv(fd, answer, sizeof answer, 0) > 0,
	    "order something at a socket around the mount");
	move_back();
}

static void
docker(const struct brief *b)
{
	order_around(b, DOOR_DOCKER);
}

static void
service(const struct brief *b)
{
	order_around(b, DOOR_SERVICE);
}

static void
action(const struct brief *b)
{
	char path[STEP_PATH];

	if (chdir(b->step.top) != 0)
		leg_failed("go there");
	uncover_below(b->step.path[STEP_JOB], b->step.top, b->step.path[STEP_ACTION_CODE], path);
	leg_append(path, "append to what runs after the job");
	move_back();
}

#define HELD "lease, restore; --pin, --writable"
#define PIN  "--pin, --writable"

static const struct attack list[] = {
    {"around-append", "append to the file", HELD, append, 0, NULL, NULL},
    {"around-same-mount", "append to it, with the place on the same mount", HELD, same_mount, 0,
	NULL, NULL},
    {"around-grandparent", "append to it, with the directory above that", HELD, grandparent, 0,
	NULL, NULL},
    {"around-truncate", "truncate it", HELD, shorten, 0, NULL, NULL},
    {"around-link", "give it a second name", HELD, second_name, 0, NULL, NULL},
    {"around-replace", "rename a forged file over it", HELD, replace, 0, NULL, NULL},
    {"around-hide", "hide it elsewhere and forge another", HELD, elsewhere, 0, NULL, NULL},
    {"around-other-step", "append to the file of another step", PIN, other_step, 0, NULL, ""},
    {"around-script", "append to the step's script", HELD, script, 0, NULL, NULL},
    {"around-event", "append to event.json", HELD, event, 0, NULL, NULL},
    {"around-action", "append to the code of an action", PIN, action, 0, NULL, ""},
    {"around-docker", "order a container at docker.sock", PIN, docker, ATTACK_OUTSIDER, NULL, ""},
    {"around-service", "order something at another socket", PIN, service, ATTACK_OUTSIDER, NULL,
	""},
};

const struct attack_group attack_around = {"around",
    "a file, by renaming a directory above into an uncovered place", list,
    sizeof list / sizeof list[0]};
