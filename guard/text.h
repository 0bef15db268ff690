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

/* Free n texts of a list of count, from that one on, and close the gap. Returns how many are left. list may be NULL if
 * count is 0. */
size_t text_drop(char **list, size_t count, size_t from, size_t n);

enum { TEXT_SIGNAL = 16 }; /* "SIGVTALRM" and a number that has no name */

/* The name of a signal, in text. */
const char *text_signal(char text[TEXT_SIGNAL], int sig);

#endif
