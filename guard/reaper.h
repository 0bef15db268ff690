/*
 * The reaper: the process between launcher and leg that ends last.
 *
 * In the namespace tier it is PID 1 of the leg's pid namespace: it builds the leg's view, starts the
 * leg, reaps orphans, and when the leg's main process ends it reports status and survivors and exits,
 * upon which the kernel kills the rest; that it could be waited for is the proof that nothing is left
 * (pid_namespaces(7)). Without namespaces it is a child subreaper (PR_SET_CHILD_SUBREAPER) that kills
 * all descendants itself and exits when it has no child left; that it says so is the proof.
 *
 * It is not dumpable, and the leg lives in a child user namespace, so the leg can neither trace it
 * nor read or write its memory. It ends with the launcher in any case.
 */
#ifndef GUARD_REAPER_H
#define GUARD_REAPER_H

#include "bindmount/error.h"
#include "guard/leg.h"
#include "guard/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { REAPER_SURVIVORS_MAX = 64 }; /* that many are described; all are counted and killed */

enum reaper_message_kind {
	REAPER_DECOYS,  /* a descriptor comes with it, see reaper.decoys */
	REAPER_STARTED, /* the command has been executed */
	REAPER_FAILED,  /* failure says why there is no leg */
	REAPER_ENDED,   /* the leg's main process ended */
};

/* What the reaper says: one packet each on a SOCK_SEQPACKET pair. */
struct reaper_message {
	enum reaper_message_kind kind;
	struct leg_failure failure;
	struct rusage usage; /* of the leg's main process and what it has waited for */
	int wait_status; /* of the leg's main process, as in waitpid(2) */
	bool all_dead;   /* subreaper only: every descendant has been waited for */
	size_t survivors_total;
	size_t n_survivors;
	struct survivor survivors[REAPER_SURVIVORS_MAX];
};

struct reaper {
	pid_t pid;
	int pidfd;  /* readable when it has ended */
	int socket; /* struct reaper_message from it; hung up when it is gone */
	int decoys; /* of the leg's view, see view_build(); -1 until it is received, or if there are none */
};

/*
 * Make it, in new namespaces if plan->confined. Returns as soon as the process exists; what becomes of
 * it arrives as messages. *r is to be ended with reaper_wait() and closed with reaper_close().
 */
int reaper_start(struct reaper *r, const struct leg_plan *plan, struct error *e);

/*
 * Let the leg start. Until then the reaper only sets up what the leg will find. A reaper that has ended
 * meanwhile is no error: it has said why.
 */
int reaper_go(const struct reaper *r, struct error *e);

/*
 * Send sig to the leg: to its process group, and in a pid namespace of its own to every process there.
 */
void reaper_signal(const struct reaper *r, int sig);

/* Ask for the leg's end: its main process is killed, the rest follows as usual. */
void reaper_end_leg(const struct reaper *r);

/* Kill the reaper itself; in the namespace tier nothing survives that. */
void reaper_kill(const struct reaper *r);

/* Receive one message without waiting. 1: got one; 0: none now; -1: there will be none any more. */
int reaper_receive(struct reaper *r, struct reaper_message *m);

/* Take the status of a reaper that has ended. 0 if it has, which is proven then; -1 if not yet. */
int reaper_wait(struct reaper *r);

void reaper_close(struct reaper *r);

#endif
