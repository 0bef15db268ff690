/* One attack, carried out. See stage.h. */
#include "guard/attack/stage.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/wrapper.h"
#include "guard/bounded.h"
#include "guard/kill.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bsd/stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	HUNG_MS = 10000, /* a wrapper that takes longer does not return by itself */
	TICK_MS = 50,
	OUTPUT_MAX = 64 * 1024,
};

/* Shared with the battery's process. */
struct report {
	bool done;
	struct verdict verdict;
	struct error error;
};

struct capture {
	int fd;
	size_t size;
	char text[OUTPUT_MAX + 1];
};

/* What the stage's process holds. */
struct stage {
	const struct stage_plan *plan;
	const struct attack *attack;
	unsigned int wants;
	struct step step;
	struct step_record before;
	struct bystander *bystander;
	char marker[40];
	int alive, terminal, slave;
	struct judge_watch watch;
	struct capture out, err;
	struct evidence evidence;
};

/* --- before */

/* A file system of few inodes, with little room beside the step's two copies of this program, which only this process and
 * its children see. */
static int
mount_small(const struct stage *s, struct error *e)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	char options[96];
	struct stat st;

	if (stat(s->plan->program, &st) != 0)
		return error_set(e, errno, NULL, "can't find %s", s->plan->program);
	snprintf(options, sizeof options, "size=%lld,nr_inodes=200,mode=0755",
	    2 * (long long)st.st_size + (4 << 20));
	if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return error_set(e, errno, userns_cure(errno), "can't make a small file system");
	if (uid != 0 && userns_map_identity(uid, gid, e) != 0)
		return -1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", s->step.top, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
		return error_set(e, errno, userns_cure(errno), "can't make a small file system");
	return 0;
}

