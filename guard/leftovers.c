/* What others hold on a guarded file. See leftovers.h. */
#include "guard/leftovers.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static int
add(struct leftovers *l, enum leftover_kind kind, const char *path, bool before)
{
	struct leftover *list = reallocarray(l->list, l->count + 1, sizeof *list);
	char *copy = strdup(path);

	if (list != NULL)
		l->list = list;
	if (list == NULL || copy == NULL) {
		free(copy);
		return -1;
	}
	list[l->count++] = (struct leftover){.kind = kind, .before = before, .path = copy};
	return 0;
}

/* A read lease is given only while nobody has the file open for writing. */
static bool
has_writer(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
		return false;
	}
	return errno == EAGAIN;
}

/* flock(2) locks and those of fcntl(2) are two kinds; each is asked for and given back. */
static bool
is_locked(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	(void)flock(fd, LOCK_UN);
	return fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

bool
leftovers_none(int fd)
{
	struct stat st;

	/* A write lease is given only while nobody else has the file open at all, so nobody holds a
	 * lock either. Readers, who do no harm, refuse it too. */
	if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
		return false;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return fstat(fd, &st) == 0 && st.st_nlink <= 1;
}

int
leftovers_look(struct leftovers *l, int fd, const char *path, bool before)
{
	struct stat st;

	if (has_writer(fd) && add(l, LEFTOVER_WRITER, path, before) != 0)
		return -1;
	if (is_locked(fd) && add(l, LEFTOVER_LOCK, path, before) != 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_nlink > 1 && add(l, LEFTOVER_LINK, path, before) != 0)
		return -1;
	return 0;
}

int
leftovers_look_at(struct leftovers *l, const char *path, bool before)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	return leftovers_look(l, fd, path, before);
}

int
leftovers_note_change(struct leftovers *l, const char *path)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && has_writer(fd))
		return 0;
	return add(l, LEFTOVER_CHANGED, path, false);
}

const char *
leftover_text(enum leftover_kind kind)
{
	static const char *const texts[] = {
	    [LEFTOVER_WRITER] = "open for writing in another process",
	    [LEFTOVER_LOCK] = "locked by another process",
	    [LEFTOVER_LINK] = "known by another name as well",
	    [LEFTOVER_CHANGED] = "changed by the leg or by somebody else",
	};

	return texts[kind];
}

void
leftovers_free(struct leftovers *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->list[i].path);
	free(l->list);
	*l = (struct leftovers){0};
}
