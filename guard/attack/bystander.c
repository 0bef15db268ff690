/* Somebody outside of the leg. See bystander.h. */
#include "guard/attack/bystander.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "guard/attack/raw.h"
#include "guard/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MS = 300 };

static const char *const doors[DOORS] = {
    [DOOR_DOCKER] = "run/docker.sock",
    [DOOR_PODMAN] = "run/podman/podman.sock",
    [DOOR_BUS] = "run/bus",
    [DOOR_MANAGER] = "run/systemd/private",
    [DOOR_TMUX] = "run/tmux/default",
    [DOOR_SERVICE] = "tool/service.sock",
    [DOOR_DESCRIPTOR] = "tool/descriptor.sock",
    [DOOR_ABSTRACT] = "orders",
    [DOOR_ABSTRACT_DESCRIPTOR] = "descriptor",
};

static bool
is_abstract(enum door d)
{
	return d == DOOR_ABSTRACT || d == DOOR_ABSTRACT_DESCRIPTOR;
}

const char *
bystander_door(enum door d, const struct step *s, const char *marker, char *path, size_t size)
{
	if (is_abstract(d))
		snprintf(path, size, "legguard-attack-%.64s-%s", marker, doors[d]);
	else
		snprintf(path, size, "%.256s/%s", s->top, doors[d]);
	return path;
}

static int
listen_at(enum door d, const struct step *s, const char *marker)
{
	struct sockaddr_un a;
	socklen_t size;
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || (size = raw_unix_address(&a, d, s, marker)) == 0 ||
	    bind(fd, (struct sockaddr *)&a, size) != 0 || listen(fd, 8) != 0)
		return -1;
	return fd_take(&fd);
}

/* --- the bystander's process */

static struct bystander *self;

/* Senders of the last SIGURGs; 0: none. */
enum { SUSPECTS = 16 };
static volatile sig_atomic_t suspects[SUSPECTS];
static volatile sig_atomic_t next_suspect;

static void
count_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (sig == SIGURG)
		suspects[next_suspect++ % SUSPECTS] = info->si_pid;
	else
		self->signals++;
}

/* SIGURG goes to everybody, so it may be another battery's. The one who sent it stays for a moment. */
static void
look_at_suspects(void)
{
	pid_t stage = getppid();
	AUTO_FD int procfd = -1;
	struct process p;

	for (int i = 0; i < SUSPECTS; i++) {
		pid_t pid = suspects[i];

		if (pid == 0)
			continue;
		if (procfd < 0)
			procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
		while (pid > 1 && pid != stage && process_read(&p, procfd, pid) == 0)
			pid = p.ppid;
		if (pid == stage)
			self->signals++;
		suspects[i] = 0;
	}
}

/* The lease of a launcher may make this open wait a moment. */
static void
hand_out(int to, const char *path)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd >= 0)
		(void)raw_send_descriptor(to, fd);
}

static void
serve(enum door d, int listener, const struct step *s)
{
	AUTO_FD int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	struct timeval second = {.tv_sec = 1};
	char order[64];

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
	if (recv(fd, order, sizeof order, 0) <= 0)
		return;
	self->asked |= 1u << d;
	if (d == DOOR_DESCRIPTOR || d == DOOR_ABSTRACT_DESCRIPTOR)
		hand_out(fd, s->path[STEP_OUTPUT]);
	else
		(void)send(fd, "done\n", 5, MSG_NOSIGNAL);
}

static void
prepare(const struct step *s)
{
	static const int counted[] = {SIGUSR1, SIGURG, SIGTERM, SIGHUP, SIGINT};
	struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO};
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_NAME, "bystander");
	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		(void)sigaction(counted[i], &action, NULL);
	fd = open(s->path[STEP_OUTPUT], O_RDONLY);
	if (fd >= 0 && dup2(fd, BYSTANDER_FILE) >= 0)
		(void)close(fd);
	fd = open(s->path[STEP_COMMANDS], O_RDONLY | O_DIRECTORY);
	if (fd >= 0 && dup2(fd, BYSTANDER_DIRECTORY) >= 0)
		(void)close(fd);
}

