/*
 * What is recorded of a run, event by event: what the launcher knows, as guard/audit.schema.json says it. guard/record.h says
 * where it goes.
 *
 * Never recorded are values: of variables, outputs, file commands, and the text of what the leg printed.
 */
#ifndef GUARD_EVENTS_H
#define GUARD_EVENTS_H

#include "guard/job.h"
#include "guard/outputs.h"

#include <jansson.h>

/* Before the leg: the start, of which the launcher's environment says the run's identifiers, and what is guarded. */
void events_start(struct job *j);
void events_snapshot(struct job *j);

/* While it lives: the launcher heard of one of the things in life.h. */
void events_life(struct job *j, enum life_event event);

/* Its main process has ended, or never was; so many bytes of stdout and stderr were read until then. */
void events_leg_end(struct job *j, const uint64_t bytes[2]);

/* Who was alive then, and what a sweep has found. */
void events_survivors(struct job *j);
void events_sweep(struct job *j);

/* What it printed that would have been a workflow command. */
void events_commands(struct job *j);

/* What was found changed, and what the leg tried to set in it; what it tried to set in its copies; what is imported of that. */
void events_tampering(struct job *j);
void events_attempted(struct job *j);
void events_imports(struct job *j);

/* The outputs: names, and hashes of values. n of list, and the facts, of which audit_head, a line's own hash, is left out. */
void events_publish(
    struct job *j, const struct output *list, size_t n, const struct outputs_facts *facts);

/* CLOCK_MONOTONIC, from which a run's duration is counted. */
int64_t events_now_us(void);

/* The verdict, the last event. */
void events_end(struct job *j);

#endif
