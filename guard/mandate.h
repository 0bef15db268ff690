/*
 * On whose behalf the launcher acts on a name that others may change at the same time.
 *
 * With a leg that has another uid the launcher is root; see guard/rights.h for why it must not act as that. A
 * name is moved with the rights of the leg, who may have moved it; failing that with those of whom
 * the path belongs to, who may do with it what he likes: the first owner from "/" down who is not root. What
 * is made anew is made by its owner first, so that it need not be given away afterwards.
 */
#ifndef GUARD_MANDATE_H
#define GUARD_MANDATE_H

#include "guard/held.h"

/*
 * Do act(arg), which moves what node's name leads to, with these rights one after the other until it returns
 * 0. -1 with errno of the last one.
 */
int mandate_move(
    const struct snapshot *s, const struct chain_node *node, int (*act)(void *arg), void *arg);

/*
 * The same for an act that makes something in node's place. The last resort for what belongs to root is root
 * itself, so the act must not change owner or mode of what it finds by name.
 */
int mandate_make(
    const struct snapshot *s, const struct chain_node *node, int (*act)(void *arg), void *arg);

#endif
