/*
 * One attack, carried out: a decoy step is made, a bystander started, the wrapper run with the attack as
 * its leg, everything that is left looked at and then ended.
 *
 * All of it happens in a process of its own, the stage, which is a child subreaper: whatever the attack
 * leaves comes to it and is killed by it. What the battery's process is told comes through shared memory.
 */
#ifndef GUARD_ATTACK_STAGE_H
#define GUARD_ATTACK_STAGE_H

#include "bindmount/error.h"
#include "guard/attack/judge.h"
#include "guard/startup.h"

struct stage_plan {
	/*
	 * The wrapper's words. A word {} stands for the words of the attack's command; in any other
	 * {file}, {dir}, {temp} and {workspace} stand for a path of the decoys.
	 */
	const char *const *wrapper;
	bool own;            /* it is legguard run: the first word is the program */
	const char *program; /* a path to this program */
	char *const *env;
	const struct startup *startup;
	uid_t uid; /* who the decoys belong to, and the group */
	gid_t gid;
};

/*
 * attack: NULL only starts the leg, to see whether the wrapper does. -1 is for what went wrong on the
 * battery's own side; ECANCELED in e->errnum after SIGINT, SIGTERM or SIGHUP, which stay pending.
 */
int stage_run(
    struct verdict *v, const struct stage_plan *p, const struct attack *attack, struct error *e);

#endif
