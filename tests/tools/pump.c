/*
 * pump write BYTES | pump read
 *
 * Writes so many bytes to stdout, or reads stdin to its end, with plain calls of 128 KiB and nothing
 * else, so that what lies between the two is what takes the time.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[128 * 1024];

static void
write_all(unsigned long long left)
{
	memset(buffer, 'x', sizeof buffer);
	while (left > 0) {
		ssize_t n = write(
		    STDOUT_FILENO, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer);

		if (n == -1)
			err(1, "write");
		left -= (unsigned long long)n;
	}
}

static void
read_all(void)
{
	ssize_t n;

	while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
		continue;
	if (n == -1)
		err(1, "read");
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "write") == 0)
		write_all(strtoull(argv[2], NULL, 10));
	else if (argc == 2 && strcmp(argv[1], "read") == 0)
		read_all();
	else
		errx(2, "usage: pump write BYTES | pump read");
	return 0;
}
