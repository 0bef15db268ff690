/*
 * Why an honest leg may have failed: what the last lines of its output say, told against what its view took
 * away. A guess, and worded as one: the text is the leg's. Pure.
 */
#ifndef GUARD_HINTS_H
#define GUARD_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* How the leg was confined, as far as it bears on what can fail. */
enum hints_tier { HINTS_NAMESPACE = 1, HINTS_LANDLOCK = 2, HINTS_NONE = 4 };

struct hints_facts {
	enum hints_tier tier;
	bool pinned;         /* --pin */
	bool strict;         /* --writable */
	bool root;           /* --root-leg */
	bool user;           /* --user: in the machine's own user namespace */
	bool engines_closed; /* the socket of a container engine is hidden */
	bool buses_closed;   /* that of a message bus is */
};

/*
 * A sentence that names the cause and the option or the way around it, constant; NULL if the text shows
 * nothing of the kind. text need not be terminated and may hold any bytes. If it shows several, one of the
 * last lines counts, which is likely what ended the leg, and there the most particular.
 */
const char *hints_find(const char *text, size_t size, const struct hints_facts *facts);

/* Likewise if the leg's command could not even be executed. */
const char *hints_exec(int exec_errno, const struct hints_facts *facts);

#endif
