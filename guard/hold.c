/* Leases on the files and watches on the directories. See hold.h. */
#include "guard/hold.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPENERS_MS = 1000 }; /* how long others may take with what they waited for */

static bool
lease(struct content *c)
{
	if (c->leased)
		return true;
	/* Who allowed other names has allowed other ways in. */
	if (!c->writable || c->st.st_nlink > 1 || content_open_for_reading(c) != 0)
		return false;
	c->leased = fcntl(c->fd, F_SETLEASE, F_RDLCK) == 0;
	return c->leased;
}

/*
 * dnotify, the older of the two: its marks go away without a wait, where the end of an inotify instance
 * waits for a grace period of the kernel's. Only the first rename is told (no DN_MULTISHOT), so a busy
 * directory costs one signal. DN_DELETE is what a move to another directory counts as.
 */
static bool
watch(struct chain_node *dir)
{
	if (dir->watch >= 0)
		return true;
	dir->watch = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir->watch >= 0 && fcntl(dir->watch, F_SETSIG, SNAPSHOT_RENAMED) == 0 &&
	       fcntl(dir->watch, F_NOTIFY, DN_RENAME | DN_DELETE) == 0;
}

bool
hold_is_out_of_reach(const struct snapshot *s, const struct chain_node *node)
{
	const struct chain_node *dir = node->parent;
	uid_t uid = s->leg.other ? s->leg.uid : geteuid();
	bool writable;

	if (uid == 0 || dir->st.st_uid == uid)
		return false;
	if ((dir->st.st_mode & S_ISVTX) != 0 && node->st.st_uid != uid)
		return true;
	if (rights_take(&s->leg) != 0)
		return false;
	writable = faccessat(dir->fd, ".", W_OK, AT_EACCESS) == 0;
	rights_give_back(&s->leg);
	return !writable;
}

static void
watch_all(struct snapshot *s)
{
	for (size_t i = 0; i < s->chain.count; i++) {
		const struct chain_node *node = s->chain.nodes[i];
		struct chain_node *dir = node->parent;

		if (S_ISREG(node->st.st_mode) || dir == NULL || hold_is_out_of_reach(s, node))
			continue;
		/* What can't be watched may have happened at any time. */
		if (!watch(dir))
			s->suspicious = true;
	}
}

bool
snapshot_hold(struct snapshot *s, size_t skip)
{
	bool all = true;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &s->since); /* fails for unknown clocks only */
	watch_all(s);
	for (size_t i = 0; i < s->file_count; i++) {
		const struct held_file *file = &s->files[i];

		if (i == skip || file->log || (file->neighbour && !file->own_step))
			continue;
		errno = 0;
		if (lease(file->content))
			continue;
		/* Somebody is writing what is his. */
		if (file->shared)
			file->content->given_up = errno == EAGAIN;
		else
			all = false;
	}
	return all;
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
	c->given_up = true;
}

bool
snapshot_is_attacked(struct snapshot *s, bool renamed)
{
	bool attacked = false;

	s->suspicious |= renamed;
	for (size_t i = 0; i < s->content_count; i++)
		if (is_broken(s->contents[i])) {
			if (s->suspicious)
				attacked = true;
			else
				give_up(s->contents[i]);
		}
	return attacked;
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
	for (size_t i = 0; i < s->content_count; i++) {
		struct content *c = s->contents[i];

		c->broken = is_broken(c);
		c->intact = c->leased && !c->broken;
		if (c->leased)
			(void)fcntl(c->fd, F_SETLEASE, F_UNLCK);
		c->leased = false;
	}
	for (size_t i = 0; i < s->content_count; i++)
		if (s->contents[i]->broken)
			wait_for_openers(s->contents[i]);
}
