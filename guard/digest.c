/* SHA-256. See digest.h. */
#include "guard/digest.h"

#include <stdint.h>

void
digest_begin(struct digest *d)
{
	sha256_init(&d->context);
}

void
digest_add(struct digest *d, const void *data, size_t size)
{
	sha256_update(&d->context, size, data);
}

const char *
digest_end(struct digest *d, char text[DIGEST_TEXT])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t raw[SHA256_DIGEST_SIZE];
	char *at = text;

	sha256_digest(&d->context, sizeof raw, raw);
	for (size_t i = 0; i < sizeof raw; i++) {
		*at++ = hex[raw[i] >> 4];
		*at++ = hex[raw[i] & 15];
	}
	*at = '\0';
	return text;
}

const char *
digest_of(const void *data, size_t size, char text[DIGEST_TEXT])
{
	struct digest d;

	digest_begin(&d);
	digest_add(&d, data, size);
	return digest_end(&d, text);
}
