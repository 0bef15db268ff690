/*
 * Doors: ways out of the leg's view through somebody outside it who takes orders by a path. A container engine's
 * socket, a service manager, a bus, a terminal multiplexer and a queue of jobs will start something for whoever
 * can reach them, and what they start is in none of the leg's namespaces.
 *
 * Closed are the places of a table, and each socket that listens by a path now and whose file belongs to the leg's
 * user or to root: a socket of somebody else's is no way to more than the leg has, unless that is a root leg, which
 * can be anybody: to that all of them are closed, and all of /run/user. Left open is what only answers:
 * name service, the system's log, and agents that hold keys. What is bound later is not closed.
 */
#ifndef GUARD_DOORS_H
#define GUARD_DOORS_H

#include "bindmount/error.h"
#include "guard/plan.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Close the doors for a leg that is to run as uid: add them to view.hidden, and to view.kept what stays open
 * inside of a closed directory. What is not there, or can't be reached anyway, is passed over. --allow-socket
 * names a door, what is below it included, or something in it, and may name what is not there. env is the
 * launcher's.
 */
int doors_close(struct plan *p, char *const *env, uid_t uid, struct error *e);

/* True if at least one of that kind was closed. */
enum doors_kind { DOORS_ENGINE, DOORS_BUS };
bool doors_closed(const struct plan *p, enum doors_kind kind);

/* Pure: true if a socket bound to path stays open wherever it is found. */
bool doors_stays_open(const char *path);

#endif
