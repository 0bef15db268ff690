/* Random bytes. See random.h. */
#include "guard/random.h"

#include <errno.h>
#include <sys/random.h>

int
random_fill(void *buf, size_t size)
{
	ssize_t n;

	/* getrandom(2): up to 256 bytes come in one piece. */
	while ((n = getrandom(buf, size, 0)) < 0 && errno == EINTR)
		continue;
	return n == (ssize_t)size ? 0 : -1;
}
