/*
 * Trying something out in a child, which undoes it by ending.
 *
 * Descriptors 0 to 2 of the child are an empty file in memory, where what a program says can be read back.
 * It ends with the caller, whatever kills that, and mounts and namespaces that it made end with it. What it
 * found is written to memory that both share.
 */
#ifndef BINDMOUNT_TRIAL_H
#define BINDMOUNT_TRIAL_H

#include "bindmount/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What a trial found, or what something on this machine is. */
enum trial_state {
	TRIAL_UNKNOWN, /* it could not be found out; error or detail says why */
	TRIAL_OK,      /* an ability that is there */
	TRIAL_MISSING, /* an ability that is not; error says what was refused, and the cure */
	TRIAL_YES,     /* a fact that is neither good nor bad by itself */
	TRIAL_NO,
};

enum { TRIAL_NO_VALUE = -1 };

struct trial_result {
	enum trial_state state;
	bool begun; /* there was a child to try it in */
	int value;  /* a number that goes with it, as an ABI, or TRIAL_NO_VALUE */
	struct error error;
	char detail[512]; /* for people, may hold untrusted text */
};

/* The detail of *r, as printf(3) has it. */
void trial_detail(struct trial_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* TRIAL_MISSING, for the reason that error_set() would be given. */
void trial_missing(struct trial_result *r, int errnum, const char *cure, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* What is tried. It begins with TRIAL_UNKNOWN, and may return or _exit(2) when *r is filled. */
typedef void trial_body(void *arg, struct trial_result *r);

struct trial {
	uint64_t namespaces; /* CLONE_NEW* flags of the child, see sys_fork() */
	int ms;              /* after which the child is killed and nothing is known */
	trial_body *body;
	void *arg;
};

/*
 * Carry it out and wait for its end. *r is filled in any case: a child that can't be made, with the
 * cure of userns_cure(), makes it TRIAL_MISSING.
 */
void trial_run(const struct trial *t, struct trial_result *r);

#endif
