/* What the runner makes of a file. See parse.h. */
#include "guard/parse.h"

#include "bindmount/cleanup.h"
#include "guard/grammar.h"
#include "guard/infile.h"
#include "guard/text.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <jansson.h>

enum {
	SUMMARY_MAX = 1024 * 1024, /* the runner drops a larger one whole */
	OUTPUTS_MAX = 1024 * 1024, /* of a job, in UTF-16 */
};

/* What is done with the file of each kind. */
static const struct kind {
	const char *word;
	bool parsed;
	enum grammar_kind grammar;
	bool fold; /* names that differ in case are one */
} kinds[] = {
    {"output", true, GRAMMAR_PAIRS, true},
    {"env", true, GRAMMAR_PAIRS, false},
    {"state", true, GRAMMAR_PAIRS, true},
    {"path", true, GRAMMAR_LINES, false},
    {"summary", false, GRAMMAR_LINES, false},
};

/* An entry that was read; name and value are one piece of memory. */
struct entry {
	char *text;
	size_t name_size, value_size, line;
	bool heredoc;
	bool refused;       /* the runner reports it and goes on */
	size_t replaced_by; /* line of the entry that counts instead; 0: this one does */
};

struct parse {
	const struct kind *kind;
	const char *path;
	bool json;
	size_t size;
	struct entry *list;
	size_t count, room;
	char *message; /* what the runner would report, owned, not terminated; NULL: nothing */
	size_t message_size;
	size_t line; /* where; 0: as a whole */
};

static int
keep(void *arg, const struct grammar_entry *e)
{
	struct parse *p = arg;
	size_t size = e->name_size + e->value_size;
	struct entry *list;
	char *text;

	if (p->count == p->room) {
		size_t room = p->room > 0 ? 2 * p->room : 64;

		list = reallocarray(p->list, room, sizeof *list);
		if (list == NULL)
			return -1;
		p->list = list;
		p->room = room;
	}
	text = malloc(size > 0 ? size : 1);
	if (text == NULL)
		return -1;
	memcpy(text, e->name != NULL ? e->name : "", e->name_size);
	memcpy(text + e->name_size, e->value, e->value_size);
	p->list[p->count++] = (struct entry){.text = text,
	    .name_size = e->name_size,
	    .value_size = e->value_size,
	    .line = e->line,
	    .heredoc = e->heredoc};
	return 0;
}

static int
read_all(struct parse *p, struct grammar *g, int fd, struct error *e)
{
	static char buffer[64 * 1024];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof buffer)) > 0) {
		p->size += (size_t)n;
		/* After an error only the size is of interest. */
		if (p->kind->parsed)
			(void)grammar_feed(g, buffer, (size_t)n);
	}
	if (n < 0)
		return error_set(e, errno, NULL, "can't read %s", p->path);
	return 0;
}

/* Only the first error counts. */
static int __attribute__((format(printf, 4, 5)))
complain(struct parse *p, size_t line, struct error *e, const char *format, ...)
{
	va_list ap;
	int size;

	if (p->message != NULL)
		return 0;
	va_start(ap, format);
	size = vasprintf(&p->message, format, ap);
	va_end(ap);
	if (size < 0) {
		p->message = NULL;
		return error_set(e, ENOMEM, NULL, "can't read %s", p->path);
	}
	p->message_size = (size_t)size;
	p->line = line;
	return 0;
}

static int
take_error(struct parse *p, const struct grammar *g, struct error *e)
{
	switch (g->error) {
	case GRAMMAR_OK:
		return 0;
	case GRAMMAR_ENCODING:
		return complain(p, 0, e,
		    "the byte-order mark at its start makes the runner read it as UTF-16 or "
		    "UTF-32");
	case GRAMMAR_NO_MEMORY:
	case GRAMMAR_INTERRUPTED:
		break;
	default:
		p->message = grammar_message(g, &p->message_size);
		p->line = g->line;
		break;
	}
	if (p->message == NULL)
		return error_set(e, ENOMEM, NULL, "can't read %s", p->path);
	return 0;
}