static int
open_terminal(struct stage *s, struct error *e)
{
	char name[64];

	s->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s->terminal < 0 || grantpt(s->terminal) != 0 || unlockpt(s->terminal) != 0 ||
	    ptsname_r(s->terminal, name, sizeof name) != 0 ||
	    (s->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		return error_set(e, errno, NULL, "can't make a terminal");
	return raw_terminal(s->slave) == 0 ? 0
	                                   : error_set(e, errno, NULL, "can't set up a terminal");
}

static int
prepare(struct stage *s, struct error *e)
{
	/* Keys that are left in the session's keyring go with this process. */
	(void)raw_keyctl(KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0);
	if ((s->wants & ATTACK_SMALL_FS) != 0 && mount_small(s, e) != 0)
		return -1;
	if (step_make(&s->step, s->plan->program, (s->wants & ATTACK_COPY) != 0, e) != 0 ||
	    step_give(&s->step, s->plan->uid, s->plan->gid, e) != 0 ||
	    step_remember(&s->before, &s->step, e) != 0)
		return -1;
	s->alive = open(s->step.alive, O_RDONLY | O_CLOEXEC);
	if (s->alive < 0)
		return error_set(e, errno, NULL, "can't open %s", s->step.alive);
	if (judge_watch(&s->watch, &s->step, s->plan->own) != 0)
		return error_set(e, errno, "raise the sysctl fs.inotify.max_user_instances",
		    "can't watch the decoys");
	if (bystander_start(&s->bystander, &s->step, s->marker, s->plan->uid, s->plan->gid, e) != 0)
		return -1;
	return (s->wants & ATTACK_TTY) != 0 ? open_terminal(s, e) : 0;
}

/* --- the wrapper's process */

/* An open descriptor of the guarded file for each way, and one of a directory above. */
static void
leave_descriptors(const struct step *s)
{
	(void)open(s->path[STEP_OUTPUT], O_WRONLY | O_APPEND);
	(void)open(s->path[STEP_OUTPUT], O_RDONLY);
	(void)open(s->path[STEP_TEMP], O_RDONLY | O_DIRECTORY);
}

static _Noreturn void
become_runner(const struct stage *s, char **words, char **env, int out, int err)
{
	sigset_t none;

	if (s->slave >= 0) {
		(void)setsid();
		(void)ioctl(s->slave, TIOCSCTTY, 0);
	}
	if (dup2(s->slave >= 0 ? s->slave : open("/dev/null", O_RDONLY | O_CLOEXEC), 0) < 0 ||
	    dup2(out, 1) < 0 || dup2(err, 2) < 0 || chdir(s->step.workspace) != 0)
		_exit(125);
	sys_close_from(3);
	if ((s->wants & ATTACK_INHERIT) != 0)
		leave_descriptors(&s->step);
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setrlimit(RLIMIT_NOFILE, &s->plan->startup->nofile);
	umask(s->plan->startup->umask);
	execve(s->step.path[STEP_RUNNER], words, env);
	_exit(125);
}

static int
describe_leg(const struct stage *s, struct leg_words *leg)
{
	struct stat st;

	snprintf(leg->bystander, sizeof leg->bystander, "%d", (int)s->bystander->pid);
	snprintf(leg->stage, sizeof leg->stage, "%d", (int)getpid());
	if (stat("/proc/self/ns/pid", &st) != 0)
		return -1;
	snprintf(leg->memory, sizeof leg->memory, "%p:%lu", (void *)s->bystander,
	    (unsigned long)st.st_ino);
	leg->words[0] = s->step.path[STEP_ATTACKER];
	leg->words[1] = ATTACK_LEG;
	leg->words[2] = s->attack->name;
	leg->words[3] = s->step.top;
	leg->words[4] = s->marker;
	leg->words[5] = leg->bystander;
	leg->words[6] = leg->stage;
	leg->words[7] = leg->memory;
	leg->words[8] = NULL;
	return 0;
}

/* The runner's pid; s->out and s->err get the reading ends. */
static pid_t
start(struct stage *s, struct error *e)
{
	struct leg_words leg;
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	char **words, **env;
	pid_t pid;

	if (describe_leg(s, &leg) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
		return error_set(e, errno, NULL, "can't make pipes for the wrapper");
	words = wrapper_words(s->plan, &s->step, &leg, (s->wants & ATTACK_COPY) != 0);
	env = wrapper_environment(s->plan->env, &s->step);
	pid = words != NULL && env != NULL ? fork() : -1;
	if (pid == 0)
		become_runner(s, words, env, out[1], err[1]);
	if (pid < 0)
		error_set(e, errno, NULL, "can't start the wrapper");
	wrapper_free(words);
	wrapper_free(env);
	(void)close(out[1]);
	(void)close(err[1]);
	s->out.fd = out[0];
	s->err.fd = err[0];
	(void)fcntl(out[0], F_SETFL, O_NONBLOCK);
	(void)fcntl(err[0], F_SETFL, O_NONBLOCK);
	return pid;
}

/* --- meanwhile */

/* What has no room is dropped, and the pipe emptied all the same. */
static void
take_output(struct capture *c)
{
	char rest[4096];
	ssize_t n;

	do {
		size_t room = OUTPUT_MAX - c->size;

		n = read(c->fd, room > 0 ? c->text + c->size : rest, room > 0 ? room : sizeof rest);
		if (n > 0 && room > 0)
			c->size += (size_t)n;
	} while (n > 0);
	c->text[c->size] = '\0';
	if (n == 0) /* nobody has the other end any more */
		fd_drop(&c->fd);
}

/* True when the runner has ended, was stopped, or takes too long. */
static bool
is_over(struct stage *s, pid_t runner, int64_t until)
{
	struct evidence *e = &s->evidence;
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)runner, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0)
		return true;
	if (info.si_pid == 0) {
		e->hung = bounded_now() > until;
		return e->hung;
	}
	e->runner_stopped = info.si_code == CLD_STOPPED;
	e->runner_killed = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
	e->status = info.si_code == CLD_EXITED ? info.si_status : -1;
	return true;
}

