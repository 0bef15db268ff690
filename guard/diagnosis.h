/*
 * What doctor found, and what follows from it: the strongest tier that works, what to do about the
 * rest, the table and the JSON object. Pure: from data to text.
 */
#ifndef GUARD_DIAGNOSIS_H
#define GUARD_DIAGNOSIS_H

#include "bindmount/error.h"
#include "bindmount/trial.h"
#include "bindmount/userns.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	DIAGNOSIS_CHECKS_MAX = 32,
	DIAGNOSIS_FIXES_MAX = 8,
	DIAGNOSIS_COMMANDS_MAX = 2,
	DIAGNOSIS_COMMAND_MAX = 9 * 1024, /* two paths, quoted, and some words */
};

enum tier { TIER_NAMESPACE, TIER_LANDLOCK, TIER_NONE };
enum { TIERS = TIER_NONE + 1 };

struct check {
	const char *name; /* its key in the JSON object: part of a contract */
	bool needed;      /* the default tier does not work without it */
	struct trial_result result;
};

/* A way out through somebody outside, which the default tier closes for the leg. */
struct door {
	const char *path; /* raw bytes */
	const char *why;
	bool open; /* to this user, and to a leg in another tier */
};

/* The strings of checks and doors are their maker's. */
struct diagnosis {
	struct check checks[DIAGNOSIS_CHECKS_MAX];
	size_t n_checks;
	struct door *doors;
	size_t n_doors;
	/* By a whole run in that tier. Its word counts: what else a run needs is part of it. */
	struct trial_result tiers[TIERS];
	/*
	 * By a run in the default tier as root with --user, through sudo if through_sudo. TRIAL_UNKNOWN
	 * without an error where that was not tried: it is for where the default does not work.
	 */
	struct trial_result other_user;
	bool through_sudo;
	const char *user; /* of --user */
	/* What stands in the way of the namespaces, if something does. */
	enum userns_obstacle obstacle;
	const char *program; /* its absolute path, for commands to type */
};

struct fix {
	const char *text; /* belongs to the diagnosis, or is constant */
	char commands[DIAGNOSIS_COMMANDS_MAX][DIAGNOSIS_COMMAND_MAX];
	size_t n_commands;
};

/* The strongest that works. */
enum tier diagnosis_tier(const struct diagnosis *d);

/* What makes the default tier work, each thing once; their number. None if it does. */
size_t diagnosis_fixes(const struct diagnosis *d, struct fix fixes[DIAGNOSIS_FIXES_MAX]);

/* For people, for programs; malloc'd, NULL with *e. */
char *diagnosis_table(const struct diagnosis *d, struct error *e);
char *diagnosis_json(const struct diagnosis *d, struct error *e);

#endif
