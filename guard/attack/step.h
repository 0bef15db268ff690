/*
 * A decoy of a CI step: a directory with all that a step's processes find around them and that somebody
 * trusts afterwards. Nothing outside of it is attacked, apart from what the battery starts itself.
 *
 *   job/                                what the runner calls _work
 *     _temp/                            RUNNER_TEMP
 *       _runner_file_commands/          the file commands of this step and of the one around it
 *       GUID.sh                         the step's own script
 *       _github_workflow/event.json
 *     _actions/owner/check/v1/          GITHUB_ACTION_PATH
 *     repo/                             the workspace, and the leg's working directory
 *       alive                           locked, shared, by all that is left of the leg
 *   hooks/completed.sh                  ACTIONS_RUNNER_HOOK_JOB_COMPLETED
 *   runner/                             the runner: bin/Runner.Worker starts the wrapper
 *   run/                                XDG_RUNTIME_DIR, with sockets that take orders
 *   tool/attacker, tool/guard           copies of this program: the leg; the launcher, where that is attacked
 */
#ifndef GUARD_ATTACK_STEP_H
#define GUARD_ATTACK_STEP_H

#include "bindmount/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
	STEP_PATH = 512,
	STEP_FORGED_TIME = 12345, /* a time of modification that only an attack sets */
};

/* What is looked at afterwards. The first ones, up to the other step's, are the guarded files. */
enum step_item {
	STEP_OUTPUT,
	STEP_ENV,
	STEP_ADD_PATH,
	STEP_STATE,
	STEP_SUMMARY,
	STEP_OTHER_OUTPUT,
	STEP_OTHER_ENV,
	STEP_SCRIPT,
	STEP_EVENT,
	STEP_ACTION,
	STEP_ACTION_CODE,
	STEP_HOOK,
	STEP_NODE,
	STEP_CREDENTIALS,
	STEP_RUNNER,
	STEP_ATTACKER,
	STEP_GUARD,
	STEP_FILES, /* how many files; directories from here on */
	STEP_COMMANDS = STEP_FILES,
	STEP_TEMP,
	STEP_JOB,
	STEP_ITEMS,
};

struct step {
	char top[STEP_PATH];
	char path[STEP_ITEMS][STEP_PATH];
	char workspace[STEP_PATH], alive[STEP_PATH], run[STEP_PATH];
};

/* The paths of a step at top. */
void step_name(struct step *s, const char *top);

/* What all of it looks like. Bytes are malloc'd. */
struct step_record {
	struct {
		int fd; /* O_PATH, so that its inode number is nobody else's */
		struct stat st;
		char *bytes;
		size_t size;
		unsigned int flags; /* FS_IOC_GETFLAGS, 0 where there are none */
	} item[STEP_ITEMS];
	size_t entries; /* in the directory of the file commands */
};

/*
 * Make it, below a directory s->top that is there; program is a path to this program. tool/guard is a copy
 * of that only if copy_guard.
 */
int step_make(const struct step *s, const char *program, bool copy_guard, struct error *e);

/* Give all of it to this user and group, if that is another one. */
int step_give(const struct step *s, uid_t uid, gid_t gid, struct error *e);

int step_remember(struct step_record *r, const struct step *s, struct error *e);

/*
 * Is anything different from what it was? The file of the outputs may have grown by what does not hold the
 * marker: that is the wrapper's own word. A file whose original has no name left may be another one with
 * the same bytes and mode. A second name is no difference if `reported` says that the wrapper has told of
 * it, since nobody can find it. Says in `what` what it found first, as text.
 */
bool step_differs(const struct step_record *r, const struct step *s, const char *marker,
    bool reported, char *what, size_t size);

void step_forget(struct step_record *r);

/* Remove a tree, whatever modes it has been given. */
void step_remove(const char *top);

#endif
