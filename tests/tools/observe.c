/*
 * observe READY FILE...
 *
 * Resolve each FILE again and again, as somebody outside would, and compare what it leads to with what it was
 * at first: device, inode and bytes. Opens the FIFO READY once it has begun. At SIGTERM say how often it looked, and
 * end with 0 if it was the same each time; else with 1, and say what it saw first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 65536 };

struct look {
	int error; /* of the open; then the rest is not there */
	dev_t dev;
	ino_t ino;
	size_t size;
	char bytes[BYTES];
};

static volatile sig_atomic_t ended;

static void
end(int sig)
{
	(void)sig;
	ended = 1;
}

static void
look_at(struct look *l, const char *path)
{
	struct stat st;
	ssize_t n;
	int fd;

	/* Not to hang on a FIFO in its place; a lease that is being given up is nothing to see. */
	while ((fd = open(path, O_RDONLY | O_NONBLOCK)) == -1 && errno == EAGAIN)
		continue;
	l->error = fd == -1 || fstat(fd, &st) == -1 ? errno : 0;
	if (l->error == 0) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
		n = read(fd, l->bytes, BYTES);
		l->size = n > 0 ? (size_t)n : 0;
	}
	if (fd != -1)
		close(fd);
}

static const char *
difference(const struct look *a, const struct look *b)
{
	if (b->error != 0)
		return strerror(b->error);
	if (a->dev != b->dev || a->ino != b->ino)
		return "another inode";
	if (a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0)
		return "other bytes";
	return NULL;
}

int
main(int argc, char **argv)
{
	struct look *first = calloc((size_t)argc, sizeof *first), now;
	unsigned long looks = 0;
	bool same = true;

	if (argc < 3 || first == NULL)
		return 2;
	signal(SIGTERM, end);
	for (int i = 2; i < argc; i++) {
		look_at(&first[i], argv[i]);
		if (first[i].error != 0)
			return 2;
	}
	close(open(argv[1], O_WRONLY));
	do {
		for (int i = 2; i < argc; i++, looks++) {
			const char *what;

			look_at(&now, argv[i]);
			what = difference(&first[i], &now);
			if (what != NULL && same) {
				printf("changed: %s: %s\n", argv[i], what);
				fflush(stdout);
			}
			same = same && what == NULL;
		}
	} while (!ended);
	printf("looked %lu times\n", looks);
	return same ? 0 : 1;
}
