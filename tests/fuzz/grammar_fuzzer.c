/*
 * The grammar: any file, in any pieces. The first byte says how large the pieces are; whatever they are, the entries are
 * the same; and what is written in the canonical form from an entry reads back as that entry.
 */
#include "tests/fuzz/fuzz.h"

#include "guard/grammar.h"

#include <stdio.h>
#include <string.h>

struct sum {
	uint64_t hash;
	size_t entries;
};

static void
mix(struct sum *s, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		s->hash = (s->hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	s->hash = (s->hash ^ 0x100) * UINT64_C(0x100000001b3);
}

static int
add(void *arg, const struct grammar_entry *entry)
{
	struct sum *s = arg;

	FUZZ_CHECK(entry->name == NULL || memchr(entry->name, '\n', entry->name_size) == NULL);
	mix(s, entry->name != NULL ? entry->name : "", entry->name_size);
	mix(s, entry->value, entry->value_size);
	s->hash += entry->line;
	s->entries++;
	return 0;
}

static void
read_in_pieces(enum grammar_kind kind, bool strict, const uint8_t *data, size_t size, size_t piece,
    struct sum *s)
{
	struct grammar g = {.kind = kind, .entry = add, .arg = s, .strict = strict};
	int failed = 0;

	*s = (struct sum){0};
	for (size_t at = 0; at < size && failed == 0; at += piece)
		failed = grammar_feed(&g, data + at, size - at < piece ? size - at : piece);
	if (failed != 0 || grammar_end(&g) != 0) {
		size_t n;
		char *message = grammar_message(&g, &n);

		FUZZ_CHECK(g.error != GRAMMAR_OK);
		mix(s, message, n);
		free(message);
	}
	s->hash += (uint64_t)g.error;
	grammar_free(&g);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum whole, pieces;
	struct error e = {0};

	if (size < 2)
		return 0;
	for (int kind = GRAMMAR_PAIRS; kind <= GRAMMAR_LINES; kind++)
		for (int strict = 0; strict < 2; strict++) {
			read_in_pieces(
			    (enum grammar_kind)kind, strict != 0, data + 1, size - 1, size, &whole);
			read_in_pieces((enum grammar_kind)kind, strict != 0, data + 1, size - 1,
			    (size_t)data[0] + 1, &pieces);
			FUZZ_CHECK(whole.hash == pieces.hash && whole.entries == pieces.entries);
		}
	(void)grammar_check("file", data + 1, size - 1, &e);
	return 0;
}
