/*
 * What the launcher appends to the step's summary (GITHUB_STEP_SUMMARY): a short table about the run, for people.
 *
 * Markdown as GitHub renders it. Text that is not the launcher's own, such as names of processes and paths, is made
 * visible, cut, and put into <code> with every sign that could mean something as a numeric character reference
 * (CommonMark 6.2: those stand for text, never for structure). Pure.
 */
#ifndef GUARD_SUMMARY_H
#define GUARD_SUMMARY_H

#include "bindmount/error.h"
#include "guard/options.h"
#include "guard/outcome.h"

enum { SUMMARY_ROOM = 32 * 1024 }; /* bytes that summary_render() makes at the most */

/* By --summary, --no-summary or --no-outputs; else if there is something to tell: tampering, survivors, a limit, a command that would
 * have changed the step. */
bool summary_is_wanted(const struct options *o, const struct outcome *out);

/* The text, malloc'd. NULL with *e when there is no memory. */
char *summary_render(const struct outcome *o, struct error *e);

#endif
