/* What a leg may set after all. See import.h. */
#include "guard/import.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/sys.h"
#include "guard/bounded.h"
#include "guard/grammar.h"
#include "guard/limits.h"
#include "guard/outputs.h"
#include "guard/unsafe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MATCHING_MS = 1000 }; /* for all expressions together */

static const char usage[] = "write output:NAME, env:NAME or state:NAME, path=under:DIR, or "
			    "summary; =enum:A|B, =regex:R or =max:SIZE may follow";

static const char *const kind_names[IMPORT_KINDS] = {
    [IMPORT_OUTPUT] = "output",
    [IMPORT_ENV] = "env",
    [IMPORT_STATE] = "state",
    [IMPORT_PATH] = "path",
    [IMPORT_SUMMARY] = "summary",
};

const char *
import_kind_name(enum import_kind kind)
{
	return kind_names[kind];
}

static bool
has_name(enum import_kind kind)
{
	return kind == IMPORT_OUTPUT || kind == IMPORT_ENV || kind == IMPORT_STATE;
}

/* Whether `size` bytes of a value are too many is a matter of memory as well: below the copies' own limit. */
static int
parse_max(struct import *i, const char *text, struct error *e)
{
	/* A later step's program can't be started with a longer variable (execve(2)). */
	uint64_t most = i->kind == IMPORT_ENV ? 100 * 1024 : 1024 * 1024;

	if (limits_parse_size(text, &i->max) == 0 && i->max > 0 && i->max <= most)
		return 0;
	if (i->kind == IMPORT_ENV)
		return error_set(
		    e, 0, "give a size from 1 to 100K", "--import: max:%s is no such size", text);
	return error_set(
	    e, 0, "give a size from 1 to 1M", "--import: max:%s is no such size", text);
}

static int
parse_regex(struct import *i, const char *text, struct error *e)
{
	AUTO_FREE char *whole = NULL;
	char why[128];
	int code;

	for (const char *at = text; *at != '\0'; at++)
		if (*at == '\\' && at[1] != '\0' && *++at >= '1' && *at <= '9')
			return error_set(e, 0, "write it without",
			    "--import: back-references as in regex:%s take too long", text);
	if (strlen(text) > 1024 || asprintf(&whole, "^(%s)$", text) < 0) {
		whole = NULL;
		return error_set(
		    e, 0, "use a shorter one", "--import: the regular expression is too long");
	}
	code = regcomp(&i->regex, whole, REG_EXTENDED | REG_NOSUB);
	if (code == 0)
		return 0;
	regerror(code, &i->regex, why, sizeof why);
	return error_set(e, 0, "see regex(7) for extended regular expressions",
	    "--import: regex:%s: %s", text, why);
}

static int
parse_rule(struct import *i, const char *text, struct error *e)
{
	i->max = IMPORT_MAX_DEFAULT;
	i->rule = IMPORT_MAX;
	if (text == NULL && i->kind != IMPORT_PATH)
		return 0;
	if (i->kind == IMPORT_PATH) {
		if (text == NULL || strncmp(text, "under:/", 7) != 0)
			return error_set(e, 0, usage,
			    "--import: path needs the rule under:DIR, an absolute path");
		i->rule = IMPORT_UNDER;
		i->text = text + 6;
		return 0;
	}
	i->text = strchr(text, ':');
	if (i->text != NULL)
		i->text++;
	if (strncmp(text, "max:", 4) == 0)
		return parse_max(i, i->text, e);
	if (i->kind != IMPORT_SUMMARY && strncmp(text, "enum:", 5) == 0 && *i->text != '\0') {
		i->rule = IMPORT_ENUM;
		return 0;
	}
	if (i->kind != IMPORT_SUMMARY && strncmp(text, "regex:", 6) == 0 && *i->text != '\0') {
		i->rule = IMPORT_REGEX;
		return parse_regex(i, i->text, e);
	}
	return error_set(e, 0, usage, "--import: unknown rule %s", text);
}

static int
check_name(const struct import *i, struct error *e)
{
	static const char cure[] = "choose another name; legguard publishes this one itself";

	if (!has_name(i->kind))
		return 0;
	if (outputs_check_name(i->name, "--import", e) != 0)
		return -1;
	if (i->kind == IMPORT_OUTPUT && outputs_reserved(i->name))
		return error_set(e, 0, cure, "--import: the name %s is reserved", i->name);
	if (i->kind == IMPORT_ENV && strcasecmp(i->name, "NODE_OPTIONS") == 0)
		return error_set(
		    e, 0, "leave it out", "--import: the runner takes no NODE_OPTIONS");
	return 0;
}

