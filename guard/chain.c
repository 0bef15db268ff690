/*
 * The walk from "/" down that holds every component; see chain.h.
 *
 * path_resolution(7) done by hand: what is left of the path is a string that symbolic links are
 * spliced into, and each name in it is opened with O_PATH | O_NOFOLLOW relative to the node before.
 */
#include "guard/chain.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#define LINKS_MAX 40 /* as in the kernel, path_resolution(7) */

bool
chain_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void
node_free(struct chain_node *node)
{
	if (node == NULL)
		return;
	cleanup_fd(&node->fd);
	cleanup_fd(&node->watch);
	free(node->path);
	free(node->link);
	free(node);
}

const char *
chain_kind(const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFDIR:
		return "a directory";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

void
chain_free(struct chain *c)
{
	for (size_t i = 0; i < c->count; i++)
		node_free(c->nodes[i]);
	free(c->nodes);
	*c = (struct chain){0};
}

static uint64_t
mount_id(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) != 0 || !(stx.stx_mask & STATX_MNT_ID))
		return 0; /* Linux 5.8 tells; without it a mount point only shows by its device */
	return stx.stx_mnt_id;
}

/* The text of the symbolic link at fd. NULL with errno. */
static char *
link_text(int fd)
{
	char text[PATH_MAX + 1];
	ssize_t n = readlinkat(fd, "", text, sizeof text);

	if (n < 0)
		return NULL;
	if ((size_t)n == sizeof text) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return strndup(text, (size_t)n);
}

static int
node_look(struct chain_node *node)
{
	if (fstat(node->fd, &node->st) != 0)
		return -1;
	node->mount = mount_id(node->fd);
	if (S_ISLNK(node->st.st_mode) && node->link == NULL) {
		node->link = link_text(node->fd);
		if (node->link == NULL)
			return -1;
	}
	return 0;
}

static int
node_open(const struct chain_node *node)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;

	return node->parent != NULL ? openat(node->parent->fd, node->name, flags)
	                            : open("/", flags);
}

int
chain_renew(struct chain_node *node)
{
	int fd = node_open(node);

	if (fd < 0)
		return -1;
	fd_drop(&node->fd);
	node->fd = fd;
	node->renewed = true;
	return node_look(node);
}

static int
append_node(struct chain *c, struct chain_node *node)
{
	struct chain_node **nodes =
	    reallocarray(c->nodes, c->count + 1, sizeof(struct chain_node *));

	if (nodes == NULL)
		return -1;
	c->nodes = nodes;
	nodes[c->count++] = node;
	return 0;
}

static char *
node_path(const struct chain_node *parent, const char *name)
{
	char *path;

	if (parent == NULL)
		return strdup("/");
	if (asprintf(&path, "%s/%s", parent->parent != NULL ? parent->path : "", name) < 0)
		return NULL;
	return path;
}

static struct chain_node *
find_node(const struct chain *c, const struct chain_node *parent, const char *name)
{
	/* The newest first: a directory full of files is entered one after the other. */
	for (size_t i = c->count; i-- > 0;)
		if (c->nodes[i]->parent == parent &&
		    (parent == NULL || strcmp(c->nodes[i]->name, name) == 0))
			return c->nodes[i];
	return NULL;
}

struct chain_node *
chain_enter(struct chain *c, struct chain_node *parent, const char *name)
{
	struct chain_node *node = find_node(c, parent, name);
	int saved;

	if (node != NULL)
		return node;
	node = calloc(1, sizeof *node);
	if (node == NULL)
		return NULL;
	node->parent = parent;
	node->fd = -1;
	node->watch = -1;
	node->path = node_path(parent, name);
	if (node->path == NULL)
		goto err;
	node->name = strrchr(node->path, '/') + 1;
	node->fd = node_open(node);
	if (node->fd < 0 || node_look(node) != 0 || append_node(c, node) != 0)
		goto err;
	return node;
err:
	saved = errno;
	node_free(node);
	errno = saved;
	return NULL;
}

/* Cut the first component off *rest. Returns it, or NULL if there is none. */
static char *
next_component(char **rest)
{
	char *name = *rest + strspn(*rest, "/");
	size_t length = strcspn(name, "/");

	if (length == 0)
		return NULL;
	*rest = name + length;
	if (**rest == '/')
		*(*rest)++ = '\0';
	return name;
}

/* link, then what was left of the path behind it. */
static int
expand(char **text, char **rest, const char *link)
{
	char *joined;

	if (asprintf(&joined, "%s/%s", link, *rest) < 0)
		return -1;
	free(*text);
	*text = *rest = joined;
	return 0;
}

static int
step_error(const struct chain_node *at, const char *name, const char *path, const char *source,
    struct error *e)
{
	int errnum = errno;
	const char *cure = "name a file that exists, or unset the variable";

	if (errnum == EACCES)
		cure = "its directories must be searchable";
	else if (errnum == EMFILE || errnum == ENFILE)
		cure = "raise the limit of open files, ulimit -n";
	else if (errnum == ENOMEM)
		cure = NULL;
	if (name == NULL)
		return error_set(e, errnum, cure, "%s: cannot follow %s", source, path);
	return error_set(e, errnum, cure, "%s: cannot follow %s: no way to '%s' in %s", source,
	    path, name, at->path);
}

/* The walk itself: text is the whole path, absolute; it is freed. */
static struct chain_node *
walk(struct chain *c, char *text, const char *path, const char *source, struct error *e)
{
	AUTO_FREE char *owned = text;
	struct chain_node *root = chain_enter(c, NULL, "/"), *at = root;
	char *rest = owned, *name = NULL;
	int links = 0;

	while (at != NULL && (name = next_component(&rest)) != NULL) {
		struct chain_node *parent = at;

		if (S_ISREG(parent->st.st_mode)) {
			errno = ENOTDIR;
			(void)step_error(parent, name, path, source, e);
			return NULL;
		}
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			at = parent->parent != NULL ? parent->parent : parent;
			continue;
		}
		at = chain_enter(c, parent, name);
		if (at == NULL) {
			(void)step_error(parent, name, path, source, e);
			return NULL;
		}
		if (at->link == NULL || rest[strspn(rest, "/")] == '\0')
			continue;
		errno = ELOOP;
		if (++links > LINKS_MAX || expand(&owned, &rest, at->link) != 0) {
			(void)step_error(parent, at->name, path, source, e);
			return NULL;
		}
		at = *rest == '/' ? root : parent;
	}
	if (at == NULL)
		(void)step_error(NULL, NULL, path, source, e);
	return at;
}

struct chain_node *
chain_walk(struct chain *c, const char *path, const char *source, struct error *e)
{
	AUTO_FREE char *cwd = NULL;
	char *text;

	if (path[0] != '/') {
		cwd = getcwd(NULL, 0);
		/* getcwd(3): "(unreachable)" in front if the directory lies outside our root */
		if (cwd == NULL || cwd[0] != '/') {
			(void)error_set(e, cwd == NULL ? errno : ENOENT,
			    "name it by an absolute path",
			    "%s: %s is relative and the working directory has no path", source,
			    path);
			return NULL;
		}
	}
	if (asprintf(&text, "%s/%s", cwd != NULL ? cwd : "", path) < 0) {
		(void)step_error(NULL, NULL, path, source, e);
		return NULL;
	}
	return walk(c, text, path, source, e);
}
