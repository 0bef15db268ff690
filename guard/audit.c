/* The chain of an audit record. See audit.h. */
#include "guard/audit.h"

#include "bindmount/cleanup.h"
#include "guard/content.h"
#include "guard/random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_BYTES = (AUDIT_RUN - 1) / 2 };

int
audit_begin(struct audit *a, struct error *e)
{
	unsigned char random[RUN_BYTES];

	if (random_fill(random, sizeof random) != 0)
		return error_set(e, errno, NULL, "can't number the run");
	for (size_t i = 0; i < sizeof random; i++)
		sprintf(a->run + 2 * i, "%02x", random[i]);
	return 0;
}

/* A member that may be missing, with the comma behind it. */
static char *
put_hash(char *at, const char *name, const char *hash)
{
	return hash != NULL ? at + sprintf(at, "\"%s\":\"%s\",", name, hash) : at;
}

char *
audit_render(
    const char *run, uint64_t seq, const char *prev, const char *file_prev, const char *event)
{
	enum { HEADER = 96 + AUDIT_RUN + 2 * DIGEST_TEXT };
	char *line = malloc(HEADER + strlen(event) + 2), *at = line;

	if (line == NULL)
		return NULL;
	at += sprintf(at, "{\"v\":1,\"run\":\"%s\",\"seq\":%" PRIu64 ",", run, seq);
	at = put_hash(at, "prev", prev);
	at = put_hash(at, "file_prev", file_prev);
	strcpy(stpcpy(at, event + 1), "\n");
	return line;
}

int
audit_add(struct audit *a, char *event)
{
	AUTO_FREE char *owned = event;
	char **events = reallocarray(a->events, a->n_events + 1, sizeof *events);

	if (events == NULL)
		return error_set(&a->why, errno, NULL, "no memory for the audit record");
	a->events = events;
	events[a->n_events++] = ptr_take(&owned);
	return 0;
}

static void
drop_event(struct audit *a)
{
	free(a->events[0]);
	a->n_events--;
	memmove(a->events, a->events + 1, a->n_events * sizeof *a->events);
}

/* The line of the first event, behind the last line of the file. -1 with errno. */
static int
next_line(struct audit *a, const char *last, struct audit_line *line)
{
	line->text = audit_render(
	    a->run, a->seq, a->seq > 0 ? a->prev : NULL, a->follows ? NULL : last, a->events[0]);
	if (line->text == NULL)
		return -1;
	line->size = strlen(line->text);
	errno = EMSGSIZE;
	if (line->size > JOURNAL_LINE_MAX)
		return -1;
	digest_of(line->text, line->size - 1, line->hash);
	return 0;
}

static void
advance(struct audit *a, const struct audit_line *line)
{
	a->seq++;
	a->follows = true;
	memcpy(a->prev, line->hash, sizeof a->prev);
}

/* Keep a copy of what is in the file now, in front of its end. */
static int
remember(struct audit *a, const struct audit_line *line)
{
	char *written = realloc(a->written, a->written_size + line->size);
	struct audit_piece *pieces = reallocarray(a->pieces, a->n_pieces + 1, sizeof *pieces);

	if (written != NULL)
		a->written = written;
	if (pieces != NULL)
		a->pieces = pieces;
	if (written == NULL || pieces == NULL)
		return -1;
	memcpy(written + a->written_size, line->text, line->size);
	a->written_size += line->size;
	pieces[a->n_pieces++] =
	    (struct audit_piece){a->journal.end - (off_t)line->size, line->size};
	return 0;
}

static int
write_events(struct audit *a, const char *last)
{
	while (a->n_events > 0) {
		struct audit_line line = {.text = NULL};
		int result = next_line(a, last, &line);

		if (result == 0)
			result = journal_append(&a->journal, line.text, line.size);
		if (result == 0) {
			advance(a, &line);
			drop_event(a);
			result = remember(a, &line);
		}
		free(line.text);
		if (result != 0)
			return -1;
	}
	return 0;
}

