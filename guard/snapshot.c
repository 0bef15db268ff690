/*
 * Taking the snapshot and looking at it; see snapshot.h.
 *
 * Restoring is in restore.c, names.c and place.c, what the full disk needs in reserve.c.
 */
#include "guard/snapshot.h"

#include "bindmount/cleanup.h"
#include "guard/held.h"
#include "guard/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct content *
find_content(const struct snapshot *s, const struct stat *st)
{
	for (size_t i = 0; i < s->content_count; i++)
		if (chain_same(&s->contents[i]->st, st))
			return s->contents[i];
	return NULL;
}

static struct content *
add_content(struct snapshot *s, const struct chain_node *node, enum content_how how)
{
	struct content **contents =
	    reallocarray(s->contents, s->content_count + 1, sizeof(struct content *));
	AUTO_FREE struct content *content = NULL;

	if (contents == NULL)
		return NULL;
	s->contents = contents;
	content = calloc(1, sizeof *content);
	if (content == NULL ||
	    content_record(content, node->parent->fd, node->name, &node->st, how) != 0)
		return NULL;
	contents[s->content_count++] = content;
	return ptr_take(&content);
}

/* Of files that were not named only what the leg may write concerns us. */
static int
look_writable(const struct snapshot *s, struct content *content)
{
	if (!s->leg.other)
		return 0;
	if (rights_take(&s->leg) != 0)
		return -1;
	content_look_writable(content);
	rights_give_back(&s->leg);
	return 0;
}

ssize_t
held_add(struct snapshot *s, struct chain_node *node, bool neighbour, enum content_how how)
{
	struct held_file *files;
	struct content *content;

	for (size_t i = 0; i < s->file_count; i++)
		if (s->files[i].node == node)
			return (ssize_t)i;
	files = reallocarray(s->files, s->file_count + 1, sizeof *files);
	if (files == NULL)
		return -1;
	s->files = files;
	content = find_content(s, &node->st);
	if (content == NULL)
		content = add_content(s, node, how);
	if (content == NULL || (neighbour && look_writable(s, content) != 0))
		return -1;
	files[s->file_count] =
	    (struct held_file){.node = node, .content = content, .neighbour = neighbour};
	return (ssize_t)s->file_count++;
}

bool
snapshot_is_runners(const char *name)
{
	return strcmp(name, "_runner_file_commands") == 0 || strcmp(name, "file_commands") == 0;
}

static int
add_guarded(struct snapshot *s, struct chain_node *dir)
{
	struct chain_node **guarded;

	if (!snapshot_is_runners(dir->name))
		return 0;
	for (size_t i = 0; i < s->guarded_count; i++)
		if (s->guarded[i] == dir)
			return 0;
	guarded = reallocarray(s->guarded, s->guarded_count + 1, sizeof(struct chain_node *));
	if (guarded == NULL)
		return -1;
	s->guarded = guarded;
	guarded[s->guarded_count++] = dir;
	return 0;
}

static int
check_file(const struct chain_node *node, const struct guard_request *r, bool allow_hard_links,
    struct error *e)
{
	const char *kind = chain_kind(&node->st);
	uid_t me = geteuid();

	if (kind != NULL)
		return error_set(e, 0,
		    S_ISLNK(node->st.st_mode) ? "name the file it leads to" : "name a regular file",
		    "%s: %s is %s, not a regular file", r->source, node->path, kind);
	if (r->path[strlen(r->path) - 1] == '/')
		return error_set(
		    e, ENOTDIR, "take away the slash at its end", "%s: %s", r->source, r->path);
	if (me != 0 && node->st.st_uid != me)
		return error_set(e, 0, "run legguard as the file's owner",
		    "%s: %s belongs to uid %u and not to uid %u, who could not put it back",
		    r->source, node->path, (unsigned)node->st.st_uid, (unsigned)me);
	if (node->st.st_nlink > 1 && !allow_hard_links)
		return error_set(e, 0, "remove its other names, or say --allow-hard-links",
		    "%s: %s has %lu hard links, and each of the others is a way to write to it",
		    r->source, node->path, (unsigned long)node->st.st_nlink);
	return 0;
}

static int
record_error(const struct chain_node *node, const struct guard_request *r, struct error *e)
{
	switch (errno) {
	case EAGAIN:
		return error_set(e, 0, "see that nothing else writes to it when legguard starts",
		    "%s: %s changed while it was read", r->source, node->path);
	case EFBIG:
		return error_set(e, 0, "name a smaller file", "%s: %s is larger than %zu MiB",
		    r->source, node->path, CONTENT_MAX >> 20);
	case ENOMEM:
		return error_set(
		    e, ENOMEM, NULL, "%s: no memory for a copy of %s", r->source, node->path);
	default:
		return error_set(e, errno, "it must be possible to read and to write it",
		    "%s: cannot record %s", r->source, node->path);
	}
}

static int
walk_request(struct snapshot *s, size_t i, bool allow_hard_links, struct error *e)
{
	const struct guard_request *r = &s->requests[i];
	struct chain_node *node;

	if (r->path[0] == '\0')
		return error_set(e, 0, "give it the path of a file, or unset it",
		    "%s: the path is empty", r->source);
	node = chain_walk(&s->chain, r->path, r->source, e);
	if (node == NULL || check_file(node, r, allow_hard_links, e) != 0)
		return -1;
	s->requested[i] = node;
	if (add_guarded(s, node->parent) != 0)
		return error_set(
		    e, errno, NULL, "%s: cannot guard %s", r->source, node->parent->path);
	return 0;
}

