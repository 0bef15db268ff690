/* The attacking side. See leg.h. */
#include "guard/attack/leg.h"

#include "bindmount/cleanup.h"
#include "guard/attack/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static void
say(const char *word, const char *fmt, va_list ap, int errnum)
{
	char line[1024];
	int n = snprintf(line, sizeof line, "%s", word);

	n += vsnprintf(line + n, sizeof line - (size_t)n - 64, fmt, ap);
	if (n > (int)sizeof line - 64)
		n = sizeof line - 64;
	if (errnum != 0)
		n += snprintf(line + n, 62, ": %s", strerror(errnum));
	line[n++] = '\n';
	/* One write, so that lines of several processes don't mix. Nothing can be done if it fails. */
	if (write(STDOUT_FILENO, line, (size_t)n) < 0)
		_exit(3);
}

void
leg_did(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEG_DID, fmt, ap, 0);
	va_end(ap);
}

void
leg_tried(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEG_TRIED, fmt, ap, 0);
	va_end(ap);
}

void
leg_got(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEG_GOT, fmt, ap, 0);
	va_end(ap);
}

void
leg_failed(const char *fmt, ...)
{
	int errnum = errno;
	va_list ap;

	va_start(ap, fmt);
	say(LEG_FAILED, fmt, ap, errnum);
	va_end(ap);
}

void
leg_untried(const char *fmt, ...)
{
	int errnum = errno;
	va_list ap;

	va_start(ap, fmt);
	say(LEG_UNTRIED, fmt, ap, errnum);
	va_end(ap);
}

bool
leg_try(bool ok, const char *what)
{
	if (ok)
		leg_did("%s", what);
	else
		leg_failed("%s", what);
	return ok;
}

static char forged_line[128];

bool
leg_forge(int fd, const char *what)
{
	size_t size = strlen(forged_line);
	bool ok = fd >= 0 && write(fd, forged_line, size) == (ssize_t)size;

	leg_try(ok, what);
	if (fd >= 0)
		(void)close(fd);
	return ok;
}

bool
leg_append(const char *path, const char *what)
{
	return leg_forge(open(path, O_WRONLY | O_APPEND | O_NONBLOCK), what);
}

void
leg_forged_file(const struct brief *b, const char *name)
{
	AUTO_FD int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, b->line, strlen(b->line)) == (ssize_t)strlen(b->line))
		return;
	leg_untried("make a file of its own in %s", b->step.workspace);
	_exit(2);
}

static bool
write_map(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

bool
leg_nest(int flags)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWUSER | flags) != 0) {
		leg_failed("make a user namespace");
		return false;
	}
	(void)write_map("/proc/self/setgroups", "deny"); /* it may be denied already */
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	if (!write_map("/proc/self/uid_map", map)) {
		leg_failed("map a user in a user namespace");
		return false;
	}
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	(void)write_map("/proc/self/gid_map", map);
	return true;
}

bool
leg_shares_pids(const struct brief *b)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == b->pid_ns;
}

static int
read_brief(struct brief *b, char **argv)
{
	*b = (struct brief){.marker = argv[3]};
	step_name(&b->step, argv[2]);
	b->output = b->step.path[STEP_OUTPUT];
	b->bystander = (pid_t)atol(argv[4]);
	b->stage = (pid_t)atol(argv[5]);
	/* One word for both: where the canary is, and which pid namespace is the battery's. */
	if (sscanf(argv[6], "%p:%lu", (void **)&b->canary, &b->pid_ns) != 2)
		return -1;
	snprintf(b->line, sizeof b->line, "lane-class=credit-stop-%.64s\n", b->marker);
	snprintf(forged_line, sizeof forged_line, "%s", b->line);
	bystander_door(DOOR_ABSTRACT, &b->step, b->marker, b->abstract, sizeof b->abstract);
	return 0;
}

int
attack_leg(int argc, char **argv)
{
	const struct attack *a;
	struct brief b;
	int alive;

	if (argc != LEG_ARGUMENTS || read_brief(&b, argv) != 0)
		return 2;
	a = attack_find(argv[1], strlen(argv[1]));
	/* Inherited by all that it starts, so it is free when the last of them has ended. */
	alive = open(b.step.alive, O_RDONLY);
	if (alive < 0 || flock(alive, LOCK_SH) != 0 || chdir(b.step.workspace) != 0) {
		leg_untried("see the decoys at %s (choose another place with TMPDIR)", b.step.top);
		return 2;
	}
	if (strcmp(argv[1], ATTACK_CHECK) == 0) {
		leg_did("start");
		return 0;
	}
	if (a == NULL)
		return 2;
	a->leg(&b);
	return 0;
}

int
attack_runner(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	/* It shows nothing of its own to what it runs. */
	while (pid < 0 || waitpid(pid, &status, 0) < 0)
		if (pid < 0 || errno != EINTR)
			return 125;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
