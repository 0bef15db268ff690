/*
 * --import: what a leg may set after all.
 *
 * With decoys the leg writes copies of the step's file-command files. Of what is in them single entries are carried
 * over, each only if the command line names it and its value satisfies a rule. The rules and the reading are here.
 */
#ifndef GUARD_IMPORT_H
#define GUARD_IMPORT_H

#include "bindmount/error.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum import_kind {
	IMPORT_OUTPUT, /* these three hold pairs */
	IMPORT_ENV,
	IMPORT_STATE,
	IMPORT_PATH,
	IMPORT_SUMMARY,
	IMPORT_KINDS,
};

enum import_rule {
	IMPORT_MAX, /* no more than `max` bytes; every value has a limit, this is all of the rule */
	IMPORT_ENUM,  /* one of the words in text, which are separated by "|" */
	IMPORT_REGEX, /* the whole value matches */
	IMPORT_UNDER, /* an existing directory below text */
};

/* One --import. */
struct import {
	enum import_kind kind;
	char *name; /* owned; NULL for path and summary */
	enum import_rule rule;
	const char *text; /* of the rule, a part of the option */
	uint64_t max;
	regex_t regex; /* for IMPORT_REGEX */
};

/* The limit of a value for which no other is given. */
enum { IMPORT_MAX_DEFAULT = 64 * 1024 };
/* So many lines of a path file are looked at. */
enum { IMPORT_PATHS_MAX = 64 };

/*
 * Read KIND:NAME[=RULE], path=under:DIR or summary[=RULE] into *i, which is to be given back with import_free() if that
 * succeeded. A regular expression is an extended one (regex(7)) in the C locale and has to match the whole value, with
 * or without anchors in it; back-references are refused, and matching is ended after a second for all values of a file.
 */
int import_parse(struct import *i, const char *word, struct error *e);
void import_free(struct import *i);

/* "output" */
const char *import_kind_name(enum import_kind kind);

/*
 * True if what it carries over can make later steps run code or trust somebody else: a directory of PATH, and a variable
 * like LD_PRELOAD, GIT_SSH_COMMAND or HTTP_PROXY. env(7), and what common tools read.
 */
bool import_is_unsafe(const struct import *i);

/* An entry that is carried over, or why it is not. Strings are owned. */
struct imported {
	enum import_kind kind;
	char *name;  /* NULL for path and summary */
	char *value; /* NULL if it is refused; holds no NUL */
	char *why;   /* if it is refused */
};

struct importing {
	struct imported *list;
	size_t count;
	size_t refused;
};

/*
 * Take from data, what the leg has left of its copy of the file of that kind, what the n imports name. `before` is how
 * much of it, at the start, was there before the leg, which is left out. Fails without memory only.
 */
int import_take(struct importing *all, const struct import *imports, size_t n,
    enum import_kind kind, const char *data, size_t size, size_t before, struct error *e);

/* Refuse everything of that kind: its copy can't be read. */
int import_refuse(struct importing *all, const struct import *imports, size_t n,
    enum import_kind kind, const char *why, struct error *e);

void importing_free(struct importing *all);

#endif
