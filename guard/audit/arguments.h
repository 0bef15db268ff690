/* The command line of `legguard audit`. */
#ifndef GUARD_AUDIT_ARGUMENTS_H
#define GUARD_AUDIT_ARGUMENTS_H

#include "bindmount/error.h"
#include "guard/audit/line.h"
#include "guard/audit/walk.h"

#include <stdbool.h>

enum audit_action { AUDIT_VERIFY, AUDIT_SHOW, AUDIT_REPORT, AUDIT_HELP };

/* Which runs are shown. */
struct audit_choice {
	const char *run; /* the beginning of an id, in lower-case hexadecimal digits; NULL: any */
	char since[LINE_TIME]; /* the time it began at or later; empty: any */
	bool tampered;         /* only those in which something was */
};

struct audit_arguments {
	enum audit_action action;
	struct walk walk; /* path and heads are set */
	bool json;
	const char *output; /* where a report goes; "-" is standard output */
	struct audit_choice choice;
};

/* *a is zero; the words are not copied. argv[0] is "audit". */
int arguments_read(struct audit_arguments *a, int argc, char **argv, struct error *e);

#endif
