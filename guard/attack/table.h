/* How a battery's results are printed. */
#ifndef GUARD_ATTACK_TABLE_H
#define GUARD_ATTACK_TABLE_H

#include "guard/attack/judge.h"
#include "guard/attack/registry.h"

#include <stdio.h>

struct result {
	const struct attack_group *group;
	const struct attack *attack;
	struct verdict verdict;
	bool documented; /* it got through, and the README's list of what is not promised says so */
};

struct results {
	struct result *list;
	size_t count;
	const char *const *wrapper; /* its words */
	bool own;                   /* it is legguard run */
};

/* Each name with what it does. */
void table_list(FILE *out, bool json);

void table_print(FILE *out, const struct results *r);
/* 0, or -1 for want of memory. */
int table_print_json(FILE *out, const struct results *r);

/* How many there are of a kind; those that are documented are not counted. */
size_t results_count(const struct results *r, enum verdict_kind kind);

#endif
