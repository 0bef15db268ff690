/*
 * The sweep: looking for what left the leg's tree through somebody else, after the leg's end.
 *
 * A leg that shares the host's pid namespace can have a process started for it by a daemon, as
 * `systemd-run --user` does. No tree, session or reaper leads to such a process, so it is looked for by
 * what it can't help being. A candidate is a live process
 *   - whose real uid is the leg's, and
 *   - that did not start before the leg could (start times have 10 ms, and tie),
 * without those that can't be the leg's:
 *   - the launcher, its ancestors, its children, and
 *   - its session: the leg has left that by setsid(2), and nobody can join one.
 * Every other live process is an outsider. Found are the candidates that descend from no outsider, so
 * that a server which an earlier step left may start a worker, and the step's own `| tee`, which may
 * have started with the leg, may have children in sessions of their own. The parents of orphans and of
 * what is started on request say nothing about whose it is: pid 1 and the user's service manager, which
 * is a child of pid 1 with the name systemd, shield nobody.
 *
 * What this can't see, and why it is no proof: what a daemon of another uid keeps below itself (at, cron,
 * docker), what a subreaper above the launcher adopted, what has got itself another real uid (sudo,
 * newuidmap), and what a server of the same user that is no service manager started on request. What it
 * sees too much of: what the same user starts elsewhere while the leg runs, such as another login. It
 * is made for machines and accounts that do one job at a time.
 */
#ifndef GUARD_SWEEP_H
#define GUARD_SWEEP_H

#include "bindmount/error.h"
#include "guard/options.h"
#include "guard/outcome.h"
#include "guard/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sweep_scope {
	int procfd;               /* /proc of the launcher's pid namespace; the scope's own */
	uid_t uid;                /* whose processes are looked at */
	unsigned long long since; /* clock ticks since boot; earlier ones are outsiders */
	pid_t self, session;      /* the launcher's */
	bool whole_machine; /* root outside of any container: the machine's services are its own */
	/* For tests. What is not accepted is an outsider; send is process_signal(). */
	bool (*accept)(const struct process *p, void *arg); /* NULL: all are */
	void *arg;
	int (*send)(const struct process *p, int procfd, int sig);
};

enum { SWEEP_FOUND_MAX = 1024 }; /* that many are kept; all are counted and killed */

struct sweep_result {
	struct processes found; /* after a SWEEP_KILL that is not clean, those found last */
	size_t total;           /* their number; may be more than are kept */
	bool clean;             /* the last listing was settled and empty */
};

/*
 * The caller's own scope for a leg of that uid, to be called before the leg can start, and given back in
 * either case.
 */
int sweep_scope_open(struct sweep_scope *s, uid_t uid, struct error *e);
void sweep_scope_close(struct sweep_scope *s);

/*
 * What to do when nothing was asked for: kill where the leg's end is known only from a reaper that the
 * leg could reach, or not at all; nothing where the kernel has answered for everything. As root of a
 * whole machine, where a timer's service or a login would be found as well, only report.
 */
enum sweep_mode sweep_mode(enum sweep_mode asked, enum proof proof, const struct sweep_scope *s);

/*
 * Reduce a listing of all processes to those found. Pure: every process has its session, and its uid if
 * it started in time. The parent of every process is in the listing, or 0, or hidden from the caller
 * (hidepid), which only another user's can be: then it is an outsider. -1 without memory.
 */
int sweep_select(struct processes *all, const struct sweep_scope *s);

/*
 * List what is to be found now, by pid. *settled is false if processes came and went so that some could not be
 * placed; those are not in the list. found is to be given back with processes_free(). -1: errno.
 */
int sweep_list(struct processes *found, bool *settled, const struct sweep_scope *s);

/*
 * SWEEP_REPORT: list. SWEEP_KILL: stop all, kill all, and list again, until a settled listing is empty,
 * for 50 rounds or about bound_ms at the most. result is to be given back with
 * processes_free(&result->found).
 * -1 with *e if the processes could not be listed; result is not clean then.
 */
int sweep_run(struct sweep_result *result, const struct sweep_scope *s, enum sweep_mode mode,
    int64_t bound_ms, struct error *e);

#endif
