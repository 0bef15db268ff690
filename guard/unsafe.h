/* Which variables of the environment are dangerous to let somebody set who is not trusted. Pure. */
#ifndef GUARD_UNSAFE_H
#define GUARD_UNSAFE_H

#include <stdbool.h>

/*
 * True for what is known to run code, to choose programs, files or hosts to trust, or to hold credentials (env(7), and
 * what common tools read). The list can't be complete.
 */
bool unsafe_variable(const char *name);

#endif
