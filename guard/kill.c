/*
 * Killing every descendant of a child subreaper, and seeing that it is so. See kill.h.
 */
#include "guard/kill.h"

#include "guard/bounded.h"
#include "guard/cgroup.h"
#include "guard/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_MS = 5000 }; /* how long it is tried before the proof is given up */

void
kill_describe(struct reaper_message *m, const struct process *p)
{
	struct survivor *to = &m->survivors[m->n_survivors++];

	*to = (struct survivor){.pid = p->pid, .ppid = p->ppid, .start = p->start};
	memcpy(to->name, p->name, sizeof to->name);
}

/*
 * A child that has not been waited for keeps its number, so it may be signalled by that. Whether it is one
 * is asked here: /proc might be another namespace's.
 */
static bool
is_child(pid_t pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool
is_described(const struct reaper_message *m, pid_t pid)
{
	for (size_t i = 0; i < m->n_survivors; i++)
		if (m->survivors[i].pid == pid)
			return true;
	return false;
}

/* Kill the children. Orphans become that, so this alone gets to the last of a tree that does not grow. */
static size_t
kill_children(const struct kill_scope *s, struct reaper_message *m)
{
	struct pids children;
	size_t killed = 0;

	/* If it can't be read to its end, what is listed is a beginning. */
	(void)pids_children(&children, s->procfd, getpid());
	for (size_t i = 0; i < children.count; i++) {
		pid_t pid = children.list[i];
		struct process p;

		if (!is_child(pid))
			continue;
		if (m->n_survivors < REAPER_SURVIVORS_MAX && !is_described(m, pid) &&
		    process_read(&p, s->procfd, pid) == 0 && !p.dead)
			kill_describe(m, &p);
		killed += kill(pid, SIGKILL) == 0;
	}
	pids_free(&children);
	return killed;
}

/* Stopping them all first keeps one that forks for ever from running ahead of the list. */
static void
kill_tree(const struct kill_scope *s)
{
	struct processes all;

	(void)process_descendants(&all, s->procfd, getpid());
	for (size_t i = 0; i < all.count; i++)
		(void)process_signal(&all.list[i], s->procfd, SIGSTOP);
	for (size_t i = 0; i < all.count; i++)
		(void)process_signal(&all.list[i], s->procfd, SIGKILL);
	processes_free(&all);
}

/*
 * Wait until so many have ended, or nobody has for a while, and count those who did not end by
 * themselves. True if that was the last child: orphans come to this process, so while one descendant is
 * alive there is a child.
 */
static bool
reap_killed(const struct kill_scope *s, size_t killed, struct reaper_message *m)
{
	enum { PATIENCE_MS = 20 };
	struct pollfd p = {.fd = s->signals, .events = POLLIN};
	struct signalfd_siginfo info;
	size_t ended = 0;

	do {
		int status;
		pid_t pid;

		while (read(s->signals, &info, sizeof info) > 0)
			continue;
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			ended++;
			m->survivors_total += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		}
		if (pid < 0 && errno == ECHILD)
			return true;
	} while ((ended < killed || killed == 0) && poll(&p, 1, PATIENCE_MS) > 0);
	return false;
}

/* Those that would not die count as well. */
static void
count_remaining(const struct kill_scope *s, struct reaper_message *m)
{
	struct processes all;

	(void)process_descendants(&all, s->procfd, getpid());
	m->survivors_total += all.count != 0 ? all.count : 1;
	processes_free(&all);
}

void
kill_descendants(const struct kill_scope *s, struct reaper_message *m)
{
	int64_t deadline = bounded_now() + KILL_MS;
	size_t killed;

	killed = kill_children(s, m);
	if (s->cgroup >= 0)
		(void)cgroup_kill(s->cgroup); /* what has left it is still a descendant */
	while (!(m->all_dead = reap_killed(s, killed, m)) && bounded_now() < deadline) {
		kill_tree(s);
		killed = kill_children(s, m);
	}
	if (!m->all_dead)
		count_remaining(s, m);
}
