/* Processes as /proc shows them. See process.h. */
#include "guard/process.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXACT_ROUNDS = 100 };

static const unsigned long long NO_UIDS = ULLONG_MAX;

int
process_parse_stat(struct process *p, const char *text)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t length;
	int pid, ppid, session, terminal;
	long threads;
	char state;

	if (open == NULL || close == NULL || close < open || sscanf(text, "%d", &pid) != 1)
		return -1;
	/* Fields 3, 4, 6, 7, 20 and 22; the ones between are numbers without interest here. */
	if (sscanf(close + 1,
		" %c %d %*d %d %d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
		&state, &ppid, &session, &terminal, &threads, &p->start) != 6)
		return -1;
	p->dead = (state == 'Z' || state == 'X') && threads <= 1;
	p->pid = pid;
	p->ppid = ppid;
	p->session = session;
	p->terminal = (unsigned int)terminal;
	p->uid = (uid_t)-1;
	length = (size_t)(close - open - 1);
	if (length >= sizeof p->name)
		length = sizeof p->name - 1;
	memcpy(p->name, open + 1, length);
	p->name[length] = '\0';
	return 0;
}

static ssize_t
read_proc(int procfd, const char *path, char *text, size_t size)
{
	AUTO_FD int fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	return n < 0 ? -1 : (ssize_t)used;
}

int
process_read(struct process *p, int procfd, pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (read_proc(procfd, path, text, sizeof text) < 0)
		return -1;
	if (process_parse_stat(p, text) != 0) {
		errno = ENOENT; /* it ended while it was being read */
		return -1;
	}
	return 0;
}

int
process_read_self(struct process *p, int procfd)
{
	char text[32] = "";

	if (readlinkat(procfd, "self", text, sizeof text - 1) < 0)
		return -1;
	if (atoi(text) != getpid()) {
		errno = ENOENT;
		return -1;
	}
	return process_read(p, procfd, getpid());
}

/* A number after "name:" in /proc/PID/status. A newline in the process's name is encoded there. */
static int
read_status(int procfd, pid_t pid, const char *name, unsigned int *number)
{
	char path[64], text[4096], start[32];
	const char *line;

	snprintf(path, sizeof path, "%d/status", (int)pid);
	snprintf(start, sizeof start, "\n%s:", name);
	if (read_proc(procfd, path, text, sizeof text) < 0)
		return -1;
	line = strstr(text, start);
	if (line == NULL || sscanf(line + strlen(start), "%u", number) != 1) {
		errno = ENOENT;
		return -1;
	}
	return 0;
}

int
process_read_uid(struct process *p, int procfd)
{
	unsigned int uid;

	if (read_status(procfd, p->pid, "Uid", &uid) != 0)
		return -1;
	p->uid = uid;
	return 0;
}

int
processes_add(struct processes *all, const struct process *p)
{
	/* Grows by doubling: the room is the next power of two at or above the count. */
	if ((all->count & (all->count - 1)) == 0) {
		size_t room = all->count != 0 ? all->count * 2 : 1;
		struct process *list = reallocarray(all->list, room, sizeof *list);

		if (list == NULL)
			return -1;
		all->list = list;
	}
	all->list[all->count++] = *p;
	return 0;
}

static bool
is_gone_or_hidden(int errnum)
{
	return errnum == ENOENT || errnum == ESRCH || errnum == EPERM || errnum == EACCES;
}

/*
 * Add pid unless it is dead, gone, or hidden from the caller; with its uid if it started at `since` or
 * later.
 */
static int
add_if_alive(struct processes *all, int procfd, pid_t pid, unsigned long long since)
{
	struct process p;

	if (process_read(&p, procfd, pid) != 0 ||
	    (!p.dead && p.start >= since && process_read_uid(&p, procfd) != 0))
		return is_gone_or_hidden(errno) ? 0 : -1;
	return p.dead ? 0 : processes_add(all, &p);
}

static DIR *
open_directory(int procfd, const char *path)
{
	AUTO_FD int fd = openat(procfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir != NULL)
		(void)fd_take(&fd);
	return dir;
}

