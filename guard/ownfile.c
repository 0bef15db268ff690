/* A file of the launcher's own. See ownfile.h. */
#include "guard/ownfile.h"

#include "bindmount/cleanup.h"
#include "guard/chain.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char elsewhere[] = "name a file of its own";

/* The directory part of a path: malloc'd, canonical; NULL if it is not there. */
static char *
directory_of(const char *path)
{
	AUTO_FREE char *copy = strdup(path);

	return copy != NULL ? realpath(dirname(copy), NULL) : NULL;
}

static bool
is_runners_directory(const char *path)
{
	const char *name = strrchr(path, '/');

	return name != NULL && snapshot_is_runners(name + 1);
}

static bool
lies_in(const char *directory, const struct stat *st)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	struct stat other;
	bool found = false;

	if (listing == NULL)
		return false;
	while (!found && (entry = readdir(listing)) != NULL)
		found = fstatat(dirfd(listing), entry->d_name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
		        chain_same(&other, st);
	(void)closedir(listing);
	return found;
}

/* By their text: true only if they are in the same directory. */
static bool
are_neighbours(const char *a, const char *b)
{
	const char *end = strrchr(a, '/');

	return end != NULL && strncmp(a, b, (size_t)(end - a) + 1) == 0 &&
	       strchr(b + (end - a) + 1, '/') == NULL;
}

int
ownfile_check_requests(const char *option, const struct guard_request *requests, size_t n,
    const struct stat *st, struct error *e)
{
	struct stat other;

	for (size_t i = 0; i < n; i++)
		if (stat(requests[i].path, &other) == 0 && chain_same(&other, st))
			return error_set(e, 0, elsewhere, "%s: that is the file that %s names",
			    option, requests[i].source);
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *directory = NULL;

		/* They all lie in one, which is listed once. */
		if (i > 0 && are_neighbours(requests[i - 1].path, requests[i].path))
			continue;
		directory = directory_of(requests[i].path);
		if (directory != NULL && is_runners_directory(directory) && lies_in(directory, st))
			return error_set(
			    e, 0, elsewhere, "%s: that is a file in %s", option, directory);
	}
	return 0;
}

static int
check_standard_descriptors(const char *option, const struct stat *st, struct error *e)
{
	struct stat other;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &other) == 0 && chain_same(&other, st))
			return error_set(
			    e, 0, elsewhere, "%s: descriptor %d is open on that file", option, fd);
	return 0;
}

int
ownfile_check(const char *option, const char *path, bool allow_hard_links,
    const struct guard_request *requests, size_t n, const struct stat *st, struct error *e)
{
	AUTO_FREE char *directory = directory_of(path);

	if (ownfile_check_requests(option, requests, n, st, e) != 0 ||
	    check_standard_descriptors(option, st, e) != 0)
		return -1;
	if (directory != NULL && is_runners_directory(directory))
		return error_set(
		    e, 0, elsewhere, "%s: %s is the runner's directory", option, directory);
	if (st->st_nlink > 1 && !allow_hard_links)
		return error_set(e, 0, "remove its other names, or say --allow-hard-links",
		    "%s: %s has %lu hard links", option, path, (unsigned long)st->st_nlink);
	return 0;
}

/* A pipe's "pipe:[1]" is no path. */
bool
ownfile_find(int fd, const struct stat *st, char name[PATH_MAX])
{
	char link[32];
	struct stat named;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, name, PATH_MAX - 1);
	name[n > 0 && name[0] == '/' ? n : 0] = '\0';
	return name[0] != '\0' && stat(name, &named) == 0 && chain_same(&named, st);
}
