/* Values as text, for all that is said about a run. Pure. */
#ifndef GUARD_TEXT_H
#define GUARD_TEXT_H

/* src as error_visible() has it, whole; malloc'd, NULL without memory. */
char *text_visible(const char *src);

enum { TEXT_SIGNAL = 16 }; /* "SIGVTALRM" and a number that has no name */

/* The name of a signal, in text. */
const char *text_signal(char text[TEXT_SIGNAL], int sig);

#endif
