/* Which of the promises hold. See promises.h. */
#include "guard/promises.h"

const char *
promise_name(enum promise promise)
{
	static const char *const names[] = {
	    [PROMISE_CONTENTS_RESTORED] = "contents_restored",
	    [PROMISE_WRITES_DENIED] = "writes_denied",
	    [PROMISE_NAMES_HELD] = "names_held",
	    [PROMISE_ALL_DEAD] = "all_dead",
	    [PROMISE_DIES_WITH_LAUNCHER] = "dies_with_launcher",
	    [PROMISE_SIGNALS_CONFINED] = "signals_confined",
	};

	return names[promise];
}

/* No name above a guarded file can be changed. */
static bool
holds_names(const struct outcome *o)
{
	return o->isolation == ISOLATION_LANDLOCK || o->view == VIEW_PIN || o->view == VIEW_STRICT;
}

/* A read-only mount covers a name: around it, where that can be moved, only the hold stops the leg. See hold.h. */
static bool
denies_writes(const struct outcome *o)
{
	switch (o->isolation) {
	case ISOLATION_NAMESPACE:
		return o->held || holds_names(o);
	case ISOLATION_LANDLOCK:
		return o->truncation_denied;
	case ISOLATION_NONE:
		break;
	}
	return false;
}

bool
promise_holds(const struct outcome *o, enum promise promise)
{
	bool all_dead = o->proof != PROOF_NONE;

	/* Unconfined, the leg can have anybody of its user do what it likes, and its reaper prove what it likes. */
	if (o->isolation == ISOLATION_NONE)
		return false;
	switch (promise) {
	case PROMISE_CONTENTS_RESTORED:
		/* What the hold denies it denies while the run lasts. */
		return !o->unrestored && (all_dead || (denies_writes(o) && holds_names(o)));
	case PROMISE_WRITES_DENIED:
		return denies_writes(o);
	case PROMISE_NAMES_HELD:
		return holds_names(o);
	case PROMISE_ALL_DEAD:
		return all_dead;
	case PROMISE_DIES_WITH_LAUNCHER:
		/* Else it can kill the reaper first. */
		return o->own_pids || o->scopes;
	case PROMISE_SIGNALS_CONFINED:
		return o->own_pids || o->scopes;
	case PROMISES:
		break;
	}
	return false;
}
