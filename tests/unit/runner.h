/*
 * The runner's reading of env, output and state files, told a second time and as plainly as can be, for
 * tests to compare with. Valid UTF-8 is taken for granted.
 */
#ifndef TESTS_UNIT_RUNNER_H
#define TESTS_UNIT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Name and value as parts of the text. */
struct runner_pair {
	const char *name;
	size_t name_size;
	const char *value;
	size_t value_size;
};

struct runner_line {
	const char *text;
	size_t size;
	bool newline;
};

static inline bool
runner_line(const char *text, size_t size, size_t *index, struct runner_line *line)
{
	size_t end = *index;

	if (*index >= size)
		return false;
	while (end < size && text[end] != '\n')
		end++;
	line->text = text + *index;
	line->size = end - *index;
	line->newline = end < size;
	*index = end + (line->newline ? 1 : 0);
	return true;
}

static inline size_t
runner_index_of(const struct runner_line *line, const char *sign)
{
	size_t n = strlen(sign);

	for (size_t i = 0; i + n <= line->size; i++)
		if (memcmp(line->text + i, sign, n) == 0)
			return i;
	return (size_t)-1;
}

static inline int
runner_heredoc(const char *text, size_t size, size_t *index, const struct runner_line *first,
    struct runner_pair *pair)
{
	const char *delimiter = first->text + pair->name_size + 2;
	size_t delimiter_size = first->size - pair->name_size - 2;
	size_t start = *index, end = *index;
	struct runner_line line;

	if (pair->name_size == 0 || delimiter_size == 0)
		return -1;
	for (;;) {
		if (!runner_line(text, size, index, &line))
			return -1; /* Matching delimiter not found */
		if (line.size == delimiter_size &&
		    memcmp(line.text, delimiter, delimiter_size) == 0)
			break;
		if (!line.newline)
			return -1; /* EOF marker missing new line */
		end = *index - 1;
	}
	pair->value = text + start;
	pair->value_size = end > start ? end - start : 0;
	return 0;
}

/* Read at most max pairs. Returns their number, or -1 where the runner fails the step. */
static inline int
runner_read(const char *text, size_t size, struct runner_pair *pairs, int max)
{
	struct runner_line line;
	size_t index = 0;
	int n = 0;

	while (n < max && runner_line(text, size, &index, &line)) {
		struct runner_pair *pair = &pairs[n];
		size_t equals, heredoc;

		if (line.size == 0)
			continue;
		equals = runner_index_of(&line, "=");
		heredoc = runner_index_of(&line, "<<");
		pair->name = line.text;
		if (equals < heredoc) {
			pair->name_size = equals;
			pair->value = line.text + equals + 1;
			pair->value_size = line.size - equals - 1;
			if (equals == 0)
				return -1;
		} else if (heredoc < equals) {
			pair->name_size = heredoc;
			if (runner_heredoc(text, size, &index, &line, pair) != 0)
				return -1;
		} else {
			return -1;
		}
		n++;
	}
	return n;
}

/* The pair that counts for an output of that name: the last one, whatever the case. */
static inline const struct runner_pair *
runner_output(const struct runner_pair *pairs, int n, const char *name)
{
	while (n-- > 0)
		if (pairs[n].name_size == strlen(name) &&
		    strncasecmp(pairs[n].name, name, pairs[n].name_size) == 0)
			return &pairs[n];
	return NULL;
}

#endif
