/* Processes as /proc shows them. See process.h. */
#include "guard/process.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
process_parse_stat(struct process *p, const char *text)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t length;
	int pid, ppid;
	long threads;
	char state;

	if (open == NULL || close == NULL || close < open || sscanf(text, "%d", &pid) != 1)
		return -1;
	/* Fields 3, 4, 20 and 22; the ones between are numbers without interest here. */
	if (sscanf(close + 1,
		" %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
		&state, &ppid, &threads, &p->start) != 4)
		return -1;
	p->dead = (state == 'Z' || state == 'X') && threads <= 1;
	p->pid = pid;
	p->ppid = ppid;
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

static int
add(struct processes *all, const struct process *p)
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

/* Add pid unless it is dead or gone. */
static int
add_if_alive(struct processes *all, int procfd, pid_t pid)
{
	struct process p;

	if (process_read(&p, procfd, pid) != 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	return p.dead ? 0 : add(all, &p);
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

int
process_list(struct processes *all, int procfd)
{
	DIR *dir = open_directory(procfd, ".");
	struct dirent *entry;
	int result = 0;

	*all = (struct processes){0};
	if (dir == NULL)
		return -1;
	while (result == 0 && (entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			result = add_if_alive(all, procfd, (pid_t)atoi(entry->d_name));
	closedir(dir);
	return result;
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
		result = add_if_alive(all, procfd, (pid_t)pid);
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

int
process_signal(const struct process *p, int procfd, int sig)
{
	AUTO_FD int pidfd = sys_pidfd_open(p->pid);
	struct process now;

	if (pidfd < 0)
		return errno == ESRCH ? 0 : -1;
	if (process_read(&now, procfd, p->pid) != 0 || now.start != p->start)
		return 0;
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
