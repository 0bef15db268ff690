/* The parts of a report: HTML for one run, and for the record as a whole. All but page_top() return -1 without memory. */
#ifndef GUARD_AUDIT_PAGE_H
#define GUARD_AUDIT_PAGE_H

#include "guard/audit/runs.h"
#include "guard/audit/walk.h"

#include <stdint.h>
#include <stdio.h>

/* Everything up to the verdict and what there is to say of the chain. */
int page_top(FILE *out, const struct walk *w, uint64_t runs);

/* A run's row in the list of all, and its own section. */
int page_row(FILE *out, const struct run *r);
int page_run(FILE *out, const struct run *r);

/* What stands around the rows, and around the sections. */
void page_rows_begin(FILE *out);
void page_rows_end(FILE *out);
void page_end(FILE *out);

#endif
