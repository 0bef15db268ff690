/*
 * oddly CONDITION... -- COMMAND [ARG]...
 *
 * Starts a command the way careless or broken parents do. Conditions:
 *   sigchld-ignored     SIGCHLD is SIG_IGN across exec
 *   signals-blocked     every signal is blocked
 *   signals-ignored     INT, TERM, HUP, PIPE and QUIT are SIG_IGN
 *   pending=N           signal N is blocked, and pending
 *   children            the command inherits two children: one running, one already dead
 *   itimer              a 1 ms ITIMER_REAL with SIGALRM caught by nobody but ignored
 *   nofile=N            RLIMIT_NOFILE is N
 *   fsize=N             RLIMIT_FSIZE is N bytes
 *   empty-argv0         argv[0] is ""
 *   closed=N            descriptor N is closed
 *   opath=N:PATH        descriptor N is PATH opened with O_PATH
 *   directory=N:PATH    descriptor N is the directory PATH
 *   pdeathsig           PR_SET_PDEATHSIG of the command is SIGTERM
 *   bind=SRC:DST        a user and mount namespace of its own, with SRC bound on DST
 *   bind-locked=SRC:DST likewise, but the command runs in a further user namespace below
 *   tmpfs=DST           likewise, a tmpfs,nosuid,nodev on DST
 *   no-user-namespaces  likewise, where user.max_user_namespaces is 0
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(125, "%s", path);
	close(fd);
}

/* A user namespace with the caller's ids mapped to themselves; all capabilities in it until exec. */
static void
enter_userns(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1) {
		printf("skip: no user namespace here: %s\n", strerror(errno));
		exit(77);
	}
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	write_file("/proc/self/gid_map", map);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)
		err(125, "make mounts private");
}

static void
put_descriptor(const char *value, int flags)
{
	char *end;
	long n = strtol(value, &end, 10);
	int fd;

	if (*end != ':')
		errx(125, "want N:PATH, got %s", value);
	if ((fd = open(end + 1, flags)) == -1)
		err(125, "%s", end + 1);
	if (fd != n) {
		if (dup2(fd, (int)n) == -1)
			err(125, "dup2");
		close(fd);
	}
}

static void
inherit_children(void)
{
	pid_t dead;

	if (fork() == 0) {
		/* Lives until the command, its parent, is gone. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if ((dead = fork()) == 0)
		_exit(7);
	waitid(P_PID, (id_t)dead, &(siginfo_t){0}, WEXITED | WNOWAIT);
}

static void
limit(int what, const char *value)
{
	rlim_t n = strtoul(value, NULL, 10);

	if (setrlimit(what, &(struct rlimit){n, n}) == -1)
		err(125, "setrlimit");
}

static bool
value_of(const char *arg, const char *name, const char **value)
{
	size_t n = strlen(name);

	if (strncmp(arg, name, n) != 0 || arg[n] != '=')
		return false;
	*value = arg + n + 1;
	return true;
}

static void
bind_mount(const char *value)
{
	char *src = strdup(value), *dst;

	if (src == NULL || (dst = strchr(src, ':')) == NULL)
		errx(125, "want SRC:DST, got %s", value);
	*dst++ = '\0';
	enter_userns();
	if (mount(src, dst, NULL, MS_BIND | MS_REC, NULL) == -1)
		err(125, "bind %s on %s", src, dst);
	free(src);
}

static void
apply(const char *arg)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};
	const char *value;
	sigset_t all;

	if (strcmp(arg, "sigchld-ignored") == 0) {
		signal(SIGCHLD, SIG_IGN);
	} else if (strcmp(arg, "signals-blocked") == 0) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
	} else if (strcmp(arg, "signals-ignored") == 0) {
		for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
			signal(ignored[i], SIG_IGN);
	} else if (value_of(arg, "pending", &value)) {
		sigemptyset(&all);
		sigaddset(&all, atoi(value));
		sigprocmask(SIG_BLOCK, &all, NULL);
		raise(atoi(value));
	} else if (strcmp(arg, "children") == 0) {
		inherit_children();
	} else if (strcmp(arg, "itimer") == 0) {
		signal(SIGALRM, SIG_IGN);
		if (setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL) == -1)
			err(125, "setitimer");
	} else if (value_of(arg, "nofile", &value)) {
		limit(RLIMIT_NOFILE, value);
	} else if (value_of(arg, "fsize", &value)) {
		limit(RLIMIT_FSIZE, value);
	} else if (value_of(arg, "closed", &value)) {
		close(atoi(value));
	} else if (value_of(arg, "opath", &value)) {
		put_descriptor(value, O_PATH);
	} else if (value_of(arg, "directory", &value)) {
		put_descriptor(value, O_RDONLY | O_DIRECTORY);
	} else if (strcmp(arg, "pdeathsig") == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	} else if (value_of(arg, "bind", &value)) {
		bind_mount(value);
	} else if (value_of(arg, "bind-locked", &value)) {
		bind_mount(value);
		enter_userns();
	} else if (value_of(arg, "tmpfs", &value)) {
		enter_userns();
		if (mount("tmpfs", value, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") == -1)
			err(125, "tmpfs on %s", value);
	} else if (strcmp(arg, "no-user-namespaces") == 0) {
		enter_userns(); /* whose own limit it is */
		write_file("/proc/sys/user/max_user_namespaces", "0");
	} else {
		errx(125, "unknown condition %s", arg);
	}
}

int
main(int argc, char **argv)
{
	const char *file;
	int i;
	bool empty_argv0 = false;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "empty-argv0") == 0)
			empty_argv0 = true;
		else
			apply(argv[i]);
	}
	if (i + 1 >= argc)
		errx(125, "usage: oddly CONDITION... -- COMMAND [ARG]...");
	file = argv[++i];
	if (empty_argv0)
		argv[i] = "";
	execvp(file, argv + i);
	err(127, "%s", file);
}
