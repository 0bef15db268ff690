/* The sweep. See sweep.h. First the rules, which are pure, then the system's part. */
#include "guard/sweep.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 50,
	SETTLING = 8,    /* listings until it is accepted that processes come and go */
	WAITED_FOR = 64, /* of those that were killed, before the next listing */
	WAIT_MS = 50,
};

/* The inode number of the initial pid namespace: PROC_PID_INIT_INO, Linux 3.8 */
static const ino_t initial_pid_namespace = 0xEFFFFFFC;

static int
by_pid(const void *a, const void *b)
{
	const struct process *pa = a, *pb = b;

	return (pa->pid > pb->pid) - (pa->pid < pb->pid);
}

/* In a listing that is sorted by pid. */
static const struct process *
find(const struct processes *all, pid_t pid)
{
	const struct process key = {.pid = pid};

	return all->count == 0 ? NULL : bsearch(&key, all->list, all->count, sizeof key, by_pid);
}

/* Only the launcher's ancestors are no candidates although all this is true. */
static bool
is_candidate(const struct process *p, const struct sweep_scope *s)
{
	return !p->dead && p->start >= s->since && p->session != s->session && p->ppid != s->self &&
	       p->uid == s->uid && (s->accept == NULL || s->accept(p, s->arg));
}

/* A process whose children may be anybody's. */
static bool
is_adopter(const struct process *p)
{
	return p->pid == 1 || (p->ppid == 1 && strcmp(p->name, "systemd") == 0);
}

/* The launcher's ancestors, marked at their place in the listing. */
static void
mark_ancestors(bool *marks, const struct processes *all, const struct sweep_scope *s)
{
	const struct process *p = find(all, s->self);

	/* Parents that were read at different times might form a ring. */
	for (size_t steps = 0; p != NULL && steps < all->count; steps++) {
		marks[p - all->list] = true;
		p = find(all, p->ppid);
	}
}

static void
mark_outsiders(bool *outsider, const struct processes *all, const struct sweep_scope *s)
{
	mark_ancestors(outsider, all, s);
	for (size_t i = 0; i < all->count; i++)
		outsider[i] |= !is_candidate(&all->list[i], s);
}

/* Candidates only lead to the first that is none: that one decides. */
static bool
is_shielded(const struct process *p, const bool *outsider, const struct processes *all)
{
	for (size_t steps = 0; p->ppid != 0 && steps < all->count; steps++) {
		const struct process *parent = find(all, p->ppid);

		if (parent == NULL)
			return true;
		if (parent->dead || is_adopter(parent))
			return false;
		if (outsider[parent - all->list])
			return true;
		p = parent;
	}
	return false;
}

int
sweep_select(struct processes *all, const struct sweep_scope *s)
{
	AUTO_FREE bool *outsider = calloc(all->count + 1, sizeof *outsider);
	AUTO_FREE bool *found = calloc(all->count + 1, sizeof *found);
	size_t kept = 0;

	if (outsider == NULL || found == NULL)
		return -1;
	if (all->count > 0)
		qsort(all->list, all->count, sizeof *all->list, by_pid);
	mark_outsiders(outsider, all, s);
	for (size_t i = 0; i < all->count; i++)
		found[i] = !outsider[i] && !is_shielded(&all->list[i], outsider, all);
	for (size_t i = 0; i < all->count; i++)
		if (found[i])
			all->list[kept++] = all->list[i];
	all->count = kept;
	return 0;
}

enum sweep_mode
sweep_mode(enum sweep_mode asked, enum proof proof, const struct sweep_scope *s)
{
	if (asked != SWEEP_DEFAULT)
		return asked;
	if (proof != PROOF_NONE && proof != PROOF_SUBREAPER)
		return SWEEP_OFF;
	return s->whole_machine ? SWEEP_REPORT : SWEEP_KILL;
}

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* The time as field 22 of a process made now would show it. */
static unsigned long long
ticks_since_boot(void)
{
	unsigned long long per_second = (unsigned long long)sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (unsigned long long)now.tv_sec * per_second +
	       (unsigned long long)now.tv_nsec / (1000000000 / per_second);
}

int
sweep_scope_open(struct sweep_scope *s, uid_t uid, struct error *e)
{
	static const char cure[] = "mount a proc file system there, or use --sweep off";
	struct process self;
	struct stat st;

	*s = (struct sweep_scope){.procfd = -1, .send = process_signal};
	s->procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->procfd < 0)
		return error_set(e, errno, cure, "can't open /proc");
	/* By the link, since another namespace's /proc may have somebody else under the number. */
	if (process_read_self(&self, s->procfd) != 0)
		return error_set(e, errno, cure, "can't find this process in /proc");
	s->uid = uid;
	s->self = self.pid;
	s->session = self.session;
	s->since = ticks_since_boot();
	s->whole_machine = s->uid == 0 && fstatat(s->procfd, "self/ns/pid", &st, 0) == 0 &&
	                   st.st_ino == initial_pid_namespace;
	return 0;
}

void
sweep_scope_close(struct sweep_scope *s)
{
	fd_drop(&s->procfd);
}

