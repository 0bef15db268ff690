/*
 * What a leg tried to set: the names in a file of file commands as the leg left it, without what was there before. Values
 * are never kept. Pure.
 */
#ifndef GUARD_ATTEMPTED_H
#define GUARD_ATTEMPTED_H

#include "guard/grammar.h"

#include <stddef.h>

enum { ATTEMPTED_NAMES = 64 }; /* that many different ones are listed; all entries are counted */

struct attempted {
	char *names[ATTEMPTED_NAMES]; /* each once, as the runner decodes it; owned */
	size_t count;
	size_t total;             /* entries, not names */
	enum grammar_error error; /* why the runner could not read the file to its end */
};

/* -1 without memory. A file of lines has a total alone: the lines are values. */
int attempted_read(struct attempted *a, enum grammar_kind kind, const char *before, size_t n_before,
    const char *after, size_t n_after);

/* "not-closed"; NULL for GRAMMAR_OK. */
const char *attempted_error(enum grammar_error error);

void attempted_free(struct attempted *a);

#endif
