/* Opening a file to write to. See sink.h. */
#include "guard/sink.h"

#include "bindmount/cleanup.h"
#include "guard/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: what became a FIFO without a reader is an error, not a wait. */
enum { FLAGS = O_NONBLOCK | O_NOCTTY | O_CLOEXEC };
enum { LINKS_MAX = 40 }; /* as in the kernel, path_resolution(7) */

static const char cure[] = "name a file that can be written";
static const char no_link[] = "name the file that the link leads to";
static const char changing[] = "name a file in a directory that nobody else may write";

struct place {
	struct chain chain;
	struct chain_node *parent;
	struct chain_node *node; /* NULL: nothing is there */
	char *name;
};

static void
place_free(struct place *p)
{
	chain_free(&p->chain);
	free(p->name);
	*p = (struct place){.name = NULL};
}

/* One name, in a directory whose path may have links in it. *e, if nothing else. */
static int
step(struct place *p, const char *path, const char *option, struct error *e)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	AUTO_FREE char *dir = NULL;

	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(e, EISDIR, cure, "%s: can't open %s", option, path);
	/* With "." behind it a link is followed. */
	if (asprintf(&dir, "%.*s.", (int)(name - path), path) < 0) {
		dir = NULL;
		return error_set(e, ENOMEM, NULL, "%s: can't open %s", option, path);
	}
	free(p->name);
	p->name = strdup(name);
	p->parent = chain_walk(&p->chain, dir, option, e);
	if (p->parent == NULL)
		return -1;
	p->node = p->name != NULL ? chain_enter(&p->chain, p->parent, p->name) : NULL;
	if (p->node == NULL && (p->name == NULL || errno != ENOENT))
		return error_set(e, errno, cure, "%s: can't open %s", option, path);
	return 0;
}

/* All links that the last component leads through as well, unless there may be none. */
static int
walk(struct place *p, const char *path, int flags, const char *option, struct error *e)
{
	AUTO_FREE char *at = strdup(path);
	int max = (flags & O_NOFOLLOW) != 0 ? 0 : LINKS_MAX;

	*p = (struct place){.name = NULL};
	for (int links = 0; at != NULL && step(p, at, option, e) == 0; links++) {
		const char *link = p->node != NULL ? p->node->link : NULL;
		char *next = NULL;

		if (link == NULL)
			return 0;
		if (links == max)
			return error_set(
			    e, ELOOP, max == 0 ? no_link : cure, "%s: can't open %s", option, path);
		if (asprintf(&next, "%s/%s", link[0] == '/' ? "" : p->parent->path, link) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	return at != NULL ? -1 : error_set(e, ENOMEM, NULL, "%s: can't open %s", option, path);
}

static struct rights
owner_of(const struct place *p)
{
	for (size_t i = 0; i < p->chain.count; i++) {
		const struct stat *st = &p->chain.nodes[i]->st;

		if (st->st_uid != 0)
			return (struct rights){true, st->st_uid, st->st_gid};
	}
	return (struct rights){.other = false};
}

static bool
is_led_by_others(const struct place *p, const struct rights *r)
{
	for (size_t i = 0; i < p->chain.count; i++) {
		const struct chain_node *node = p->chain.nodes[i];

		if (node->link != NULL && node->st.st_uid != 0 &&
		    (!r->other || node->st.st_uid != r->uid))
			return true;
	}
	return false;
}

/* What was found is opened and nothing else, and what was not is made. */
static int
open_there(struct sink *s, const struct place *p, int flags, mode_t mode)
{
	struct stat st;

	flags |= FLAGS | O_NOFOLLOW | (p->node == NULL ? O_CREAT | O_EXCL : 0);
	s->fd = openat(p->parent->fd, p->name, flags, mode);
	if (s->fd < 0)
		return -1;
	if (p->node != NULL && (fstat(s->fd, &st) != 0 || !chain_same(&st, &p->node->st))) {
		errno = ESTALE;
		return -1;
	}
	s->made = p->node == NULL;
	s->parent = fcntl(p->parent->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	s->name = strdup(p->name);
	return s->parent >= 0 && s->name != NULL ? 0 : -1;
}

/* With s->rights taken, if they are others. */
static int
open_held(
    struct sink *s, const char *path, int flags, mode_t mode, const char *option, struct error *e)
{
	struct place p;
	int result = walk(&p, path, flags, option, e);

	if (result == 0 && is_led_by_others(&p, &s->rights))
		result = error_set(
		    e, 0, changing, "%s: %s leads through another user's link", option, path);
	if (result == 0 && !s->rights.other && owner_of(&p).other)
		result = error_set(e, 0, changing, "%s: %s is being replaced", option, path);
	if (result == 0 && open_there(s, &p, flags, mode) != 0)
		result = error_set(e, errno, cure, "%s: can't open %s", option, path);
	place_free(&p);
	return result;
}

/* The first walk tells whose it is, the second, with his rights, what he could reach. */
static int
open_as_root(
    struct sink *s, const char *path, int flags, mode_t mode, const char *option, struct error *e)
{
	struct place p;
	int result = walk(&p, path, flags, option, e);

	s->rights = owner_of(&p);
	place_free(&p);
	if (result != 0)
		return -1;
	if (s->rights.other && rights_prepare(e) != 0)
		return -1;
	if (rights_take(&s->rights) != 0)
		return error_set(e, errno, NULL, "%s: can't open %s", option, path);
	result = open_held(s, path, flags, mode, option, e);
	rights_give_back(&s->rights);
	return result;
}

int
sink_open(
    struct sink *s, const char *path, int flags, mode_t mode, const char *option, struct error *e)
{
	struct stat st;

	*s = (struct sink){.fd = -1, .parent = -1};
	if (geteuid() == 0)
		return open_as_root(s, path, flags, mode, option, e);
	s->made = stat(path, &st) != 0;
	s->fd = open(path, flags | FLAGS | O_CREAT, mode);
	if (s->fd < 0)
		return error_set(
		    e, errno, errno == ELOOP ? no_link : cure, "%s: can't open %s", option, path);
	return 0;
}

void
sink_remove(const struct sink *s, const char *path)
{
	if (!s->made || rights_take(&s->rights) != 0)
		return;
	if (s->parent >= 0)
		(void)unlinkat(s->parent, s->name, 0);
	else
		(void)unlink(path);
	rights_give_back(&s->rights);
}

void
sink_close(struct sink *s)
{
	fd_drop(&s->fd);
	fd_drop(&s->parent);
	free(s->name);
	s->name = NULL;
}
