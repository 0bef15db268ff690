/*
 * What came of an attack, as seen from outside: bytes, inodes and names, processes, locks, keys, the
 * terminal. What the attack says of itself counts only where nothing shows outside.
 */
#ifndef GUARD_ATTACK_JUDGE_H
#define GUARD_ATTACK_JUDGE_H

#include "guard/attack/bystander.h"
#include "guard/attack/registry.h"
#include "guard/attack/step.h"

#include <stdbool.h>
#include <stddef.h>

enum verdict_kind {
	VERDICT_UNTRIED,  /* it could not even be attempted: proves nothing */
	VERDICT_LACKING,  /* the machine lacks what it needs */
	VERDICT_BLOCKED,  /* nothing changed at any moment, and its calls failed */
	VERDICT_REPAIRED, /* something changed while the leg ran; afterwards all is as it was */
	VERDICT_THROUGH,  /* afterwards something differs, is hurt, held, or alive */
};

struct verdict {
	enum verdict_kind kind;
	bool reported;    /* the wrapper said that something was tampered with (legguard only) */
	int status;       /* of the wrapper; -1 if it had to be ended */
	char detail[256]; /* one line; may hold anything */
	char said[512];   /* the end of the wrapper's standard error */
};

/* inotify(7) on the decoys. */
struct judge_watch {
	int fd, output; /* the watch of STEP_OUTPUT */
};

/* What is there to judge by. */
struct evidence {
	const struct attack *attack;
	const struct step *step;
	const struct step_record *before;
	struct bystander *bystander;
	const char *marker;
	const char *output; /* the wrapper's standard output, NUL-terminated */
	const char *errors; /* its standard error */
	bool own;           /* the wrapper is legguard run */
	int alive;          /* descriptor of step.alive, opened anew by nobody else */
	int terminal;       /* the terminal's other end, or -1 */
	const struct judge_watch *watch;
	bool runner_stopped, runner_killed, hung;
	int status;
};

/* Takes a bounded time for what is late, if something is alive that could be. */
void judge(struct verdict *v, const struct evidence *e);

/* Watch what should never change. -1 with errno; then w->fd is to be closed all the same, unless it is -1. */
int judge_watch(struct judge_watch *w, const struct step *s, bool own);

#endif
