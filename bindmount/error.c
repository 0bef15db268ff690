/* The error object: filled where something fails, printed by main. */
#include "bindmount/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* libbsd has strnvis with either BSD's order of arguments; this is OpenBSD's. */
#define LIBBSD_OPENBSD_VIS
#include <bsd/string.h>
#include <bsd/vis.h>

/* The second # of "##[", encoded as strnvis(3) would; if there is no room for that, a dot. */
static void
hide_sign(char *at, const char *end)
{
	size_t rest = strlen(at + 2) + 1;

	if (at + 5 + rest > end) {
		at[1] = '.';
		return;
	}
	memmove(at + 5, at + 2, rest);
	memcpy(at + 1, "\\043", 4);
}

char *
error_visible(char *dst, size_t size, const char *src)
{
	/* libbsd 0.11.7 takes the size to be without the NUL that it writes behind. */
	strnvis(dst, src, size - 1, VIS_NL | VIS_TAB | VIS_CSTYLE | VIS_NOSLASH);
	dst[size - 1] = '\0';
	/* Nor may it be taken for the older form of a workflow command, which counts anywhere in a line. */
	for (char *at = dst; (at = strstr(at, "##[")) != NULL; at += 3)
		hide_sign(at, dst + size);
	return dst;
}

int
error_set(struct error *e, int errnum, const char *cure, const char *fmt, ...)
{
	char text[sizeof e->what];
	va_list ap;

	if (e->what[0] != '\0')
		return -1;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	e->errnum = errnum;
	error_visible(e->what, sizeof e->what, text);
	strlcpy(e->cure, cure != NULL ? cure : "", sizeof e->cure);
	return -1;
}

char *
error_line(char *dst, size_t size, const struct error *e)
{
	snprintf(dst, size, "%s%s%s%s%s", e->what, e->errnum != 0 ? ": " : "",
	    e->errnum != 0 ? strerror(e->errnum) : "", e->cure[0] != '\0' ? ": " : "", e->cure);
	return dst;
}
