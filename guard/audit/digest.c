/* SHA-256. See digest.h. */
#include "guard/audit/digest.h"

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

void
digest_end(struct digest *d, unsigned char hash[DIGEST_SIZE])
{
	sha256_digest(&d->context, DIGEST_SIZE, hash);
}
