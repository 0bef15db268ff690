/*
 * Writing HTML: what is markup, and what is somebody's text.
 *
 * html_text() is the only way in for text that is not the program's own. It may stand between tags and in a quoted attribute.
 */
#ifndef GUARD_AUDIT_HTML_H
#define GUARD_AUDIT_HTML_H

#include <stdio.h>

/* & < > " ' as entities, and what is no printable ASCII as strnvis(3) has it. -1 without memory. */
int html_text(FILE *out, const char *text);

/* The style sheet of a report, for both colour schemes and for paper. */
extern const char html_style[];

#endif
