/*
 * The reaper, both sides: what runs in its process (reaper_main) and what the launcher holds of it.
 * See reaper.h.
 */
#include "guard/reaper.h"

#include "bindmount/cleanup.h"
#include "bindmount/landlock.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"
#include "guard/instream.h"
#include "guard/kill.h"
#include "guard/passing.h"
#include "guard/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the launcher asks for: one packet each. */
struct request {
	enum { REQUEST_GO = 1, REQUEST_SIGNAL, REQUEST_END_LEG } kind;
	int sig; /* REQUEST_SIGNAL */
};

/* What the reaper's process knows. */
struct state {
	struct leg_plan plan; /* its own copy, with its own numbers of descriptors */
	int socket;           /* to the launcher */
	struct kill_scope mine;
	pid_t leg;
};

static void
send_message(const struct state *s, const struct reaper_message *m)
{
	/* A launcher that is gone has no use for it, and this process is about to end with it. */
	(void)send(s->socket, m, sizeof *m, MSG_NOSIGNAL);
}

/* Hand the decoys on, to be read when the leg is gone. */
static int
send_decoys(int socket, int decoys, struct error *e)
{
	const struct reaper_message m = {.kind = REAPER_DECOYS};

	if (passing_send(socket, &m, sizeof m, decoys) != 0)
		return error_set(e, errno, NULL, "can't hand on the decoys");
	return 0;
}

static _Noreturn void
fail(const struct state *s, const struct leg_failure *failure)
{
	const struct reaper_message m = {.kind = REAPER_FAILED, .failure = *failure};

	send_message(s, &m);
	_exit(1);
}

static bool
launcher_is_gone(const struct state *s)
{
	struct pollfd p = {.fd = s->socket, .events = 0};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

/*
 * End with the launcher, whatever kills it. The parent-death signal is set first and the launcher's
 * end of the socket looked at afterwards, so a launcher that died in between is noticed: getppid() is
 * no help, it is 0 in a new pid namespace. A subreaper must outlive the launcher for as long as it
 * takes to kill its descendants, so it goes by the socket alone.
 */
static int
bind_to_launcher(const struct state *s, struct error *e)
{
	if (s->plan.pid_namespace) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
			return error_set(e, errno, NULL, "can't bind the leg to the launcher");
	} else if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
		return error_set(e, errno, NULL, "can't become a child subreaper");
	}
	if (launcher_is_gone(s))
		_exit(1);
	return 0;
}

static int
build_view(const struct state *s, struct error *e)
{
	const struct leg_plan *plan = &s->plan;
	AUTO_FD int decoys = -1;
	char path[PATH_MAX + 1];

	if (instream_find(path, e) != 0)
		return -1;
	if (leg_has_userns(plan) && userns_map_identity(plan->uid, plan->gid, e) != 0)
		return -1;
	if (view_build(plan->view, &decoys, e) != 0 ||
	    (decoys >= 0 && send_decoys(s->socket, decoys, e) != 0))
		return -1;
	return instream_take(plan->view, path, e);
}

static int
build(struct state *s, struct error *e)
{
	const struct leg_plan *plan = &s->plan;

	if (bind_to_launcher(s, e) != 0)
		return -1;
	if (plan->confined) {
		if (build_view(s, e) != 0)
			return -1;
	} else if (view_enter(&plan->view->cwd, e) != 0) {
		return -1;
	}
	if (plan->landlock_abi > 0) {
		s->plan.ruleset = landlock_build(plan->view, plan->landlock_abi, e);
		if (s->plan.ruleset < 0)
			return -1;
	}
	s->mine.procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->mine.procfd < 0)
		return error_set(e, errno, "mount a proc file system there", "can't open /proc");
	return 0;
}

/*
 * Everything that is alive in the pid namespace but this process. Only those that are described are read;
 * the rest are counted.
 */
static void
list_namespace(const struct state *s, struct reaper_message *m)
{
	struct pids all;
	bool failed = pids_alive(&all, s->mine.procfd) != 0;

	for (size_t i = 0; i < all.count; i++) {
		pid_t pid = all.list[i];
		struct process p;

		if (pid == getpid())
			continue;
		m->survivors_total++;
		if (m->n_survivors < REAPER_SURVIVORS_MAX &&
		    process_read(&p, s->mine.procfd, pid) == 0)
			kill_describe(m, &p);
	}
	pids_free(&all);
	/* The leg may have seen to that (prlimit(2) asks for no more than the same user). There is
	 * somebody, or there would be no child. */
	if (failed && m->survivors_total == 0)
		m->survivors_total = 1;
}

enum reaped { REAPED_OTHERS, REAPED_LEG, REAPED_LAST, REAPED_UNKNOWN };

/*
 * Reap all that have ended, and say whether the leg's main process, or every child, was among them; or that
 * the kernel does not say it, so that the leg's end could be waited for for ever.
 */