int
import_parse(struct import *i, const char *word, struct error *e)
{
	size_t n = strcspn(word, ":="), end;
	size_t kind;

	*i = (struct import){0};
	for (kind = 0; kind < IMPORT_KINDS; kind++)
		if (strlen(kind_names[kind]) == n && strncmp(word, kind_names[kind], n) == 0)
			break;
	if (kind == IMPORT_KINDS || has_name((enum import_kind)kind) != (word[n] == ':'))
		return error_set(e, 0, usage, "--import %s is not understood", word);
	i->kind = (enum import_kind)kind;
	if (word[n] == ':') {
		word += n + 1;
		n = 0;
	}
	end = n + strcspn(word + n, "=");
	if (has_name(i->kind) && (i->name = strndup(word, end)) == NULL)
		return error_set(e, errno, NULL, "can't keep the options");
	if (check_name(i, e) == 0 &&
	    parse_rule(i, word[end] == '=' ? word + end + 1 : NULL, e) == 0)
		return 0;
	free(i->name);
	i->name = NULL;
	return -1;
}

void
import_free(struct import *i)
{
	if (i->rule == IMPORT_REGEX)
		regfree(&i->regex);
	free(i->name);
	*i = (struct import){0};
}

bool
import_is_unsafe(const struct import *i)
{
	if (i->kind == IMPORT_PATH)
		return true;
	if (i->kind != IMPORT_ENV)
		return false;
	return unsafe_variable(i->name);
}

static int
no_memory(struct error *e)
{
	return error_set(e, ENOMEM, NULL, "can't import what the leg has set");
}

/* Add one entry; value is copied, why is NULL if it is accepted. */
static int
add(struct importing *all, const struct import *i, const char *value, size_t size, const char *why,
    struct error *e)
{
	struct imported one = {.kind = i->kind};
	struct imported *list;

	if (i->name != NULL && (one.name = strdup(i->name)) == NULL)
		return no_memory(e);
	if (why == NULL)
		one.value = strndup(value != NULL ? value : "", size);
	else
		one.why = strdup(why);
	list = reallocarray(all->list, all->count + 1, sizeof *list);
	if (list != NULL)
		all->list = list;
	if (list == NULL || (one.value == NULL && one.why == NULL)) {
		free(one.name);
		free(one.value);
		free(one.why);
		return no_memory(e);
	}
	list[all->count++] = one;
	all->refused += why != NULL;
	return 0;
}

static bool
is_one_of(const char *words, const char *value, size_t size)
{
	for (const char *at = words;; at++) {
		size_t n = strcspn(at, "|");

		if (n == size && memcmp(at, value, n) == 0)
			return true;
		at += n;
		if (*at == '\0')
			return false;
	}
}

static _Noreturn void
try_match(const struct import *i, const char *value)
{
	const struct rlimit seconds = {.rlim_cur = 2, .rlim_max = 2};

	/* Whatever becomes of the launcher meanwhile. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_CPU, &seconds);
	_exit(regexec(&i->regex, value, 0, NULL, 0) == 0 ? 0 : 1);
}

/*
 * Some expressions take a time that grows out of all measure with what they are held against, which is the leg's: so
 * it is tried in a child, for as long as is left of *ms. -1: it did not come to an end.
 */
static int
matches(const struct import *i, const char *value, size_t size, int *ms)
{
	AUTO_FREE char *copy = strndup(value, size);
	struct pollfd ended = {.fd = -1, .events = POLLIN};
	int64_t began = bounded_now();
	int status = 0;
	pid_t pid = copy != NULL ? fork() : -1;

	if (pid == 0)
		try_match(i, copy);
	if (pid < 0)
		return -1;
	ended.fd = sys_pidfd_open(pid);
	if (ended.fd < 0 || poll(&ended, 1, *ms) != 1)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	fd_drop(&ended.fd);
	*ms -= (int)(bounded_now() - began);
	*ms = *ms > 0 ? *ms : 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) == 0 : -1;
}

