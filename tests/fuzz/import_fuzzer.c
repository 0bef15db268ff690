/* Imports: any file that a leg leaves, against fixed rules. What is accepted satisfies them. */
#include "tests/fuzz/fuzz.h"

#include "guard/import.h"
#include "guard/outputs.h"

#include <string.h>

static const char *const words[] = {"output:verdict=enum:pass|fail", "output:n=regex:[0-9]{1,9}",
    "output:a=max:16", "env:B=max:16", "state:c", "summary=max:64"};

enum { WORDS = sizeof words / sizeof words[0] };

static void
check(const struct imported *one)
{
	size_t n;

	FUZZ_CHECK((one->value == NULL) != (one->why == NULL));
	if (one->value == NULL)
		return;
	n = strlen(one->value);
	FUZZ_CHECK(strchr(one->value, '\r') == NULL);
	if (one->kind == IMPORT_OUTPUT && strcmp(one->name, "verdict") == 0)
		FUZZ_CHECK(strcmp(one->value, "pass") == 0 || strcmp(one->value, "fail") == 0);
	if (one->kind == IMPORT_OUTPUT && strcmp(one->name, "n") == 0)
		FUZZ_CHECK(n >= 1 && n <= 9 && strspn(one->value, "0123456789") == n);
	if ((one->kind == IMPORT_OUTPUT && strcmp(one->name, "a") == 0) || one->kind == IMPORT_ENV)
		FUZZ_CHECK(n <= 16);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import imports[WORDS];
	struct importing all = {0};
	struct error e = {0};

	for (size_t i = 0; i < WORDS; i++)
		FUZZ_CHECK(import_parse(&imports[i], words[i], &e) == 0);
	for (int kind = 0; kind < IMPORT_KINDS; kind++)
		FUZZ_CHECK(import_take(&all, imports, WORDS, (enum import_kind)kind,
			       (const char *)data, size, 0, &e) == 0);
	for (size_t i = 0; i < all.count; i++)
		check(&all.list[i]);
	importing_free(&all);
	for (size_t i = 0; i < WORDS; i++)
		import_free(&imports[i]);
	return 0;
}
