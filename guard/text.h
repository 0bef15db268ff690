/* Values as text, for all that is said about a run. Pure. */
#ifndef GUARD_TEXT_H
#define GUARD_TEXT_H

#include <stdio.h>

/* src as error_visible() has it, whole; malloc'd, NULL without memory. */
char *text_visible(const char *src);

/*
 * Print a JSON text and a newline, so that the runner takes nothing in it for a workflow command in the middle of a line: a #
 * is in strings only, where it can be written in another way.
 */
void text_put_json(FILE *out, const char *json);

enum { TEXT_SIGNAL = 16 }; /* "SIGVTALRM" and a number that has no name */

/* The name of a signal, in text. */
const char *text_signal(char text[TEXT_SIGNAL], int sig);

#endif
