/*
 * Which attacks there are. Each is a small function that the program runs as the leg (leg.h), grouped by
 * what it goes for; the battery judges from outside what came of it (judge.h).
 */
#ifndef GUARD_ATTACK_REGISTRY_H
#define GUARD_ATTACK_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct brief;

/* What an attack wants of the battery. */
enum {
	ATTACK_OUTSIDER = 1 << 0, /* goes for, or through, a process outside of the leg */
	ATTACK_TTY = 1 << 1,      /* the wrapper's standard input is its controlling terminal */
	ATTACK_INHERIT = 1 << 2,  /* the wrapper is started with more descriptors than 0, 1 and 2 */
	ATTACK_SMALL_FS = 1 << 3, /* the step lies on a file system that can be filled */
	ATTACK_COPY = 1 << 4,     /* the program that guards is one that this user may write */
	ATTACK_OWN = 1 << 6,      /* goes for what only legguard does */
	ATTACK_HOLDS = 1 << 7,    /* changes nothing, but holds or uses up something meanwhile */
	ATTACK_BY_KERNEL =
	    1 << 5, /* Linux refuses it to an ordinary user, with no wrapper at all */
};

struct attack {
	const char *name;
	const char *what;       /* what it does, in a line */
	const char *stopped_by; /* what of legguard's is meant to stop it, or undo it */
	void (*leg)(const struct brief *b);
	unsigned int wants;
	/* Why it can't be carried out on this machine as this user, looked at outside; NULL if it can. */
	const char *(*lacking)(uid_t leg);
	/*
	 * Where the README's list of what is not promised says that it gets through: NULL is nowhere, "" is
	 * everywhere, else a list of words, with commas; one of them is an option of legguard run, or the
	 * value of one.
	 */
	const char *documented;
};

struct attack_group {
	const char *name;  /* one word */
	const char *title; /* what is attacked */
	const struct attack *list;
	size_t count;
};

extern const struct attack_group attack_write, attack_names, attack_mounts, attack_around,
    attack_process, attack_doors, attack_resources, attack_late, attack_host;

/* All groups, in the order of the table; ends with NULL. */
extern const struct attack_group *const attack_groups[];

size_t attack_count(void);

/* NULL if there is none of that name, which has `length` bytes. */
const struct attack *attack_find(const char *name, size_t length);

#endif
