/* `legguard audit verify`: whether a record is one chain, and what vouches for its end. */
#ifndef GUARD_AUDIT_VERIFY_H
#define GUARD_AUDIT_VERIFY_H

#include "bindmount/error.h"
#include "guard/audit/walk.h"

#include <stdbool.h>

/* The exit status of each verdict. */
int verify_status(enum walk_verdict verdict);

/* What there is to print about a walk that is over: malloc'd; NULL with *e. */
char *verify_text(const struct walk *w, struct error *e);
char *verify_json(const struct walk *w, struct error *e);

#endif
