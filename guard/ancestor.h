/*
 * Whose end is a cancel: under sudo(8) the user who started the step can't signal a launcher that is root. The
 * runner, which is that user, signals the step's own shell, which may end without a word to its children; or it
 * kills sudo, whose real uid is still the user's. So the end of either is watched.
 */
#ifndef GUARD_ANCESTOR_H
#define GUARD_ANCESTOR_H

enum { ANCESTORS_MAX = 2 };

/*
 * For a caller who is root: pidfds of the first ancestors who are not, by their real and by their effective uid,
 * readable when they have ended. Each is -1 if there is none or it can't be found, which is no error.
 */
void ancestor_watch(int fds[ANCESTORS_MAX]);

#endif
