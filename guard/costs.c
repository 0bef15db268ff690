/* See costs.h. */
#include "guard/costs.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"

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

static void
describe_place(FILE *out, const struct plan *p, const char *what, const char *path)
{
	AUTO_FREE char *real = path != NULL ? realpath(path, NULL) : NULL;
	char text[WORD];

	if (real != NULL && is_pinned(&p->view, real))
		fprintf(out,
		    "warning    %s (%s) is pinned: nothing new can be made directly in it\n", what,
		    error_visible(text, sizeof text, real));
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