static int
list(struct processes *all, int procfd, unsigned long long since)
{
	DIR *dir = open_directory(procfd, ".");
	struct dirent *entry;
	int result = 0;

	*all = (struct processes){0};
	if (dir == NULL)
		return -1;
	while (result == 0 && (entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			result = add_if_alive(all, procfd, (pid_t)atoi(entry->d_name), since);
	closedir(dir);
	return result;
}

int
process_list(struct processes *all, int procfd)
{
	return list(all, procfd, NO_UIDS);
}

/*
 * The number that was given out last in the caller's pid namespace, to a process or a thread. Some
 * containers lay a loadavg of their own over the kernel's, so that comes second.
 */
static int
read_last_pid(int procfd, pid_t *last)
{
	char text[128];
	const char *space;
	ssize_t n = read_proc(procfd, "sys/kernel/ns_last_pid", text, sizeof text);

	if (n > 0) {
		*last = (pid_t)atoi(text);
		return 0;
	}
	n = read_proc(procfd, "loadavg", text, sizeof text);
	space = n > 0 ? strrchr(text, ' ') : NULL;
	if (space == NULL)
		return -1;
	*last = (pid_t)atoi(space);
	return 0;
}

/* Add those that got the numbers after `after`, up to `last`. A thread has a number too. */
static int
add_new(struct processes *all, int procfd, pid_t after, pid_t last, unsigned long long since)
{
	unsigned int leader;

	for (pid_t pid = after + 1; pid <= last; pid++)
		if (read_status(procfd, pid, "Tgid", &leader) == 0 && (pid_t)leader == pid &&
		    add_if_alive(all, procfd, pid, since) != 0)
			return -1;
	return 0;
}

static int
by_pid(const void *a, const void *b)
{
	const struct process *pa = a, *pb = b;

	return (pa->pid > pb->pid) - (pa->pid < pb->pid);
}

/* Sorted, with each pid once. */
static void
put_in_order(struct processes *all)
{
	size_t kept = 0;

	if (all->count == 0)
		return;
	qsort(all->list, all->count, sizeof *all->list, by_pid);
	for (size_t i = 0; i < all->count; i++)
		if (i + 1 == all->count || all->list[i].pid != all->list[i + 1].pid)
			all->list[kept++] = all->list[i];
	all->count = kept;
}

int
process_list_exact(struct processes *all, bool *exact, int procfd, unsigned long long since)
{
	pid_t after, last;

	*exact = false;
	*all = (struct processes){0};
	if (read_last_pid(procfd, &after) != 0 || list(all, procfd, since) != 0)
		return -1;
	for (int round = 0; round < EXACT_ROUNDS; round++) {
		if (read_last_pid(procfd, &last) != 0)
			return -1;
		*exact = last == after;
		if (last <= after)
			break;
		if (add_new(all, procfd, after, last, since) != 0)
			return -1;
		after = last;
	}
	put_in_order(all);
	return 0;
}

/* Add the children that one list names. */
static int
add_children(struct processes *all, int procfd, const char *path)
{
	AUTO_FD int fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	int pid, result = 0;

	if (file == NULL) /* the parent has ended: its children are listed elsewhere by now */
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	(void)fd_take(&fd);
	while (result == 0 && fscanf(file, "%d", &pid) == 1)
		result = add_if_alive(all, procfd, (pid_t)pid, NO_UIDS);
	fclose(file);
	return result;
}

static int
add_children_of(struct processes *all, int procfd, pid_t pid)
{
	char path[64];
	DIR *dir;
	struct dirent *entry;
	int result = 0;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	dir = open_directory(procfd, path);
	if (dir == NULL)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	while (result == 0 && (entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0])) {
			snprintf(path, sizeof path, "%d/task/%d/children", (int)pid,
			    atoi(entry->d_name));
			result = add_children(all, procfd, path);
		}
	closedir(dir);
	return result;
}

int
process_descendants(struct processes *all, int procfd, pid_t pid)
{
	*all = (struct processes){0};
	if (add_children_of(all, procfd, pid) != 0)
		return -1;
	/* The list is the queue: children are added behind the parent that is looked at. */
	for (size_t i = 0; i < all->count; i++)
		if (add_children_of(all, procfd, all->list[i].pid) != 0)
			return -1;
	return 0;
}

static int
pids_add(struct pids *all, pid_t pid)
{
	/* Grows by doubling, as above. */
	if ((all->count & (all->count - 1)) == 0) {
		size_t room = all->count != 0 ? all->count * 2 : 1;
		pid_t *list = reallocarray(all->list, room, sizeof *list);

		if (list == NULL)
			return -1;
		all->list = list;
	}
	all->list[all->count++] = pid;
	return 0;
}

int
pids_children(struct pids *children, int procfd, pid_t pid)
{
	char path[64];
	FILE *file;
	int fd, child, result = 0;

	*children = (struct pids){0};
	snprintf(path, sizeof path, "%d/task/%d/children", (int)pid, (int)pid);
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (file == NULL) {
		fd_drop(&fd);
		return -1;
	}
	while (result == 0 && fscanf(file, "%d", &child) == 1)
		result = pids_add(children, (pid_t)child);
	fclose(file);
	return result;
}

void
pids_free(struct pids *pids)
{
	free(pids->list);
	*pids = (struct pids){0};
}

/*
 * For a child waitid(2) knows, which is quickest. Otherwise a pidfd is readable when every thread is dead,
 * and there is none for a thread. True if in doubt.
 */
static bool
is_alive(pid_t pid)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		return info.si_pid == 0;

	AUTO_FD int pidfd = sys_pidfd_open(pid);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	if (pidfd < 0)
		return errno != ESRCH && errno != ENOENT && errno != EINVAL;
	return poll(&p, 1, 0) != 1;
}

