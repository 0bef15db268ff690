/*
 * The neutraliser: any stream, cut anywhere, comes out the same; nothing is lost but a byte-order mark; what comes out
 * needs nothing more.
 */
#include "tests/fuzz/fuzz.h"

#include "guard/neutralize.h"

#include <string.h>

static size_t
filter(const uint8_t *in, size_t size, size_t piece, char *out)
{
	struct neutralizer n = {0};
	size_t made = 0;

	for (size_t at = 0; at < size; at += piece)
		made += neutralize(&n, in + at, size - at < piece ? size - at : piece, out + made);
	return made + neutralize_end(&n, out + made);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece, whole, pieces, again, at = 0;
	char *a, *b;

	if (size < 2)
		return 0;
	piece = (size_t)data[0] + 1;
	data++;
	size--;
	a = malloc(NEUTRALIZE_ROOM(size));
	b = malloc(NEUTRALIZE_ROOM(NEUTRALIZE_ROOM(size)));
	whole = filter(data, size, size, a);
	pieces = filter(data, size, piece, b);
	FUZZ_CHECK(whole <= NEUTRALIZE_ROOM(size));
	FUZZ_CHECK(whole == pieces && memcmp(a, b, whole) == 0);
	/* The bytes that went in are there in order, but for a mark of UTF-16 or UTF-32. */
	if (size >= 4 && memcmp(a, "\xef\xbf\xbd", 3) != 0) {
		for (size_t i = 0; i < whole && at < size; i++)
			at += a[i] == (char)data[at];
		FUZZ_CHECK(at == size);
	}
	/* A second time it may add backslashes behind the first ones, never a newline. */
	again = filter((const uint8_t *)a, whole, whole, b);
	FUZZ_CHECK(again >= whole && b[again - 1] == a[whole - 1]);
	free(a);
	free(b);
	return 0;
}
