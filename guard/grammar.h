/*
 * What the runner makes of a file of file commands. (read in actions/runner 2.336)
 *
 * The files of GITHUB_ENV, GITHUB_OUTPUT and GITHUB_STATE hold pairs: name=value, or name<<delimiter, lines, and
 * the delimiter alone on a line; whichever sign comes first in a line decides. That of GITHUB_PATH holds a directory
 * a line. All are decoded from UTF-8, ill-formed sequences becoming U+FFFD. Pure.
 */
#ifndef GUARD_GRAMMAR_H
#define GUARD_GRAMMAR_H

#include "bindmount/error.h"
#include "guard/utf8.h"

#include <stdbool.h>
#include <stddef.h>

enum grammar_kind {
	GRAMMAR_PAIRS, /* split at LF only */
	GRAMMAR_LINES, /* split at LF, CR and CR LF */
};

/* One entry, in well-formed UTF-8; the text is the parser's, until the function it was given to returns. */
struct grammar_entry {
	const char *name; /* NULL for GRAMMAR_LINES */
	size_t name_size;
	const char *value;
	size_t value_size;
	size_t line;  /* its first, from 1 */
	bool heredoc; /* in that form */
};

enum grammar_error {
	GRAMMAR_OK,
	GRAMMAR_ENCODING,   /* a byte-order mark of UTF-16 or UTF-32: then all is read as that */
	GRAMMAR_NO_SIGN,    /* neither = nor << */
	GRAMMAR_EMPTY_NAME, /* before =: read, but refused when it is used */
	GRAMMAR_EMPTY_PART, /* the name or the delimiter of a heredoc */
	GRAMMAR_NOT_CLOSED, /* no line is equal to the delimiter */
	GRAMMAR_NO_NEWLINE, /* the last line is in a heredoc and has none */
	GRAMMAR_DELIMITER, /* not the runner's: the delimiter is not faithful (utf8.h), see below */
	GRAMMAR_INTERRUPTED, /* not the runner's: entry() returned something else than 0 */
	GRAMMAR_NO_MEMORY,
};

/*
 * A parser that is fed the file piece by piece, in time and memory linear in the size of the pieces and of the
 * largest entry. Entries before an error have been handed on, as the runner applies them.
 */
struct grammar {
	enum grammar_kind kind;
	int (*entry)(void *arg, const struct grammar_entry *entry);
	void *arg;
	bool
	    strict; /* refuse delimiters to which another line could become equal by decoding, and empty names */
	/* From here on the parser's own. */
	enum grammar_error error;
	size_t line; /* the number of the last line that was begun; at an error, that of its line */
	size_t quote, quote_size; /* what grammar_message() quotes */
	struct utf8_decoder decoder;
	bool begun; /* the byte-order mark has been looked for */
	char mark[4];
	size_t mark_size;
	char
	    *text; /* decoded, and not handed on yet: from the first line of the current entry on */
	size_t used, room;
	size_t at;        /* where the line that is being read begins */
	size_t looked_at; /* there is no newline before that */
	bool open;        /* in a heredoc: */
	size_t first_line, name_size, delimiter, delimiter_size, body;
	bool after_cr; /* a LF now belongs to the CR before it */
};

/* Feed size more bytes. 0, or -1 if there is an error: then nothing more is read. */
int grammar_feed(struct grammar *g, const void *data, size_t size);

/* The end of the file. Likewise. */
int grammar_end(struct grammar *g);

/*
 * The runner's message for the error, in well-formed UTF-8, with the text it quotes: any bytes, as long as a line.
 * malloc'd, *size bytes; NULL with errno ENOMEM. Empty if the error is not the runner's.
 */
char *grammar_message(const struct grammar *g, size_t *size);

void grammar_free(struct grammar *g);

/*
 * Check that the runner would read data without an error: no open heredoc, no invalid line, no
 * byte-order mark of UTF-16 or UTF-32. A missing last newline is no error where the runner accepts
 * it. path is for the message, which tells the line's number and not its text: that may be a secret.
 */
int grammar_check(const char *path, const void *data, size_t size, struct error *e);

#endif
