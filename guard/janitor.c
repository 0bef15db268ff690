/* The janitor, both sides. See janitor.h. */
#include "guard/janitor.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "guard/bounded.h"
#include "guard/outcome.h"
#include "guard/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reaper without a pid namespace may need that long to kill everything. */
enum { REAPER_MS = 10000 };

/* True if the launcher is gone and never said that all is well. */
static bool
launcher_died(const struct janitor *j)
{
	struct pollfd p[] = {
	    {.fd = j->wait, .events = POLLIN},
	    {.fd = j->self, .events = POLLIN},
	};

	while (poll(p, 2, -1) < 0)
		continue;
	return (p[0].revents & POLLIN) == 0;
}

static void
repair(struct snapshot *s)
{
	struct outcome out = {.lane = LANE_ERROR};
	struct error e = {0};
	AUTO_FREE char *notes = NULL;

	(void)snapshot_restore(s, &out.findings, &out.error);
	notes = notes_render_janitor(&out, &e);
	if (notes != NULL)
		(void)bounded_write_all(
		    STDERR_FILENO, notes, strlen(notes), bounded_now() + REAPER_MS);
}

static _Noreturn void
janitor_main(const struct janitor *j, struct snapshot *s, struct cgroup *group, int reaper_pidfd)
{
	const int keep[] = {j->wait, j->self, reaper_pidfd, group->parent, group->dir};
	struct pollfd p = {.fd = reaper_pidfd, .events = POLLIN};

	prctl(PR_SET_NAME, "leg-janitor");
	/* Out of reach of a signal to the launcher's process group; all but SIGKILL are blocked. */
	(void)setsid();
	/* The launcher's ends of the reaper's socket and of the leg's output have to hang up with it. */
	if (snapshot_close_others(s, keep, sizeof keep / sizeof keep[0]) != 0)
		_exit(1);
	if (!launcher_died(j))
		_exit(0);
	(void)poll(&p, 1, REAPER_MS);
	repair(s);
	cgroup_remove(group); /* the leg's, which is empty by now, or stays */
	_exit(0);
}

static void
close_all(struct janitor *j)
{
	fd_drop(&j->word);
	fd_drop(&j->wait);
	fd_drop(&j->self);
	fd_drop(&j->end);
}

/*
 * A copy of everything, the table of descriptors as well: the launcher may be killed in the middle of a
 * restore, when it has closed some of them or put others in their place.
 */
int
janitor_start(
    struct janitor *j, struct snapshot *s, struct cgroup *group, int reaper_pidfd, struct error *e)
{
	int pair[2];

	*j = (struct janitor)JANITOR_NONE;
	j->self = sys_pidfd_open(getpid());
	if (j->self < 0 || pipe2(pair, O_CLOEXEC) != 0) {
		error_set(e, errno, NULL, "can't watch the launcher");
		close_all(j);
		return -1;
	}
	j->wait = pair[0];
	j->word = pair[1];
	snapshot_inherit(s, true);
	j->pid = sys_fork(0, &j->end);
	if (j->pid == 0)
		janitor_main(j, s, group, reaper_pidfd);
	snapshot_inherit(s, false);
	if (j->pid < 0) {
		error_set(e, errno, NULL, "can't make the janitor's process");
		close_all(j);
		return -1;
	}
	return 0;
}

void
janitor_dismiss(struct janitor *j)
{
	if (j->word < 0)
		return;
	/* Both ends are ours, so it takes one byte. A janitor that can't be told takes the launcher for
	 * killed when it ends, and would undo what was published. It is not reaped yet. */
	while (write(j->word, "d", 1) != 1)
		if (errno != EINTR) {
			(void)kill(j->pid, SIGKILL);
			break;
		}
	fd_drop(&j->word);
}

void
janitor_wait(struct janitor *j)
{
	struct pollfd p = {.fd = j->end, .events = POLLIN};

	if (j->pid <= 0)
		return;
	janitor_dismiss(j);
	/* It has nothing left to do. An unconfined leg may have stopped it, and then it would never end by itself. */
	(void)kill(j->pid, SIGKILL);
	if (poll(&p, 1, BOUNDED_LAST_MS) == 0)
		return; /* frozen: it is given up */
	while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	j->pid = -1;
	close_all(j);
}
