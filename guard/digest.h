/*
 * SHA-256 (FIPS 180-4), for the audit record.
 *
 * By nettle, which uses the processor's instructions for it where there are any: eight times as fast as the plain C of
 * libmd, and the executable of an agent is some hundred megabytes.
 */
#ifndef GUARD_DIGEST_H
#define GUARD_DIGEST_H

#include <nettle/sha2.h>
#include <stddef.h>

enum { DIGEST_TEXT = 2 * SHA256_DIGEST_SIZE + 1 };

struct digest {
	struct sha256_ctx context;
};

void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t size);

/* The hash of all that was added, in lower-case hex. Returns text. */
const char *digest_end(struct digest *d, char text[DIGEST_TEXT]);

/* All three for one piece. */
const char *digest_of(const void *data, size_t size, char text[DIGEST_TEXT]);

#endif
