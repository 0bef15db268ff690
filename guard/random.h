/*
 * Random bytes that nobody can guess, from the kernel. Not arc4random(3): libbsd's ends the process if it gets no
 * memory or no entropy, which must not happen while there is something to restore.
 */
#ifndef GUARD_RANDOM_H
#define GUARD_RANDOM_H

#include <stddef.h>

/* Fill buf, of at most 256 bytes. -1: errno. */
int random_fill(void *buf, size_t size);

#endif
