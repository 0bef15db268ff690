/* Where the status object goes. See statusfile.h. */
#include "guard/statusfile.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
use_descriptor(struct statusfile *f, int fd, struct error *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(e, 0, "open it for writing, as in 3>status.json",
		    "--status-fd: descriptor %d is not open for writing", fd);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (f->fd < 0)
		return error_set(e, errno, NULL, "can't duplicate descriptor %d", fd);
	return 0;
}

int
statusfile_open(struct statusfile *f, const struct options *o, mode_t mask, struct error *e)
{
	struct stat st;

	*f = (struct statusfile){.fd = -1};
	if (o->status_fd >= 0)
		return use_descriptor(f, o->status_fd, e);
	if (o->status_path == NULL)
		return 0;
	/* O_NONBLOCK: a FIFO without a reader is an error, not a wait. Whatever the umask says, the owner
	 * has to be able to put the file back. */
	f->fd = open(o->status_path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
	    (0666 & ~mask) | 0600);
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		return error_set(e, errno, "name a file that can be written", "--status: can't open %s",
		    o->status_path);
	(void)fcntl(f->fd, F_SETFL, 0);
	if (!S_ISREG(st.st_mode))
		return 0;
	f->path = realpath(o->status_path, NULL);
	if (f->path == NULL || ftruncate(f->fd, 0) != 0)
		return error_set(e, errno, NULL, "--status: can't prepare %s", o->status_path);
	return 0;
}

int
statusfile_write(const struct statusfile *f, const char *text, struct error *e)
{
	size_t size = strlen(text);

	for (size_t done = 0; done < size;) {
		ssize_t n = write(f->fd, text + done, size - done);

		if (n < 0 && errno != EINTR)
			return error_set(e, errno, NULL, "can't write the status object");
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

void
statusfile_close(struct statusfile *f)
{
	fd_drop(&f->fd);
	free(f->path);
	f->path = NULL;
}
