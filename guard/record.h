/*
 * The record of a run: events, as they happen, to the files that were asked for: --audit (guard/audit.h) and --audit-otlp
 * (guard/otlp.h).
 *
 * What can't be written when it happens, because somebody else keeps the lock or the disk is full, is kept and written
 * at the next chance. Nothing here ends a run; what failed is told at its end.
 */
#ifndef GUARD_RECORD_H
#define GUARD_RECORD_H

#include "bindmount/error.h"
#include "guard/audit.h"
#include "guard/options.h"
#include "guard/snapshot.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct record {
	struct audit audit;  /* its journal has no descriptor unless --audit was given */
	struct journal otlp; /* likewise */
	char **requests;     /* lines for it that are not in it yet; owned */
	size_t n_requests;
	size_t n_kept,
	    n_events_kept; /* of them, and of the events, those that record_discard() leaves */
	json_t *resource;  /* attributes of it, see otlp.h; owned */
	bool lost;         /* an event could not even be made, for lack of memory */
	struct error why;  /* why the OTLP lines could not be written */
};

#define RECORD_NONE ((struct record){.audit = AUDIT_NONE, .otlp = JOURNAL_NONE})

/* The lock is waited for so long before the leg, and after it. */
enum { RECORD_FIRST_MS = 5000, RECORD_LAST_MS = 5000 };

/* Open what the options ask for; requests are what the run guards. *r is to be given back in either case. */
int record_open(struct record *r, const struct options *o, const struct guard_request *requests,
    size_t n, struct error *e);

/* True if events are wanted. */
bool record_wanted(const struct record *r);

/* Attributes for the resource, an object, which becomes the record's. */
void record_resource(struct record *r, json_t *attributes);

/* Add an event, to be written by the next record_write(). members, its own, become the record's; NULL: no memory. */
void record_event(struct record *r, const char *event, json_t *members);

/* Write what was added; the lock is waited for until then, at the most. -1 if something is left: record_error() says why. */
int record_write(struct record *r, int64_t until);

/*
 * The end: with the lock, see audit.h. record_hold() writes what there is and keeps the lock, record_prepare() makes the chain
 * of what was added since and gives its head (empty without --audit, or if the lock could not be had).
 */
int record_hold(struct record *r, int64_t until);
int record_prepare(struct record *r, char head[DIGEST_TEXT]);
int record_commit(struct record *r, int64_t until);
/* Or forget what was added since record_hold(). */
void record_discard(struct record *r);

/* Give the lock back; nothing is written any more. True if all events are in the files. */
bool record_finish(struct record *r);

/* Why something is not in the files. */
const struct error *record_error(const struct record *r);

void record_close(struct record *r);

#endif
