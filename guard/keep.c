/* Keeping what the leg may only read. See keep.h. */
#include "guard/keep.h"

#include "bindmount/cleanup.h"
#include "guard/held.h"
#include "guard/hold.h"
#include "guard/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
	COPY_MAX = 1 << 20, /* of a larger file there is no copy, only a lease */
	DEPTH_MAX = 64,     /* of a tree, one descriptor each */
};

static bool
is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Half of the descriptors are left for what the launcher needs itself. */
static bool
has_room(const struct snapshot *s)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       s->chain.count + s->content_count < limit.rlim_cur / 2;
}

static int
add_tree(struct snapshot *s, struct held_tree tree, struct error *e)
{
	struct held_tree *trees;

	/* Grows by doubling: the room is the next power of two at or above the count. */
	if ((s->tree_count & (s->tree_count - 1)) == 0) {
		trees = reallocarray(
		    s->trees, s->tree_count > 0 ? s->tree_count * 2 : 1, sizeof *trees);
		if (trees == NULL)
			return error_set(e, errno, NULL, "can't keep %s", tree.path);
		s->trees = trees;
	}
	s->trees[s->tree_count++] = tree;
	return 0;
}

/* The node of path. NULL with errno ENOENT, or *e. */
static struct chain_node *
walk(struct snapshot *s, const char *path, struct error *e)
{
	struct error gone = {0};
	struct chain_node *node = chain_walk(&s->chain, path, "protected", &gone);

	if (node != NULL)
		return node;
	errno = ENOENT;
	if (gone.errnum != ENOENT && gone.errnum != ENOTDIR && gone.errnum != EACCES) {
		*e = gone;
		errno = EIO;
	}
	return NULL;
}

static bool
is_in_snapshot(const struct snapshot *s, const struct chain_node *dir, const char *name)
{
	for (size_t i = 0; i < s->file_count; i++) {
		const struct held_file *file = &s->files[i];

		if (!file->kept && file->node->parent == dir && strcmp(file->node->name, name) == 0)
			return true;
	}
	return false;
}

static int
keep_loose(struct snapshot *s, const char *path, const struct stat *st, struct error *e)
{
	const char *name = strrchr(path, '/') + 1;
	AUTO_FREE char *dir = strndup(path, (size_t)(name - path));
	struct chain_node *node;

	if (dir == NULL)
		return error_set(e, errno, NULL, "can't keep %s", path);
	node = walk(s, dir, e);
	if (node == NULL)
		return errno == ENOENT ? 0 : -1;
	if (is_in_snapshot(s, node, name))
		return 0;
	return add_tree(s,
	    (struct held_tree){
		.node = node, .path = path, .name = name, .st = *st, .keep = KEEP_LOOSE},
	    e);
}

static int
keep_directory(struct snapshot *s, const char *path, enum keep keep, struct error *e)
{
	struct chain_node *node = walk(s, path, e);

	if (node == NULL)
		return errno == ENOENT ? 0 : -1;
	return add_tree(
	    s, (struct held_tree){.node = node, .path = path, .st = node->st, .keep = keep}, e);
}

/* Its directories, and the file if the leg could have removed it. */
static int
keep_log(struct snapshot *s, const char *path, const struct stat *st, struct error *e)
{
	uid_t leg = s->leg.other ? s->leg.uid : geteuid();
	struct chain_node *node = walk(s, path, e);
	ssize_t index;

	if (node == NULL)
		return errno == ENOENT ? 0 : -1;
	if ((leg != 0 && st->st_uid != leg) || !chain_same(&node->st, st))
		return 0;
	index = held_add(s, node, false, RECORD_NO_BYTES);
	if (index < 0)
		return errno == ENOMEM ? error_set(e, errno, NULL, "can't keep %s", path) : 0;
	s->files[index].kept = s->files[index].log = true;
	s->files[index].content->writable = true;
	return 0;
}

static int
keep_file(struct snapshot *s, const char *path, const struct stat *st, bool shared, struct error *e)
{
	uid_t leg = s->leg.other ? s->leg.uid : geteuid();
	struct chain_node *node;
	ssize_t index;

	/* What is another's he may change, and the leg can only move. */
	if ((leg != 0 && st->st_uid != leg) || (shared && st->st_nlink > 1) || !has_room(s))
		return keep_loose(s, path, st, e);
	node = walk(s, path, e);
	if (node == NULL)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISREG(node->st.st_mode) || is_in_snapshot(s, node->parent, node->name))
		return 0;
	index = held_add(s, node, false,
	    (size_t)node->st.st_size > COPY_MAX ? RECORD_NO_BYTES : RECORD_READABLE);
	if (index < 0 && errno == ENOMEM)
		return error_set(e, errno, NULL, "can't keep %s", path);
	if (index < 0)
		return keep_loose(s, path, st, e);
	s->files[index].kept = true;
	s->files[index].shared = shared;
	/* Its owner can make it writable. */
	s->files[index].content->writable = true;
	return 0;
}

