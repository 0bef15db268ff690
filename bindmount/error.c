/* The error object: filled where something fails, printed by main. */
#include "bindmount/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* libbsd has strnvis with either BSD's order of arguments; this is OpenBSD's. */
#define LIBBSD_OPENBSD_VIS
#include <bsd/string.h>
#include <bsd/vis.h>

char *
error_visible(char *dst, size_t size, const char *src)
{
	strnvis(dst, src, size, VIS_NL | VIS_TAB | VIS_CSTYLE | VIS_NOSLASH);
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