static _Noreturn void
stand_by(const struct step *s, const char *marker, int ready, int ask)
{
	struct pollfd p[DOORS + 1] = {[DOORS] = {.fd = ask, .events = POLLIN}};
	sigset_t none, all;
	char c;

	sigemptyset(&none);

	prepare(s);
	for (int d = 0; d < DOORS; d++) {
		p[d] = (struct pollfd){.fd = listen_at(d, s, marker), .events = POLLIN};
		if (p[d].fd < 0)
			_exit(1);
	}
	self->ready = 1;
	(void)close(ready);
	for (;;) {
		/* Signals come here and nowhere else, so that none is missed before the wait; nor is one
		 * left for later where there is something to read as well. */
		int n = ppoll(p, DOORS + 1, NULL, &none);

		sigprocmask(SIG_SETMASK, &none, &all);
		sigprocmask(SIG_SETMASK, &all, NULL);

		look_at_suspects();
		if (n <= 0)
			continue;
		/* A signal that was sent before was taken on the way here. */
		if (p[DOORS].revents != 0 && read(ask, &c, 1) == 1)
			self->answers++;
		for (int d = 0; d < DOORS; d++)
			if (p[d].revents != 0)
				serve(d, p[d].fd, s);
	}
}

/* --- the battery's side */

static int
read_oom(pid_t pid)
{
	char path[64], text[16] = "";

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? atoi(text) : 0;
}

static int
count_cpus(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

static void
take_stock(struct bystander *b)
{
	struct rlimit limit = {0};

	(void)prlimit(b->pid, RLIMIT_NOFILE, NULL, &limit);
	b->nofile = limit.rlim_cur;
	b->nice = getpriority(PRIO_PROCESS, (id_t)b->pid);
	b->oom = read_oom(b->pid);
	b->cpus = count_cpus(b->pid);
	b->ioprio = raw_ioprio_get(b->pid);
}

int
bystander_start(struct bystander **result, const struct step *s, const char *marker, uid_t uid,
    gid_t gid, struct error *e)
{
	int ready[2], ask[2];
	pid_t pid;
	char c;
	struct bystander *b =
	    mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED || pipe2(ready, O_CLOEXEC) != 0 || pipe2(ask, O_CLOEXEC) != 0)
		return error_set(e, errno, NULL, "can't share memory with a process");
	self = b;
	b->canary = BYSTANDER_CANARY;
	pid = fork();
	if (pid == 0) {
		(void)close(ready[0]);
		if (uid != geteuid() && (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
					    setresuid(uid, uid, uid) != 0))
			_exit(1);
		stand_by(s, marker, ready[1], ask[0]);
	}
	(void)close(ready[1]);
	b->pid = pid;
	b->ask = ask[1];
	(void)close(ask[0]);
	while (pid > 0 && read(ready[0], &c, 1) < 0 && errno == EINTR)
		continue;
	(void)close(ready[0]);
	*result = b;
	if (pid < 0 || !b->ready)
		return error_set(e, errno, "choose a shorter path with TMPDIR",
		    "can't start a process that listens at %s", s->top);
	take_stock(b);
	return 0;
}

/* Whoever is stopped or dead gives none. */
static void
await_answer(struct bystander *b)
{
	unsigned int wanted = ++b->asked_for_answers;

	if (write(b->ask, "?", 1) != 1)
		return;
	for (int ms = 0; ms < ANSWER_MS && b->answers < wanted; ms++)
		(void)poll(NULL, 0, 1);
}

static const char *
harm(struct bystander *b)
{
	struct rlimit limit = {0};
	siginfo_t info = {0};

	await_answer(b);
	if (waitid(P_PID, (id_t)b->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid != 0)
		return info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED
		           ? "a process outside was stopped"
		           : "a process outside was killed";
	if (b->canary != BYSTANDER_CANARY)
		return "the memory of a process outside was changed";
	if (b->signals != 0)
		return "a signal reached a process outside";
	if (prlimit(b->pid, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur != b->nofile)
		return "the limits of a process outside were changed";
	if (getpriority(PRIO_PROCESS, (id_t)b->pid) != b->nice ||
	    raw_ioprio_get(b->pid) != b->ioprio)
		return "the priority of a process outside was changed";
	if (read_oom(b->pid) != b->oom)
		return "a process outside was offered to the OOM killer";
	if (count_cpus(b->pid) != b->cpus)
		return "a process outside was kept off its processors";
	return NULL;
}

bool
bystander_is_hurt(struct bystander *b, char *what, size_t size)
{
	const char *text = harm(b);

	if (text != NULL) {
		snprintf(what, size, "%s", text);
		return true;
	}
	for (int d = 0; d < DOORS; d++)
		if ((b->asked & 1u << d) != 0) {
			snprintf(what, size, "a service outside took an order, at %s%s",
			    is_abstract(d) ? "the abstract socket " : "", doors[d]);
			return true;
		}
	return false;
}

void
bystander_end(struct bystander *b)
{
	if (b == NULL)
		return;
	if (b->pid > 0) {
		(void)kill(b->pid, SIGKILL);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	(void)close(b->ask);
	(void)munmap(b, sizeof *b);
}
