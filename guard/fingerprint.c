/* What identifies the bytes of a file. See fingerprint.h. */
#include "guard/fingerprint.h"

#include "bindmount/cleanup.h"
#include "guard/content.h"

#include <stdio.h>
#include <sys/stat.h>
#include <xxhash.h>

void
fingerprint_of(struct fingerprint *f, const void *bytes, size_t size)
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
	for (size_t i = 0; i < sizeof canonical.digest; i++)
		sprintf(f->xxh3_128 + 2 * i, "%02x", canonical.digest[i]);
	digest_of(bytes, size, f->sha256);
	f->size = size;
}

void
found_read(struct found *f, int fd)
{
	struct stat st;
	AUTO_FREE char *bytes = NULL;
	ssize_t n;

	*f = (struct found){.known = false};
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FOUND_MAX)
		return;
	bytes = malloc((size_t)st.st_size + 1);
	n = bytes != NULL ? content_read(fd, bytes, (size_t)st.st_size, 0) : -1;
	if (n < 0)
		return;
	fingerprint_of(&f->print, bytes, (size_t)n);
	f->bytes = ptr_take(&bytes);
	f->known = true;
}

void
found_free(struct found *f)
{
	free(f->bytes);
	*f = (struct found){.known = false};
}
