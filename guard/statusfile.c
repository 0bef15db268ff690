/* Where the status object goes. See statusfile.h. */
#include "guard/statusfile.h"

#include "bindmount/cleanup.h"
#include "guard/bounded.h"
#include "guard/chain.h"
#include "guard/ownfile.h"
#include "guard/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
refuse_fifo(const struct statusfile *f, const char *name, struct error *e)
{
	return error_set(e, 0,
	    "name a regular file, or give --status-fd the end of a pipe without a name",
	    "%s: %s is a FIFO, which the leg could write to as well", f->option, name);
}

static int
check_descriptor(struct statusfile *f, const struct options *o,
    const struct guard_request *requests, size_t n, struct error *e)
{
	bool output = o->status_fd == STDOUT_FILENO || o->status_fd == STDERR_FILENO;
	char name[PATH_MAX];
	struct stat st;
	bool leads;

	if (fstat(o->status_fd, &st) != 0)
		return error_set(e, errno, NULL, "can't examine descriptor %d", o->status_fd);
	f->file = S_ISREG(st.st_mode);
	if (output)
		return f->file ? ownfile_check_requests(f->option, requests, n, &st, e) : 0;
	leads = ownfile_find(o->status_fd, &st, name);
	if (S_ISFIFO(st.st_mode) && leads)
		return refuse_fifo(f, name, e);
	if (!f->file)
		return 0;
	if (!leads)
		return error_set(e, 0, "open a file that has its name, or say --status FILE",
		    "--status-fd: the file behind descriptor %d can't be found by its name, to "
		    "guard it",
		    o->status_fd);
	f->path = strdup(name);
	if (f->path == NULL)
		return error_set(e, errno, NULL, "--status-fd");
	return ownfile_check(f->option, f->path, o->allow_hard_links, requests, n, &st, e);
}

static int
use_descriptor(struct statusfile *f, const struct options *o, const struct guard_request *requests,
    size_t n, struct error *e)
{
	int fd = o->status_fd, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(e, 0, "open it for writing, as in 3>status.json",
		    "--status-fd: descriptor %d is not open for writing", fd);
	if (check_descriptor(f, o, requests, n, e) != 0)
		return -1;
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (f->fd < 0)
		return error_set(e, errno, NULL, "can't duplicate descriptor %d", fd);
	/* What is there already stays, whoever writes next. */
	if (f->path != NULL)
		(void)lseek(f->fd, 0, SEEK_END);
	return 0;
}

/* The file that fd is open on: cleared of all that would be lost, it is emptied. */
static int
use_file(struct statusfile *f, int fd, const struct options *o,
    const struct guard_request *requests, size_t n, struct error *e)
{
	struct stat st, named;

	if (fstat(fd, &st) != 0)
		return error_set(e, errno, NULL, "--status: can't examine %s", o->status_path);
	if (S_ISFIFO(st.st_mode))
		return refuse_fifo(f, o->status_path, e);
	f->file = S_ISREG(st.st_mode);
	if (!f->file)
		return 0;
	f->path = realpath(o->status_path, NULL);
	if (f->path == NULL)
		return error_set(e, errno, NULL, "--status: can't find %s", o->status_path);
	if (stat(f->path, &named) != 0 || !chain_same(&named, &st))
		return error_set(e, 0, "name a file in a directory that nobody else may write",
		    "--status: %s is being replaced", o->status_path);
	if (ownfile_check(f->option, f->path, o->allow_hard_links, requests, n, &st, e) != 0)
		return -1;
	if (ftruncate(fd, 0) != 0)
		return error_set(e, errno, NULL, "--status: can't empty %s", o->status_path);
	return 0;
}

static int
use_path(struct statusfile *f, const struct options *o, const struct guard_request *requests,
    size_t n, mode_t mask, struct error *e)
{
	struct stat st;
	struct sink sink;
	int result;

	/* Opening it would be an event to its reader. */
	if (stat(o->status_path, &st) == 0 && S_ISFIFO(st.st_mode))
		return refuse_fifo(f, o->status_path, e);
	/* Whatever the umask says, the owner has to be able to put the file back. */
	result = sink_open(&sink, o->status_path, O_WRONLY, (0666 & ~mask) | 0600, f->option, e);
	if (result == 0 && use_file(f, sink.fd, o, requests, n, e) != 0) {
		/* Nothing is left of a file that is not to be there. */
		if (f->path != NULL && fstat(sink.fd, &st) == 0 && st.st_size == 0)
			sink_remove(&sink, f->path);
		result = -1;
	}
	if (result == 0) {
		(void)fcntl(sink.fd, F_SETFL, 0);
		f->fd = fd_take(&sink.fd);
	}
	sink_close(&sink);
	return result;
}

int
statusfile_open(struct statusfile *f, const struct options *o, const struct guard_request *requests,
    size_t n, mode_t mask, struct error *e)
{
	*f = (struct statusfile){.fd = -1, .option = "--status"};
	if (o->status_fd >= 0) {
		f->option = "--status-fd";
		return use_descriptor(f, o, requests, n, e);
	}
	return o->status_path != NULL ? use_path(f, o, requests, n, mask, e) : 0;
}

int
statusfile_write(const struct statusfile *f, const char *text, int64_t until, struct error *e)
{
	if (bounded_write_all(f->fd, text, strlen(text), until) != 0)
		return error_set(e, errno, NULL, "can't write the status object");
	return 0;
}

void
statusfile_close(struct statusfile *f)
{
	fd_drop(&f->fd);
	free(f->path);
	f->path = NULL;
}
