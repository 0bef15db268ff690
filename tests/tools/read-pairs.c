/*
 * read-pairs FILE
 *
 * Reads a file of pairs with the program's own grammar and prints how many entries there are: what the reading alone
 * costs, for tests/bench.
 */
#include "guard/grammar.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int
count(void *arg, const struct grammar_entry *entry)
{
	(void)entry;
	++*(size_t *)arg;
	return 0;
}

int
main(int argc, char **argv)
{
	static char buffer[64 * 1024];
	size_t entries = 0;
	struct grammar g = {.kind = GRAMMAR_PAIRS, .entry = count, .arg = &entries};
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	ssize_t n;

	if (fd < 0)
		err(2, "usage: read-pairs FILE");
	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		if (grammar_feed(&g, buffer, (size_t)n) != 0)
			errx(1, "line %zu", g.line);
	if (n < 0 || grammar_end(&g) != 0)
		err(1, "%s", argv[1]);
	grammar_free(&g);
	printf("%zu\n", entries);
	return 0;
}
