/* The leg's standard input. See instream.h. */
#include "guard/instream.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

int
instream_find(char path[PATH_MAX + 1], struct error *e)
{
	struct stat st;
	ssize_t n;

	path[0] = '\0';
	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	n = readlink("/proc/self/fd/0", path, PATH_MAX);
	if (n < 0)
		return error_set(e, errno, NULL, "can't tell what standard input is");
	path[n] = '\0';
	return 0;
}

/* The view has something else by that path than there was, on purpose. */
static bool
is_taken_away(const struct view *view, const char *path)
{
	for (size_t i = 0; i < view->hidden.count; i++)
		if (mountinfo_below(path, view->hidden.list[i].path))
			return true;
	return view->writable.count > 0;
}

int
instream_take(const struct view *view, const char *path, struct error *e)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat was, is;
	struct statvfs fs;

	if (path[0] != '/')
		return 0;
	if (fstat(STDIN_FILENO, &was) != 0)
		return error_set(e, errno, NULL, "can't tell what standard input is");
	if (fd < 0 || fstat(fd, &is) != 0 || was.st_dev != is.st_dev || was.st_ino != is.st_ino) {
		if (was.st_nlink == 0 || !is_taken_away(view, path))
			return 0;
		return error_set(e, 0,
		    "pass it through a pipe, as in \"cat FILE | legguard run ...\"",
		    "standard input is %s, which the leg's view does not show", path);
	}
	if (fstatvfs(fd, &fs) != 0 || (fs.f_flag & ST_RDONLY) == 0)
		return 0;
	(void)fcntl(fd, F_SETFL, 0);
	(void)lseek(fd, lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET);
	(void)dup2(fd, STDIN_FILENO);
	return 0;
}
