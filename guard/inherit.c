/* A snapshot that a child can restore from: its bytes, and its descriptors and no others. */
#include "guard/snapshot.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "guard/held.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

void
snapshot_inherit(const struct snapshot *s, bool inherit)
{
	for (size_t i = 0; i < s->content_count; i++) {
		const struct content *c = s->contents[i];

		/* It can't fail on a mapping of our own; and if it did, the child would fault, not err. */
		if (c->bytes != NULL)
			(void)madvise(c->bytes, c->size, inherit ? MADV_DOFORK : MADV_DONTFORK);
	}
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int
snapshot_close_others(const struct snapshot *s, const int *keep, size_t n)
{
	AUTO_FREE int *kept =
	    calloc(s->chain.count + s->content_count + s->ballast_count + n + 1, sizeof *kept);
	size_t count = 0;
	int next = STDERR_FILENO + 1;

	if (kept == NULL)
		return -1;
	for (size_t i = 0; i < s->chain.count; i++)
		kept[count++] = s->chain.nodes[i]->fd; /* the watches were for the launcher */
	for (size_t i = 0; i < s->content_count; i++)
		kept[count++] = s->contents[i]->fd;
	for (size_t i = 0; i < s->ballast_count; i++)
		kept[count++] = s->ballasts[i].fd;
	for (size_t i = 0; i < n; i++)
		kept[count++] = keep[i];
	qsort(kept, count, sizeof *kept, compare);
	for (size_t i = 0; i < count; i++) {
		if (kept[i] < next)
			continue;
		sys_close_between(next, kept[i] - 1);
		next = kept[i] + 1;
	}
	sys_close_from(next);
	return 0;
}
