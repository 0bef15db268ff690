/*
 * Lane classes: the one word a workflow decides by. A closed list, so that nothing the leg says can
 * become a new word.
 */
#ifndef GUARD_LANE_H
#define GUARD_LANE_H

#include <stdbool.h>

enum lane {
	LANE_OK,
	LANE_CREDIT_STOP,
	LANE_AUTH,
	LANE_RATE_LIMIT,
	LANE_OVERLOADED,
	LANE_MAX_TURNS,
	LANE_BUDGET,
	LANE_TIMEOUT,
	LANE_OVERFLOW,
	LANE_CANCELLED,
	LANE_TAMPERED,
	LANE_SURVIVORS,
	LANE_ERROR,
};

/* The launcher's own exit statuses (see the manual's EXIT STATUS). */
enum {
	EXIT_TAMPERED = 120,
	EXIT_SURVIVORS = 121,
	EXIT_RESTORE = 122,
	EXIT_OVERFLOW = 123,
	EXIT_TIMEOUT = 124,
	EXIT_GUARD = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* What the launcher itself knows about the run; these win over the leg's word, in this order. */
struct lane_facts {
	bool tampered;
	bool survivors; /* no proof that all are dead, or --on-survivors=fail and there were any */
	bool cancelled;
	bool timed_out;
	bool overflowed;
};

const char *lane_name(enum lane lane);

/* The class called name, or -1. */
int lane_parse(const char *name, enum lane *lane);

/* tampered > survivors > cancelled > timeout > overflow > classified */
enum lane lane_decide(const struct lane_facts *facts, enum lane classified);

#endif
