/*
 * What the launcher publishes, in the runner's heredoc form.
 *
 * The block is rendered into one piece of memory of the size that outputs_bound() gives, so that what
 * was reserved before the leg is always enough. A value ends with exactly one newline more than it
 * has, which is the one that the runner takes off again.
 */
#include "guard/outputs.h"

#include "bindmount/cleanup.h"
#include "guard/random.h"
#include "guard/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DELIMITER_PREFIX "ghadelimiter_" /* the runner's own toolkit uses it: people know it */

enum {
	RANDOM_BYTES = 16,
	DELIMITER_LENGTH = sizeof DELIMITER_PREFIX - 1 + 2 * RANDOM_BYTES,
	FACT_LENGTH = 64, /* of the longest value of a fact: a hash */
};

/* The launcher's own entries, in the order in which they are published. */
enum { EXIT_CODE, TAMPERED, REAPED, AUDIT_HEAD, LANE_CLASS, FACTS };

static const char *const fact_names[FACTS] = {
    [EXIT_CODE] = "exit-code",
    [TAMPERED] = "tampered",
    [REAPED] = "reaped",
    [AUDIT_HEAD] = "audit-head",
    [LANE_CLASS] = "lane-class",
};

bool
outputs_reserved(const char *name)
{
	for (size_t i = 0; i < FACTS; i++)
		if (strcasecmp(name, fact_names[i]) == 0)
			return true;
	return false;
}

int
outputs_check_name(const char *name, const char *what, struct error *e)
{
	size_t n = strlen(name);

	if (n == 0)
		return error_set(
		    e, 0, "name the output, as in NAME=VALUE", "%s: the name is empty", what);
	/* name<<delimiter is split at the first "=" or "<<": a '<' at the end would join these. */
	if (strpbrk(name, "=\n\r") != NULL || strstr(name, "<<") != NULL || name[n - 1] == '<')
		return error_set(e, 0, "leave out =, <<, line breaks and a < at the end",
		    "%s: the runner can't read the name %s", what, name);
	/* At the start of a file the mark is dropped, and the name would be another one. */
	if (!utf8_is_faithful(name, n) || strncmp(name, "\xef\xbb\xbf", 3) == 0)
		return error_set(e, 0, "use valid UTF-8 without a byte-order mark",
		    "%s: the runner would read another name than %s", what, name);
	return 0;
}

/* Length of an entry whose name and value have these lengths. */
static size_t
entry_bound(size_t name, size_t value)
{
	return name + 2 + DELIMITER_LENGTH + 1 + value + 1 + DELIMITER_LENGTH + 1;
}

size_t
outputs_entry_bound(size_t name, size_t value)
{
	return 1 + entry_bound(name, value);
}

size_t
outputs_bound(const struct output *list, size_t n)
{
	size_t sum = 1; /* the newline that the file's last line may lack */

	for (size_t i = 0; i < n; i++)
		sum += entry_bound(strlen(list[i].name), strlen(list[i].value));
	for (size_t i = 0; i < FACTS; i++)
		sum += entry_bound(strlen(fact_names[i]), FACT_LENGTH);
	return sum;
}

/* A delimiter that name and value do not hold. A second round is as good as impossible. */
static int
make_delimiter(char delimiter[DELIMITER_LENGTH + 1], const char *name, const char *value)
{
	unsigned char random[RANDOM_BYTES];

	do {
		char *end = stpcpy(delimiter, DELIMITER_PREFIX);

		if (random_fill(random, sizeof random) != 0)
			return -1;
		for (size_t i = 0; i < sizeof random; i++)
			end += sprintf(end, "%02x", random[i]);
	} while (strstr(name, delimiter) != NULL || strstr(value, delimiter) != NULL);
	return 0;
}

/* Write one entry to dst and return where it ends; NULL if there is no delimiter for it. */
static char *
put_entry(char *dst, const char *name, const char *value)
{
	char delimiter[DELIMITER_LENGTH + 1];

	if (make_delimiter(delimiter, name, value) != 0)
		return NULL;
	dst = stpcpy(stpcpy(stpcpy(dst, name), "<<"), delimiter);
	dst = stpcpy(stpcpy(dst, "\n"), value);
	return stpcpy(stpcpy(stpcpy(dst, "\n"), delimiter), "\n");
}

size_t
outputs_facts_pairs(const struct outputs_facts *facts, char exit_code[OUTPUTS_NUMBER],
    struct outputs_pair pairs[OUTPUTS_FACTS])
{
	const char *const values[FACTS] = {
	    [EXIT_CODE] = exit_code,
	    [TAMPERED] = facts->tampered ? "true" : "false",
	    [REAPED] = facts->reaped ? "true" : "false",
	    [AUDIT_HEAD] = facts->audit_head,
	    /* Last: where it can be read, everything before it was read as well. */
	    [LANE_CLASS] = lane_name(facts->lane),
	};
	size_t n = 0;

	snprintf(exit_code, OUTPUTS_NUMBER, "%d", facts->exit_code);
	for (size_t i = 0; i < FACTS; i++)
		if (values[i] != NULL)
			pairs[n++] = (struct outputs_pair){fact_names[i], values[i]};
	return n;
}

int
outputs_render(const struct output *list, size_t n, const struct outputs_facts *facts, char **block,
    size_t *size, struct error *e)
{
	struct outputs_pair pairs[OUTPUTS_FACTS];
	char exit_code[OUTPUTS_NUMBER];
	size_t n_pairs = outputs_facts_pairs(facts, exit_code, pairs);
	AUTO_FREE char *text = malloc(outputs_bound(list, n) + 1);
	char *end = text;

	if (text == NULL)
		return error_set(e, errno, NULL, "can't render the outputs");
	for (size_t i = 0; i < n && end != NULL; i++)
		end = put_entry(end, list[i].name, list[i].value);
	for (size_t i = 0; i < n_pairs && end != NULL; i++)
		end = put_entry(end, pairs[i].name, pairs[i].value);
	if (end == NULL)
		return error_set(e, errno, NULL, "can't make delimiters for the outputs");
	*size = (size_t)(end - text);
	*block = ptr_take(&text);
	return 0;
}

int
outputs_render_pairs(
    const struct output *list, size_t n, char **block, size_t *size, struct error *e)
{
	char *end;

	*block = NULL;
	*size = 0;
	if (n == 0)
		return 0;
	*block = malloc(outputs_bound(list, n) + 1);
	if (*block == NULL)
		return error_set(e, errno, NULL, "can't render the entries");
	end = *block;
	for (size_t i = 0; i < n; i++)
		end = put_entry(end, list[i].name, list[i].value);
	*size = (size_t)(end - *block);
	return 0;
}
