/* What a leg tried to set. See attempted.h. */
#include "guard/attempted.h"

#include "bindmount/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The entries that were there, as hashes: one that is taken for another is only not listed. */
struct known {
	uint64_t *list;
	size_t count, room;
};

struct comparison {
	struct known known;
	struct attempted *attempted;
};

static uint64_t
hash(const struct grammar_entry *entry)
{
	uint64_t name = XXH3_64bits(entry->name, entry->name != NULL ? entry->name_size : 0);

	return XXH3_64bits_withSeed(entry->value, entry->value_size, name);
}

static int
note_known(void *arg, const struct grammar_entry *entry)
{
	struct known *k = &((struct comparison *)arg)->known;

	if (k->count == k->room) {
		size_t room = k->room > 0 ? 2 * k->room : 64;
		uint64_t *list = reallocarray(k->list, room, sizeof *list);

		if (list == NULL)
			return -1;
		k->list = list;
		k->room = room;
	}
	k->list[k->count++] = hash(entry);
	return 0;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool
is_listed(const struct attempted *a, const struct grammar_entry *entry)
{
	for (size_t i = 0; i < a->count; i++)
		if (strlen(a->names[i]) == entry->name_size &&
		    memcmp(a->names[i], entry->name, entry->name_size) == 0)
			return true;
	return false;
}

static int
note_new(void *arg, const struct grammar_entry *entry)
{
	const struct comparison *c = arg;
	struct attempted *a = c->attempted;
	uint64_t one = hash(entry);

	if (c->known.count > 0 &&
	    bsearch(&one, c->known.list, c->known.count, sizeof one, compare) != NULL)
		return 0;
	a->total++;
	if (entry->name == NULL || a->count == ATTEMPTED_NAMES || is_listed(a, entry))
		return 0;
	a->names[a->count] = strndup(entry->name, entry->name_size);
	return a->names[a->count] != NULL ? (a->count++, 0) : -1;
}

static enum grammar_error
read_all(enum grammar_kind kind, int (*entry)(void *, const struct grammar_entry *), void *arg,
    const char *data, size_t size)
{
	struct grammar g = {.kind = kind, .entry = entry, .arg = arg};
	enum grammar_error error;

	if (grammar_feed(&g, data, size) == 0)
		(void)grammar_end(&g);
	error = g.error;
	grammar_free(&g);
	return error;
}

static bool
is_memory(enum grammar_error error)
{
	return error == GRAMMAR_INTERRUPTED || error == GRAMMAR_NO_MEMORY;
}

int
attempted_read(struct attempted *a, enum grammar_kind kind, const char *before, size_t n_before,
    const char *after, size_t n_after)
{
	struct comparison c = {.attempted = a};
	bool failed;

	*a = (struct attempted){.count = 0};
	failed = is_memory(read_all(kind, note_known, &c, before, n_before));
	if (!failed) {
		if (c.known.count > 0)
			qsort(c.known.list, c.known.count, sizeof *c.known.list, compare);
		a->error = read_all(kind, note_new, &c, after, n_after);
		failed = is_memory(a->error);
	}
	free(c.known.list);
	return failed ? -1 : 0;
}

const char *
attempted_error(enum grammar_error error)
{
	static const char *const names[] = {
	    [GRAMMAR_OK] = NULL,
	    [GRAMMAR_ENCODING] = "encoding",
	    [GRAMMAR_NO_SIGN] = "no-sign",
	    [GRAMMAR_EMPTY_NAME] = "empty-name",
	    [GRAMMAR_EMPTY_PART] = "empty-part",
	    [GRAMMAR_NOT_CLOSED] = "not-closed",
	    [GRAMMAR_NO_NEWLINE] = "no-newline",
	    [GRAMMAR_DELIMITER] = "delimiter",
	    [GRAMMAR_INTERRUPTED] = "interrupted",
	    [GRAMMAR_NO_MEMORY] = "no-memory",
	};

	return names[error];
}

void
attempted_free(struct attempted *a)
{
	for (size_t i = 0; i < a->count; i++)
		free(a->names[i]);
	*a = (struct attempted){.count = 0};
}
