/* Running something through sudo(8), for a trial. */
#ifndef GUARD_SUDO_H
#define GUARD_SUDO_H

#include "bindmount/trial.h"

/*
 * In the child of a trial: run argv, which begins with "sudo" and has to say -n, and wait for its end, but no
 * longer than SUDO_S. Returns its exit status; if that is not 0, r->error has the first line that was said. -1
 * with r->error if there was no answer.
 */
enum { SUDO_S = 5 };
int sudo_run(char *const *argv, struct trial_result *r);

#endif
