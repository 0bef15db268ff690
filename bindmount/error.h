/*
 * How a function says that it failed.
 *
 * Convention of the whole project: a function that can fail returns 0, or -1 and fills the
 * struct error that is its last argument. Only main prints.
 */
#ifndef BINDMOUNT_ERROR_H
#define BINDMOUNT_ERROR_H

#include <stddef.h>

struct error {
	int errnum; /* errno of the failed call, 0 if it was no call that failed */
	char
	    what[1024]; /* what was attempted, on what; safe to print: one line, no control bytes */
	char cure[512]; /* what to do about it, or empty */
};

/*
 * Fill *e and return -1, so that "return error_set(...)" reads as what it does. errnum is kept
 * apart from the text and rendered by error_line(); 0 leaves it out. cure may be NULL. What fmt
 * expands to may hold untrusted text (file names): it is encoded with strnvis(3) as a whole.
 * An error that is already there is kept: the first cause is the one worth reading.
 */
int error_set(struct error *e, int errnum, const char *cure, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "what: strerror (cure)", without a newline, into dst. Returns dst. */
char *error_line(char *dst, size_t size, const struct error *e);

/*
 * Copy src to dst, of size bytes, of which one may stay unused, with everything that is not plain printable text encoded, and with what the runner could take for a
 * workflow command in the middle of a line broken up. Returns dst.
 */
char *error_visible(char *dst, size_t size, const char *src);

#endif
