/*
 * What is said to people about a run, on stderr. Untrusted text passes through error_visible(), so it does not
 * reach a terminal as it is.
 */
#ifndef GUARD_NOTES_H
#define GUARD_NOTES_H

#include "guard/outcome.h"

/* One line each ("legguard: ..."), malloc'd; may be empty. NULL with *e when there is no memory. */
char *notes_render(const struct outcome *o, bool quiet, struct error *e);

/* Of a run that was refused: only what there is to say of its audit record. */
char *notes_render_refused(const struct outcome *o, struct error *e);

/* The same from the janitor, who has only findings and error: the launcher was killed. */
char *notes_render_janitor(const struct outcome *o, struct error *e);

#endif