static int
fold(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* By what the runner tells entries apart by: the name, or the whole line. */
static int
compare_keys(const struct parse *p, const struct entry *a, const struct entry *b)
{
	bool lines = p->kind->grammar == GRAMMAR_LINES;
	size_t na = lines ? a->value_size : a->name_size, nb = lines ? b->value_size : b->name_size;

	for (size_t i = 0; i < na && i < nb; i++) {
		unsigned char ca = (unsigned char)a->text[i], cb = (unsigned char)b->text[i];
		int d = p->kind->fold ? fold(ca) - fold(cb) : ca - cb;

		if (d != 0)
			return d;
	}
	return na < nb ? -1 : na > nb;
}

static int
compare_entries(const void *a, const void *b, void *arg)
{
	const struct entry *const *ea = a, *const *eb = b;
	int d = compare_keys(arg, *ea, *eb);

	return d != 0 ? d : (*ea)->line < (*eb)->line ? -1 : (*ea)->line > (*eb)->line;
}

/* The last of a name counts. */
static int
find_replaced(struct parse *p, struct error *e)
{
	AUTO_FREE struct entry **sorted = calloc(p->count + 1, sizeof *sorted);

	if (sorted == NULL)
		return error_set(e, errno, NULL, "can't sort the entries");
	for (size_t i = 0; i < p->count; i++)
		sorted[i] = &p->list[i];
	qsort_r(sorted, p->count, sizeof *sorted, compare_entries, p);
	for (size_t i = p->count; i-- > 1;)
		if (compare_keys(p, sorted[i - 1], sorted[i]) == 0)
			sorted[i - 1]->replaced_by =
			    sorted[i]->replaced_by != 0 ? sorted[i]->replaced_by : sorted[i]->line;
	return 0;
}

static bool
is_named(const struct entry *entry, const char *name)
{
	return entry->name_size == strlen(name) &&
	       strncasecmp(entry->text, name, entry->name_size) == 0;
}

/* How much the values take as the runner counts them, about: in UTF-16. */
static size_t
utf16_size(const struct entry *entry)
{
	size_t size = 0;

	for (size_t i = 0; i < entry->name_size + entry->value_size; i++) {
		unsigned char c = (unsigned char)entry->text[i];

		size += (c & 0xc0) == 0x80 ? 0 : c >= 0xf0 ? 4 : 2;
	}
	return size;
}

static int
check_entry(struct parse *p, struct entry *entry, struct error *e)
{
	if (p->kind->grammar == GRAMMAR_PAIRS && entry->name_size == 0) {
		entry->refused = true;
		return complain(p, entry->line, e, "the name is empty");
	}
	if (strcmp(p->kind->word, "env") != 0 || !is_named(entry, "NODE_OPTIONS"))
		return 0;
	entry->refused = true;
	return complain(p, entry->line, e,
	    "Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.");
}

/* What is refused only when it is used. */
static int
check_use(struct parse *p, struct error *e)
{
	size_t outputs = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (check_entry(p, &p->list[i], e) != 0)
			return -1;
		outputs += utf16_size(&p->list[i]);
	}
	if (strcmp(p->kind->word, "output") == 0 && outputs > OUTPUTS_MAX)
		return complain(p, 0, e,
		    "the outputs of a job may take 1 MiB, counted about as UTF-16; these take %zu "
		    "bytes",
		    outputs);
	if (!p->kind->parsed && p->size > SUMMARY_MAX)
		return complain(p, 0, e,
		    "$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of %dk, "
		    "got %zuk.",
		    SUMMARY_MAX / 1024, p->size / 1024);
	return 0;
}

static int
parse_file(struct parse *p, struct error *e)
{
	struct grammar g = {.kind = p->kind->grammar, .entry = keep, .arg = p};
	int fd, result;

	if (infile_open(p->path, &fd, e) != 0)
		return -1;
	result = read_all(p, &g, fd, e);
	infile_close(fd);
	if (result == 0) {
		(void)grammar_end(&g);
		result = take_error(p, &g, e);
	}
	grammar_free(&g);
	if (result == 0)
		result = check_use(p, e);
	return result == 0 ? find_replaced(p, e) : -1;
}

static void
print_text(FILE *out, const char *text, size_t size)
{
	static const char hex[] = "0123456789abcdef";

	/* One line whatever is in it, and what it is can be told. */
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\\')
			fputs("\\\\", out);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c == '\r')
			fputs("\\r", out);
		else if (c == '\t')
			fputs("\\t", out);
		else if (c < 0x20 || c >= 0x7f || (c == '#' && i > 0 && text[i - 1] == '#'))
			/* "##[" would be a workflow command where this is printed in a step. */
			fprintf(out, "\\x%c%c", hex[c >> 4], hex[c & 15]);
		else
			putc(c, out);
	}
}

