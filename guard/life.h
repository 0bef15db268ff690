/*
 * The life of a run as one table of states and events.
 *
 * Pure: life_on() looks up what an event means in a state and says what is to be done; whoever drives
 * it does that. Every event is defined in every state, so that a signal, a timer or an end that comes
 * at an odd moment has one answer that can be read and tested.
 */
#ifndef GUARD_LIFE_H
#define GUARD_LIFE_H

#include <stdbool.h>

enum life_state {
	LIFE_STARTING, /* the reaper is there, the leg's command is not being executed yet */
	LIFE_RUNNING,
	LIFE_TERMINATING, /* the leg was asked to end; its grace is running */
	LIFE_KILLING,     /* the leg was killed; its end has not been seen yet */
	LIFE_REAPING,     /* the leg's main process has ended; the rest is being killed */
	LIFE_FORCING,     /* that took too long: the reaper was killed, its end is waited for */
	LIFE_DRAINING,    /* all are gone, or given up; what they wrote is still on its way */
	LIFE_RESTORING,   /* names and contents are compared and put back */
	LIFE_PUBLISHING,
	LIFE_REPORTING,
	LIFE_DONE,
	LIFE_STATES
};

enum life_event {
	LIFE_STARTED,     /* the command is being executed */
	LIFE_LEG_ENDED,   /* the leg's main process ended, or there never was one */
	LIFE_REAPER_GONE, /* the reaper can be waited for */
	LIFE_TIMEOUT,     /* --timeout is over */
	LIFE_CANCEL,      /* the launcher got SIGINT, SIGTERM or SIGHUP */
	LIFE_OVERFLOW,    /* the leg wrote more than --max-output */
	LIFE_READER_GONE, /* nobody can take the leg's output any more */
	LIFE_CONTENDED, /* somebody is about to open a guarded file for writing, or has taken from the
	                     launcher what it needs to know of that */
	LIFE_GRACE_OVER, /* the timer that an action armed */
	LIFE_NEXT,       /* the step this state stands for is done */
	LIFE_EVENTS
};

/* What is to be done, in the order of the bits. */
enum life_action {
	LIFE_DO_SIGNAL = 1 << 0,       /* send --signal to the leg and all that belongs to it */
	LIFE_DO_FORWARD = 1 << 1,      /* send them the signal that the launcher got */
	LIFE_DO_END_LEG = 1 << 2,      /* kill the leg's main process */
	LIFE_DO_KILL_REAPER = 1 << 3,  /* kill the reaper, and in the namespace all with it */
	LIFE_DO_GRACE = 1 << 4,        /* arm the timer with --kill-after */
	LIFE_DO_CANCEL_GRACE = 1 << 5, /* arm it with --kill-after, at most LIFE_CANCEL_GRACE_MS */
	LIFE_DO_LAST_GRACE = 1 << 6,   /* arm it with life_last_grace() */
	LIFE_DO_SHORTEN = 1 << 7,      /* the same, but never later than it is armed already */
	/* The leg is gone, and nothing is left to wait for but the reader of its output. That one may take
	 * its time; if life_is_cut_short() it has life_last_grace(). */
	LIFE_DO_DRAIN = 1 << 8,
	LIFE_DO_DISCARD = 1 << 9, /* what the leg wrote and nobody took is dropped */
};

enum {
	/* Killing and forcing follow the cancel's grace, one second each: together they stay inside the
	 * 7.5 s that the runner allows from its first signal to its second. */
	LIFE_CANCEL_GRACE_MS = 4000,
	LIFE_CANCELLED_LAST_GRACE_MS = 1000,
	LIFE_CANCELLED_MS = 7000,   /* from the cancel to the end of everything */
	LIFE_LAST_GRACE_MS = 10000, /* to kill many survivors takes a while; nobody is in a hurry */
};

struct life {
	enum life_state state;
	bool timed_out;  /* these three say why the leg was ended; the first cause stays, and a */
	bool overflowed; /* cancel counts whenever it comes before the outputs are published */
	bool cancelled;
	bool contended; /* likewise a cause: the leg was ended before it could write */
};

/* Take the event; returns the actions, enum life_action or'd together. */
unsigned int life_on(struct life *life, enum life_event event);

/* How long to wait for an end that nothing should delay, in milliseconds. */
int life_last_grace(const struct life *life);

/* It was decided that the run has to end: nobody is waited for without a bound. */
bool life_is_cut_short(const struct life *life);

/* The leg, or what it left, may still be there. */
bool life_has_leg(const struct life *life);

#endif
