/*
 * Somebody outside of the leg: a process of the same user, as there are many on a machine. It has memory
 * worth changing, limits and a priority, reacts to signals, holds a directory and a guarded file open, and
 * listens on sockets: at some it takes orders, as a container engine or a service manager does, and at
 * some it hands out a descriptor of the guarded file.
 */
#ifndef GUARD_ATTACK_BYSTANDER_H
#define GUARD_ATTACK_BYSTANDER_H

#include "bindmount/error.h"
#include "guard/attack/step.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its sockets. */
enum door {
	DOOR_DOCKER,
	DOOR_PODMAN,
	DOOR_BUS,
	DOOR_MANAGER,
	DOOR_TMUX,
	DOOR_SERVICE, /* in a place of its own, found only by looking who listens */
	DOOR_DESCRIPTOR,
	DOOR_ABSTRACT,
	DOOR_ABSTRACT_DESCRIPTOR,
	DOORS,
};

#define BYSTANDER_CANARY UINT64_C(0x6c6567677561726a)

enum {
	BYSTANDER_FILE = 20,      /* its descriptor of the guarded file, for reading */
	BYSTANDER_DIRECTORY = 21, /* and of the directory around it */
	BYSTANDER_SIGNAL = 10,    /* SIGUSR1, which it counts; SIGURG and SIGTERM likewise */
};

/* Memory that it shares with the battery, at the same address in both. */
struct bystander {
	volatile uint64_t canary;
	volatile unsigned int signals;
	volatile unsigned int asked; /* a bit for each door somebody came to */
	volatile int ready;
	volatile unsigned int answers; /* to the battery, which asks through this: */
	int ask;
	unsigned int asked_for_answers;
	pid_t pid;
	unsigned long nofile;
	int nice, oom, cpus, ioprio;
};

/* Where a door is: a path below s, or the name of an abstract socket made with the marker. */
const char *bystander_door(
    enum door d, const struct step *s, const char *marker, char *path, size_t size);

/*
 * Start it, as this user, and wait until it listens. Everything is given back with bystander_end().
 */
int bystander_start(struct bystander **b, const struct step *s, const char *marker, uid_t uid,
    gid_t gid, struct error *e);

/*
 * Was anything done to it, or through it? Says what first. It is given a bounded time to take the signals
 * that are on their way.
 */
bool bystander_is_hurt(struct bystander *b, char *what, size_t size);

void bystander_end(struct bystander *b);

#endif
