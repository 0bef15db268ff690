/*
 * The step's terminals, where workflow commands are made inert.
 *
 * The leg's stdout and stderr are pipes that are filtered. A terminal is written by whoever can open it, and what is
 * written there gets to the log as it is: through a standard input that is one, since terminals are opened for both
 * directions and by /proc/self/fd once more; and by the name of its device. So the leg gets neither.
 */
#ifndef GUARD_TERMINAL_H
#define GUARD_TERMINAL_H

#include "bindmount/error.h"
#include "guard/plan.h"

#include <sys/types.h>

/*
 * Find the terminals of descriptors 0, 1 and 2 and the controlling ones of the launcher and its ancestors (sudo(8) and
 * script(1) have one of their own, whose output goes on to the next), and add each node of theirs in /dev and in mounts of
 * devpts to view.hidden, unless the leg is not confined. Sets shuts_stdin and on_terminal of *p. Without neutralizes nothing is done.
 */
int terminal_plan(struct plan *p, struct error *e);

/* If the plan says so: standard input becomes /dev/null. After that only children read it. */
int terminal_shut_stdin(const struct plan *p, struct error *e);

/* Pure: the device that the kernel writes as one number of 32 bits, in tty_nr of proc(5) and TIOCGDEV of ioctl_tty(2). */
dev_t terminal_device(unsigned int number);

#endif
