/* Attacks by what is used up, or kept: room, inodes, locks and leases on the guarded file. */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <unistd.h>

/* Live on, in a session of its own, with what is open now. Returns in the one that goes on. */
static void
leave_behind(void)
{
	if (fork() != 0)
		return;
	(void)setsid();
	for (;;)
		pause();
}

/* flock(2) asks for no more than reading. The runner wants a shared one. */
static void
lock(const struct brief *b)
{
	int fd = open(b->output, O_RDONLY);

	if (leg_try(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, "lock the file"))
		leave_behind();
}

static void
record_lock(const struct brief *b)
{
	struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open(b->output, O_RDONLY);

	if (leg_try(fd >= 0 && fcntl(fd, F_OFD_SETLK, &all) == 0, "take a record lock on the file"))
		leave_behind();
}

static void
lease(const struct brief *b)
{
	int fd = open(b->output, O_RDONLY);

	if (leg_try(fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0, "take a lease on the file"))
		leave_behind();
}

static void
fill_room(const struct brief *b)
{
	static char block[1 << 16];
	AUTO_FD int fd = open("fill", O_WRONLY | O_CREAT, 0644);
	size_t total = 0;
	ssize_t n = 1;

	(void)b;
	for (size_t size = sizeof block; size > 0; size /= 2)
		while ((n = write(fd, block, size)) > 0 && total < (64u << 20))
			total += (size_t)n;
	leg_try(n < 0 && errno == ENOSPC, "fill the disk");
}

static void
fill_inodes(const struct brief *b)
{
	char name[32];
	int fd = 0;

	(void)b;
	for (int i = 0; i < 100000 && fd >= 0; i++) {
		snprintf(name, sizeof name, "i%d", i);
		if ((fd = open(name, O_WRONLY | O_CREAT, 0644)) >= 0)
			(void)close(fd);
	}
	leg_try(fd < 0 && errno == ENOSPC, "use up the inodes");
}

/* To hold up whoever opens the file, until it says so. */
static void
fanotify(const struct brief *b)
{
	AUTO_FD int fd = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);

	if (fd >= 0 && fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, b->output) == 0)
		leg_got("a say in who may open the file");
	else
		leg_failed("hold up who opens the file by fanotify");
	if (!leg_nest(CLONE_NEWNS))
		return;
	AUTO_FD int again = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
	if (again >= 0)
		leg_got("a say in who may open files");
	else
		leg_failed("the same with capabilities");
}

/* To hold up a write of the kernel's in the middle, for as long as it likes. */
static void
userfault(const struct brief *b)
{
	AUTO_FD int fd = raw_userfaultfd(O_CLOEXEC);

	(void)b;
	if (fd >= 0)
		leg_got("a hold on the kernel's page faults");
	else
		leg_failed("hold up the kernel by userfaultfd");
}

static const char *
may_userfault(uid_t leg)
{
	AUTO_FD int fd = raw_userfaultfd(O_CLOEXEC);

	(void)leg;
	return fd >= 0 ? "the kernel gives userfaultfd to everybody here: nothing to guard" : NULL;
}

static const struct attack list[] = {
    {"flock", "leave an exclusive lock on the file", "reap", lock, ATTACK_HOLDS, NULL, NULL},
    {"ofd-lock", "leave a record lock on the file", "reap", record_lock, ATTACK_HOLDS, NULL, NULL},
    {"lease", "leave a lease on the file", "reap", lease, ATTACK_HOLDS, NULL, NULL},
    {"fill-disk", "leave no room for what is published", "reserved room", fill_room,
	ATTACK_SMALL_FS | ATTACK_HOLDS, NULL, NULL},
    {"fill-inodes", "leave no inode", "reserved room", fill_inodes, ATTACK_SMALL_FS | ATTACK_HOLDS,
	NULL, NULL},
    {"fanotify", "hold up whoever opens the file", "the kernel", fanotify, ATTACK_BY_KERNEL, NULL,
	NULL},
    {"userfaultfd", "hold up a write in the middle", "the kernel", userfault, ATTACK_BY_KERNEL,
	may_userfault, NULL},
};

const struct attack_group attack_resources = {
    "resources", "what is used up or kept", list, sizeof list / sizeof list[0]};