static enum reaped
reap(const struct state *s, int *wait_status, struct rusage *usage)
{
	bool ended = false;
	struct rusage used;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0 || (pid < 0 && errno == EINTR)) {
		/* No end: a child may make its parent its tracer (PTRACE_TRACEME) without asking. */
		if (pid > 0 && WIFSTOPPED(status))
			(void)ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
		else if (pid > 0 && pid == s->leg) {
			*wait_status = status;
			*usage = used;
			ended = true;
		}
	}
	if (!ended)
		return pid == 0 ? REAPED_OTHERS : REAPED_UNKNOWN;
	return pid < 0 && errno == ECHILD ? REAPED_LAST : REAPED_LEG;
}

/*
 * Orphans come to this process, so without a child it has no descendant either: then there is nothing to
 * list or to kill.
 */
static _Noreturn void
finish(const struct state *s, int wait_status, const struct rusage *usage, bool alone)
{
	struct reaper_message m = {
	    .kind = REAPER_ENDED, .usage = *usage, .wait_status = wait_status, .all_dead = alone};

	if (!alone && s->plan.pid_namespace)
		list_namespace(s, &m);
	else if (!alone)
		kill_descendants(&s->mine, &m);
	send_message(s, &m);
	_exit(0);
}

/* Nobody is left to report to, or there is nothing to report: in the namespace tier to end is enough. */
static _Noreturn void
abandon(const struct state *s)
{
	struct reaper_message unheard = {.kind = REAPER_ENDED};

	if (!s->plan.pid_namespace)
		kill_descendants(&s->mine, &unheard);
	_exit(1);
}

/* Wait for the launcher's word. Anything else than REQUEST_GO, its end above all, ends this process. */
static int
wait_for_go(const struct state *s, struct error *e)
{
	struct request request = {0};
	ssize_t n;

	while ((n = recv(s->socket, &request, sizeof request, 0)) < 0 && errno == EINTR)
		continue;
	if (n < 0)
		return error_set(e, errno, NULL, "can't hear from the launcher");
	if (request.kind != REQUEST_GO)
		_exit(1);
	return 0;
}

/* Set up the leg's surroundings and start it, or report why not and end. */
static void
begin(struct state *s)
{
	const struct reaper_message started = {.kind = REAPER_STARTED};
	struct leg_failure failure = {0};
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	s->mine.signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->mine.signals < 0) {
		error_set(&failure.error, errno, NULL, "can't make a signalfd");
		fail(s, &failure);
	}
	if (build(s, &failure.error) != 0 || wait_for_go(s, &failure.error) != 0)
		fail(s, &failure);
	s->leg = leg_start(&s->plan, &failure);
	if (s->leg < 0)
		fail(s, &failure);
	send_message(s, &started);
}

/* The leg is not reaped yet, so its pid is its own, and -pid its session's first process group. */
static void
serve(const struct state *s)
{
	struct request request;

	if (recv(s->socket, &request, sizeof request, MSG_DONTWAIT) != (ssize_t)sizeof request)
		return;
	if (request.kind == REQUEST_END_LEG)
		(void)kill(s->leg, SIGKILL);
	else if (request.kind == REQUEST_SIGNAL)
		(void)kill(s->plan.pid_namespace ? -1 : -s->leg, request.sig);
}