static void
print_table(FILE *out, const struct parse *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct entry *entry = &p->list[i];

		fprintf(out, "line %zu: ", entry->line);
		if (p->kind->grammar == GRAMMAR_PAIRS) {
			print_text(out, entry->text, entry->name_size);
			fputs(" = ", out);
		}
		print_text(out, entry->text + entry->name_size, entry->value_size);
		if (entry->refused)
			fputs("    (refused)", out);
		else if (entry->replaced_by != 0)
			fprintf(out, "    (line %zu counts)", entry->replaced_by);
		putc('\n', out);
	}
	if (!p->kind->parsed && p->message == NULL)
		fprintf(out, p->size > 0 ? "%zu bytes of Markdown\n" : "nothing: it is empty\n",
		    p->size);
	if (p->message == NULL)
		return;
	if (p->line != 0)
		fprintf(out, "error in line %zu: ", p->line);
	else
		fputs("error: ", out);
	print_text(out, p->message, p->message_size);
	putc('\n', out);
}

static json_t *
entry_object(const struct parse *p, const struct entry *entry)
{
	json_t *name = p->kind->grammar == GRAMMAR_PAIRS
	                   ? json_stringn(entry->text, entry->name_size)
	                   : json_null();

	return json_pack("{s:o, s:o, s:I, s:b, s:b}", "name", name, "value",
	    json_stringn(entry->text + entry->name_size, entry->value_size), "line",
	    (json_int_t)entry->line, "heredoc", entry->heredoc, "counts",
	    !entry->refused && entry->replaced_by == 0);
}

static json_t *
object(const struct parse *p)
{
	json_t *entries = json_array(), *error;

	for (size_t i = 0; i < p->count && entries != NULL; i++)
		if (json_array_append_new(entries, entry_object(p, &p->list[i])) != 0) {
			json_decref(entries);
			entries = NULL;
		}
	error = p->message == NULL
	            ? json_null()
	            : json_pack("{s:o, s:o}", "message", json_stringn(p->message, p->message_size),
			  "line", p->line != 0 ? json_integer((json_int_t)p->line) : json_null());
	return json_pack("{s:s, s:I, s:o, s:o}", "kind", p->kind->word, "size", (json_int_t)p->size,
	    "entries", entries, "error", error);
}

static char *
render(const struct parse *p, struct error *e)
{
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed = out == NULL;

	if (out != NULL && p->json) {
		json_t *root = object(p);
		AUTO_FREE char *dumped = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;

		failed = dumped == NULL;
		if (dumped != NULL)
			text_put_json(out, dumped);
		json_decref(root);
	} else if (out != NULL) {
		print_table(out, p);
	}
	if ((out != NULL && fclose(out) != 0) || failed) {
		error_set(e, ENOMEM, NULL, "can't print the entries");
		return NULL;
	}
	return ptr_take(&text);
}

static int
read_arguments(struct parse *p, int argc, char **argv, struct error *e)
{
	static const char usage[] =
	    "write legguard parse output|env|state|path|summary FILE [--json]";
	const char *words[2];
	int n = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			p->json = true;
		else if (argv[i][0] == '-' && argv[i][1] != '\0')
			return error_set(e, 0, usage, "unknown option %s", argv[i]);
		else if (n == 2)
			return error_set(e, 0, usage, "one word too many: %s", argv[i]);
		else
			words[n++] = argv[i];
	}
	if (n < 2)
		return error_set(e, 0, usage, "no %s given", n == 0 ? "kind" : "file");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].word, words[0]) == 0)
			p->kind = &kinds[i];
	if (p->kind == NULL)
		return error_set(e, 0, usage, "unknown kind %s", words[0]);
	p->path = words[1];
	return 0;
}

int
parse_command(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e)
{
	struct parse p = {0};
	int result = -1;

	(void)env;
	/* There is nothing to settle: a signal may end it while it reads. */
	(void)sigprocmask(SIG_SETMASK, &startup->mask, NULL);
	if (read_arguments(&p, argc, argv, e) == 0 && parse_file(&p, e) == 0 &&
	    (*text = render(&p, e)) != NULL) {
		*status = p.message != NULL;
		result = 0;
	}
	for (size_t i = 0; i < p.count; i++)
		free(p.list[i].text);
	free(p.list);
	free(p.message);
	return result;
}