static int
add_listed(struct pids *alive, int procfd)
{
	DIR *dir = open_directory(procfd, ".");
	struct dirent *entry;
	int result = 0;

	if (dir == NULL)
		return -1;
	while (result == 0 && (entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_alive((pid_t)atoi(entry->d_name)))
			result = pids_add(alive, (pid_t)atoi(entry->d_name));
	closedir(dir);
	return result;
}

/*
 * The last number that was given out, if it is quicker to try all up to there. To list /proc makes a
 * directory for each process, which the kernel has to take away again as they end: that is worth it for a
 * few of them, or where most numbers are nobody's. 0: list them.
 */
static pid_t
last_to_try(int procfd)
{
	enum { MANY = 256, TRIES_EACH = 16 };
	AUTO_FD int pidfd = sys_pidfd_open(getpid());
	struct pids children;
	pid_t last = 0;

	if (pids_children(&children, procfd, getpid()) != 0 || children.count < MANY || pidfd < 0 ||
	    read_last_pid(procfd, &last) != 0 || (size_t)last / TRIES_EACH > children.count)
		last = 0;
	/* Numbers above the last one are from before they began again from the bottom. */
	for (size_t i = 0; i < children.count; i++)
		if (children.list[i] > last)
			last = 0;
	pids_free(&children);
	return last;
}

int
pids_alive(struct pids *alive, int procfd)
{
	pid_t last = last_to_try(procfd);

	*alive = (struct pids){0};
	if (last == 0)
		return add_listed(alive, procfd);
	for (pid_t pid = 1; pid <= last; pid++)
		if (is_alive(pid) && pids_add(alive, pid) != 0)
			return -1;
	return 0;
}

int
process_open(const struct process *p, int procfd)
{
	AUTO_FD int pidfd = sys_pidfd_open(p->pid);
	struct process now;

	if (pidfd < 0)
		return -1;
	if (process_read(&now, procfd, p->pid) != 0 || now.start != p->start) {
		errno = ESRCH;
		return -1;
	}
	return fd_take(&pidfd);
}

int
process_signal(const struct process *p, int procfd, int sig)
{
	AUTO_FD int pidfd = process_open(p, procfd);

	if (pidfd < 0)
		return errno == ESRCH ? 0 : -1;
	if (sys_pidfd_send_signal(pidfd, sig) != 0 && errno != ESRCH)
		return -1;
	return 0;
}

void
processes_free(struct processes *all)
{
	free(all->list);
	*all = (struct processes){0};
}
