/* Well-formed UTF-8 by table 3-7 of the Unicode standard. See utf8.h. */
#include "guard/utf8.h"

#include <stdint.h>
#include <string.h>

/* What may come second depends on the first: no overlong forms, surrogates or beyond U+10FFFF. */
static const struct form {
	unsigned char first, last;     /* range of the first byte */
	unsigned char lowest, highest; /* range of the second */
	size_t length;
} forms[] = {
    {0x00, 0x7f, 0, 0, 1},
    {0xc2, 0xdf, 0x80, 0xbf, 2},
    {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3},
    {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4},
    {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct form *
form_of(unsigned char first)
{
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (first >= forms[i].first && first <= forms[i].last)
			return &forms[i];
	return NULL;
}

/* True if c can be byte number `at` of a sequence of that form. */
static bool
continues(const struct form *f, size_t at, unsigned char c)
{
	return at == 1 ? c >= f->lowest && c <= f->highest : (c & 0xc0) == 0x80;
}

/* Length of the sequence at p, 0 if it is ill-formed. */
static size_t
sequence(const unsigned char *p, size_t size)
{
	const struct form *f = form_of(p[0]);

	if (f == NULL || size < f->length)
		return 0;
	for (size_t i = 1; i < f->length; i++)
		if (!continues(f, i, p[i]))
			return 0;
	return f->length;
}

bool
utf8_is_faithful(const void *text, size_t size)
{
	const unsigned char *p = text;

	while (size > 0) {
		size_t n = sequence(p, size);

		if (n == 0 || (n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] == 0xbd))
			return false;
		p += n;
		size -= n;
	}
	return true;
}

size_t
utf8_ascii(const void *text, size_t size)
{
	const unsigned char *p = text;
	size_t n = 0;
	uint64_t word;

	for (; size - n >= sizeof word; n += sizeof word) {
		memcpy(&word, p + n, sizeof word);
		if ((word & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	while (n < size && p[n] < 0x80)
		n++;
	return n;
}

static size_t
replace(char *out)
{
	memcpy(out, "\xef\xbf\xbd", 3);
	return 3;
}

/* One byte that is not ASCII, or that comes after one that is not. */
static size_t
decode_byte(struct utf8_decoder *d, unsigned char c, char *out)
{
	const struct form *f = d->n > 0 ? form_of(d->pending[0]) : NULL;
	size_t made = 0;

	if (f != NULL && !continues(f, d->n, c)) {
		made += replace(out);
		d->n = 0;
		f = NULL;
	}
	if (f == NULL)
		f = form_of(c);
	if (f == NULL)
		return made + replace(out + made);
	d->pending[d->n++] = c;
	if (d->n < f->length)
		return made;
	memcpy(out + made, d->pending, d->n);
	made += d->n;
	d->n = 0;
	return made;
}

size_t
utf8_decode(struct utf8_decoder *d, const void *text, size_t size, char *out)
{
	const unsigned char *p = text;
	size_t made = 0;

	for (size_t i = 0; i < size;) {
		size_t ascii = d->n == 0 ? utf8_ascii(p + i, size - i) : 0;

		memcpy(out + made, p + i, ascii);
		made += ascii;
		i += ascii;
		if (i < size)
			made += decode_byte(d, p[i++], out + made);
	}
	return made;
}

size_t
utf8_decode_end(struct utf8_decoder *d, char *out)
{
	if (d->n == 0)
		return 0;
	d->n = 0;
	return replace(out);
}
