/* Which file a command is, and what is in it. */
#ifndef GUARD_EXECUTABLE_H
#define GUARD_EXECUTABLE_H

#include "guard/digest.h"

/*
 * Look command up as execvp(3) does with envp as the environment and dir, absolute, as the working directory. Returns
 * the path (malloc'd), or NULL if there is none. sha256 is of the file's bytes through a descriptor; empty if it can't be
 * read, or is no program but something that another one reads.
 */
char *executable_find(
    const char *command, char *const *envp, const char *dir, char sha256[DIGEST_TEXT]);

#endif
