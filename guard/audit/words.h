/*
 * What is said about a run and its events to people, on a terminal and in a report.
 *
 * All text is malloc'd, and has passed strnvis(3): one line of printable ASCII, whatever the record holds, and no more than
 * WORDS_MAX bytes of it. NULL is without memory.
 */
#ifndef GUARD_AUDIT_WORDS_H
#define GUARD_AUDIT_WORDS_H

#include "guard/audit/runs.h"

enum { WORDS_MAX = 4096 };

/* "tampering", "survivor", ...: what kind of thing it was, in a word. */
const char *words_label(enum audit_event event);

/* Whether it is something that nobody wishes for. */
bool words_alarming(const struct run_event *event);

/* What happened. */
char *words_event(const struct run_event *event);

/* How the run ended: "exit status 120, which is legguard's word", or that it did not. */
char *words_end(const struct run *r);
/* Its class, or "no end". */
char *words_class(const struct run *r);
/* Which job of which workflow it was; NULL as well if the record does not say. */
char *words_where(const struct run *r);
/* How the leg was confined and what proves that it is over. */
char *words_confinement(const struct run *r);
/* How many files were guarded, and what became of them. */
char *words_files(const struct run *r);
/* What was run. */
char *words_program(const struct run *r);

/* "2026-11-29 23:38:50 UTC" */
char *words_time(const char time[LINE_TIME]);
/* "1.234 s", "2 min 3 s" */
char *words_duration(int64_t us);

#endif
