/* Running something through sudo. See sudo.h. */
#include "guard/sudo.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

/*
 * It runs as root, so neither we nor our end can kill it; the timer, which an exec leaves alone, can. Its
 * own session keeps it from asking on a terminal.
 */
static _Noreturn void
become_sudo(char *const *argv)
{
	sigset_t none;

	(void)setsid();
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sys_close_from(STDERR_FILENO + 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SUDO_S);
	execvp(argv[0], argv);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* The first line of what was said: descriptor 2 is a file in memory. */
static void
quote(int status, struct trial_result *r)
{
	char said[512];
	ssize_t n = pread(STDERR_FILENO, said, sizeof said - 1, 0);

	said[n > 0 ? n : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	error_set(&r->error, 0, NULL, "%s",
	    said[0] != '\0'       ? said
	    : status == NOT_FOUND ? "not installed"
				  : "it refused without a word");
}

int
sudo_run(char *const *argv, struct trial_result *r)
{
	AUTO_FD int pidfd = -1;
	int status = 0;
	pid_t pid = sys_fork(0, &pidfd);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	if (pid == 0)
		become_sudo(argv);
	if (pid < 0 || poll(&p, 1, (SUDO_S + 1) * 1000) <= 0 || waitpid(pid, &status, 0) != pid ||
	    WIFSIGNALED(status)) {
		if (pid > 0)
			(void)kill(pid, SIGKILL);
		return error_set(
		    &r->error, 0, NULL, "sudo gave no answer within %d s", (int)SUDO_S);
	}
	status = WEXITSTATUS(status);
	if (status != 0)
		quote(status, r);
	return status;
}
