/* The status object (--status, --status-fd): one JSON object and a newline about one run. */
#ifndef GUARD_STATUS_H
#define GUARD_STATUS_H

#include "guard/outcome.h"

/* The object's text; malloc'd. NULL with *e when there is no memory. */
char *status_render(const struct outcome *o, struct error *e);

#endif