/* A parent that can't be read although its child still names it is hidden by hidepid. */
static bool
has_hidden_parent(const struct process *p, int procfd)
{
	struct process parent, now;

	return process_read(&parent, procfd, p->ppid) != 0 &&
	       process_read(&now, procfd, p->pid) == 0 && now.start == p->start &&
	       now.ppid == p->ppid;
}

/* Parent and child are read at different times: a parent that is missing ended or began in between. */
static bool
is_settled(const struct processes *all, const struct sweep_scope *s)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct process *p = &all->list[i];

		if (is_candidate(p, s) && p->ppid != 0 && find(all, p->ppid) == NULL &&
		    !has_hidden_parent(p, s->procfd))
			return false;
	}
	return true;
}

int
sweep_list(struct processes *found, bool *settled, const struct sweep_scope *s)
{
	if (process_list_exact(found, settled, s->procfd, s->since) != 0)
		return -1;
	*settled = *settled && is_settled(found, s);
	return sweep_select(found, s);
}

/* Until the first of them are gone, which is when the next listing has something new to tell. */
static void
wait_until_gone(const struct processes *all, const struct sweep_scope *s, int64_t deadline)
{
	struct pollfd fds[WAITED_FOR];
	nfds_t n = 0, left;
	int64_t until = now_ms() + WAIT_MS, rest;

	if (until > deadline)
		until = deadline;
	for (size_t i = 0; i < all->count && n < WAITED_FOR; i++) {
		int pidfd = process_open(&all->list[i], s->procfd);

		if (pidfd >= 0)
			fds[n++] = (struct pollfd){.fd = pidfd, .events = POLLIN};
	}
	left = n;
	while (left > 0 && (rest = until - now_ms()) > 0 && poll(fds, n, (int)rest) > 0)
		for (nfds_t i = 0; i < n; i++)
			if (fds[i].fd >= 0 && fds[i].revents != 0) {
				fd_drop(&fds[i].fd);
				left--;
			}
	for (nfds_t i = 0; i < n; i++)
		fd_drop(&fds[i].fd);
}

static void
kill_all(const struct processes *all, const struct sweep_scope *s)
{
	/* What could not be signalled is found by the next listing. Stopped, nobody forks meanwhile. */
	for (size_t i = 0; i < all->count; i++)
		(void)s->send(&all->list[i], s->procfd, SIGSTOP);
	for (size_t i = 0; i < all->count; i++)
		(void)s->send(&all->list[i], s->procfd, SIGKILL);
}

/* Count and keep those that the listing before did not have. */
static void
keep_new(struct sweep_result *r, const struct processes *now, const struct processes *before)
{
	for (size_t i = 0; i < now->count; i++) {
		const struct process *p = &now->list[i], *old = find(before, p->pid);

		if (old != NULL && old->start == p->start)
			continue;
		r->total++;
		if (r->found.count < SWEEP_FOUND_MAX)
			(void)processes_add(&r->found, p); /* it is counted all the same */
	}
}

/* What is left is what there is to tell. */
static void
keep_only(struct sweep_result *r, const struct processes *last)
{
	const struct processes none = {0};

	processes_free(&r->found);
	r->total = 0;
	keep_new(r, last, &none);
}

static int
sweep_kill(struct sweep_result *r, const struct sweep_scope *s, int64_t deadline)
{
	struct processes last = {0}, now; /* last: of those listings that were not empty */
	int failed = 0;

	for (int round = 0; round < ROUNDS && failed == 0 && !r->clean; round++) {
		bool settled;

		failed = sweep_list(&now, &settled, s);
		r->clean = failed == 0 && settled && now.count == 0;
		if (failed == 0 && now.count > 0) {
			keep_new(r, &now, &last);
			kill_all(&now, s);
			wait_until_gone(&now, s, deadline);
			processes_free(&last);
			last = now;
		} else {
			processes_free(&now);
		}
		if (now_ms() >= deadline)
			break;
	}
	if (!r->clean)
		keep_only(r, &last);
	processes_free(&last);
	return failed;
}

static int
sweep_report(struct sweep_result *r, const struct sweep_scope *s)
{
	const struct processes none = {0};
	struct processes now = {0};
	bool settled = false;
	int result = 0;

	for (int i = 0; i < SETTLING && result == 0 && !settled; i++) {
		processes_free(&now);
		result = sweep_list(&now, &settled, s);
	}
	if (result == 0)
		keep_new(r, &now, &none);
	r->clean = result == 0 && settled && now.count == 0;
	processes_free(&now);
	return result;
}

int
sweep_run(struct sweep_result *result, const struct sweep_scope *s, enum sweep_mode mode,
    int64_t bound_ms, struct error *e)
{
	int failed;

	*result = (struct sweep_result){0};
	if (mode == SWEEP_KILL)
		failed = sweep_kill(result, s, now_ms() + bound_ms);
	else
		failed = sweep_report(result, s);
	if (failed != 0)
		return error_set(e, errno, NULL, "can't list what the leg may have left running");
	return 0;
}
