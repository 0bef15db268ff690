/*
 * supervise SECONDS COMMAND [ARG]...
 *
 * Runs one test scenario and answers two questions that a shell can't answer reliably: did it end in
 * time, and did it leave a process behind? It is a child subreaper, so whatever the scenario detaches
 * ends up here, however it detached itself. Processes that are merely dying get a moment for it; what
 * is then still alive is named on stdout, killed, and makes the exit status 99. A command that
 * outlasts SECONDS is killed with everything it started: 124. Otherwise: the command's own status,
 * 128+n for signal n.
 */
#include <err.h>
#include <errno.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PIDS = 65536, GRACE_MS = 3000 };

static struct {
	pid_t pid, ppid;
	char state;
	char name[64];
} table[MAX_PIDS];
static size_t n_table;

static long
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000L;
}

static void
read_table(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *de;

	n_table = 0;
	if (dir == NULL)
		err(98, "/proc");
	while (n_table < MAX_PIDS && (de = readdir(dir)) != NULL) {
		char path[300], line[512], *open_paren, *close_paren;
		FILE *f;

		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/stat", de->d_name);
		if ((f = fopen(path, "re")) == NULL)
			continue;
		if (fgets(line, sizeof line, f) != NULL &&
		    (open_paren = strchr(line, '(')) != NULL &&
		    (close_paren = strrchr(line, ')')) != NULL) {
			int ppid;

			table[n_table].pid = atoi(de->d_name);
			*close_paren = '\0';
			snprintf(
			    table[n_table].name, sizeof table[n_table].name, "%s", open_paren + 1);
			if (sscanf(close_paren + 1, " %c %d", &table[n_table].state, &ppid) == 2) {
				table[n_table].ppid = ppid;
				n_table++;
			}
		}
		fclose(f);
	}
	closedir(dir);
}

static bool
is_descendant(pid_t pid)
{
	pid_t self = getpid();

	/* The table is a moving picture: a bound keeps a cycle in it from hanging us. */
	for (int depth = 0; depth < 1000 && pid > 1; depth++) {
		size_t i;

		for (i = 0; i < n_table && table[i].pid != pid; i++)
			;
		if (i == n_table)
			return false;
		if (table[i].ppid == self)
			return true;
		pid = table[i].ppid;
	}
	return false;
}

/* Kill all descendants; tell about each, once, if asked. Returns how many there were. */
static size_t
kill_descendants(bool tell)
{
	size_t n = 0;

	read_table();
	for (size_t i = 0; i < n_table; i++) {
		if (table[i].state == 'Z' || !is_descendant(table[i].pid))
			continue;
		if (tell)
			printf("left behind: process %d (%s)\n", table[i].pid, table[i].name);
		kill(table[i].pid, SIGKILL);
		n++;
	}
	fflush(stdout);
	return n;
}

/* Reap until nothing is left (true) or the deadline has passed. status gets that of `main_pid`. */
static bool
reap_until(long deadline, pid_t main_pid, int *status, bool stop_at_main)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		int st;
		pid_t pid;

		while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
			if (pid == main_pid) {
				*status = st;
				if (stop_at_main)
					return true;
			}
		}
		if (pid == -1 && errno == ECHILD)
			return true;

		long left = deadline - now_ms();
		struct timespec ts;

		if (left <= 0)
			return false;
		ts.tv_sec = left / 1000;
		ts.tv_nsec = left % 1000 * 1000000L;
		sigtimedwait(&set, NULL, &ts);
	}
}

int
main(int argc, char **argv)
{
	sigset_t set;
	pid_t pid;
	int status = 0;
	bool in_time, clean = true;

	if (argc < 3)
		errx(98, "usage: supervise SECONDS COMMAND [ARG]...");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		err(98, "PR_SET_CHILD_SUBREAPER");
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);

	if ((pid = fork()) == -1)
		err(98, "fork");
	if (pid == 0) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		setsid();
		execvp(argv[2], argv + 2);
		err(98, "%s", argv[2]);
	}
	in_time = reap_until(now_ms() + atol(argv[1]) * 1000L, pid, &status, true);
	if (in_time) {
		clean = reap_until(now_ms() + GRACE_MS, pid, &status, false);
		if (!clean)
			clean = kill_descendants(true) == 0;
	}
	for (int i = 0; i < 1000 && !reap_until(now_ms() + 10, pid, &status, false); i++)
		kill_descendants(false);

	if (!in_time)
		return 124;
	if (!clean)
		return 99;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
