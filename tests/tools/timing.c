/*
 * timing ROUNDS [--truncate FILE] [--since CROWD] NAME COMMAND [ARG]... [';;' NAME COMMAND [ARG]...]...
 *
 * Times whole processes, paired: each round runs every command once, in turn, so that a busy moment of
 * the machine falls on all of them alike. Prints one line for each command: its name, the median in
 * microseconds, the median of its per-round ratio to the first command, and its peak resident set
 * in KiB. FILE is emptied before each run, outside the measured time. With --since a time begins when
 * the file CROWD says, in microseconds of CLOCK_MONOTONIC, and does not end before nobody holds a lock on
 * it.
 */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MAX_COMMANDS = 16 };

static struct {
	const char *name;
	char **argv;
	double *us, *ratio;
	long peak_kib;
} commands[MAX_COMMANDS];

static double
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Wait until nobody holds the file any more, and read when that began. */
static double
read_start(const char *crowd)
{
	char text[32] = "";
	int fd = open(crowd, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || flock(fd, LOCK_EX) == -1 || read(fd, text, sizeof text - 1) <= 0)
		err(1, "%s", crowd);
	close(fd);
	return strtod(text, NULL);
}

static double
run(size_t i, const char *crowd)
{
	struct rusage ru;
	double start = now_us(), end;
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, commands[i].argv[0], NULL, NULL, commands[i].argv, environ) != 0)
		errx(1, "can't run %s", commands[i].argv[0]);
	if (wait4(pid, &status, 0, &ru) != pid)
		err(1, "wait4");
	if (crowd != NULL)
		start = read_start(crowd);
	end = now_us();
	if (status != 0)
		errx(1, "%s failed (wait status %#x)", commands[i].name, (unsigned int)status);
	if (ru.ru_maxrss > commands[i].peak_kib)
		commands[i].peak_kib = ru.ru_maxrss;
	return end - start;
}

int
main(int argc, char **argv)
{
	size_t rounds, n = 0;
	const char *victim = NULL, *crowd = NULL;
	int a = 2;

	if (argc < 4 || (rounds = strtoul(argv[1], NULL, 10)) == 0)
		errx(2, "usage: timing ROUNDS [--truncate FILE] [--since CROWD] NAME COMMAND... "
			"[';;' ...]");
	if (argc > a + 1 && strcmp(argv[a], "--truncate") == 0) {
		victim = argv[a + 1];
		a += 2;
	}
	if (argc > a + 1 && strcmp(argv[a], "--since") == 0) {
		crowd = argv[a + 1];
		a += 2;
	}
	while (a < argc && n < MAX_COMMANDS) {
		commands[n].name = argv[a++];
		commands[n].argv = argv + a;
		commands[n].us = calloc(rounds, sizeof(double));
		commands[n].ratio = calloc(rounds, sizeof(double));
		if (commands[n].us == NULL || commands[n].ratio == NULL)
			err(1, NULL);
		while (a < argc && strcmp(argv[a], ";;") != 0)
			a++;
		argv[a++] = NULL;
		if (commands[n].argv[0] == NULL)
			errx(2, "%s: no command", commands[n].name);
		n++;
	}

	/* Round 0 only warms the caches. */
	for (size_t r = 0; r <= rounds; r++) {
		for (size_t i = 0; i < n; i++) {
			double us;

			if (victim != NULL && truncate(victim, 0) == -1)
				err(1, "%s", victim);
			us = run(i, crowd);
			if (r == 0)
				continue;
			commands[i].us[r - 1] = us;
			commands[i].ratio[r - 1] = us / commands[0].us[r - 1];
		}
	}
	for (size_t i = 0; i < n; i++)
		printf("%s\t%.0f\t%.3f\t%ld\n", commands[i].name, median(commands[i].us, rounds),
		    median(commands[i].ratio, rounds), commands[i].peak_kib);
	return 0;
}
