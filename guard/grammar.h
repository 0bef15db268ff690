/*
 * The runner's grammar of env, output and state files, as far as it decides whether something can be
 * appended safely. (read in actions/runner 2.336)
 */
#ifndef GUARD_GRAMMAR_H
#define GUARD_GRAMMAR_H

#include "bindmount/error.h"

#include <stddef.h>

/*
 * Check that the runner would read data without an error: no open heredoc, no invalid line, no
 * byte-order mark of UTF-16 or UTF-32. A missing last newline is no error where the runner accepts
 * it. path is for the message. Linear in size.
 */
int grammar_check(const char *path, const void *data, size_t size, struct error *e);

#endif