int
snapshot_keep(
    struct snapshot *s, const char *path, const struct stat *st, enum keep keep, struct error *e)
{
	switch (keep) {
	case KEEP_FILE:
	case KEEP_SHARED:
		return keep_file(s, path, st, keep == KEEP_SHARED, e);
	case KEEP_LOG:
		return keep_log(s, path, st, e);
	case KEEP_LOOSE:
		return keep_loose(s, path, st, e);
	case KEEP_TREE:
	case KEEP_NAMES:
		break;
	}
	return keep_directory(s, path, keep, e);
}

static bool
was_touched(const struct chain_node *node)
{
	struct stat now;

	return fstat(node->fd, &now) != 0 || now.st_ctim.tv_sec != node->st.st_ctim.tv_sec ||
	       now.st_ctim.tv_nsec != node->st.st_ctim.tv_nsec;
}

/* Whether a component of the way to node, or node itself, may have been moved, back as well. */
static bool
may_have_moved(const struct snapshot *s, const struct chain_node *node)
{
	for (; node->parent != NULL; node = node->parent)
		if (was_touched(node) && was_touched(node->parent) &&
		    !hold_is_out_of_reach(s, node))
			return true;
	return false;
}

/* Report the first change only: who has got in may have changed anything. */
static void
report(const char *path, const char *name, struct findings *f, bool *failed)
{
	AUTO_FREE char *whole = NULL;

	if (name == NULL || asprintf(&whole, "%s/%s", path, name) < 0)
		whole = NULL;
	(void)findings_add(f, FINDING_REWRITTEN, false, whole != NULL ? whole : path,
	    "changed around its read-only mount; there is no copy of it");
	*failed = true;
}

/*
 * True if something below the directory at fd, which becomes this function's, was changed since; *name gets its
 * path below it. What can't be looked at counts as changed: the leg could have seen to that.
 */
static bool
find_change(int fd, const struct timespec *since, int depth, char **name)
{
	DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool changed = false;

	if (listing == NULL) {
		cleanup_fd(&fd);
		return true;
	}
	while (!changed && (entry = readdir(listing)) != NULL) {
		AUTO_FREE char *below = NULL;
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		changed = fstatat(dirfd(listing), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0;
		/* What was changed in a directory says more than that it was. */
		if (!changed && S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			changed = find_change(openat(dirfd(listing), entry->d_name,
						  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    since, depth + 1, &below);
		changed = changed || !is_later(since, &st.st_ctim);
		if (changed && asprintf(name, "%s%s%s", entry->d_name, below != NULL ? "/" : "",
				   below != NULL ? below : "") < 0)
			*name = NULL;
	}
	(void)closedir(listing);
	return changed;
}

static void
compare_tree(
    const struct snapshot *s, const struct held_tree *tree, struct findings *f, bool *failed)
{
	AUTO_FREE char *name = NULL;
	const struct chain_node *node = tree->node;
	struct stat now;

	if (!tree->moved)
		return;
	if (find_change(
		openat(node->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &s->since, 0, &name))
		report(tree->path, name, f, failed);
	/* If it is elsewhere now that is reported anyway, and is what has set its time. */
	else if (tree->touched && names_look(node->parent->fd, node->name, &now) == 0 &&
		 chain_same(&now, &node->st))
		report(tree->path, NULL, f, failed);
}

static void
compare_loose(struct held_tree *tree, struct findings *f, bool *failed)
{
	struct stat now;

	if (names_look(tree->node->fd, tree->name, &now) == 0 && chain_same(&now, &tree->st) &&
	    now.st_ctim.tv_sec == tree->st.st_ctim.tv_sec &&
	    now.st_ctim.tv_nsec == tree->st.st_ctim.tv_nsec)
		return;
	if (tree->moved)
		report(tree->path, NULL, f, failed);
	else
		tree->noted = true;
}

bool
keep_compare(struct snapshot *s, struct findings *f)
{
	bool failed = false;

	/* First all that goes by times: to look something up may take a directory's mode to be changed. */
	for (size_t i = 0; i < s->tree_count; i++) {
		s->trees[i].touched = was_touched(s->trees[i].node);
		s->trees[i].moved = may_have_moved(s, s->trees[i].node);
	}
	for (size_t i = 0; i < s->tree_count; i++)
		if (s->trees[i].keep == KEEP_TREE)
			compare_tree(s, &s->trees[i], f, &failed);
		else if (s->trees[i].keep == KEEP_LOOSE)
			compare_loose(&s->trees[i], f, &failed);
	return failed;
}

int
snapshot_note_changes(const struct snapshot *s, struct leftovers *l)
{
	for (size_t i = 0; i < s->tree_count; i++)
		if (s->trees[i].noted && leftovers_note_change(l, s->trees[i].path) != 0)
			return -1;
	return 0;
}
