/*
 * What belongs to the machine and a root leg could change by a mere write: the kernel's settings (core_pattern
 * runs a program outside of everything), and file systems by their raw devices.
 */
#ifndef GUARD_MACHINE_H
#define GUARD_MACHINE_H

#include "bindmount/error.h"
#include "bindmount/view.h"

/* Add to *v all of it that is there. */
int machine_protect(struct view_paths *v, struct error *e);

#endif
