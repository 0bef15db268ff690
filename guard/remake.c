/* Making anew what has lost its last name; see remake.h. */
#include "guard/remake.h"

#include "bindmount/cleanup.h"
#include "guard/heal.h"
#include "guard/mandate.h"
#include "guard/names.h"
#include "guard/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

bool
remake_needed(int fd)
{
	struct stat st;

	return fd < 0 || (fstat(fd, &st) == 0 && st.st_nlink == 0);
}

int
remake_ancestor(struct chain_node *node, bool alone)
{
	AUTO_OPENED struct names_opened parent;
	const struct stat was = node->st;
	struct stat made;
	int dir = node->parent->fd;

	names_open_up(&parent, dir);
	if (node->link != NULL) {
		if (symlinkat(node->link, dir, node->name) != 0)
			return -1;
	} else if (mkdirat(dir, node->name, was.st_mode & 07777) != 0) {
		return -1;
	}
	if (chain_renew(node) != 0)
		return -1;
	made = node->st;
	node->st.st_uid = was.st_uid;
	node->st.st_gid = was.st_gid;
	node->st.st_mode = was.st_mode;
	errno = ESTALE;
	if (((made.st_mode ^ was.st_mode) & S_IFMT) != 0)
		return -1;
	if (!alone)
		return made.st_uid == was.st_uid ? 0 : -1;
	/* An owner that can't be given back is found by the comparison that comes next. */
	if (made.st_uid != was.st_uid || made.st_gid != was.st_gid)
		(void)fchownat(node->fd, "", was.st_uid, was.st_gid, AT_EMPTY_PATH);
	return node->link != NULL ? 0 : names_chmod(node->fd, was.st_mode & 07777);
}

/* linkat(2) by descriptor; with AT_EMPTY_PATH it would take CAP_DAC_READ_SEARCH. */
static int
link_held(int fd, const struct chain_node *node)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, node->parent->fd, node->name, AT_SYMLINK_FOLLOW);
}

int
remake_link(struct held_file *file)
{
	AUTO_OPENED struct names_opened parent;

	names_open_up(&parent, file->node->parent->fd);
	if (link_held(file->node->fd, file->node) != 0)
		return -1;
	return chain_renew(file->node);
}

/* What a mandate's act works on. */
struct naming {
	const struct held_file *file;
	int fd; /* to be linked; made by act_create */
};

static int
act_create(void *arg)
{
	AUTO_OPENED struct names_opened parent;
	struct naming *n = arg;
	int dir = n->file->node->parent->fd;

	names_open_up(&parent, dir);
	n->fd = openat(dir, n->file->node->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    S_IRUSR | S_IWUSR);
	return n->fd >= 0 ? 0 : -1;
}

static int
act_link(void *arg)
{
	AUTO_OPENED struct names_opened parent;
	const struct naming *n = arg;

	names_open_up(&parent, n->file->node->parent->fd);
	return link_held(n->fd, n->file->node);
}

static int
unnamed_file(int dir)
{
	AUTO_OPENED struct names_opened parent;

	names_open_up(&parent, dir);
	return openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

/* An empty file that has no name yet, or (*named) has got its name already. */
static int
new_file(struct snapshot *s, const struct held_file *file, bool *named)
{
	struct naming naming = {.file = file, .fd = -1};
	int fd = reserve_take_spare(s, file->node->parent);

	*named = false;
	if (fd < 0)
		fd = unnamed_file(file->node->parent->fd);
	if (fd >= 0)
		return fd;
	*named = true;
	return mandate_make(s, file->node, act_create, &naming) == 0 ? naming.fd : -1;
}

/*
 * For who does not have the bytes, a child of who took the snapshot: from the inode as it is held.
 */
static int
copy_bytes(int from, int to, size_t size)
{
	char buffer[16384];

	for (size_t offset = 0; offset < size;) {
		ssize_t n = content_read(from, buffer, sizeof buffer, (off_t)offset);

		if (n <= 0)
			return n < 0 ? -1 : 0;
		if (content_write(to, buffer, (size_t)n, (off_t)offset) != 0)
			return -1;
		offset += (size_t)n;
	}
	return 0;
}

static int
fill(const struct snapshot *s, const struct content *c, bool log, int fd)
{
	bool has_bytes = c->copied && s->taker == getpid();
	size_t size = c->copied ? c->size : (size_t)c->st.st_size;
	struct stat now;
	struct content copy = *c;
	char detail[HEAL_DETAIL];

	copy.fd = fd;
	/* What was appended since belongs to it. */
	if (log && fstat(c->fd, &now) == 0)
		size = (size_t)now.st_size;
	if ((has_bytes ? content_write(fd, c->bytes, size, 0) : copy_bytes(c->fd, fd, size)) != 0 ||
	    ftruncate(fd, (off_t)size) != 0)
		return -1;
	if (heal_metadata(&copy, detail) == HEAL_FAILED)
		return -1;
	heal_time(c, fd);
	return 0;
}

/* From now on c is the file at fd. */
static void
adopt(struct content *c, int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0) {
		c->st.st_dev = st.st_dev;
		c->st.st_ino = st.st_ino;
	}
	fd_drop(&c->fd);
	c->fd = fd;
	c->writable = c->writing = true;
	c->remade = true;
	c->reserved = false;
}

void
remake_let_go(struct snapshot *s)
{
	for (size_t i = 0; i < s->file_count; i++)
		/* What there is no copy of is made anew from the old inode. */
		if (s->files[i].content->copied && remake_needed(s->files[i].content->fd))
			fd_drop(&s->files[i].content->fd);
	/* A directory is held by what was in it as well, so that goes first. */
	for (size_t i = s->chain.count; i-- > 0;)
		if (remake_needed(s->chain.nodes[i]->fd))
			fd_drop(&s->chain.nodes[i]->fd);
}

int
remake_file(struct snapshot *s, struct held_file *file)
{
	struct content *c = file->content;
	struct naming naming = {.file = file};
	AUTO_FD int fd = -1;
	bool named = false;

	if (!c->remade || remake_needed(c->fd)) {
		fd = new_file(s, file, &named);
		if (fd < 0 || fill(s, c, file->log, fd) != 0)
			return -1;
		adopt(c, fd_take(&fd));
	}
	naming.fd = c->fd;
	if (!named && mandate_make(s, file->node, act_link, &naming) != 0)
		return -1;
	return chain_renew(file->node);
}
