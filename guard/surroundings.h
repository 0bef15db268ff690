/*
 * What is to be known of this machine besides what its kernel allows: who we are, what holds us, and who
 * would give us more. Each has the form of a probe; see bindmount/probe.h.
 */
#ifndef GUARD_SURROUNDINGS_H
#define GUARD_SURROUNDINGS_H

#include "bindmount/probe.h"

/* Linux 5.15 or later; the detail is its release. */
void surroundings_kernel(const struct view *view, struct trial_result *r);
/* An ordinary user: a leg that is root is not confined by a user namespace. The value is the uid. */
void surroundings_user(const struct view *view, struct trial_result *r);
/* Signs of a container, named in the detail. */
void surroundings_container(const struct view *view, struct trial_result *r);
/* A system call filter, as container engines set one. */
void surroundings_seccomp(const struct view *view, struct trial_result *r);
/* no_new_privs, which makes sudo useless. */
void surroundings_no_new_privs(const struct view *view, struct trial_result *r);
/* The sysctl that keeps programs without a profile from using user namespaces; its value. */
void surroundings_apparmor(const struct view *view, struct trial_result *r);
/* Yama's kernel.yama.ptrace_scope; its value. */
void surroundings_ptrace_scope(const struct view *view, struct trial_result *r);
/* A control group below our own was made, entered and removed. */
void surroundings_cgroup(const struct view *view, struct trial_result *r);
/* sudo runs a command without asking for a password. */
void surroundings_sudo(const struct view *view, struct trial_result *r);
/* Membership in the group docker, which is as good as root where the socket can be reached. */
void surroundings_docker_group(const struct view *view, struct trial_result *r);

#endif
