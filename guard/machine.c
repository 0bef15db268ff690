/* See machine.h. */
#include "guard/machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static int
protect(struct view_paths *v, const char *path, struct error *e)
{
	struct stat st;

	if (lstat(path, &st) != 0 || S_ISLNK(st.st_mode))
		return 0;
	if (view_paths_add(v, path, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't note %s", path);
	return 0;
}

static int
protect_disks(struct view_paths *v, struct error *e)
{
	DIR *dir = opendir("/dev");
	const struct dirent *entry;
	int result = 0;

	while (dir != NULL && result == 0 && (entry = readdir(dir)) != NULL) {
		char path[sizeof "/dev/" + sizeof entry->d_name];
		struct stat st;

		snprintf(path, sizeof path, "/dev/%s", entry->d_name);
		if (lstat(path, &st) == 0 && S_ISBLK(st.st_mode))
			result = protect(v, path, e);
	}
	if (dir != NULL)
		closedir(dir);
	return result;
}

int
machine_protect(struct view_paths *v, struct error *e)
{
	/* As container engines have them, read-only or masked. */
	static const char *const paths[] = {"/sys", "/proc/acpi", "/proc/asound", "/proc/bus",
	    "/proc/fs", "/proc/irq", "/proc/kcore", "/proc/latency_stats", "/proc/mtrr",
	    "/proc/scsi", "/proc/sys", "/proc/sysrq-trigger", "/proc/timer_list", "/dev/mem",
	    "/dev/kmem", "/dev/port", "/dev/mapper", "/dev/block"};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (protect(v, paths[i], e) != 0)
			return -1;
	return protect_disks(v, e);
}
