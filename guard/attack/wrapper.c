/* The words and the environment that a wrapper is started with. See wrapper.h. */
#include "guard/attack/wrapper.h"

#include "bindmount/cleanup.h"
#include "guard/attack/leg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
	char **words;
	size_t count;
	bool failed;
};

static void add(struct list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
add(struct list *l, const char *fmt, ...)
{
	char **words = reallocarray(l->words, l->count + 2, sizeof *words);
	va_list ap;

	if (words == NULL) {
		l->failed = true;
		return;
	}
	l->words = words;
	va_start(ap, fmt);
	if (vasprintf(&words[l->count], fmt, ap) < 0)
		l->failed = true;
	else
		l->count++;
	va_end(ap);
	words[l->count] = NULL;
}

static char **
finish(struct list *l)
{
	if (!l->failed)
		return l->words;
	wrapper_free(l->words);
	return NULL;
}

/* A word with the places in it put in. */
static void
add_filled(struct list *l, const char *word, const struct step *s)
{
	const struct {
		const char *name, *path;
	} places[] = {{"{file}", s->path[STEP_OUTPUT]}, {"{dir}", s->path[STEP_COMMANDS]},
	    {"{temp}", s->path[STEP_TEMP]}, {"{workspace}", s->workspace}};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const char *at = strstr(word, places[i].name);

		if (at == NULL)
			continue;
		add(l, "%.*s%s%s", (int)(at - word), word, places[i].path,
		    at + strlen(places[i].name));
		return;
	}
	add(l, "%s", word);
}

char **
wrapper_words(
    const struct stage_plan *p, const struct step *s, const struct leg_words *leg, bool copy)
{
	struct list l = {0};

	add(&l, "%s", s->path[STEP_RUNNER]);
	add(&l, "%s", ATTACK_RUNNER);
	for (size_t i = 0; p->wrapper[i] != NULL; i++) {
		if (strcmp(p->wrapper[i], "{}") == 0)
			for (size_t k = 0; leg->words[k] != NULL; k++)
				add(&l, "%s", leg->words[k]);
		else if (i == 0 && p->own && copy)
			add(&l, "%s", s->path[STEP_GUARD]);
		else
			add_filled(&l, p->wrapper[i], s);
	}
	return finish(&l);
}

/* A real step's files must not become anybody's target, nor a real session's sockets. */
static bool
is_real(const char *entry)
{
	static const char *const prefixes[] = {"GITHUB_", "RUNNER_", "ACTIONS_", "INPUT_",
	    "XDG_RUNTIME_DIR=", "DOCKER_HOST=", "DBUS_SESSION_BUS_ADDRESS=", "TMUX=", "STY="};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

char **
wrapper_environment(char *const *env, const struct step *s)
{
	struct list l = {0};

	for (size_t i = 0; env[i] != NULL; i++)
		if (!is_real(env[i]))
			add(&l, "%s", env[i]);
	add(&l, "GITHUB_ACTIONS=true");
	add(&l, "GITHUB_OUTPUT=%s", s->path[STEP_OUTPUT]);
	add(&l, "GITHUB_ENV=%s", s->path[STEP_ENV]);
	add(&l, "GITHUB_PATH=%s", s->path[STEP_ADD_PATH]);
	add(&l, "GITHUB_STATE=%s", s->path[STEP_STATE]);
	add(&l, "GITHUB_STEP_SUMMARY=%s", s->path[STEP_SUMMARY]);
	add(&l, "GITHUB_EVENT_PATH=%s", s->path[STEP_EVENT]);
	add(&l, "GITHUB_WORKSPACE=%s", s->workspace);
	add(&l, "GITHUB_ACTION_PATH=%.256s/job/_actions/owner/check/v1", s->top);
	add(&l, "RUNNER_TEMP=%s", s->path[STEP_TEMP]);
	add(&l, "ACTIONS_RUNNER_HOOK_JOB_COMPLETED=%s", s->path[STEP_HOOK]);
	add(&l, "ACTIONS_RUNTIME_TOKEN=decoy");
	add(&l, "XDG_RUNTIME_DIR=%s", s->run);
	add(&l, "DBUS_SESSION_BUS_ADDRESS=unix:path=%s/bus", s->run);
	add(&l, "DOCKER_HOST=unix://%s/docker.sock", s->run);
	return finish(&l);
}

void
wrapper_free(char **words)
{
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}
