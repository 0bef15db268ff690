/* Whose rights are used. See mandate.h. */
#include "guard/mandate.h"

#include <errno.h>
#include <unistd.h>

enum { MANDATES_MAX = 4 };

struct mandates {
	struct rights list[MANDATES_MAX];
	size_t count;
};

/* Root is nobody's mandate. */
static void
add(struct mandates *m, uid_t uid, gid_t gid)
{
	if (uid == 0)
		return;
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].uid == uid && m->list[i].gid == gid)
			return;
	m->list[m->count++] = (struct rights){.other = true, .uid = uid, .gid = gid};
}

static void
add_owner(struct mandates *m, const struct chain_node *node)
{
	add(m, node->st.st_uid, node->st.st_gid);
}

static void
add_path_owner(struct mandates *m, const struct chain_node *node)
{
	const struct chain_node *first = NULL;

	for (; node != NULL; node = node->parent)
		if (node->st.st_uid != 0)
			first = node;
	if (first != NULL)
		add_owner(m, first);
}

static int
act_as(const struct rights *r, int (*act)(void *arg), void *arg)
{
	int result, saved;

	if (rights_take(r) != 0)
		return -1;
	result = act(arg);
	saved = errno;
	rights_give_back(r);
	errno = saved;
	return result;
}

static int
act_for(const struct mandates *m, int (*act)(void *arg), void *arg)
{
	errno = EPERM;
	for (size_t i = 0; i < m->count; i++)
		if (act_as(&m->list[i], act, arg) == 0)
			return 0;
	return -1;
}

int
mandate_move(
    const struct snapshot *s, const struct chain_node *node, int (*act)(void *arg), void *arg)
{
	struct mandates m = {.count = 0};

	if (!s->leg.other)
		return act(arg);
	add(&m, s->leg.uid, s->leg.gid);
	add_path_owner(&m, node);
	add_owner(&m, node); /* whose it is in a directory of root's with the sticky bit */
	return act_for(&m, act, arg);
}

int
mandate_make(
    const struct snapshot *s, const struct chain_node *node, int (*act)(void *arg), void *arg)
{
	struct mandates m = {.count = 0};

	if (!s->leg.other)
		return act(arg);
	add_owner(&m, node);
	if (node->st.st_uid == 0)
		return act(arg);
	add_path_owner(&m, node);
	add(&m, s->leg.uid, s->leg.gid);
	return act_for(&m, act, arg);
}
