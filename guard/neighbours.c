/*
 * The other files in a guarded directory.
 *
 * The runner keeps the file-command files of all steps of a job in one directory and tells them
 * apart by a GUID behind a fixed prefix. Files with the GUID of a guarded one are of the same step:
 * nobody but the leg could have had a reason to touch them. The others belong to enclosing, earlier
 * or parallel steps; they are recorded for the case that the leg tampered with the directory.
 */
#include "guard/held.h"

#include "bindmount/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

/* What the runner names the files by; a prefix of another one comes after it. */
static const char *const prefixes[] = {
    "add_path_",
    "set_env_",
    "step_summary_",
    "save_state_",
    "set_output_",
    "artifacts_list_",
    "artifacts_",
};

/* The part of the name behind the runner's prefix, or NULL if it is none of the runner's. */
static const char *
step_of(const char *name)
{
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t length = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], length) == 0 && name[length] != '\0')
			return name + length;
	}
	return NULL;
}

static bool
is_own_step(const struct snapshot *s, const struct chain_node *dir, const char *name)
{
	const char *step = step_of(name);

	for (size_t i = 0; step != NULL && i < s->file_count; i++) {
		const struct held_file *file = &s->files[i];
		const char *other;

		if (file->neighbour || file->node->parent != dir)
			continue;
		other = step_of(file->node->name);
		if (other != NULL && strcmp(other, step) == 0)
			return true;
	}
	return false;
}

static bool
is_held(const struct snapshot *s, const struct chain_node *dir, const char *name)
{
	for (size_t i = 0; i < s->file_count; i++)
		if (s->files[i].node->parent == dir && strcmp(s->files[i].node->name, name) == 0)
			return true;
	return false;
}

/* 0 also if the file could not be recorded; -1 only for want of memory. */
static int
add_one(struct snapshot *s, struct chain_node *dir, const char *name, bool own_step)
{
	struct chain_node *node;
	struct stat st;
	ssize_t index;

	if (fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return 0;
	/* Root does not keep up for the leg what may be a file of anybody's, or run with somebody's rights. */
	if (s->leg.other && (st.st_nlink > 1 || (st.st_mode & (S_ISUID | S_ISGID)) != 0))
		return 0;
	node = chain_enter(&s->chain, dir, name);
	if (node == NULL)
		return errno == ENOMEM ? -1 : 0;
	index = held_add(s, node, true, RECORD_READABLE);
	if (index < 0)
		return errno == ENOMEM ? -1 : 0;
	s->files[index].own_step = own_step;
	return 0;
}

/* How many may be held at two descriptors each, so that half of the limit is left. */
static size_t
held_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1U << 20)
		limit.rlim_cur = 1U << 20;
	return (size_t)limit.rlim_cur / 4;
}

static int
add_from(struct snapshot *s, struct chain_node *dir, DIR *listing, bool own_step)
{
	const struct dirent *entry;

	rewinddir(listing);
	while ((entry = readdir(listing)) != NULL && s->file_count < held_max()) {
		if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
			continue;
		if (is_own_step(s, dir, entry->d_name) != own_step ||
		    is_held(s, dir, entry->d_name))
			continue;
		if (add_one(s, dir, entry->d_name, own_step) != 0)
			return -1;
	}
	return 0;
}

int
neighbours_add(struct snapshot *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->guarded_count && rc == 0; i++) {
		struct chain_node *dir = s->guarded[i];
		int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;

		if (listing == NULL) {
			cleanup_fd(&fd);
			continue; /* searchable but not readable: neither can the leg list it */
		}
		/* Those of our own step first: they must not fall to the limit. */
		rc = add_from(s, dir, listing, true);
		if (rc == 0)
			rc = add_from(s, dir, listing, false);
		(void)closedir(listing);
	}
	return rc;
}
