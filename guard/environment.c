/* The leg's environment. See environment.h. */
#include "guard/environment.h"

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

char **
environment_make(
    char *const *env, const struct options *o, const struct words *removed, struct error *e)
{
	size_t n = 0;
	char **made;

	while (env[n] != NULL)
		n++;
	made = calloc(n + o->n_env + 1, sizeof *made);
	if (made == NULL)
		goto err;
	n = 0;
	for (size_t i = 0; !o->clear_env && env[i] != NULL; i++, n++)
		if ((made[n] = strdup(env[i])) == NULL)
			goto err;
	for (size_t i = 0; i < removed->count; i++)
		n = remove_name(made, n, removed->list[i]);
	for (size_t i = 0; i < o->n_env; i++) {
		const struct env_change *change = &o->env[i];

		n = remove_name(made, n, change->name);
		if (change->value == NULL)
			continue;
		if (asprintf(&made[n], "%s=%s", change->name, change->value) < 0) {
			made[n] = NULL;
			goto err;
		}
		n++;
	}
	return made;
err:
	error_set(e, errno, NULL, "can't make the leg's environment");
	if (made != NULL)
		environment_free(made);
	return NULL;
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
