/* `legguard audit report`: a record as one page of HTML, with no script and nothing to fetch. */
#ifndef GUARD_AUDIT_REPORT_H
#define GUARD_AUDIT_REPORT_H

#include "bindmount/error.h"
#include "guard/audit/arguments.h"

#include <sys/types.h>

/*
 * The page takes the place of a->output only when it is whole. What is there and no regular file, a symbolic link among
 * it, is left alone, and refused. *status is 1 if the record is broken, else 0.
 */
int report(struct audit_arguments *a, mode_t mask, int *status, struct error *e);

#endif