static int
fail(struct audit *a, const char *cure)
{
	a->why = (struct error){0};
	return error_set(&a->why, errno, cure, "can't write the audit record %s", a->journal.path);
}

int
audit_write(struct audit *a, int64_t until, bool keep)
{
	char last[DIGEST_TEXT];
	int result = 0;

	if (a->n_events == 0 && !keep)
		return 0;
	if (journal_lock(&a->journal, until, &a->follows) != 0)
		return fail(a, errno == EWOULDBLOCK
				   ? "somebody keeps it locked: see with fuser(1) who does"
				   : NULL);
	if (!a->follows && journal_last(&a->journal, last) != 0)
		result = -1;
	if (result == 0)
		result = write_events(a, last);
	if (result != 0)
		(void)fail(a, errno == ENOSPC || errno == EDQUOT
				  ? "free some space on its file system"
				  : NULL);
	else
		a->why = (struct error){0};
	if (!keep || result != 0)
		journal_unlock(&a->journal);
	return result;
}

int
audit_prepare(struct audit *a, char head[DIGEST_TEXT])
{
	struct audit_prepared *p = &a->prepared;
	char last[DIGEST_TEXT];

	p->list = calloc(a->n_events + 1, sizeof *p->list);
	if (p->list == NULL || (!a->follows && journal_last(&a->journal, last) != 0))
		return fail(a, NULL);
	memcpy(p->prev, a->prev, sizeof p->prev);
	p->seq = a->seq;
	p->follows = a->follows;
	while (a->n_events > 0) {
		struct audit_line *line = &p->list[p->count++];

		if (next_line(a, last, line) != 0)
			return fail(a, NULL);
		advance(a, line);
		drop_event(a);
	}
	memcpy(head, a->prev, DIGEST_TEXT);
	return 0;
}

static void
forget(struct audit_prepared *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].text);
	free(p->list);
	*p = (struct audit_prepared){.list = NULL};
}

int
audit_commit(struct audit *a)
{
	struct audit_prepared *p = &a->prepared;
	int result = 0;

	for (size_t i = 0; i < p->count && result == 0; i++) {
		result = journal_append(&a->journal, p->list[i].text, p->list[i].size);
		if (result == 0)
			(void)remember(a, &p->list[i]); /* nothing is compared any more */
	}
	if (result != 0)
		(void)fail(a, "free some space on its file system");
	forget(p);
	return result;
}

void
audit_discard(struct audit *a, size_t n)
{
	struct audit_prepared *p = &a->prepared;

	while (a->n_events > n)
		free(a->events[--a->n_events]);
	if (p->list == NULL)
		return;
	memcpy(a->prev, p->prev, sizeof a->prev);
	a->seq = p->seq;
	a->follows = p->follows;
	forget(p);
}

void
audit_release(struct audit *a)
{
	journal_unlock(&a->journal);
}

static bool
is_there(const struct audit *a, const struct audit_piece *piece, const char *bytes)
{
	AUTO_FREE char *now = malloc(piece->size);

	return now != NULL &&
	       content_read(a->journal.fd, now, piece->size, piece->offset) ==
	           (ssize_t)piece->size &&
	       memcmp(now, bytes, piece->size) == 0;
}

bool
audit_is_intact(const struct audit *a)
{
	const char *bytes = a->written;

	for (size_t i = 0; i < a->n_pieces; i++) {
		if (!is_there(a, &a->pieces[i], bytes))
			return false;
		bytes += a->pieces[i].size;
	}
	return true;
}

void
audit_close(struct audit *a)
{
	while (a->n_events > 0)
		drop_event(a);
	free(a->events);
	forget(&a->prepared);
	free(a->written);
	free(a->pieces);
	journal_close(&a->journal);
	*a = AUDIT_NONE;
}
