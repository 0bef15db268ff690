/*
 * The record of a run in the course of the run: opened before the leg and kept from it, begun before it starts, checked when
 * it is gone, and closed around the publication, so that the outputs can hold the hash of the record's last line.
 */
#ifndef GUARD_RECORDING_H
#define GUARD_RECORDING_H

#include "guard/job.h"
#include "guard/outputs.h"

/* Open the files; nothing for a dry run. */
int recording_open(struct job *j, struct error *e);

/* What the run guards, and the record's files behind that: *n of them, malloc'd, for who must not write to one of those. */
struct guard_request *recording_requests(const struct job *j, size_t *n);

/* Plan to hide them from the leg. */
int recording_hide(struct job *j, struct error *e);

/* With the snapshot taken: keep their names, and write how the run begins. -1 with *e if there is to be no leg. */
int recording_begin(struct job *j, struct error *e);

/* With everything put back and nobody of the leg alive: what was done to the record itself is a finding. */
void recording_check(struct job *j);

/* Before what is published is known: write all there is, and keep the file. True unless that failed. */
bool recording_hold(struct job *j);

/*
 * The last lines, of outputs and of the verdict as it will be if they are published. Returns the head, which goes with the
 * outputs, or NULL if there is none. facts have none yet; NULL: nothing will be published.
 */
const char *recording_prepare(
    struct job *j, const struct output *list, size_t n, const struct outputs_facts *facts);

/* The publication has failed: other last lines, which say so. */
void recording_unpublished(struct job *j);

/* Write them. out->audit says what became of it. */
void recording_end(struct job *j);

/* The end of a run that was refused. Of one that had not begun nothing stays, not even an empty file. */
void recording_refused(struct job *j);

#endif
