/*
 * Everything back as the snapshot has it; see snapshot_restore() in snapshot.h.
 *
 * First the names of directories and symbolic links, from "/" down, so that whatever is looked at
 * next has a parent that is known to be in its place; then the files, each one's name before its
 * bytes. A step that fails is recorded and the next one is tried all the same: what can be right
 * shall be.
 */
#include "guard/snapshot.h"

#include "bindmount/cleanup.h"
#include "guard/heal.h"
#include "guard/held.h"
#include "guard/hold.h"
#include "guard/keep.h"
#include "guard/mandate.h"
#include "guard/names.h"
#include "guard/remake.h"
#include "guard/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

struct restore {
	struct snapshot *s;
	struct findings *f;
	struct error *e;
	struct names names;
	bool failed;
};

/* What was in the place of a component, and how it was put right. */
struct misplaced {
	bool foreign;
	struct stat there;
	char *left; /* where that is now, if it was swapped */
	bool remade;
	bool same_inode;
	int errnum;         /* 0: put right */
	struct found found; /* if it was a file in a file's place, and that is to be known */
};

static void
report(struct restore *r, enum finding_kind kind, int errnum, const char *path, const char *detail)
{
	if (findings_add(r->f, kind, errnum == 0, path, detail) != 0) {
		r->failed = true;
		(void)error_set(r->e, ENOMEM, NULL, "cannot report that %s was changed", path);
	}
	if (errnum == 0)
		return;
	r->failed = true;
	(void)error_set(r->e, errnum,
	    errnum == ENOSPC || errnum == EDQUOT ? "free some space on its file system" : NULL,
	    "cannot put back %s (%s)", path, finding_name(kind));
}

/* True if node's name leads to node's inode; else *m says what it leads to. */
static bool
in_place(const struct chain_node *node, struct misplaced *m)
{
	*m = (struct misplaced){.same_inode = true};
	if (node->parent == NULL)
		return true;
	m->foreign = names_look(node->parent->fd, node->name, &m->there) == 0;
	/* The number of an inode that was let go may be another's by now. */
	return m->foreign && node->fd >= 0 && chain_same(&m->there, &node->st);
}

static const char *
kind_name(const struct stat *st)
{
	const char *kind = chain_kind(st);

	return kind != NULL ? kind : "another file";
}

static void
report_name(struct restore *r, enum finding_kind kind, const struct chain_node *node,
    const struct misplaced *m, size_t quarantined)
{
	AUTO_FREE char *detail = NULL;

	if (asprintf(&detail, "%s in its place%s%s%s",
		m->foreign ? kind_name(&m->there) : "nothing", m->left != NULL ? ", now at " : "",
		m->left != NULL ? m->left : "", m->remade ? "; made anew" : "") < 0)
		detail = NULL;
	report(r, kind, m->errnum, node->path, detail);
	if (r->f->count > 0)
		names_blame(&r->names, quarantined, r->f->count - 1);
}

/* What a mandate's act works on. */
struct act {
	struct restore *r;
	struct chain_node *node;
	struct held_file *file;
	struct misplaced *m;
};

static int
act_put_back(void *arg)
{
	const struct act *a = arg;

	return names_put_back(&a->r->names, a->node, a->m->foreign, &a->m->left);
}

static int
put_back(struct restore *r, struct chain_node *node, struct misplaced *m)
{
	struct act a = {.r = r, .node = node, .m = m};

	return mandate_move(r->s, node, act_put_back, &a);
}

/*
 * Is there something in the way of what is to be made in node's place? Then into quarantine with
 * it.
 */
static int
act_make_room(void *arg)
{
	const struct act *a = arg;
	struct stat st;

	if (names_look(a->node->parent->fd, a->node->name, &st) != 0)
		return 0;
	return names_clear(&a->r->names, a->node);
}

static int
make_room(struct restore *r, struct chain_node *node)
{
	struct act a = {.r = r, .node = node};

	return mandate_move(r->s, node, act_make_room, &a);
}

static int
act_remake_ancestor(void *arg)
{
	const struct act *a = arg;

	return remake_ancestor(a->node, !a->r->s->leg.other || a->node->st.st_uid != 0);
}

static int
act_remake_link(void *arg)
{
	const struct act *a = arg;

	return remake_link(a->file);
}

/*
 * A mount that the leg made fall off (it removed the mount point where it was none) is not made
 * anew: the directory that it showed is untouched, and who reads it elsewhere reads the right
 * thing.
 */
static bool
was_mount_point(const struct chain_node *node)
{
	return node->parent->mount != 0 && node->mount != node->parent->mount;
}

/* True if what is held at fd has no name left. The first of that kind makes room for all of them. */
static bool
is_gone(struct restore *r, int fd)
{
	if (!remake_needed(fd))
		return false;
	if (r->s->taker ==
	    getpid()) /* a child needs the old inodes: it has no copy of their bytes */
		remake_let_go(r->s);
	return true;
}

