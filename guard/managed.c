/* Managed settings. See managed.h. */
#include "guard/managed.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

enum { SETTINGS_MAX = 1024 * 1024 };

static const char cure[] = "install it as root, as in \"sudo install -D -m 644 FILE "
			   "/etc/claude-code/managed-settings.json\"";

static int
refuse(const char *path, const char *why, struct error *e)
{
	return error_set(e, 0, cure, "--managed-settings %s: %s", path, why);
}

/* One component, opened; at the end it is the file. */
static int
check_component(int fd, const char *path, bool last, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_set(e, errno, NULL, "can't examine %s", path);
	if (last ? !S_ISREG(st.st_mode) : !S_ISDIR(st.st_mode))
		return refuse(path,
		    last ? "it is no regular file" : "a symbolic link or a file is in its path", e);
	if (st.st_uid != 0)
		return refuse(path,
		    last ? "it does not belong to root"
			 : "a directory above does not belong to root",
		    e);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(path,
		    last ? "others than root can write it"
			 : "others than root can write a directory above",
		    e);
	return 0;
}

/* Open it component by component, none of them a link. */
static int
open_settings(const char *path, struct error *e)
{
	AUTO_FREE char *copy = strdup(path);
	AUTO_FD int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *rest, *name;

	if (path[0] != '/')
		return refuse(path, "it is no absolute path", e);
	if (copy == NULL || at < 0)
		return error_set(e, errno, NULL, "can't open %s", path);
	if (check_component(at, path, false, e) != 0)
		return -1;
	for (name = strtok_r(copy, "/", &rest); name != NULL;) {
		char *next = strtok_r(NULL, "/", &rest);
		int fd;

		if (strcmp(name, "..") == 0)
			return refuse(path, "there is .. in its path", e);
		fd = openat(at, name,
		    (next != NULL ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY) | O_NOFOLLOW |
			O_CLOEXEC);
		if (fd < 0)
			return error_set(e, errno, cure, "--managed-settings %s", path);
		fd_drop(&at);
		at = fd;
		if (check_component(at, path, next == NULL, e) != 0)
			return -1;
		name = next;
	}
	return fd_take(&at);
}

static int
check_content(int fd, const char *path, struct error *e)
{
	AUTO_FREE char *text = malloc(SETTINGS_MAX + 1);
	size_t size = 0;
	ssize_t n = 1;
	json_t *settings;
	bool shut;

	while (text != NULL && n > 0 && size <= SETTINGS_MAX) {
		n = read(fd, text + size, SETTINGS_MAX + 1 - size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (text == NULL || n < 0)
		return error_set(e, errno, NULL, "can't read %s", path);
	if (size > SETTINGS_MAX)
		return refuse(path, "it is larger than 1 MiB", e);
	settings = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(settings)) {
		json_decref(settings);
		return refuse(path, "it is no JSON object with each key once", e);
	}
	shut = json_is_true(json_object_get(settings, "allowManagedHooksOnly")) ||
	       json_is_true(json_object_get(settings, "disableAllHooks"));
	json_decref(settings);
	return shut ? 0
	            : refuse(path,
			  "neither allowManagedHooksOnly nor disableAllHooks is true in it", e);
}

int
managed_check(const char *path, struct view_paths *read_only, struct error *e)
{
	AUTO_FD int fd = open_settings(path, e);
	struct stat st;

	if (fd < 0 || check_content(fd, path, e) != 0)
		return -1;
	/* Without a link in it, only double and single dots and slashes can differ. */
	AUTO_FREE char *real = realpath(path, NULL);
	if (real == NULL || fstat(fd, &st) != 0 ||
	    view_paths_add(read_only, real, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	return 0;
}
