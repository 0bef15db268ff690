/*
 * The runner's grammar of file commands. See grammar.h.
 *
 * What is fed is decoded into one buffer, which holds the entry that is being read; read_line() takes each line of
 * it once. An entry that is complete is handed on and dropped. Each byte is looked at a fixed number of times.
 */
#include "guard/grammar.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 * 1024 };

static const char cure[] = "fix or empty the file before this step runs legguard";

static int
fail(struct grammar *g, enum grammar_error error, size_t line, size_t quote, size_t quote_size)
{
	g->error = error;
	g->line = line;
	g->quote = quote;
	g->quote_size = quote_size;
	return -1;
}

static int
hand_on(struct grammar *g, const struct grammar_entry *entry)
{
	return g->entry == NULL || g->entry(g->arg, entry) == 0
	           ? 0
	           : fail(g, GRAMMAR_INTERRUPTED, g->line, 0, 0);
}

/* The line is text[at, end). */
static int
end_heredoc(struct grammar *g, size_t first)
{
	const struct grammar_entry entry = {
	    .name = g->text + first,
	    .name_size = g->name_size,
	    .value = g->text + g->body,
	    .value_size = g->at > g->body ? g->at - 1 - g->body : 0,
	    .line = g->first_line,
	    .heredoc = true,
	};

	g->open = false;
	return hand_on(g, &entry);
}

static int
open_heredoc(struct grammar *g, size_t end, size_t name_size)
{
	g->name_size = name_size;
	g->delimiter = g->at + name_size + 2;
	g->delimiter_size = end - g->delimiter;
	if (name_size == 0 || g->delimiter_size == 0)
		return fail(g, GRAMMAR_EMPTY_PART, g->line, g->at, end - g->at);
	/* The runner compares decoded text: with such a delimiter another line could be its equal. */
	if (g->strict && !utf8_is_faithful(g->text + g->delimiter, g->delimiter_size))
		return fail(g, GRAMMAR_DELIMITER, g->line, g->delimiter, g->delimiter_size);
	g->open = true;
	g->first_line = g->line;
	g->body = end + 1;
	return 0;
}

/* A line outside of a heredoc. Whichever sign comes first decides. */
static int
begin_pair(struct grammar *g, size_t end)
{
	const char *text = g->text + g->at;
	size_t size = end - g->at;
	const char *equals = memchr(text, '=', size);
	const char *heredoc = memmem(text, size, "<<", 2);
	struct grammar_entry entry = {.name = text, .line = g->line};

	if (equals == NULL && heredoc == NULL)
		return fail(g, GRAMMAR_NO_SIGN, g->line, g->at, size);
	if (heredoc != NULL && (equals == NULL || heredoc < equals))
		return open_heredoc(g, end, (size_t)(heredoc - text));
	if (equals == text && g->strict)
		return fail(g, GRAMMAR_EMPTY_NAME, g->line, g->at, size);
	entry.name_size = (size_t)(equals - text);
	entry.value = equals + 1;
	entry.value_size = size - entry.name_size - 1;
	return hand_on(g, &entry);
}

/* The next line is text[at, end); `ended` by a newline, not by the end of the file. */
static int
read_line(struct grammar *g, size_t end, bool ended)
{
	size_t size = end - g->at;

	g->line++;
	if (g->kind == GRAMMAR_LINES) {
		const struct grammar_entry entry = {
		    .value = g->text + g->at, .value_size = size, .line = g->line};

		return size == 0 ? 0 : hand_on(g, &entry);
	}
	if (!g->open)
		return size == 0 ? 0 : begin_pair(g, end);
	if (size == g->delimiter_size && memcmp(g->text + g->at, g->text + g->delimiter, size) == 0)
		return end_heredoc(g, g->delimiter - 2 - g->name_size);
	return ended ? 0 : fail(g, GRAMMAR_NO_NEWLINE, g->line, g->at, size);
}

/* Where the next line ends, or SIZE_MAX if its end is not there yet. */
static size_t
find_end(struct grammar *g)
{
	const char *from = g->text + g->looked_at;
	size_t left = g->used - g->looked_at, i = 0;

	if (g->kind == GRAMMAR_PAIRS) {
		const char *newline = left > 0 ? memchr(from, '\n', left) : NULL;

		i = newline != NULL ? (size_t)(newline - from) : left;
	} else {
		while (i < left && from[i] != '\n' && from[i] != '\r')
			i++;
	}
	g->looked_at += i;
	return i < left ? g->looked_at : SIZE_MAX;
}

/* Drop what has been handed on. */
static void
drop(struct grammar *g, size_t size)
{
	if (size == 0)
		return;
	memmove(g->text, g->text + size, g->used - size);
	g->used -= size;
	g->at -= size;
	g->looked_at -= size;
	g->delimiter -= g->open ? size : 0;
	g->body -= g->open ? size : 0;
}

static int
read_lines(struct grammar *g)
{
	size_t done = 0, end;

	while ((end = find_end(g)) != SIZE_MAX) {
		bool cr = g->text[end] == '\r', pair = g->after_cr && !cr && end == g->at;

		g->after_cr = cr && g->kind == GRAMMAR_LINES;
		/* The LF of a CR LF ends no line of its own. */
		if (!pair && read_line(g, end, true) != 0)
			return -1;
		g->at = g->looked_at = end + 1;
		if (!g->open)
			done = g->at;
	}
	/* A line has begun: a LF does not belong to the CR any more. */
	if (g->looked_at > g->at)
		g->after_cr = false;
	drop(g, done);
	return 0;
}