static void
right_ancestor(struct restore *r, struct chain_node *node, struct misplaced *m)
{
	struct act a = {.r = r, .node = node};

	if (!is_gone(r, node->fd)) {
		if (put_back(r, node, m) == 0)
			return;
		m->errnum = errno;
		if (was_mount_point(node))
			return;
	}
	m->remade = true;
	m->errnum =
	    make_room(r, node) == 0 && mandate_make(r->s, node, act_remake_ancestor, &a) == 0
		? 0
		: errno;
}

/*
 * Owner and mode of a directory. Those that were recorded are given back to the inode they belong to; one that
 * was made anew was looked up by name, so that is for its owner alone to do.
 */
static int
set_owner_and_mode(const struct chain_node *node, const struct stat *now)
{
	int errnum = 0;

	if ((now->st_uid != node->st.st_uid || now->st_gid != node->st.st_gid) &&
	    fchownat(node->fd, "", node->st.st_uid, node->st.st_gid, AT_EMPTY_PATH) != 0)
		errnum = errno;
	if (names_chmod(node->fd, node->st.st_mode & 07777) != 0)
		errnum = errno;
	return errnum;
}

/*
 * Only what the leg, with our rights or its own, may have changed: of others' directories it is their
 * business.
 */
static void
restore_mode(struct restore *r, const struct chain_node *node)
{
	const struct rights own = {.other = false};
	const struct rights *rights = node->renewed ? &r->s->leg : &own;
	uid_t leg = r->s->leg.other ? r->s->leg.uid : geteuid();
	char detail[HEAL_DETAIL];
	struct stat now;
	int errnum = EPERM;

	if (fstat(node->fd, &now) != 0 || (leg != 0 && now.st_uid != leg))
		return;
	heal_describe(detail, &node->st, &now);
	if (detail[0] == '\0')
		return;
	if (rights_take(rights) == 0) {
		errnum = set_owner_and_mode(node, &now);
		rights_give_back(rights);
	}
	report(r, FINDING_METADATA, errnum, node->path, detail);
}

static void
restore_ancestor(struct restore *r, struct chain_node *node, bool own)
{
	size_t quarantined = r->names.count;
	struct misplaced m;

	node->moved = node->parent != NULL && node->parent->moved;
	if (!in_place(node, &m)) {
		right_ancestor(r, node, &m);
		report_name(r, FINDING_PATH_MOVED, node, &m, quarantined);
		free(m.left);
		node->moved = true;
	}
	/* Above what is only kept, modes are the leg's to change, as in its workspace. */
	if (own && S_ISDIR(node->st.st_mode))
		restore_mode(r, node);
}

