/* The launcher's own process. See startup.h. */
#include "guard/startup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* open(2) gives the lowest free number: the last one opened is the first above 2. */
static int
open_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return -1;
	return 0;
}

static int
prepare_signals(sigset_t *before)
{
	static const struct itimerval off;
	sigset_t all;

	/* SIGXFSZ and SIGPIPE become errors of the write; those of a crash can't be held back. */
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, before) != 0 || signal(SIGCHLD, SIG_DFL) == SIG_ERR ||
	    signal(SIGPIPE, SIG_IGN) == SIG_ERR || setitimer(ITIMER_REAL, &off, NULL) != 0 ||
	    setitimer(ITIMER_VIRTUAL, &off, NULL) != 0 || setitimer(ITIMER_PROF, &off, NULL) != 0)
		return -1;
	return 0;
}

int
startup_prepare(struct startup *s, struct error *e)
{
	struct rlimit limit;

	if (open_standard_descriptors() != 0)
		return error_set(e, errno, "start it with descriptors 0, 1 and 2 open",
		    "can't open /dev/null in place of a closed descriptor");
	if (getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid())
		return error_set(e, 0,
		    "remove the set-user-ID, set-group-ID bits and file capabilities",
		    "running with privileges gained on exec is refused");
	if (prepare_signals(&s->mask) != 0)
		return error_set(e, errno, NULL, "can't set up signals and timers");
	prctl(PR_SET_DUMPABLE, 0);
	s->umask = umask(0);
	if (getrlimit(RLIMIT_NOFILE, &s->nofile) != 0)
		return error_set(e, errno, NULL, "can't read the limit of open files");
	limit = s->nofile;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* then the files it takes have to do */
	return 0;
}
