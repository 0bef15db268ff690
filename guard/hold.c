/* Leases on the files and watches on the directories. See hold.h. */
#include "guard/hold.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPENERS_MS = 1000 }; /* how long others may take with what they waited for */

/* Put another description of the same file, open in another way, in the place of c->fd. */
static int
reopen(struct content *c, int flags)
{
	char path[32];
	AUTO_FD int fd = -1;

	snprintf(path, sizeof path, "/proc/self/fd/%d", c->fd);
	fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || dup3(fd, c->fd, O_CLOEXEC) < 0)
		return -1;
	return 0;
}

/* Writable again; its mode may have been changed meanwhile, and it is ours to change back. */
static void
reopen_for_writing(struct content *c)
{
	if (reopen(c, O_RDWR) == 0)
		return;
	if (errno == EACCES && fchmod(c->fd, (c->st.st_mode & 07777) | S_IRUSR | S_IWUSR) == 0 &&
	    reopen(c, O_RDWR) == 0)
		return;
	c->writable = false; /* what there is to put back fails, and says so */
}

static bool
lease(struct content *c)
{
	if (c->leased)
		return true;
	/* Who allowed other names has allowed other ways in. */
	if (!c->writable || c->st.st_nlink > 1 || reopen(c, O_RDONLY) != 0)
		return false;
	c->lent = true;
	c->leased = fcntl(c->fd, F_SETLEASE, F_RDLCK) == 0;
	return c->leased;
}

/* Directories that we may not read we can't watch; nor could the leg move what lies in them. */
static void
watch(struct snapshot *s)
{
	s->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (s->watch < 0)
		return;
	for (size_t i = 0; i < s->chain.count; i++) {
		struct chain_node *node = s->chain.nodes[i];
		char path[32];
		int number;

		if (!S_ISDIR(node->st.st_mode) || node->parent == NULL)
			continue;
		snprintf(path, sizeof path, "/proc/self/fd/%d", node->fd);
		number = inotify_add_watch(s->watch, path, IN_MOVE_SELF | IN_ONLYDIR);
		if (number > 0)
			node->watch = number;
	}
}

bool
snapshot_hold(struct snapshot *s, bool leases, size_t skip)
{
	bool all = true;

	for (size_t i = 0; leases && i < s->file_count; i++)
		if (i != skip && (!s->files[i].neighbour || s->files[i].own_step))
			all &= lease(s->files[i].content);
	watch(s);
	return all && s->watch >= 0;
}

static void
take_event(struct snapshot *s, const struct inotify_event *event)
{
	bool overflow = (event->mask & IN_Q_OVERFLOW) != 0;

	if (!overflow && (event->mask & IN_MOVE_SELF) == 0)
		return;
	for (size_t i = 0; i < s->chain.count; i++) {
		struct chain_node *node = s->chain.nodes[i];

		if (node->watch > 0 && (overflow || node->watch == event->wd))
			node->shaken = true;
	}
}

static void
take_events(struct snapshot *s)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	if (s->watch < 0)
		return;
	while ((n = read(s->watch, buffer, sizeof buffer)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buffer + at);

			take_event(s, event);
			at += (ssize_t)(sizeof *event + event->len);
		}
}

/* fcntl(2): the lease's target is another one as soon as somebody waits for it. */
static bool
is_broken(const struct content *c)
{
	return c->leased && fcntl(c->fd, F_GETLEASE) != F_RDLCK;
}

static void
give_up(struct content *c)
{
	if (c->leased)
		(void)fcntl(c->fd, F_SETLEASE, F_UNLCK);
	c->leased = false;
}

bool
snapshot_is_attacked(struct snapshot *s)
{
	take_events(s);
	for (size_t i = 0; i < s->chain.count; i++)
		if (s->chain.nodes[i]->shaken)
			return true;
	for (size_t i = 0; i < s->content_count; i++)
		if (is_broken(s->contents[i]))
			give_up(s->contents[i]);
	return false;
}

/* Whoever outside the leg was waiting: until the file is closed again, or long enough. */
static void
wait_for_openers(const struct content *c)
{
	for (int ms = 0; ms < OPENERS_MS; ms += 5) {
		(void)poll(NULL, 0, 5); /* there is no event for "closed by all writers" */
		if (fcntl(c->fd, F_SETLEASE, F_RDLCK) == 0) {
			(void)fcntl(c->fd, F_SETLEASE, F_UNLCK);
			return;
		}
	}
}

void
hold_end(struct snapshot *s)
{
	take_events(s);
	for (size_t i = 0; i < s->content_count; i++) {
		struct content *c = s->contents[i];

		c->broken = is_broken(c);
		give_up(c);
	}
	for (size_t i = 0; i < s->content_count; i++) {
		struct content *c = s->contents[i];

		if (c->broken)
			wait_for_openers(c);
		if (c->lent)
			reopen_for_writing(c);
		c->lent = false;
	}
}

void
snapshot_unwatch(struct snapshot *s)
{
	fd_drop(&s->watch);
}

void
snapshot_leave_watch(struct snapshot *s)
{
	s->watch = -1;
}
