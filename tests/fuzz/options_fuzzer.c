/* The command line: any words, one a line. What is refused has a message, and what is accepted makes sense. */
#include "tests/fuzz/fuzz.h"

#include "guard/options.h"

#include <string.h>

enum { WORDS = 64 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[WORDS + 2] = {"run"};
	struct options o;
	struct error e = {0};
	char line[4096];
	int argc = 1;

	memcpy(text, data, size);
	text[size] = '\0';
	for (char *word = text; argc <= WORDS && word != NULL; argc++) {
		char *end = strchr(word, '\n');

		argv[argc] = word;
		if (end != NULL)
			*end++ = '\0';
		word = end;
	}
	argv[argc] = NULL;
	if (options_parse(&o, argc, argv, &e) != 0) {
		FUZZ_CHECK(e.what[0] != '\0');
		error_line(line, sizeof line, &e);
		FUZZ_CHECK(strchr(line, '\n') == NULL);
	} else if (!o.help && !o.version) {
		FUZZ_CHECK(o.dry_run || o.command[0] != NULL);
		FUZZ_CHECK(o.status_path == NULL || o.status_fd < 0);
		FUZZ_CHECK(o.n_imports == 0 || o.decoys);
	}
	options_free(&o);
	free(text);
	return 0;
}