/* The leg may have lowered the limit of open files, above which poll(2) takes none: see go_on_blind() in supervise.c. */
static void
look_at_socket(const struct state *s, struct pollfd *p)
{
	static const struct timespec tick = {.tv_nsec = 20 * 1000000L};
	struct request request;
	ssize_t n = recv(s->socket, &request, sizeof request, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		p->revents = POLLIN;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		p->revents = POLLHUP;
	else
		(void)nanosleep(&tick, NULL);
}

static _Noreturn void
reaper_main(struct state *s)
{
	struct signalfd_siginfo info;
	enum reaped reaped;
	struct rusage usage = {0};
	int wait_status = 0;

	prctl(PR_SET_NAME, "leg-reaper");
	begin(s);
	for (;;) {
		struct pollfd p[] = {
		    {.fd = s->mine.signals, .events = POLLIN},
		    {.fd = s->socket, .events = POLLIN},
		};

		if (poll(p, 2, -1) < 0 && errno == EINVAL)
			look_at_socket(s, &p[1]);
		if ((p[1].revents & (POLLHUP | POLLERR)) != 0)
			abandon(s);
		if ((p[1].revents & POLLIN) != 0)
			serve(s);
		/* Several ends may be one signal: empty the descriptor, then ask for all. */
		while (read(s->mine.signals, &info, sizeof info) > 0)
			continue;
		reaped = reap(s, &wait_status, &usage);
		if (reaped == REAPED_UNKNOWN)
			abandon(s);
		if (reaped != REAPED_OTHERS)
			finish(s, wait_status, &usage, reaped == REAPED_LAST);
	}
}

/*
 * Nothing of the launcher's is kept but its stdin, the socket and the leg's control group, least of all
 * its hold on the guarded files. The step's output is not for this side of the relay.
 */
static _Noreturn void
become_reaper(const struct leg_plan *plan, int socket)
{
	enum { SOCKET = STDERR_FILENO + 1, CGROUP, END };
	struct state s = {
	    .plan = *plan, .socket = SOCKET, .mine = {.procfd = -1, .signals = -1, .cgroup = -1}};
	/* Above all numbers that are about to be taken. */
	int high = fcntl(socket, F_DUPFD_CLOEXEC, END);
	int group = plan->cgroup >= 0 ? fcntl(plan->cgroup, F_DUPFD_CLOEXEC, END) : -1;

	if (high < 0 || dup2(plan->output[0], STDOUT_FILENO) < 0 ||
	    dup2(plan->output[1], STDERR_FILENO) < 0 || dup3(high, SOCKET, O_CLOEXEC) < 0 ||
	    (plan->cgroup >= 0 && (group < 0 || dup3(group, CGROUP, O_CLOEXEC) < 0))) {
		struct leg_failure failure = {0};

		s.socket = high >= 0 ? high : socket;
		error_set(&failure.error, errno, NULL, "can't set up the reaper's descriptors");
		fail(&s, &failure);
	}
	s.plan.cgroup = s.mine.cgroup = plan->cgroup >= 0 ? CGROUP : -1;
	sys_close_from(plan->cgroup >= 0 ? END : CGROUP);
	reaper_main(&s);
}

static const char cure_root[] =
    "give root CAP_SYS_ADMIN here (a container without it: start it as an ordinary user, or choose "
    "--isolation landlock or none), or raise the sysctls user.max_mnt_namespaces and "
    "user.max_pid_namespaces";

int
reaper_start(struct reaper *r, const struct leg_plan *plan, struct error *e)
{
	uint64_t namespaces = plan->confined ? CLONE_NEWNS : 0;
	int pair[2];

	if (leg_has_userns(plan))
		namespaces |= CLONE_NEWUSER;
	if (plan->pid_namespace)
		namespaces |= CLONE_NEWPID;

	*r = (struct reaper){.pid = -1, .pidfd = -1, .socket = -1, .decoys = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return error_set(e, errno, NULL, "can't make a socket pair");
	r->pid = sys_fork(namespaces, &r->pidfd);
	if (r->pid == 0)
		become_reaper(plan, pair[1]);
	close(pair[1]);
	r->socket = pair[0];
	if (r->pid < 0) {
		error_set(e, errno, leg_has_userns(plan) ? userns_cure(errno) : cure_root,
		    "can't make the leg's namespaces");
		reaper_close(r);
		return -1;
	}
	return 0;
}

/* A reaper that is gone is noticed by its end, so that is no failure. -1: errno. */
static int
ask(const struct reaper *r, struct request request)
{
	while (send(r->socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR)
			return errno == EPIPE || errno == ECONNRESET ? 0 : -1;
	return 0;
}

int
reaper_go(const struct reaper *r, struct error *e)
{
	if (ask(r, (struct request){.kind = REQUEST_GO}) != 0)
		return error_set(e, errno, NULL, "can't tell the leg's reaper to start it");
	return 0;
}

void
reaper_signal(const struct reaper *r, int sig)
{
	/* One that does not arrive is followed by SIGKILL when the grace is over. */
	(void)ask(r, (struct request){.kind = REQUEST_SIGNAL, .sig = sig});
}

void
reaper_end_leg(const struct reaper *r)
{
	/* Likewise: then the reaper itself is killed. */
	(void)ask(r, (struct request){.kind = REQUEST_END_LEG});
}

void
reaper_kill(const struct reaper *r)
{
	(void)sys_pidfd_send_signal(r->pidfd, SIGKILL);
}

int
reaper_receive(struct reaper *r, struct reaper_message *m)
{
	int fd;
	ssize_t n = passing_receive(r->socket, m, sizeof *m, MSG_DONTWAIT, &fd);

	if (fd >= 0) {
		fd_drop(&r->decoys);
		r->decoys = fd;
	}
	if (n == (ssize_t)sizeof *m)
		return 1;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

int
reaper_wait(struct reaper *r)
{
	pid_t pid;

	/* A child of ours that nobody else waits for, so the pid is still its own. */
	while ((pid = waitpid(r->pid, NULL, WNOHANG)) < 0 && errno == EINTR)
		continue;
	return pid == r->pid ? 0 : -1;
}

void
reaper_close(struct reaper *r)
{
	fd_drop(&r->pidfd);
	fd_drop(&r->socket);
	fd_drop(&r->decoys);
}
