/*
 * Lane classes and who decides them: what the launcher saw itself wins over what the leg's exit status
 * or output claims.
 */
#include "guard/lane.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [LANE_OK] = "ok",
    [LANE_CREDIT_STOP] = "credit-stop",
    [LANE_AUTH] = "auth",
    [LANE_RATE_LIMIT] = "rate-limit",
    [LANE_OVERLOADED] = "overloaded",
    [LANE_MAX_TURNS] = "max-turns",
    [LANE_BUDGET] = "budget",
    [LANE_TIMEOUT] = "timeout",
    [LANE_OVERFLOW] = "overflow",
    [LANE_CANCELLED] = "cancelled",
    [LANE_TAMPERED] = "tampered",
    [LANE_SURVIVORS] = "survivors",
    [LANE_ERROR] = "error",
};

const char *
lane_name(enum lane lane)
{
	return names[lane];
}

int
lane_parse(const char *name, enum lane *lane)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0) {
			*lane = (enum lane)i;
			return 0;
		}
	return -1;
}

enum lane
lane_decide(const struct lane_facts *facts, enum lane classified)
{
	if (facts->tampered)
		return LANE_TAMPERED;
	if (facts->survivors)
		return LANE_SURVIVORS;
	if (facts->cancelled)
		return LANE_CANCELLED;
	if (facts->timed_out)
		return LANE_TIMEOUT;
	if (facts->overflowed)
		return LANE_OVERFLOW;
	return classified;
}
