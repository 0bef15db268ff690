/* A file that takes the place of another one. See place.h. */
#include "guard/audit/place.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/stdlib.h>

static int
open_directory(struct place *p, struct error *e)
{
	size_t length = (size_t)(p->name - p->path);
	AUTO_FREE char *directory = length > 0 ? strndup(p->path, length) : strdup(".");

	if (directory == NULL)
		return error_set(e, errno, NULL, "can't write %s", p->path);
	p->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->directory >= 0
	           ? 0
	           : error_set(e, errno, NULL, "can't open the directory of %s", p->path);
}

/* What is there may be replaced. */
static int
check(const struct place *p, struct error *e)
{
	static const char cure[] =
	    "name a regular file or one that is not there, or - for standard output";
	struct stat st;

	if (*p->name == '\0' || strcmp(p->name, ".") == 0 || strcmp(p->name, "..") == 0)
		return error_set(e, EISDIR, cure, "can't write %s", p->path);
	if (fstatat(p->directory, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : error_set(e, errno, NULL, "can't examine %s", p->path);
	if (S_ISREG(st.st_mode))
		return 0;
	return error_set(e, 0, cure,
	    S_ISLNK(st.st_mode) ? "%s is a symbolic link" : "%s is no regular file", p->path);
}

static int
make(struct place *p, mode_t mode, struct error *e)
{
	uint64_t random;
	int fd;

	arc4random_buf(&random, sizeof random);
	snprintf(p->temporary, sizeof p->temporary, ".legguard-report-%016" PRIx64, random);
	fd = openat(
	    p->directory, p->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0) {
		p->temporary[0] = '\0';
		return error_set(e, errno, NULL, "can't make a file beside %s", p->path);
	}
	p->out = fdopen(fd, "w");
	if (p->out != NULL)
		return 0;
	(void)close(fd);
	return error_set(e, errno, NULL, "can't write %s", p->path);
}

int
place_open(struct place *p, const char *path, mode_t mode, struct error *e)
{
	const char *slash = strrchr(path, '/');
	sigset_t all;

	*p =
	    (struct place){.path = path, .name = slash != NULL ? slash + 1 : path, .directory = -1};
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &p->mask);
	if (open_directory(p, e) == 0 && check(p, e) == 0 && make(p, mode, e) == 0)
		return 0;
	place_close(p);
	return -1;
}

int
place_commit(struct place *p, struct error *e)
{
	/* The name must not be there before the content is, even after a crash. */
	if (fflush(p->out) != 0 || fsync(fileno(p->out)) != 0)
		return error_set(e, errno, NULL, "can't write %s", p->path);
	if (check(p, e) != 0)
		return -1;
	if (renameat(p->directory, p->temporary, p->directory, p->name) != 0)
		return error_set(
		    e, errno, NULL, "can't put the report in the place of %s", p->path);
	p->temporary[0] = '\0';
	return 0;
}

void
place_close(struct place *p)
{
	if (p->out != NULL)
		(void)fclose(p->out); /* place_commit() has checked what counts */
	if (p->temporary[0] != '\0')
		(void)unlinkat(p->directory, p->temporary, 0);
	fd_drop(&p->directory);
	p->out = NULL;
	p->temporary[0] = '\0';
	(void)sigprocmask(SIG_SETMASK, &p->mask, NULL);
}
