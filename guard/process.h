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
	pid_t pid, ppid, session;
	unsigned int terminal;    /* the controlling one, as terminal_device() takes it; 0: none */
	uid_t uid;                /* the real one, where it was asked for; else (uid_t)-1 */
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

/*
 * The caller itself, by the link /proc/self: a /proc of another pid namespace may have somebody else
 * under its number. -1: errno, ENOENT also if procfd is such a /proc.
 */
int process_read_self(struct process *p, int procfd);

/*
 * Read the real uid from /proc/PID/status into p->uid. It is in no other file (the owner of /proc/PID is
 * the effective one, and root if the process is not dumpable), so it is read only where it counts.
 * -1: errno, as from process_read().
 */
int process_read_uid(struct process *p, int procfd);

/* Add a copy of *p. -1: errno. */
int processes_add(struct processes *all, const struct process *p);

/*
 * All processes that procfd shows and that are not dead, without those that a hidepid mount of /proc
 * keeps from the caller. -1: errno.
 */
int process_list(struct processes *all, int procfd);

/*
 * The same, by pid and with the uids of those that started at `since` or later, as a picture of one
 * instant: nobody who is alive at the end is missing. A plain listing can miss one that was made while it
 * was being read, and so for ever one that makes itself anew all the time. What is made meanwhile is
 * found by the numbers that were given out, until none were; the later the round, the fewer those are.
 * *exact is false if that came to no end, or if the numbers began again from the bottom. procfd must show
 * the caller's own pid namespace. -1: errno.
 */
int process_list_exact(struct processes *all, bool *exact, int procfd, unsigned long long since);

/*
 * All descendants of pid that are not dead, found through the lists of children
 * (/proc/PID/task/TID/children), parents before children. -1: errno.
 */
int process_descendants(struct processes *all, int procfd, pid_t pid);

struct pids {
	pid_t *list;
	size_t count;
};

/*
 * The numbers of all processes that are alive in the pid namespace of the caller, its PID 1. Some five
 * times quicker than process_list(), which reads a file for each. -1: errno; *alive holds a beginning.
 */
int pids_alive(struct pids *alive, int procfd);

/* Those of the children of pid, a process with one thread, dead or alive. -1: as above. */
int pids_children(struct pids *children, int procfd, pid_t pid);

void pids_free(struct pids *pids);

/* A pidfd for *p if it is still the same process. -1: errno, ESRCH when it is gone. */
int process_open(const struct process *p, int procfd);

/* Send sig to *p if it is still the same process. Returns 0 also when it is gone; -1: errno. */
int process_signal(const struct process *p, int procfd, int sig);

void processes_free(struct processes *all);

#endif
