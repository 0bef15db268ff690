/* Other mounts of proc. See procs.h. */
#include "bindmount/procs.h"

#include "bindmount/mountinfo.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* All of it, or a process in it; a tree of settings shows none. */
static bool
shows_processes(const struct mount_entry *m)
{
	return strcmp(m->type, "proc") == 0 &&
	       (strcmp(m->root, "/") == 0 || isdigit((unsigned char)m->root[1]));
}

/* Whether it is that mount which its point leads to. */
static int
is_on_top(const struct mount_entry *m, bool *on_top, struct error *e)
{
	struct statx stx;

	*on_top = false;
	if (statx(AT_FDCWD, m->point, AT_SYMLINK_NOFOLLOW, STATX_MODE | STATX_MNT_ID, &stx) != 0)
		return errno == ENOENT || errno == ENOTDIR
		           ? 0
		           : error_set(e, errno, NULL, "can't examine %s", m->point);
	/* Without the number (Linux 5.8 tells it) it is covered in any case. */
	*on_top = (stx.stx_mask & STATX_MNT_ID) == 0 || (int)stx.stx_mnt_id == m->id;
	return 0;
}

int
procs_cover(struct error *e)
{
	struct mountinfo m;
	int result = 0;

	if (mountinfo_read(&m) != 0)
		return error_set(e, errno, NULL, "can't read /proc/self/mountinfo");
	for (size_t i = 0; i < m.count && result == 0; i++) {
		const struct mount_entry *entry = &m.list[i];
		bool on_top;

		if (!shows_processes(entry) || mountinfo_below(entry->point, "/proc"))
			continue;
		result = is_on_top(entry, &on_top, e);
		if (result == 0 && on_top &&
		    mount("proc", entry->point, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) !=
			0)
			result = error_set(e, errno, "unmount it, or what shows it there",
			    "can't cover the other proc file system at %s", entry->point);
	}
	mountinfo_free(&m);
	return result;
}
