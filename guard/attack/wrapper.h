/* The words and the environment that a wrapper is started with. */
#ifndef GUARD_ATTACK_WRAPPER_H
#define GUARD_ATTACK_WRAPPER_H

#include "guard/attack/stage.h"

/* The command of the attack, with room for what is made for it. */
struct leg_words {
	const char *words[9];
	char bystander[16], stage[16], memory[64];
};

/*
 * The runner's words: its own two, then the wrapper's with {} and the like replaced; copy: legguard is
 * started as tool/guard. NULL with errno. Given back with wrapper_free().
 */
char **wrapper_words(
    const struct stage_plan *p, const struct step *s, const struct leg_words *leg, bool copy);

/*
 * env without anything of a real step or session, and with what the runner sets, for the decoys. As above.
 */
char **wrapper_environment(char *const *env, const struct step *s);

void wrapper_free(char **words);

#endif
