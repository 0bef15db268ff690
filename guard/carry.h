/*
 * Decoys and imports in a run: which files get copies, and what is carried over from these to the step's own files.
 * The rules are in import.h.
 */
#ifndef GUARD_CARRY_H
#define GUARD_CARRY_H

#include "bindmount/error.h"
#include "guard/import.h"
#include "guard/outcome.h"
#include "guard/plan.h"
#include "guard/snapshot.h"

/*
 * Plan the decoys: the file-command files that the environment names. Refused: an import into a file that the
 * environment does not name.
 */
int carry_plan(struct plan *p, struct error *e);

/* Reserve room for what may be carried over, but for the outputs. */
int carry_reserve(const struct plan *p, struct snapshot *s, struct error *e);
/* And how much the outputs that are imported can take. */
size_t carry_outputs_bound(const struct options *o);

/* Read the leg's copies into out->importing. With nobody of the leg alive. Fails without memory only. */
int carry_take(
    const struct plan *p, const struct snapshot *s, struct outcome *out, struct error *e);

/*
 * What is to be published as outputs: the imported ones, then those of --set-output. *list is malloc'd, its strings
 * belong to others.
 */
int carry_outputs(const struct options *o, const struct importing *all, struct output **list,
    size_t *n, struct error *e);

/* The file of the snapshot that the step has for that kind, or SIZE_MAX. */
size_t carry_index(const struct plan *p, const struct snapshot *s, enum import_kind kind);

/* The leg's copy of it; malloc'd. NULL if there is none that can be read. */
char *carry_read(const struct plan *p, const struct snapshot *s, const struct outcome *out,
    enum import_kind kind, size_t *size);

/* Append what is carried over to the other files. */
int carry_append(
    const struct plan *p, struct snapshot *s, const struct importing *all, struct error *e);

/*
 * Nobody else has the step's summary open, so no other launcher guards it, for whom an append is tampering. False where
 * the file system can't tell (no leases).
 */
bool carry_summary_is_free(const struct plan *p, const struct snapshot *s);

/* Append the launcher's own text to the step's summary, if that is guarded and the runner would still take it. */
int carry_append_summary(
    const struct plan *p, struct snapshot *s, const char *text, struct error *e);

#endif
