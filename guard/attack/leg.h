/*
 * The attacking side: the program runs itself as the leg, "attack-leg NAME TOP MARKER ...", through
 * whatever wrapper is tried. The attack says on standard output what came of its attempts, a line for
 * each, by the functions here; the battery believes that only where it can't see for itself.
 */
#ifndef GUARD_ATTACK_LEG_H
#define GUARD_ATTACK_LEG_H

#include "guard/attack/bystander.h"
#include "guard/attack/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The hidden command, and what its lines of output begin with. */
#define ATTACK_LEG   "attack-leg"
#define ATTACK_CHECK "check"        /* the name of no attack: says that the leg has been started */
#define LEG_DID      "attack did: " /* an attempt had its effect, as far as the leg can see */
#define LEG_TRIED    "attack tried: "   /* what came of it shows later, or outside */
#define LEG_FAILED   "attack failed: "  /* a call of it was refused */
#define LEG_GOT      "attack got: "     /* it has something that no leg should have */
#define LEG_UNTRIED  "attack untried: " /* it could not even be attempted */

enum { LEG_ARGUMENTS = 7 };

/* What an attack knows. */
struct brief {
	struct step step;
	const char *marker; /* in everything that is forged */
	char line[128];     /* what is forged: an output, with the marker and a newline */
	pid_t bystander;    /* as numbered outside */
	pid_t stage; /* the battery's own process, which nobody may stop, as numbered outside */
	unsigned long pid_ns;     /* the battery's pid namespace: its inode */
	struct bystander *canary; /* address in the bystander's memory */
	char abstract[96];        /* name of its abstract socket, without the NUL */
	const char *output;       /* step.path[STEP_OUTPUT] */
};

/* main() of the leg. */
int attack_leg(int argc, char **argv);

/*
 * The hidden command of the process that starts the wrapper, as the runner does: "attack-runner WORD...".
 * Ends as the wrapper did, 128+n if signal n ended it.
 */
#define ATTACK_RUNNER "attack-runner"
int attack_runner(char **argv);

void leg_did(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void leg_tried(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void leg_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* adds errno */
void leg_got(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void leg_untried(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* adds errno */

/* did or failed, with the same words. Returns ok. */
bool leg_try(bool ok, const char *what);

/* Write the forged line to fd, or say why not. fd < 0: the open failed. Closes it. */
bool leg_forge(int fd, const char *what);
/* Open path with O_WRONLY | O_APPEND and forge. */
bool leg_append(const char *path, const char *what);

/* A file in the working directory that holds the forged line. Ends the leg if it can't be made. */
void leg_forged_file(const struct brief *b, const char *name);

/*
 * Enter a user namespace with all capabilities in it, the caller's ids mapped to themselves, and the other
 * namespaces of flags. False, and said, if that is refused.
 */
bool leg_nest(int flags);

/* Does the leg see the battery's pid namespace? Then numbers of processes mean the same. */
bool leg_shares_pids(const struct brief *b);

#endif
