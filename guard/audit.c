/* The chain of an audit record. See audit.h. */
#include "guard/audit.h"

#include "bindmount/cleanup.h"
#include "guard/random.h"
#include "guard/text.h"

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

/* Add what the file gets next to *p: the line of the first event, behind the last line of the file. -1 with errno. */
static int
prepare_line(struct audit *a, const char *last)
{
	struct audit_prepared *p = &a->prepared;
	AUTO_FREE char *line = audit_render(a->run, a->seq, a->seq > 0 ? a->prev : NULL,
	    a->follows ? NULL : last, a->events[p->count]);
	size_t size = line != NULL ? strlen(line) : 0;
	char *text = line != NULL ? realloc(p->text, p->size + size) : NULL;

	if (text == NULL)
		return -1;
	p->text = text;
	errno = EMSGSIZE;
	if (size > JOURNAL_LINE_MAX)
		return -1;
	memcpy(text + p->size, line, size);
	p->size += size;
	p->count++;
	digest_of(line, size - 1, a->prev);
	a->seq++;
	a->follows = true;
	return 0;
}

static int
prepare(struct audit *a, const char *last)
{
	struct audit_prepared *p = &a->prepared;

	*p = (struct audit_prepared){.seq = a->seq, .follows = a->follows};
	memcpy(p->prev, a->prev, sizeof p->prev);
	while (p->count < a->n_events)
		if (prepare_line(a, last) != 0)
			return -1;
	return 0;
}

static void
forget(struct audit_prepared *p)
{
	free(p->text);
	*p = (struct audit_prepared){.text = NULL};
}

/* As if nothing had been prepared. */
static void
take_back(struct audit *a)
{
	const struct audit_prepared *p = &a->prepared;

	memcpy(a->prev, p->prev, sizeof a->prev);
	a->seq = p->seq;
	a->follows = p->follows;
	forget(&a->prepared);
}

/* Write what is prepared: whole lines, all of them or none. -1 with errno. */
static int
write_prepared(struct audit *a)
{
	struct audit_prepared *p = &a->prepared;

	if (p->size > 0 && journal_append(&a->journal, p->text, p->size) != 0)
		return -1;
	a->n_events = text_drop(a->events, a->n_events, 0, p->count);
	forget(p);
	return 0;
}

static int
fail(struct audit *a)
{
	const char *cure = NULL;

	if (errno == EWOULDBLOCK)
		cure = "somebody keeps it locked: see with fuser(1) who does";
	else if (errno == ENOSPC || errno == EDQUOT)
		cure = "free some space on its file system";
	a->why = (struct error){0};
	return error_set(&a->why, errno, cure, "can't write the audit record %s", a->journal.path);
}

int
audit_write(struct audit *a, int64_t until, bool keep)
{
	char last[DIGEST_TEXT];
	int result;

	if (a->n_events == 0 && !keep)
		return 0;
	if (journal_lock(&a->journal, until, &a->follows) != 0)
		return fail(a);
	result = a->follows ? 0 : journal_last(&a->journal, last);
	if (result == 0)
		result = prepare(a, last);
	if (result == 0)
		result = write_prepared(a);
	if (result != 0) {
		(void)fail(a);
		take_back(a);
		journal_unlock(&a->journal);
		return -1;
	}
	a->why = (struct error){0};
	if (!keep)
		journal_unlock(&a->journal);
	return 0;
}

int
audit_prepare(struct audit *a, char head[DIGEST_TEXT])
{
	char last[DIGEST_TEXT];

	if ((!a->follows && journal_last(&a->journal, last) != 0) || prepare(a, last) != 0) {
		(void)fail(a);
		take_back(a);
		return -1;
	}
	memcpy(head, a->prev, DIGEST_TEXT);
	return 0;
}

int
audit_commit(struct audit *a)
{
	return write_prepared(a) == 0 ? 0 : fail(a);
}

void
audit_discard(struct audit *a, size_t n)
{
	if (a->prepared.text != NULL)
		take_back(a);
	if (a->n_events > n)
		a->n_events = text_drop(a->events, a->n_events, n, a->n_events - n);
}

void
audit_release(struct audit *a)
{
	journal_unlock(&a->journal);
}

void
audit_close(struct audit *a)
{
	a->n_events = text_drop(a->events, a->n_events, 0, a->n_events);
	free(a->events);
	forget(&a->prepared);
	journal_close(&a->journal);
	*a = AUDIT_NONE;
}
