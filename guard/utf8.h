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

/* The number of bytes at the start of text that are ASCII. */
size_t utf8_ascii(const void *text, size_t size);

/*
 * Decoding a stream as .NET does, which the runner is written in: each maximal part of an ill-formed
 * sequence becomes one U+FFFD (Unicode standard, 3.9). What comes out is well-formed UTF-8 again. Zero is
 * the decoder's first state.
 */
struct utf8_decoder {
	unsigned char pending[4]; /* the beginning of a sequence */
	size_t n;
};

/* How much room utf8_decode() needs for size bytes of input. */
#define UTF8_DECODED_MAX(size) (3 * ((size) + 3))

/* Decode size more bytes into out. Returns how many bytes that made. */
size_t utf8_decode(struct utf8_decoder *d, const void *text, size_t size, char *out);

/* Likewise at the end of the stream: what is pending is ill-formed then. */
size_t utf8_decode_end(struct utf8_decoder *d, char *out);

#endif