/* A directory as it is called, that is there, and lies below another by its real name as well. */
static bool
is_under(const char *directory, const char *value, size_t size)
{
	AUTO_FREE char *path = strndup(value, size), *real = NULL, *top = NULL;
	struct stat st;

	if (path == NULL || path[0] != '/' || strchr(path, ':') != NULL)
		return false;
	real = realpath(path, NULL);
	top = realpath(directory, NULL);
	if (real == NULL || top == NULL || stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
		return false;
	return strcmp(real, path) == 0 && mountinfo_below(real, top);
}

/* NULL if the value is fine. */
static const char *
judge(const struct import *i, const char *value, size_t size, int *ms)
{
	int matched;

	if (memchr(value, '\0', size) != NULL)
		return "the value holds a NUL";
	if (memchr(value, '\r', size) != NULL)
		return "the value holds a carriage return";
	if (!utf8_is_faithful(value, size))
		return "the value is not valid UTF-8";
	if (size > i->max)
		return "the value is too long";
	switch (i->rule) {
	case IMPORT_ENUM:
		return is_one_of(i->text, value, size) ? NULL
		                                       : "the value is none of those allowed";
	case IMPORT_REGEX:
		matched = matches(i, value, size, ms);
		return matched > 0    ? NULL
		       : matched == 0 ? "the value does not match"
		                      : "the regular expression takes too long for the value";
	case IMPORT_UNDER:
		return is_under(i->text, value, size)
		           ? NULL
		           : "it is no directory below the one that is allowed";
	case IMPORT_MAX:
		break;
	}
	return NULL;
}

int
import_refuse(struct importing *all, const struct import *imports, size_t n, enum import_kind kind,
    const char *why, struct error *e)
{
	for (size_t k = 0; k < n; k++)
		if (imports[k].kind == kind && add(all, &imports[k], NULL, 0, why, e) != 0)
			return -1;
	return 0;
}

/* What is read of one file. */
struct reading {
	const struct import *imports;
	size_t n;
	enum import_kind kind;
	struct importing *all;
	struct error *e;
	size_t lines; /* of a path file */
	int ms;       /* that are left for matching */
	/* Of each import the last entry counts. */
	struct {
		char *value;
		size_t size;
	} * last;
};

static bool
is_for(const struct import *i, enum import_kind kind, const struct grammar_entry *entry)
{
	if (i->kind != kind || strlen(i->name) != entry->name_size)
		return false;
	/* As the runner tells them apart. */
	return kind == IMPORT_ENV ? memcmp(i->name, entry->name, entry->name_size) == 0
	                          : strncasecmp(i->name, entry->name, entry->name_size) == 0;
}

static int
keep_pair(struct reading *r, const struct grammar_entry *entry)
{
	for (size_t k = 0; k < r->n; k++) {
		char *copy;

		if (!is_for(&r->imports[k], r->kind, entry))
			continue;
		copy = malloc(entry->value_size + 1);
		if (copy == NULL)
			return -1;
		memcpy(copy, entry->value, entry->value_size);
		free(r->last[k].value);
		r->last[k].value = copy;
		r->last[k].size = entry->value_size;
	}
	return 0;
}

/* A line is carried over if one of the rules allows it. */
static int
keep_path(struct reading *r, const struct grammar_entry *entry)
{
	const struct import *first = NULL;
	const char *why = NULL;

	if (r->lines++ == IMPORT_PATHS_MAX)
		return import_refuse(
		    r->all, r->imports, r->n, r->kind, "there are more lines", r->e);
	if (r->lines > IMPORT_PATHS_MAX)
		return 0;
	for (size_t k = 0; k < r->n; k++) {
		if (r->imports[k].kind != IMPORT_PATH)
			continue;
		if (first == NULL)
			first = &r->imports[k];
		why = judge(&r->imports[k], entry->value, entry->value_size, &r->ms);
		if (why == NULL)
			break;
	}
	return first != NULL ? add(r->all, first, entry->value, entry->value_size, why, r->e) : 0;
}

static int
keep(void *arg, const struct grammar_entry *entry)
{
	struct reading *r = arg;

	return r->kind == IMPORT_PATH ? keep_path(r, entry) : keep_pair(r, entry);
}

static int
add_last(struct reading *r)
{
	for (size_t k = 0; k < r->n; k++)
		if (r->last[k].value != NULL &&
		    add(r->all, &r->imports[k], r->last[k].value, r->last[k].size,
			judge(&r->imports[k], r->last[k].value, r->last[k].size, &r->ms),
			r->e) != 0)
			return -1;
	return 0;
}

static int
take_entries(struct reading *r, const char *data, size_t size)
{
	struct grammar g = {.kind = r->kind == IMPORT_PATH ? GRAMMAR_LINES : GRAMMAR_PAIRS,
	    .entry = keep,
	    .arg = r,
	    .strict = true};
	int result;

	r->last = calloc(r->n + 1, sizeof *r->last);
	if (r->last == NULL)
		return no_memory(r->e);
	if (grammar_feed(&g, data, size) == 0 && grammar_end(&g) == 0)
		result = add_last(r);
	else if (g.error == GRAMMAR_NO_MEMORY || g.error == GRAMMAR_INTERRUPTED)
		result = no_memory(r->e);
	else
		result = import_refuse(
		    r->all, r->imports, r->n, r->kind, "the runner could not read the file", r->e);
	grammar_free(&g);
	for (size_t k = 0; k < r->n; k++)
		free(r->last[k].value);
	free(r->last);
	return result;
}

int
import_take(struct importing *all, const struct import *imports, size_t n, enum import_kind kind,
    const char *data, size_t size, size_t before, struct error *e)
{
	struct reading r = {
	    .imports = imports, .n = n, .kind = kind, .all = all, .e = e, .ms = MATCHING_MS};

	data += before;
	size -= before;
	if (kind != IMPORT_SUMMARY)
		return take_entries(&r, data, size);
	for (size_t k = 0; k < n && size > 0; k++)
		if (imports[k].kind == kind)
			return add(
			    all, &imports[k], data, size, judge(&imports[k], data, size, &r.ms), e);
	return 0;
}

void
importing_free(struct importing *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->list[i].name);
		free(all->list[i].value);
		free(all->list[i].why);
	}
	free(all->list);
	*all = (struct importing){0};
}