static void
follow(struct stage *s, pid_t runner)
{
	AUTO_FD int pidfd = sys_pidfd_open(runner);
	int64_t until = bounded_now() + HUNG_MS;

	while (!is_over(s, runner, until)) {
		struct pollfd p[] = {{.fd = s->out.fd, .events = POLLIN},
		    {.fd = s->err.fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};

		(void)poll(p, 3, TICK_MS);
		take_output(&s->out);
		take_output(&s->err);
	}
	take_output(&s->out);
	take_output(&s->err);
}

/* --- after */

static void
end_all(void)
{
	struct kill_scope all = {.cgroup = -1};
	static struct reaper_message unused;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	all.procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	all.signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	kill_descendants(&all, &unused);
}

static void
weigh(struct stage *s, struct verdict *v)
{
	struct evidence *e = &s->evidence;

	e->attack = s->attack;
	e->step = &s->step;
	e->before = &s->before;
	e->bystander = s->bystander;
	e->marker = s->marker;
	e->output = s->out.text;
	e->errors = s->err.text;
	e->own = s->plan->own;
	e->alive = s->alive;
	e->terminal = s->slave;
	e->watch = &s->watch;
	judge(v, e);
}

static _Noreturn void
stage_main(
    struct report *r, const struct stage_plan *p, const struct attack *attack, const char *top)
{
	static const struct attack check = {.name = ATTACK_CHECK};
	static struct stage s;
	unsigned char random[8];
	pid_t runner;

	s = (struct stage){.plan = p, .terminal = -1, .slave = -1};
	s.attack = attack != NULL ? attack : &check;
	s.wants = s.attack->wants;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	arc4random_buf(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(s.marker + 2 * i, 3, "%02x", random[i]);
	step_name(&s.step, top);
	if (prepare(&s, &r->error) == 0 && (runner = start(&s, &r->error)) > 0) {
		follow(&s, runner);
		weigh(&s, &r->verdict);
	}
	end_all();
	r->done = true;
	_exit(0);
}

/* --- the battery's process */

static bool
is_cancelled(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		   sigismember(&pending, SIGHUP) == 1);
}

/* The stage's end; if it is to end before that, what it has started is this process's to end. */
static bool
await(pid_t stage)
{
	AUTO_FD int pidfd = sys_pidfd_open(stage);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	bool cancelled = false;

	while (!cancelled && poll(&p, 1, TICK_MS) != 1)
		cancelled = is_cancelled();
	if (cancelled)
		(void)kill(stage, SIGKILL);
	while (waitpid(stage, NULL, 0) < 0 && errno == EINTR)
		continue;
	end_all();
	return !cancelled;
}

static int
make_top(char *top, size_t size, struct error *e)
{
	const char *base = getenv("TMPDIR");
	AUTO_FREE char *real = realpath(base != NULL && base[0] != '\0' ? base : "/tmp", NULL);

	if (real == NULL || strlen(real) > 200)
		return error_set(e, errno, "name a directory with a shorter path in TMPDIR",
		    "can't make decoys in %s", base != NULL ? base : "/tmp");
	snprintf(top, size, "%.200s/legguard-attack.XXXXXX", real);
	if (mkdtemp(top) == NULL || chmod(top, 0755) != 0)
		return error_set(e, errno, "name a directory that you may write in TMPDIR",
		    "can't make decoys in %s", real);
	return 0;
}

int
stage_run(
    struct verdict *v, const struct stage_plan *p, const struct attack *attack, struct error *e)
{
	struct report *r =
	    mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char top[STEP_PATH];
	bool finished;
	int result = 0;
	pid_t stage;

	if (r == MAP_FAILED || make_top(top, sizeof top, e) != 0)
		return error_set(e, errno, NULL, "can't share memory with a process");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	stage = fork();
	if (stage == 0)
		stage_main(r, p, attack, top);
	finished = stage > 0 && await(stage);
	step_remove(top);
	*v = r->verdict;
	if (!finished) {
		result = error_set(e, stage > 0 ? ECANCELED : errno, NULL, "the battery was ended");
	} else if (r->error.what[0] != '\0') {
		*e = r->error;
		result = -1;
	} else if (!r->done) {
		*v = (struct verdict){.kind = VERDICT_THROUGH, .status = -1};
		snprintf(v->detail, sizeof v->detail, "the battery's own process was killed");
	}
	(void)munmap(r, sizeof *r);
	return result;
}
