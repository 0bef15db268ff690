/* The first ancestor who is not root. See ancestor.h. */
#include "guard/ancestor.h"

#include "bindmount/cleanup.h"
#include "bindmount/sys.h"
#include "guard/process.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GENERATIONS = 1024 };

/* A pidfd of p, unless its number is another process's by now. */
static int
open_process(const struct process *p, int procfd)
{
	AUTO_FD int fd = sys_pidfd_open(p->pid);
	struct process now;

	if (fd < 0 || process_read(&now, procfd, p->pid) != 0 || now.start != p->start)
		return -1;
	return fd_take(&fd);
}

/* By the owner of /proc/PID: root also for one that can't be traced, which no shell or runner is. */
static bool
is_effectively_root(const struct process *p, int procfd)
{
	char name[16];
	struct stat st;

	snprintf(name, sizeof name, "%d", (int)p->pid);
	return fstatat(procfd, name, &st, 0) != 0 || st.st_uid == 0;
}

void
ancestor_watch(int fds[ANCESTORS_MAX])
{
	AUTO_FD int procfd = -1;
	struct process p;

	fds[0] = fds[1] = -1;
	if (geteuid() != 0)
		return;
	procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (procfd < 0 || process_read_self(&p, procfd) != 0)
		return;
	for (int i = 0; i < GENERATIONS && p.ppid > 0; i++) {
		if (process_read(&p, procfd, p.ppid) != 0 || process_read_uid(&p, procfd) != 0)
			return;
		if (p.uid != 0 && fds[0] < 0)
			fds[0] = open_process(&p, procfd);
		if (!is_effectively_root(&p, procfd)) {
			fds[1] = open_process(&p, procfd);
			return;
		}
	}
}
