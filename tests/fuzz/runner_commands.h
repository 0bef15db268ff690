/*
 * Whether the runner finds a workflow command in a stream: its reading told a second time, for tests to compare with.
 *
 * As actions/runner 2.336 on .NET does it: the stream is decoded, split into lines, and each line parsed in two ways, with
 * searches that depend on the culture and come from ICU. Names are looked for first, since most lines have none; that
 * changes nothing, as a name has to stand, by ordinal comparison, where a search has found a sign.
 */
#ifndef TESTS_FUZZ_RUNNER_COMMANDS_H
#define TESTS_FUZZ_RUNNER_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * en, invariant, ja_JP, th_TH, in which punctuation counts for nothing so that no sign is ever found, and th_TH if it did.
 */
enum { RUNNER_CULTURES = 5 };

/* Open the collators. False if this ICU lacks them. */
bool runner_commands_open(void);
void runner_commands_close(void);

/* True if a command is found in the culture of that index. */
bool runner_finds_command(const char *stream, size_t size, size_t culture);

const char *runner_culture(size_t culture);

#endif
