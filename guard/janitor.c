/* The janitor, both sides. See janitor.h. */
#include "guard/janitor.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "guard/outcome.h"
#include "guard/status.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reaper without a pid namespace may need that long to kill everything. */
enum { REAPER_MS = 10000 };

/* True if the launcher is gone and never said that all is well. */
static bool
launcher_died(int socket)
{
	char word;
	ssize_t n;

	while ((n = recv(socket, &word, sizeof word, 0)) < 0 && errno == EINTR)
		continue;
	return n <= 0;
}

static void
repair(struct snapshot *s)
{
	struct outcome out = {.lane = LANE_ERROR};
	struct error e = {0};
	AUTO_FREE char *notes = NULL;

	(void)snapshot_restore(s, &out.findings, &out.error);
	notes = status_janitor_notes(&out, &e);
	if (notes != NULL)
		(void)!write(STDERR_FILENO, notes, strlen(notes));
}

static _Noreturn void
janitor_main(struct snapshot *s, int socket, int reaper_pidfd)
{
	const int keep[] = {socket, reaper_pidfd};
	struct pollfd p = {.fd = reaper_pidfd, .events = POLLIN};

	prctl(PR_SET_NAME, "leg-janitor");
	/* Out of reach of a signal to the launcher's process group; all but SIGKILL are blocked. */
	(void)setsid();
	/* Among them this side's end of the reaper's socket and of the leg's output: both have to hang
	 * up when the launcher dies. */
	if (snapshot_close_others(s, keep, sizeof keep / sizeof keep[0]) != 0)
		_exit(1);
	if (!launcher_died(socket))
		_exit(0);
	(void)poll(&p, 1, REAPER_MS);
	repair(s);
	_exit(0);
}

int
janitor_start(struct janitor *j, struct snapshot *s, int reaper_pidfd, struct error *e)
{
	int pair[2];

	*j = (struct janitor){.pid = -1, .socket = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return error_set(e, errno, NULL, "can't make a socket pair");
	snapshot_inherit(s, true);
	j->pid = sys_fork(0, NULL);
	if (j->pid == 0)
		janitor_main(s, pair[1], reaper_pidfd);
	snapshot_inherit(s, false);
	close(pair[1]);
	j->socket = pair[0];
	if (j->pid < 0) {
		error_set(e, errno, NULL, "can't make the janitor's process");
		fd_drop(&j->socket);
		return -1;
	}
	return 0;
}

void
janitor_dismiss(struct janitor *j)
{
	if (j->socket >= 0)
		(void)send(j->socket, "d", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	fd_drop(&j->socket);
}

void
janitor_wait(struct janitor *j)
{
	if (j->pid <= 0)
		return;
	janitor_dismiss(j);
	while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	j->pid = -1;
}