static int
make_room(struct grammar *g, size_t size)
{
	size_t room = g->room > 0 ? g->room : PIECE;
	char *text;

	while (room - g->used < size)
		room *= 2;
	if (room == g->room)
		return 0;
	text = realloc(g->text, room);
	if (text == NULL)
		return fail(g, GRAMMAR_NO_MEMORY, g->line, 0, 0);
	g->text = text;
	g->room = room;
	return 0;
}

static int
decode(struct grammar *g, const char *data, size_t size)
{
	while (size > 0) {
		size_t piece = size < PIECE ? size : PIECE;

		if (make_room(g, UTF8_DECODED_MAX(piece)) != 0)
			return -1;
		g->used += utf8_decode(&g->decoder, data, piece, g->text + g->used);
		if (read_lines(g) != 0)
			return -1;
		data += piece;
		size -= piece;
	}
	return 0;
}

/* With the first four bytes there, or all that there are. Decoded as UTF-16 or UTF-32, all would be garbage. */
static int
begin(struct grammar *g)
{
	static const struct {
		const char *bytes;
		size_t size;
	} marks[] = {{"\xff\xfe", 2}, {"\xfe\xff", 2}, {"\x00\x00\xfe\xff", 4}};
	size_t skip = 0;

	g->begun = true;
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (g->mark_size >= marks[i].size &&
		    memcmp(g->mark, marks[i].bytes, marks[i].size) == 0)
			return fail(g, GRAMMAR_ENCODING, 0, 0, 0);
	if (g->mark_size >= 3 && memcmp(g->mark, "\xef\xbb\xbf", 3) == 0)
		skip = 3; /* the runner drops it */
	return decode(g, g->mark + skip, g->mark_size - skip);
}

int
grammar_feed(struct grammar *g, const void *data, size_t size)
{
	const char *bytes = data;

	if (g->error != GRAMMAR_OK)
		return -1;
	while (!g->begun && size > 0) {
		g->mark[g->mark_size++] = *bytes++;
		size--;
		if (g->mark_size == sizeof g->mark && begin(g) != 0)
			return -1;
	}
	return decode(g, bytes, size);
}

int
grammar_end(struct grammar *g)
{
	if (g->error != GRAMMAR_OK || (!g->begun && begin(g) != 0))
		return -1;
	if (g->decoder.n > 0) {
		if (make_room(g, UTF8_DECODED_MAX(0)) != 0)
			return -1;
		g->used += utf8_decode_end(&g->decoder, g->text + g->used);
	}
	/* An empty rest is no line. */
	if (g->used > g->at && read_line(g, g->used, false) != 0)
		return -1;
	if (g->open)
		return fail(g, GRAMMAR_NOT_CLOSED, g->first_line, g->delimiter, g->delimiter_size);
	return 0;
}

void
grammar_free(struct grammar *g)
{
	free(g->text);
	g->text = NULL;
}

char *
grammar_message(const struct grammar *g, size_t *size)
{
	static const struct {
		const char *before, *after;
		bool quotes;
	} messages[] = {
	    [GRAMMAR_NO_SIGN] = {"Invalid format '", "'", true},
	    [GRAMMAR_EMPTY_PART] = {"Invalid format '",
		"'. Name must not be empty and delimiter must not be empty", true},
	    [GRAMMAR_NOT_CLOSED] = {"Invalid value. Matching delimiter not found '", "'", true},
	    [GRAMMAR_NO_NEWLINE] = {"Invalid value. EOF marker missing new line.", "", false},
	};
	AUTO_FREE char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (out == NULL)
		return NULL;
	if (g->error < sizeof messages / sizeof messages[0] && messages[g->error].before != NULL) {
		fputs(messages[g->error].before, out);
		if (messages[g->error].quotes && g->quote_size > 0)
			fwrite(g->text + g->quote, 1, g->quote_size, out);
		fputs(messages[g->error].after, out);
	}
	if (fclose(out) != 0) {
		errno = ENOMEM;
		return NULL;
	}
	return ptr_take(&text);
}

int
grammar_check(const char *path, const void *data, size_t size, struct error *e)
{
	static const char *const why[] = {
	    [GRAMMAR_NO_SIGN] = "neither name=value nor name<<delimiter",
	    [GRAMMAR_EMPTY_NAME] = "the name before = is empty",
	    [GRAMMAR_EMPTY_PART] = "the name or the delimiter of a heredoc is empty",
	    [GRAMMAR_NOT_CLOSED] = "the heredoc is never closed by its delimiter",
	    [GRAMMAR_NO_NEWLINE] = "the last line of an open heredoc has no newline",
	    [GRAMMAR_DELIMITER] = "the delimiter is not valid UTF-8",
	};
	struct grammar g = {.kind = GRAMMAR_PAIRS, .strict = true};
	int result = 0;

	if (grammar_feed(&g, data, size) != 0 || grammar_end(&g) != 0) {
		if (g.error == GRAMMAR_ENCODING)
			result = error_set(e, 0, cure,
			    "%s: starts with a byte-order mark that is not UTF-8's", path);
		else if (g.error == GRAMMAR_NO_MEMORY)
			result = error_set(e, ENOMEM, NULL, "can't read %s", path);
		else
			result =
			    error_set(e, 0, cure, "%s: line %zu: %s", path, g.line, why[g.error]);
	}
	grammar_free(&g);
	return result;
}
