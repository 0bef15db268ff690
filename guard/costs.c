/* See costs.h. */
#include "guard/costs.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"
#include "guard/writable.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4096 };

static bool
is_pinned(const struct view *v, const char *path)
{
	for (size_t i = 0; i < v->pinned.count; i++)
		if (strcmp(v->pinned.list[i].path, path) == 0)
			return true;
	return false;
}

/* Why nothing new can be made directly at path, or NULL. */
static const char *
obstacle(const struct view *v, const char *path)
{
	if (is_pinned(v, path))
		return "is pinned: nothing new can be made directly in it";
	if (v->writable.count == 0)
		return NULL;
	switch (writable_look(v, path)) {
	case PLACE_READ_ONLY:
		return "is read-only: no --writable names it";
	case PLACE_NOT_THERE:
		return "is not there: /tmp and /dev/shm are private";
	default:
		return NULL;
	}
}

static void
describe_place(FILE *out, const struct plan *p, const char *what, const char *path)
{
	AUTO_FREE char *real = path != NULL ? realpath(path, NULL) : NULL;
	const char *why = real != NULL ? obstacle(&p->view, real) : NULL;
	char text[WORD];

	if (why != NULL)
		fprintf(out, "warning    %s (%s) %s\n", what,
		    error_visible(text, sizeof text, real), why);
}

void
costs_describe(FILE *out, const struct plan *p)
{
	const char *temporary = environment_get(p->leg_env, "TMPDIR");

	describe_place(out, p, "HOME", environment_get(p->leg_env, "HOME"));
	describe_place(out, p, "RUNNER_TEMP", environment_get(p->leg_env, "RUNNER_TEMP"));
	describe_place(out, p, "TMPDIR", temporary != NULL ? temporary : "/tmp");
	describe_place(out, p, "the leg's directory", p->view.cwd.path);
}