int
snapshot_walk(struct snapshot **out, const struct guard_request *requests, size_t n,
    bool allow_hard_links, struct error *e)
{
	struct snapshot *s = calloc(1, sizeof *s);

	*out = NULL;
	if (s == NULL)
		return error_set(e, errno, NULL, "snapshot");
	s->taker = getpid();
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &s->taken); /* fails for unknown clocks only */
	s->requests = requests;
	s->request_count = n;
	s->index = calloc(n + 1, sizeof *s->index);
	s->requested = calloc(n + 1, sizeof(struct chain_node *));
	if (s->index == NULL || s->requested == NULL) {
		(void)error_set(e, errno, NULL, "snapshot");
		goto err;
	}
	for (size_t i = 0; i < n; i++)
		if (walk_request(s, i, allow_hard_links, e) != 0)
			goto err;
	*out = s;
	return 0;
err:
	snapshot_free(s);
	return -1;
}

int
snapshot_for_leg(struct snapshot *s, uid_t uid, gid_t gid, struct error *e)
{
	if (rights_prepare(e) != 0)
		return -1;
	for (size_t i = 0; i < s->request_count; i++)
		if ((s->requested[i]->st.st_mode & (S_ISUID | S_ISGID)) != 0)
			return error_set(e, 0, "take these bits away, see chmod(1)",
			    "%s: %s is set-user-ID or set-group-ID", s->requests[i].source,
			    s->requested[i]->path);
	s->leg = (struct rights){.other = true, .uid = uid, .gid = gid};
	return 0;
}

int
snapshot_record(struct snapshot *s, struct error *e)
{
	for (size_t i = 0; i < s->request_count; i++) {
		ssize_t index = held_add(s, s->requested[i], false, RECORD_WRITABLE);

		if (index < 0)
			return record_error(s->requested[i], &s->requests[i], e);
		s->index[i] = (size_t)index;
	}
	if (neighbours_add(s) != 0)
		return error_set(e, errno, NULL, "no memory for a copy of the guarded directory");
	s->own_nodes = s->chain.count;
	s->since = s->taken;
	return 0;
}

void
snapshot_free(struct snapshot *s)
{
	if (s == NULL)
		return;
	reserve_release(s);
	for (size_t i = 0; i < s->content_count; i++) {
		content_free(s->contents[i]);
		free(s->contents[i]);
	}
	free(s->contents);
	free(s->files);
	free(s->trees);
	free(s->guarded);
	free(s->index);
	free(s->requested);
	for (size_t i = 0; i < s->ballast_count; i++)
		cleanup_fd(&s->ballasts[i].fd);
	free(s->ballasts);
	chain_free(&s->chain);
	free(s);
}

int
snapshot_descriptor(const struct snapshot *s, size_t index)
{
	return s->files[index].content->fd;
}

int
snapshot_let_go(struct snapshot *s, size_t index)
{
	struct content *c = s->files[index].content;

	reserve_release_content(c);
	return content_open_for_reading(c) == 0 ? c->fd : -1;
}

size_t
snapshot_index(const struct snapshot *s, size_t i)
{
	return s->index[i];
}

size_t
snapshot_end(const struct snapshot *s, size_t index)
{
	return s->files[index].content->end;
}

const void *
snapshot_bytes(const struct snapshot *s, size_t index, size_t *size)
{
	*size = s->files[index].content->size;
	return s->files[index].content->bytes;
}

void
snapshot_fingerprint(const struct snapshot *s, size_t index, uint8_t digest[16])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, s->files[index].content->hash);
	memcpy(digest, canonical.digest, sizeof canonical.digest);
}

size_t
snapshot_count(const struct snapshot *s)
{
	return s->file_count;
}

const char *
snapshot_path(const struct snapshot *s, size_t index)
{
	return s->files[index].node->path;
}

bool
snapshot_is_neighbour(const struct snapshot *s, size_t index)
{
	return s->files[index].neighbour;
}

const struct stat *
snapshot_stat(const struct snapshot *s, size_t index)
{
	return &s->files[index].content->st;
}

bool
snapshot_has_inode(const struct snapshot *s, const struct stat *st)
{
	for (size_t i = 0; i < s->guarded_count; i++)
		if (chain_same(&s->guarded[i]->st, st))
			return true;
	return find_content(s, st) != NULL;
}

static bool
in_guarded(const struct snapshot *s, const struct chain_node *node)
{
	for (size_t i = 0; i < s->guarded_count; i++)
		for (const struct chain_node *at = node->parent; at != NULL; at = at->parent)
			if (s->guarded[i] == at)
				return true;
	return false;
}

int
snapshot_read_only_paths(const struct snapshot *s, struct view_paths *v, struct error *e)
{
	for (size_t i = 0; i < s->guarded_count; i++) {
		const struct chain_node *node = s->guarded[i];

		if (view_paths_add(v, node->path, node->st.st_dev, node->st.st_ino) != 0)
			return error_set(e, errno, NULL, "read-only paths");
	}
	/* Neighbours lie in a guarded directory. */
	for (size_t i = 0; i < s->request_count; i++) {
		const struct chain_node *node = s->requested[i];

		if (in_guarded(s, node))
			continue;
		if (view_paths_add(v, node->path, node->st.st_dev, node->st.st_ino) != 0)
			return error_set(e, errno, NULL, "read-only paths");
	}
	return 0;
}

int
snapshot_link_paths(const struct snapshot *s, struct view_paths *v, struct error *e)
{
	for (size_t i = 0; i < s->chain.count; i++) {
		const struct chain_node *node = s->chain.nodes[i];

		if (S_ISLNK(node->st.st_mode) &&
		    view_paths_add(v, node->path, node->st.st_dev, node->st.st_ino) != 0)
			return error_set(e, errno, NULL, "can't note %s", node->path);
	}
	return 0;
}
