/* The leg's stdout and stderr: which relays there are, and what each does besides passing on. */
#ifndef GUARD_STREAMS_H
#define GUARD_STREAMS_H

#include "bindmount/error.h"
#include "guard/leg.h"
#include "guard/outcome.h"
#include "guard/relay.h"

enum { STREAMS = 2 };

#define STREAMS_NONE                                                                               \
	{                                                                                          \
		{.from = -1, .leg_end = -1, .to = -1, .stage = {-1, -1}},                          \
		    {.from = -1, .leg_end = -1, .to = -1, .stage = {-1, -1}},                      \
	}

/*
 * Open the relays, from STREAMS_NONE, as out asks for, and give the leg's ends to plan. The second one stays as it was where
 * stdout and stderr are one file; out->one_stream says so. To be given back with relay_close() in either case.
 */
int streams_open(
    struct relay relay[STREAMS], struct leg_plan *plan, struct outcome *out, struct error *e);

#endif
