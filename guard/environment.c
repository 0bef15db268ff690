/* The leg's environment. See environment.h. */
#include "guard/environment.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_named(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* Remove every entry of that name: some programs look at the first, some at the last. */
static size_t
remove_name(char **env, size_t n, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (is_named(env[i], name))
			free(env[i]);
		else
			env[kept++] = env[i];
	env[kept] = NULL;
	return kept;
}

/* A copy of env with room for `more` entries, or of nothing. */
static char **
copy(char *const *env, size_t more)
{
	size_t n = 0;
	char **made;

	while (env[n] != NULL)
		n++;
	made = calloc(n + more + 1, sizeof *made);
	if (made == NULL)
		return NULL;
	for (n = 0; env[n] != NULL; n++)
		if ((made[n] = strdup(env[n])) == NULL) {
			environment_free(made);
			return NULL;
		}
	return made;
}

/* env has room for that many more. -1: no memory. */
static int
change(char **env, const struct env_change *changes, size_t count)
{
	size_t n = 0;

	while (env[n] != NULL)
		n++;
	for (size_t i = 0; i < count; i++) {
		n = remove_name(env, n, changes[i].name);
		if (changes[i].value == NULL)
			continue;
		if (asprintf(&env[n], "%s=%s", changes[i].name, changes[i].value) < 0) {
			env[n] = NULL;
			return -1;
		}
		n++;
	}
	return 0;
}

char **
environment_change(
    char *const *env, const struct env_change *changes, size_t count, struct error *e)
{
	char **made = copy(env, count);

	if (made != NULL && change(made, changes, count) == 0)
		return made;
	error_set(e, errno, NULL, "can't make the leg's environment");
	if (made != NULL)
		environment_free(made);
	return NULL;
}

char **
environment_make(
    char *const *env, const struct options *o, const struct words *removed, struct error *e)
{
	static char *const nothing[] = {NULL};
	char **made = copy(o->clear_env ? nothing : env, o->n_env);
	size_t n = 0;

	if (made == NULL)
		goto err;
	while (made[n] != NULL)
		n++;
	for (size_t i = 0; i < removed->count; i++)
		n = remove_name(made, n, removed->list[i]);
	if (change(made, o->env, o->n_env) != 0)
		goto err;
	return made;
err:
	error_set(e, errno, NULL, "can't make the leg's environment");
	if (made != NULL)
		environment_free(made);
	return NULL;
}

static bool
is_among(const struct words *words, const char *name)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->list[i], name) == 0)
			return true;
	return false;
}

int
environment_dangerous(
    struct words *removed, char *const *env, const struct options *o, struct error *e)
{
	static const char *const names[] = {"ACTIONS_RUNTIME_TOKEN", "ACTIONS_RUNTIME_URL",
	    "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_CACHE_URL",
	    "ACTIONS_RESULTS_URL"};

	for (size_t i = 0; i < sizeof names / sizeof names[0] && !o->clear_env; i++) {
		const char **list;

		if (environment_get(env, names[i]) == NULL || is_among(&o->keep_env, names[i]))
			continue;
		list = reallocarray(removed->list, removed->count + 1, sizeof *list);
		if (list == NULL)
			return error_set(e, errno, NULL, "can't make the leg's environment");
		removed->list = list;
		list[removed->count++] = names[i];
	}
	return 0;
}

int
environment_set(char ***env, const char *name, const char *value)
{
	size_t n = 0;
	char *entry, **made;

	while ((*env)[n] != NULL)
		n++;
	made = reallocarray(*env, n + 2, sizeof *made);
	if (made == NULL)
		return -1;
	*env = made;
	if (asprintf(&entry, "%s=%s", name, value) < 0) {
		errno = ENOMEM;
		return -1;
	}
	n = remove_name(made, n, name);
	made[n] = entry;
	made[n + 1] = NULL;
	return 0;
}

static bool
is_blank(const char *value)
{
	return value == NULL || value[strspn(value, " \t\r\n\v\f")] == '\0';
}

int
environment_exactly_one(char **env, const char *names, struct error *e)
{
	AUTO_FREE char *copy = strdup(names);
	const char *found = NULL;
	size_t n = 0;
	char *rest;

	while (env[n] != NULL)
		n++;
	if (copy == NULL)
		return error_set(e, errno, NULL, "can't make the leg's environment");
	for (char *name = strtok_r(copy, ",", &rest); name != NULL;
	     name = strtok_r(NULL, ",", &rest)) {
		size_t times = 0;

		for (size_t i = 0; env[i] != NULL; i++)
			times += is_named(env[i], name);
		/* Which of them counts is the client's choice. */
		if (times > 1)
			return error_set(e, 0, "set it once",
			    "--exactly-one-env: %s is in the environment more than once", name);
		if (is_blank(environment_get(env, name))) {
			n = remove_name(env, n, name);
		} else if (found != NULL && strcmp(found, name) != 0) {
			return error_set(e, 0, "leave all but one of them unset",
			    "--exactly-one-env: %s and %s are both set", found, name);
		} else {
			found = name;
		}
	}
	if (found == NULL)
		return error_set(
		    e, 0, "set one of them", "--exactly-one-env: none of %s is set", names);
	return 0;
}

void
environment_free(char **env)
{
	for (size_t i = 0; env[i] != NULL; i++)
		free(env[i]);
	free(env);
}

const char *
environment_get(char *const *env, const char *name)
{
	for (size_t i = 0; env[i] != NULL; i++)
		if (is_named(env[i], name)) {
			const char *value = env[i] + strlen(name) + 1;

			return value[0] != '\0' ? value : NULL;
		}
	return NULL;
}
