/*
 * Processes as /proc shows them: who is there, whose child, since when.
 *
 * A pid alone identifies nothing, since numbers are reused; a pid with its start time does (field 22
 * of /proc/PID/stat, in clock ticks since boot). A signal goes through a pidfd whose start time was
 * looked at after the pidfd was opened.
 */
#ifndef GUARD_PROCESS_H
#define GUARD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
	pid_t pid, ppid;
	unsigned long long start; /* clock ticks since boot */
	bool dead;                /* a zombie with no thread left; see process_parse_stat() */
	char name[64];            /* untrusted, raw bytes */
};

struct processes {
	struct process *list;
	size_t count;
};

/*
 * Parse the text of a stat file. The name in it may hold blanks, newlines and ')': what counts is the
 * last ')'. State Z alone does not make a process dead: it is also shown for one whose first thread
 * has ended while others run on, so the number of threads (field 20) counts as well.
 * Returns 0, or -1 if it is not such a text.
 */
int process_parse_stat(struct process *p, const char *text);

/* Read /proc/PID/stat below procfd, a descriptor on /proc. -1: errno, ENOENT if there is none. */
int process_read(struct process *p, int procfd, pid_t pid);

/* All processes that procfd shows and that are not dead. -1: errno. */
int process_list(struct processes *all, int procfd);

/*
 * All descendants of pid that are not dead, found through the lists of children
 * (/proc/PID/task/TID/children), parents before children. -1: errno.
 */
int process_descendants(struct processes *all, int procfd, pid_t pid);

/* Send sig to *p if it is still the same process. Returns 0 also when it is gone; -1: errno. */
int process_signal(const struct process *p, int procfd, int sig);

void processes_free(struct processes *all);

#endif
