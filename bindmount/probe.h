/*
 * What this machine lets an ordinary process do: each found out by doing it, in a child that undoes it
 * by ending, with the code that a real run uses.
 *
 * Errors carry the cure that a run would name. Nothing here prints.
 */
#ifndef BINDMOUNT_PROBE_H
#define BINDMOUNT_PROBE_H

#include "bindmount/trial.h"
#include "bindmount/view.h"

/* view is what is built where one is needed; its fresh_proc does not count. */
typedef void probe_function(const struct view *view, struct trial_result *r);

/* A user and a mount namespace, with the caller's uid and gid mapped. */
void probe_user_namespaces(const struct view *view, struct trial_result *r);
/* The view in them, but for /proc. */
void probe_mounts(const struct view *view, struct trial_result *r);
/* A pid namespace besides, and a fresh /proc that shows it. */
void probe_pid_namespace(const struct view *view, struct trial_result *r);
/* In that, what the leg gets: a further user and mount namespace, and no capabilities. */
void probe_nested_namespaces(const struct view *view, struct trial_result *r);
/* In that, bubblewrap with namespaces and a /proc of its own; its steps where it is not installed. */
void probe_nested_bubblewrap(const struct view *view, struct trial_result *r);

/* The newer mount calls, in a user and mount namespace. */
void probe_open_tree(const struct view *view, struct trial_result *r);
void probe_move_mount(const struct view *view, struct trial_result *r);
void probe_mount_setattr(const struct view *view, struct trial_result *r);

void probe_clone3(const struct view *view, struct trial_result *r);
void probe_pidfd_open(const struct view *view, struct trial_result *r);
void probe_pidfd_send_signal(const struct view *view, struct trial_result *r);

/* The value is the ABI: a domain that forbids writing was entered, and it held. */
void probe_landlock(const struct view *view, struct trial_result *r);
/* Likewise a domain that signals don't leave. */
void probe_landlock_scopes(const struct view *view, struct trial_result *r);

#endif
