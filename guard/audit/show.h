/* `legguard audit show`: a record's runs for people, a table for each, or as JSON, an object in a line for each. */
#ifndef GUARD_AUDIT_SHOW_H
#define GUARD_AUDIT_SHOW_H

#include "bindmount/error.h"
#include "guard/audit/arguments.h"

/*
 * Prints to standard output as it reads, and to standard error in one line what is wrong with the chain, if something is;
 * *status is 1 then, else 0.
 */
int show(struct audit_arguments *a, int *status, struct error *e);

/* The line about the chain: malloc'd, NULL if it is not broken or without memory. */
char *show_broken(const struct walk *w);

#endif
