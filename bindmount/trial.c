/* Trying something out in a child. See trial.h. */
#include "bindmount/trial.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void
trial_detail(struct trial_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->detail, sizeof r->detail, fmt, ap);
	va_end(ap);
}

void
trial_missing(struct trial_result *r, int errnum, const char *cure, const char *fmt, ...)
{
	char text[sizeof r->error.what];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->state = TRIAL_MISSING;
	error_set(&r->error, errnum, cure, "%s", text);
}

/*
 * End with the caller. `alive` is a pipe that hangs up when it is gone, for a caller that was gone before
 * the signal was asked for: getppid() is 0 in a new pid namespace.
 */
static void
bind_to_caller(const int alive[2])
{
	struct pollfd p = {.fd = alive[0], .events = 0};
	sigset_t all;

	/* As the launcher has them: what is tried is what it does. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close(alive[1]);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    (poll(&p, 1, 0) > 0 && (p.revents & POLLHUP) != 0))
		_exit(1);
	close(alive[0]);
}

/* One that needs no /dev and can be read afterwards. */
static void
use_empty_file(void)
{
	int fd = memfd_create("legguard-trial", MFD_CLOEXEC);

	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (fd < 0 || dup2(fd, i) < 0)
			_exit(1);
	close(fd);
}

/* Its end within ms, or its end by force. */
static void
wait_for(pid_t pid, int pidfd, int ms, struct trial_result *r)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int status = 0, n;
	bool late;

	while ((n = poll(&p, 1, ms)) < 0 && errno == EINTR)
		continue;
	late = n == 0;
	if (late)
		(void)kill(pid, SIGKILL); /* not waited for yet: the number is still its own */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (r->state != TRIAL_UNKNOWN || r->error.what[0] != '\0')
		return;
	if (late)
		error_set(&r->error, 0, NULL, "no answer within %d s", ms / 1000);
	else if (WIFSIGNALED(status))
		error_set(&r->error, 0, NULL, "the trial was ended by signal %d", WTERMSIG(status));
	else if (r->detail[0] == '\0')
		error_set(&r->error, 0, NULL, "the trial ended without an answer");
}

void
trial_run(const struct trial *t, struct trial_result *r)
{
	struct trial_result *shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	AUTO_FD int pidfd = -1;
	int alive[2];
	pid_t pid;

	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	if (shared == MAP_FAILED || pipe2(alive, O_CLOEXEC) != 0) {
		error_set(&r->error, errno, NULL, "can't prepare a trial");
		if (shared != MAP_FAILED)
			munmap(shared, sizeof *shared);
		return;
	}
	*shared = *r;
	pid = sys_fork(t->namespaces, &pidfd);
	if (pid == 0) {
		bind_to_caller(alive);
		use_empty_file();
		t->body(t->arg, shared);
		_exit(0);
	}
	if (pid < 0)
		trial_missing(shared, errno, userns_cure(errno), "can't make %s",
		    t->namespaces != 0 ? "the namespaces" : "a process");
	shared->begun = pid > 0;
	if (pid > 0)
		wait_for(pid, pidfd, t->ms, shared);
	close(alive[0]);
	close(alive[1]);
	*r = *shared;
	munmap(shared, sizeof *shared);
}
