/* A file to be read. See infile.h. */
#include "guard/infile.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
infile_open(const char *path, int *fd, struct error *e)
{
	static const char cure[] = "name a regular file that can be read, or - for standard input";
	AUTO_FD int opened = -1;
	struct stat st;

	*fd = STDIN_FILENO;
	if (strcmp(path, "-") == 0)
		return 0;
	opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (opened < 0 || fstat(opened, &st) != 0)
		return error_set(e, errno, cure, "can't open %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(
		    e, S_ISDIR(st.st_mode) ? EISDIR : 0, cure, "%s is no regular file", path);
	*fd = fd_take(&opened);
	return 0;
}

void
infile_close(int fd)
{
	if (fd > STDIN_FILENO)
		(void)close(fd);
}
