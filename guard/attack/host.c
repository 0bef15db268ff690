/* Attacks on other things that somebody trusts later: scripts, actions, programs, the machine. */
#include "guard/attack/leg.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
replace_item(const struct brief *b, enum step_item item, const char *what)
{
	leg_forged_file(b, "forged");
	leg_try(rename("forged", b->step.path[item]) == 0, what);
}

static void
script(const struct brief *b)
{
	leg_append(b->step.path[STEP_SCRIPT], "append to the step's own script");
}

static void
script_replaced(const struct brief *b)
{
	replace_item(b, STEP_SCRIPT, "replace the step's own script");
}

static void
event(const struct brief *b)
{
	leg_append(b->step.path[STEP_EVENT], "append to event.json");
}

static void
action(const struct brief *b)
{
	leg_append(b->step.path[STEP_ACTION], "append to action.yml");
}

static void
action_code(const struct brief *b)
{
	leg_append(b->step.path[STEP_ACTION_CODE], "append to what runs after the job");
}

static void
action_replaced(const struct brief *b)
{
	char path[STEP_PATH], away[STEP_PATH];

	snprintf(path, sizeof path, "%.256s/job/_actions", b->step.top);
	snprintf(away, sizeof away, "%.256s/aside", b->step.top);
	leg_try(rename(path, away) == 0, "rename the directory of the actions");
}

static void
hook(const struct brief *b)
{
	leg_append(b->step.path[STEP_HOOK], "append to the runner's hook");
}

static void
runner_program(const struct brief *b)
{
	replace_item(b, STEP_RUNNER, "replace the runner's program");
}

static void
runner_node(const struct brief *b)
{
	leg_append(b->step.path[STEP_NODE], "append to what the runner runs actions with");
}

static void
credentials(const struct brief *b)
{
	AUTO_FD int fd = open(b->step.path[STEP_CREDENTIALS], O_RDONLY);
	char c;

	if (fd >= 0 && read(fd, &c, 1) == 1)
		leg_got("the runner's credentials");
	else
		leg_failed("read the runner's credentials");
}

/* ETXTBSY where it runs; a new file in its place has no such hindrance. */
static void
executable(const struct brief *b)
{
	leg_append(b->step.path[STEP_GUARD], "append to the program that guards");
}

static void
executable_replaced(const struct brief *b)
{
	replace_item(b, STEP_GUARD, "replace the program that guards");
}

/* Nothing is written: what the machine is told there counts for everybody on it. */
static void
kernel_settings(const struct brief *b)
{
	static const char *const paths[] = {
	    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"};

	(void)b;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		AUTO_FD int fd = open(paths[i], O_WRONLY);

		if (fd >= 0)
			leg_got("%s, open for writing", paths[i]);
		else
			leg_failed("open %s for writing", paths[i]);
	}
}

static void
system_files(const struct brief *b)
{
	static const char *const paths[] = {"/etc/passwd", "/etc/ld.so.preload", "/etc/crontab"};

	(void)b;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		AUTO_FD int fd = open(paths[i], O_WRONLY);

		if (fd >= 0)
			leg_got("%s, open for writing", paths[i]);
		else
			leg_failed("open %s for writing", paths[i]);
	}
}

/* As a line of its own, which the runner would obey. */
static void
workflow_command(const struct brief *b)
{
	leg_tried("print a workflow command");
	printf("::set-output name=lane-class::credit-stop-%s\n", b->marker);
	fflush(stdout);
}

/* A status that a guard has a meaning of its own for. */
static void
status(const struct brief *b)
{
	(void)b;
	leg_tried("end with a status of legguard's own");
	_exit(121);
}

static void
token(const struct brief *b)
{
	const char *value = getenv("ACTIONS_RUNTIME_TOKEN");

	(void)b;
	errno = 0;
	if (value != NULL && value[0] != '\0')
		leg_got("the job's ACTIONS_RUNTIME_TOKEN");
	else
		leg_failed("find ACTIONS_RUNTIME_TOKEN");
}

static void
token_outside(const struct brief *b)
{
	char path[64], text[65536];
	pid_t pids[] = {getppid(), b->bystander};

	for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
		snprintf(path, sizeof path, "/proc/%d/environ", (int)pids[i]);
		AUTO_FD int fd = open(path, O_RDONLY);
		ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;

		if (n < 0) {
			leg_failed("read the environment of another process");
			continue;
		}
		errno = 0;
		if (memmem(text, (size_t)n, "ACTIONS_RUNTIME_TOKEN=", 22) != NULL)
			leg_got("the job's token from the environment of another process");
		else
			leg_failed("find ACTIONS_RUNTIME_TOKEN there");
	}
}

#define PROTECTED "protected files"

static const struct attack list[] = {
    {"script", "append to the step's own script, which its shell still reads", PROTECTED, script, 0,
	NULL, NULL},
    {"script-replace", "replace it", PROTECTED, script_replaced, 0, NULL, NULL},
    {"event-json", "rewrite event.json", PROTECTED, event, 0, NULL, NULL},
    {"action-yml", "rewrite the metadata of an action", PROTECTED, action, 0, NULL, NULL},
    {"action-code", "rewrite the code of an action that runs after the job", PROTECTED, action_code,
	0, NULL, NULL},
    {"actions-dir", "rename the directory of the actions", PROTECTED, action_replaced, 0, NULL,
	NULL},
    {"hook", "rewrite a hook of the runner's", PROTECTED, hook, 0, NULL, NULL},
    {"runner-program", "replace the runner's own program", PROTECTED, runner_program, 0, NULL,
	NULL},
    {"runner-externals", "rewrite what the runner runs actions with", PROTECTED, runner_node, 0,
	NULL, NULL},
    {"runner-credentials", "read the runner's credentials", "hidden files", credentials, 0, NULL,
	NULL},
    {"executable", "write to the program that guards", PROTECTED, executable, ATTACK_COPY, NULL,
	NULL},
    {"executable-replace", "replace the program that guards", PROTECTED, executable_replaced,
	ATTACK_COPY, NULL, NULL},
    {"kernel-settings", "open core_pattern and others for writing", "the kernel", kernel_settings,
	ATTACK_BY_KERNEL, NULL, NULL},
    {"system-files", "open /etc/passwd and others for writing", "the kernel", system_files,
	ATTACK_BY_KERNEL, NULL, NULL},
    {"workflow-command", "print ::set-output::, which the runner obeys", "--workflow-commands",
	workflow_command, 0, NULL, NULL},
    {"exit-status", "end with a status that the guard uses itself", "lane-class", status,
	ATTACK_OWN, NULL, NULL},
    {"token", "find the job's token in the environment", "--keep-env", token, 0, NULL, NULL},
    {"token-outside", "find it in the environment of another process", "PID namespace",
	token_outside, ATTACK_OUTSIDER, NULL, NULL},
};

const struct attack_group attack_host = {
    "host", "what is trusted later", list, sizeof list / sizeof list[0]};
