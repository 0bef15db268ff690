/* The leg's environment. Pure. */
#ifndef GUARD_ENVIRONMENT_H
#define GUARD_ENVIRONMENT_H

#include "bindmount/error.h"
#include "guard/options.h"

/*
 * The caller's environment env without the variables in removed, then with -i, --setenv and --unset
 * applied in the order given. The array is malloc'd, NULL-terminated, to be given back with
 * environment_free().
 */
char **environment_make(
    char *const *env, const struct options *o, const struct words *removed, struct error *e);

/*
 * Add to *removed those variables of env that let whoever has them act as the job towards GitHub's services: its
 * tokens, and the addresses that go with them. Not those of --keep-env. The strings are constants.
 */
int environment_dangerous(
    struct words *removed, char *const *env, const struct options *o, struct error *e);

/* A copy of env with the changes applied in the order given; to be given back in the same way. */
char **environment_change(
    char *const *env, const struct env_change *changes, size_t count, struct error *e);

/* Give name a value, in place of all that it has in *env, which may move. -1: errno ENOMEM. */
int environment_set(char ***env, const char *name, const char *value);

/*
 * Refuse unless exactly one of the variables in names ("A,B") has a value in env that is more than blanks; the others are
 * removed from it. Messages name variables, never values.
 */
int environment_exactly_one(char **env, const char *names, struct error *e);

void environment_free(char **env);

/* The value of name in env, or NULL if it is not there or empty. */
const char *environment_get(char *const *env, const char *name);

#endif
