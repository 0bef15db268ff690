/*
 * What the launcher publishes: entries in the runner's heredoc form, one block of bytes for one write.
 *
 * Rules of the runner's file commands: name<<DELIM, the body, DELIM alone on a line; the last entry
 * of a name wins; output names compare without case; a name is empty, or holds '=', "<<" or a newline
 * only by mistake.
 */
#ifndef GUARD_OUTPUTS_H
#define GUARD_OUTPUTS_H

#include "bindmount/error.h"
#include "guard/lane.h"
#include "guard/options.h"

#include <stdbool.h>
#include <stddef.h>

/* True for exit-code, tampered, reaped, audit-head and lane-class, in any case. */
bool outputs_reserved(const char *name);

/* A name the runner would read back as that name. what: "--set-output", for the message. */
int outputs_check_name(const char *name, const char *what, struct error *e);

struct outputs_facts {
	int exit_code;
	bool tampered;
	bool reaped;            /* it is proven that nothing the leg started is alive */
	const char *audit_head; /* 64 hex digits, or NULL: then there is no such entry */
	enum lane lane;
};

/* The facts as names and values, in the order in which they are published. */
struct outputs_pair {
	const char *name, *value; /* constants, or the caller's */
};
enum { OUTPUTS_FACTS = 5, OUTPUTS_NUMBER = 12 };

/* Returns how many there are. exit_code is room for one of the values. */
size_t outputs_facts_pairs(const struct outputs_facts *facts, char exit_code[OUTPUTS_NUMBER],
    struct outputs_pair pairs[OUTPUTS_FACTS]);

/* Upper bound of one entry whose name and value have these lengths, with a newline before it. */
size_t outputs_entry_bound(size_t name, size_t value);

/* Render entries alone, likewise; NULL and 0 bytes for none. */
int outputs_render_pairs(
    const struct output *list, size_t n, char **block, size_t *size, struct error *e);

/* Upper bound of what outputs_render() makes of these, whatever the facts will be. */
size_t outputs_bound(const struct output *list, size_t n);

/*
 * Render list, then exit-code, tampered, reaped, audit-head if there is one, and, last, lane-class. Each entry has a delimiter of
 * its own with 128 fresh random bits (arc4random_buf) that occurs nowhere in its value. *block is
 * malloc'd.
 */
int outputs_render(const struct output *list, size_t n, const struct outputs_facts *facts,
    char **block, size_t *size, struct error *e);

#endif