/* What somebody has put in a file's place, before it is moved away. It is read with the leg's rights. */
static void
look_at_foreign(struct restore *r, const struct held_file *file, struct misplaced *m)
{
	AUTO_FD int fd = -1;

	if (!r->s->keeps_found || !m->foreign || !S_ISREG(m->there.st_mode) ||
	    rights_take(&r->s->leg) != 0)
		return;
	fd = openat(file->node->parent->fd, file->node->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		found_read(&m->found, fd);
	rights_give_back(&r->s->leg);
}

static void
right_file(struct restore *r, struct held_file *file, struct misplaced *m)
{
	struct act a = {.r = r, .file = file};

	if (!is_gone(r, file->node->fd)) {
		if (put_back(r, file->node, m) == 0)
			return;
		if (make_room(r, file->node) == 0 &&
		    mandate_make(r->s, file->node, act_remake_link, &a) == 0)
			return;
		m->same_inode = false;
	}
	m->remade = true;
	m->errnum = make_room(r, file->node) == 0 && remake_file(r->s, file) == 0 ? 0 : errno;
	/* The bytes are right, but the inode that others may hold on to lives on somewhere. */
	if (m->errnum == 0 && !m->same_inode)
		m->errnum = ENOENT;
}

static void
restore_name(struct restore *r, struct held_file *file)
{
	size_t quarantined = r->names.count;
	struct misplaced m;

	if (in_place(file->node, &m))
		return;
	/* Made anew by another of its names already: on another mount that is the same name. */
	if (file->content->remade && m.foreign && chain_same(&m.there, &file->content->st)) {
		(void)chain_renew(file->node);
		return;
	}
	look_at_foreign(r, file, &m);
	right_file(r, file, &m);
	report_name(r, m.foreign ? FINDING_REPLACED : FINDING_REMOVED, file->node, &m, quarantined);
	findings_attach(r->f, &m.found);
	free(m.left);
}

static void
check_links(struct restore *r, const struct held_file *file)
{
	const struct content *c = file->content;
	char detail[HEAL_DETAIL];
	struct stat now;

	if (c->remade || fstat(c->fd, &now) != 0 || now.st_nlink <= c->st.st_nlink)
		return;
	snprintf(detail, sizeof detail, "%lu links became %lu; where the new ones are is not known",
	    (unsigned long)c->st.st_nlink, (unsigned long)now.st_nlink);
	/* The name that is too many can't be found, so it stays a way in: that is not put back. */
	report(r, FINDING_LINKED, EMLINK, file->node->path, detail);
}

/* A lease that nobody broke is proof; without one, a ctime that nobody can set back is. */
static enum heal
compare_uncopied(const struct content *c, enum finding_kind *kind, char detail[HEAL_DETAIL])
{
	struct stat now;

	*kind = FINDING_REWRITTEN;
	snprintf(detail, HEAL_DETAIL, "it is too large for a copy");
	if (c->intact || c->remade)
		return HEAL_SAME;
	if (fstat(c->fd, &now) == 0 && now.st_ctim.tv_sec == c->st.st_ctim.tv_sec &&
	    now.st_ctim.tv_nsec == c->st.st_ctim.tv_nsec)
		return HEAL_SAME;
	errno = EFBIG;
	return HEAL_FAILED;
}

static void
restore_metadata(struct restore *r, const struct held_file *file)
{
	char detail[HEAL_DETAIL];
	enum heal healed = heal_metadata(file->content, detail);

	if (healed != HEAL_SAME)
		report(r, FINDING_METADATA, healed == HEAL_FAILED ? errno : 0, file->node->path,
		    detail);
}

/*
 * What no other step does to its files, and no Landlock rule denies: with another mode the next one to write
 * it could not.
 */
static void
restore_neighbour(struct restore *r, const struct held_file *file)
{
	struct misplaced m;

	if (file->content->writable && in_place(file->node, &m))
		restore_metadata(r, file);
}

static void
restore_content(struct restore *r, const struct held_file *file)
{
	struct content *c = file->content;
	enum finding_kind kind;
	char detail[HEAL_DETAIL];
	struct found found = {.known = false};
	enum heal healed;

	/* What we may not write the leg could not have written either. */
	if (!c->writable)
		return;
	if (file->log) {
		restore_metadata(r, file);
		return;
	}
	healed = c->copied ? heal_bytes(c, &kind, detail, r->s->keeps_found ? &found : NULL)
	                   : compare_uncopied(c, &kind, detail);
	if (healed != HEAL_SAME) {
		report(r, kind, healed == HEAL_FAILED ? errno : 0, file->node->path, detail);
		findings_attach(r->f, &found);
	}
	found_free(&found);
	restore_metadata(r, file);
}

/* Other steps may do with theirs what they like, unless the way to them was tampered with. */
static bool
concerns_us(const struct held_file *file)
{
	if (file->kept && file->shared && file->content->given_up)
		return false;
	return !file->neighbour || file->own_step || file->node->parent->moved;
}

static void
report_opened(struct restore *r, const struct held_file *file)
{
	if (!file->content->broken)
		return;
	report(r, FINDING_OPENED, 0, file->node->path,
	    "for writing; the leg was ended before that succeeded");
	file->content->broken = false;
}

static void
restore_file(struct restore *r, struct held_file *file)
{
	restore_name(r, file);
	check_links(r, file);
	restore_content(r, file);
}

static void
restore_ancestors(struct restore *r)
{
	for (size_t i = 0; i < r->s->chain.count; i++) {
		struct chain_node *node = r->s->chain.nodes[i];

		if (S_ISDIR(node->st.st_mode) || S_ISLNK(node->st.st_mode))
			restore_ancestor(r, node, i < r->s->own_nodes);
	}
}

/* What is thrown away is what the leg could have removed itself. */
static void
finish_names(struct restore *r)
{
	const struct rights none = {.other = false};
	const struct rights *rights = r->names.count > 0 ? &r->s->leg : &none;

	if (rights_take(rights) != 0)
		return; /* then all of it stays in quarantine */
	names_finish(&r->names, r->f);
	rights_give_back(rights);
}

int
snapshot_restore(struct snapshot *s, struct findings *f, struct error *e)
{
	struct restore r = {.s = s, .f = f, .e = e, .names = {.since = s->taken}};

	hold_end(s);
	reserve_free_ballast(s);
	/* Putting names back changes the times that this goes by. */
	if (keep_compare(s, f)) {
		r.failed = true;
		(void)error_set(
		    e, 0, "the findings say what", "what the leg may only read was changed");
	}
	restore_ancestors(&r);
	for (size_t i = 0; i < s->file_count; i++) {
		report_opened(&r, &s->files[i]);
		if (concerns_us(&s->files[i]))
			restore_file(&r, &s->files[i]);
		else
			restore_neighbour(&r, &s->files[i]);
	}
	finish_names(&r);
	return r.failed ? -1 : 0;
}

void
snapshot_keep_found(struct snapshot *s)
{
	s->keeps_found = true;
}

int
snapshot_restore_names(struct snapshot *s, struct findings *f, struct error *e)
{
	struct restore r = {.s = s, .f = f, .e = e, .names = {.since = s->taken}};

	hold_end(s);
	reserve_free_ballast(s);
	restore_ancestors(&r);
	for (size_t i = 0; i < s->file_count; i++)
		if (concerns_us(&s->files[i]))
			restore_name(&r, &s->files[i]);
	finish_names(&r);
	return r.failed ? -1 : 0;
}
