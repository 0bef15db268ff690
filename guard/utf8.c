/* Well-formed UTF-8 by table 3-7 of the Unicode standard. See utf8.h. */
#include "guard/utf8.h"

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

/* Length of the sequence at p, 0 if it is ill-formed. */
static size_t
sequence(const unsigned char *p, size_t size)
{
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		const struct form *f = &forms[i];

		if (p[0] < f->first || p[0] > f->last)
			continue;
		if (size < f->length || (f->length > 1 && (p[1] < f->lowest || p[1] > f->highest)))
			return 0;
		for (size_t k = 2; k < f->length; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return f->length;
	}
	return 0;
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
