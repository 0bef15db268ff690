/* What is known about a run when it is over. See outcome.h. */
#include "guard/outcome.h"

#include "guard/bounded.h"

#include <stdlib.h>

const char *
isolation_name(enum isolation isolation)
{
	static const char *const names[] = {
	    [ISOLATION_NAMESPACE] = "namespace",
	    [ISOLATION_LANDLOCK] = "landlock",
	    [ISOLATION_NONE] = "none",
	};

	return names[isolation];
}

const char *
proof_name(enum proof proof)
{
	static const char *const names[] = {
	    [PROOF_NONE] = "none",
	    [PROOF_PID_NAMESPACE] = "pid-namespace",
	    [PROOF_CGROUP] = "cgroup",
	    [PROOF_SUBREAPER] = "subreaper",
	};

	return names[proof];
}

void
outcome_free(struct outcome *o)
{
	findings_free(&o->findings);
	leftovers_free(&o->leftovers);
	processes_free(&o->swept);
	importing_free(&o->importing);
	classify_free(&o->classifier);
	for (size_t i = 0; i < sizeof o->output / sizeof o->output[0]; i++)
		tail_free(&o->output[i]);
	free(o->brought_out.where);
	free(o->brought_out.first);
	free(o->audit.path);
	free(o->survivors);
	o->survivors = NULL;
	o->n_survivors = 0;
}

int64_t
outcome_write_until(const struct outcome *o)
{
	int64_t last = bounded_now() + BOUNDED_LAST_MS;

	if (o->write_until == 0)
		return BOUNDED_NEVER;
	return o->write_until < last ? o->write_until : last;
}

enum outcome_view
outcome_view(const struct options *o)
{
	if (o->isolation != ISOLATION_NAMESPACE)
		return VIEW_NONE;
	if (o->writable.count > 0)
		return VIEW_STRICT;
	return o->pin ? VIEW_PIN : VIEW_DEFAULT;
}

const char *
outcome_view_name(enum outcome_view view)
{
	static const char *const names[] = {
	    [VIEW_NONE] = "none",
	    [VIEW_DEFAULT] = "default",
	    [VIEW_PIN] = "pin",
	    [VIEW_STRICT] = "strict",
	};

	return names[view];
}
