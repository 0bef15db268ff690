/* Which file a command is. See executable.h. */
#include "guard/executable.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What execvp(3) takes where there is no PATH. */
static const char default_path[] = "/bin:/usr/bin";

/* Not mapped: to shorten the file would end us. */
static void
hash(const char *path, char sha256[DIGEST_TEXT])
{
	static const char elf[] = {0x7f, 'E', 'L', 'F'};
	static char buffer[32 * 1024];
	AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct digest d;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	n = read(fd, buffer, sizeof buffer);
	if (n < (ssize_t)sizeof elf || memcmp(buffer, elf, sizeof elf) != 0)
		return;
	digest_begin(&d);
	for (; n > 0; n = read(fd, buffer, sizeof buffer))
		digest_add(&d, buffer, (size_t)n);
	if (n == 0)
		digest_end(&d, sha256);
}

static bool
is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* name in the directory of n bytes at `in`, which may be empty and relative; malloc'd. */
static char *
join(const char *dir, const char *in, size_t n, const char *name)
{
	char *path;

	if (asprintf(&path, "%s%s%.*s%s%s", n == 0 || in[0] != '/' ? dir : "",
		n == 0 || in[0] != '/' ? "/" : "", (int)n, in, n > 0 ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static char *
look_up(const char *command, char *const *envp, const char *dir)
{
	const char *path = environment_get(envp, "PATH");
	const char *slash = strrchr(command, '/');

	if (slash != NULL)
		return slash == command ? strdup(command)
		                        : join(dir, command, (size_t)(slash - command), slash + 1);
	for (path = path != NULL ? path : default_path;; path++) {
		size_t n = strcspn(path, ":");
		AUTO_FREE char *candidate = join(dir, path, n, command);

		if (candidate != NULL && is_executable(candidate))
			return ptr_take(&candidate);
		path += n;
		if (*path == '\0')
			return NULL;
	}
}

char *
executable_find(const char *command, char *const *envp, const char *dir, char sha256[DIGEST_TEXT])
{
	char *path = look_up(command, envp, dir);

	sha256[0] = '\0';
	if (path != NULL && is_executable(path))
		hash(path, sha256);
	return path;
}
