/*
 * crowd FILE N
 *
 * Leaves N sleeping processes behind, each in a session of its own, and ends when all are there. All hold
 * a shared lock on FILE, so it is free when the last of them is gone. What FILE holds then is the time
 * at which this process ended, in microseconds of CLOCK_MONOTONIC.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct timespec now;
	int file, ready[2];
	char c;

	if (argc != 3)
		errx(2, "usage: crowd FILE N");
	if ((file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644)) == -1 ||
	    flock(file, LOCK_SH) == -1 || pipe(ready) == -1)
		err(2, "%s", argv[1]);
	for (long n = strtol(argv[2], NULL, 10); n > 0; n--) {
		switch (fork()) {
		case -1:
			err(2, "fork");
		case 0:
			setsid();
			close(ready[0]);
			close(ready[1]);
			for (;;)
				pause();
		}
	}
	close(ready[1]);
	/* End of file: everybody has closed it. */
	while (read(ready[0], &c, 1) == -1 && errno == EINTR)
		continue;
	clock_gettime(CLOCK_MONOTONIC, &now);
	dprintf(file, "%lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return 0;
}
