/* What identifies the bytes of a file in a record of a run. */
#ifndef GUARD_FINGERPRINT_H
#define GUARD_FINGERPRINT_H

#include "guard/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FINGERPRINT_XXH = 33 };

struct fingerprint {
	uint64_t size;
	char xxh3_128[FINGERPRINT_XXH]; /* hex of the canonical form */
	char sha256[DIGEST_TEXT];
};

void fingerprint_of(struct fingerprint *f, const void *bytes, size_t size);

/* A file as it was found changed, before it was put back. */
struct found {
	bool known;
	struct fingerprint print;
	char *bytes; /* owned; NULL unless known */
};

/* Of a larger one nothing is known: its owner waits meanwhile. */
enum { FOUND_MAX = 4 * 1024 * 1024 };

/* Read the regular file at fd. Whatever can't be read is not known. */
void found_read(struct found *f, int fd);
void found_free(struct found *f);

#endif
