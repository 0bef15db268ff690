/* UTF-8, as far as it matters that the runner decodes what it reads. Pure. */
#ifndef GUARD_UTF8_H
#define GUARD_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if text is well-formed UTF-8 without U+FFFD. The runner replaces every ill-formed sequence by
 * U+FFFD, so that different bytes can become equal text; such text comes out as it went in, and nothing
 * else becomes equal to it.
 */
bool utf8_is_faithful(const void *text, size_t size);

#endif
