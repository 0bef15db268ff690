/*
 * The runner's grammar of env, output and state files.
 *
 * A cursor goes through the data line by line; read_entry() takes one entry off it, which is one line,
 * or in heredoc form a first line, a body and a line that is the delimiter. Each byte is looked at a
 * fixed number of times. Messages give the line's number and not its text, which may be a secret.
 */
#include "guard/grammar.h"

#include "guard/utf8.h"

#include <stdbool.h>
#include <string.h>

/* A piece of the data. */
struct slice {
	const unsigned char *text;
	size_t size;
};

struct line {
	struct slice s;
	bool ended; /* by a newline, not by the end of the data */
};

struct cursor {
	const unsigned char *at;
	size_t left;
	size_t number; /* of the line that was read last, from 1 */
	const char *path;
};

static const char cure[] = "fix or empty the file before this step runs legguard";

/* The next line, without its newline; false at the end of the data. */
static bool
next_line(struct cursor *c, struct line *l)
{
	const unsigned char *newline;

	if (c->left == 0)
		return false;
	newline = memchr(c->at, '\n', c->left);
	l->ended = newline != NULL;
	l->s.text = c->at;
	l->s.size = l->ended ? (size_t)(newline - c->at) : c->left;
	c->at += l->s.size + (l->ended ? 1 : 0);
	c->left -= l->s.size + (l->ended ? 1 : 0);
	c->number++;
	return true;
}

static bool
slices_equal(const struct slice *a, const struct slice *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static int
bad_line(const struct cursor *c, size_t number, const char *why, struct error *e)
{
	return error_set(e, 0, cure, "%s: line %zu: %s", c->path, number, why);
}

/* Skip a heredoc's body and the delimiter that ends it. */
static int
read_body(struct cursor *c, const struct slice *delimiter, struct error *e)
{
	size_t first = c->number;
	struct line l;

	/* The runner compares decoded text: with such a delimiter another line could be its equal. */
	if (!utf8_is_faithful(delimiter->text, delimiter->size))
		return bad_line(c, first, "the delimiter is not valid UTF-8", e);
	while (next_line(c, &l)) {
		if (slices_equal(&l.s, delimiter))
			return 0;
		if (!l.ended)
			return bad_line(
			    c, c->number, "the last line of an open heredoc has no newline", e);
	}
	return bad_line(c, first, "the heredoc is never closed by its delimiter", e);
}

/* Whichever sign comes first decides. Returns 1 for an entry, 0 at the end of the data, -1 with *e. */
static int
read_entry(struct cursor *c, struct error *e)
{
	const unsigned char *equals, *heredoc;
	struct slice name, rest;
	struct line l;

	do
		if (!next_line(c, &l))
			return 0;
	while (l.s.size == 0);
	equals = memchr(l.s.text, '=', l.s.size);
	heredoc = memmem(l.s.text, l.s.size, "<<", 2);
	if (equals == NULL && heredoc == NULL)
		return bad_line(c, c->number, "neither name=value nor name<<delimiter", e);
	name.text = l.s.text;
	if (heredoc == NULL || (equals != NULL && equals < heredoc)) {
		if (equals == name.text)
			return bad_line(c, c->number, "the name before = is empty", e);
		return 1;
	}
	name.size = (size_t)(heredoc - name.text);
	rest.text = heredoc + 2;
	rest.size = l.s.size - name.size - 2;
	if (name.size == 0 || rest.size == 0)
		return bad_line(c, c->number, "the name or the delimiter of a heredoc is empty", e);
	return read_body(c, &rest, e) == 0 ? 1 : -1;
}

static bool
skip_prefix(struct cursor *c, const char *prefix, size_t size)
{
	if (c->left < size || memcmp(c->at, prefix, size) != 0)
		return false;
	c->at += size;
	c->left -= size;
	return true;
}

/* Decoded as UTF-16 or UTF-32, all that is appended later would be garbage. */
static int
skip_byte_order_mark(struct cursor *c, struct error *e)
{
	if (skip_prefix(c, "\xff\xfe", 2) || skip_prefix(c, "\xfe\xff", 2) ||
	    skip_prefix(c, "\x00\x00\xfe\xff", 4))
		return error_set(
		    e, 0, cure, "%s: starts with a byte-order mark that is not UTF-8's", c->path);
	(void)skip_prefix(c, "\xef\xbb\xbf", 3); /* the runner drops it, or there is none */
	return 0;
}

int
grammar_check(const char *path, const void *data, size_t size, struct error *e)
{
	struct cursor c = {.at = data, .left = size, .path = path};
	int n;

	if (skip_byte_order_mark(&c, e) != 0)
		return -1;
	do
		n = read_entry(&c, e);
	while (n > 0);
	return n;
}
