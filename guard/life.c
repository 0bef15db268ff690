/* The life of a run. See life.h. */
#include "guard/life.h"

struct cell {
	enum life_state next;
	unsigned int actions;
};

#define END_LEG (LIFE_DO_END_LEG | LIFE_DO_LAST_GRACE)
#define FORCE   (LIFE_DO_KILL_REAPER | LIFE_DO_LAST_GRACE)

/*
 * One row a state. Where a cell stays in its state without an action, the event means nothing there: it
 * came late, or what it asks for is under way.
 */
/* clang-format off */
static const struct cell table[LIFE_STATES][LIFE_EVENTS] = {
	[LIFE_STARTING] = {
		[LIFE_STARTED] = {LIFE_RUNNING, 0},
		[LIFE_LEG_ENDED] = {LIFE_REAPING, LIFE_DO_LAST_GRACE},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, LIFE_DO_DRAIN},
		/* It may have begun already: the word of it is on its way. If not, this is what it begins with. */
		[LIFE_TIMEOUT] = {LIFE_TERMINATING, LIFE_DO_SIGNAL | LIFE_DO_GRACE},
		[LIFE_CANCEL] = {LIFE_TERMINATING, LIFE_DO_FORWARD | LIFE_DO_CANCEL_GRACE},
		[LIFE_OVERFLOW] = {LIFE_TERMINATING, LIFE_DO_SIGNAL | LIFE_DO_GRACE | LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_TERMINATING,
			LIFE_DO_SIGNAL | LIFE_DO_CANCEL_GRACE | LIFE_DO_DISCARD},
		/* By the reaper, as ever: only that one finds what the leg may have left already. */
		[LIFE_CONTENDED] = {LIFE_KILLING, END_LEG},
		[LIFE_GRACE_OVER] = {LIFE_STARTING, 0},
		[LIFE_NEXT] = {LIFE_STARTING, 0},
	},
	[LIFE_RUNNING] = {
		[LIFE_STARTED] = {LIFE_RUNNING, 0},
		[LIFE_LEG_ENDED] = {LIFE_REAPING, LIFE_DO_LAST_GRACE},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, LIFE_DO_DRAIN},
		[LIFE_TIMEOUT] = {LIFE_TERMINATING, LIFE_DO_SIGNAL | LIFE_DO_GRACE},
		[LIFE_CANCEL] = {LIFE_TERMINATING, LIFE_DO_FORWARD | LIFE_DO_CANCEL_GRACE},
		[LIFE_OVERFLOW] = {LIFE_TERMINATING, LIFE_DO_SIGNAL | LIFE_DO_GRACE | LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_TERMINATING,
			LIFE_DO_SIGNAL | LIFE_DO_CANCEL_GRACE | LIFE_DO_DISCARD},
		[LIFE_CONTENDED] = {LIFE_KILLING, END_LEG},
		[LIFE_GRACE_OVER] = {LIFE_RUNNING, 0},
		[LIFE_NEXT] = {LIFE_RUNNING, 0},
	},
	[LIFE_TERMINATING] = {
		[LIFE_STARTED] = {LIFE_TERMINATING, 0},
		[LIFE_LEG_ENDED] = {LIFE_REAPING, LIFE_DO_LAST_GRACE},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, LIFE_DO_DRAIN},
		[LIFE_TIMEOUT] = {LIFE_TERMINATING, 0},
		/* A second signal, or a first one after the time-out: no more patience. */
		[LIFE_CANCEL] = {LIFE_KILLING, END_LEG},
		[LIFE_OVERFLOW] = {LIFE_TERMINATING, LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_TERMINATING, LIFE_DO_DISCARD},
		[LIFE_CONTENDED] = {LIFE_KILLING, END_LEG},
		[LIFE_GRACE_OVER] = {LIFE_KILLING, END_LEG},
		[LIFE_NEXT] = {LIFE_TERMINATING, 0},
	},
	[LIFE_KILLING] = {
		[LIFE_STARTED] = {LIFE_KILLING, 0},
		[LIFE_LEG_ENDED] = {LIFE_REAPING, LIFE_DO_LAST_GRACE},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, LIFE_DO_DRAIN},
		[LIFE_TIMEOUT] = {LIFE_KILLING, 0},
		[LIFE_CANCEL] = {LIFE_FORCING, FORCE},
		[LIFE_OVERFLOW] = {LIFE_KILLING, LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_KILLING, LIFE_DO_DISCARD},
		[LIFE_CONTENDED] = {LIFE_KILLING, 0},
		[LIFE_GRACE_OVER] = {LIFE_FORCING, FORCE},
		[LIFE_NEXT] = {LIFE_KILLING, 0},
	},
	[LIFE_REAPING] = {
		[LIFE_STARTED] = {LIFE_REAPING, 0},
		[LIFE_LEG_ENDED] = {LIFE_REAPING, 0},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, LIFE_DO_DRAIN},
		[LIFE_TIMEOUT] = {LIFE_REAPING, 0},
		[LIFE_CANCEL] = {LIFE_REAPING, LIFE_DO_SHORTEN},
		[LIFE_OVERFLOW] = {LIFE_REAPING, LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_REAPING, LIFE_DO_DISCARD},
		[LIFE_CONTENDED] = {LIFE_REAPING, 0},
		[LIFE_GRACE_OVER] = {LIFE_FORCING, FORCE},
		[LIFE_NEXT] = {LIFE_REAPING, 0},
	},
	[LIFE_FORCING] = {
		/* The message was on its way while the reaper was being killed. */
		[LIFE_STARTED] = {LIFE_FORCING, 0},
		[LIFE_LEG_ENDED] = {LIFE_FORCING, 0},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, LIFE_DO_DRAIN},
		[LIFE_TIMEOUT] = {LIFE_FORCING, 0},
		[LIFE_CANCEL] = {LIFE_FORCING, LIFE_DO_SHORTEN},
		[LIFE_OVERFLOW] = {LIFE_FORCING, LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_FORCING, LIFE_DO_DISCARD},
		[LIFE_CONTENDED] = {LIFE_FORCING, 0},
		/* Given up: there will be no proof. */
		[LIFE_GRACE_OVER] = {LIFE_DRAINING, LIFE_DO_DRAIN | LIFE_DO_DISCARD},
		[LIFE_NEXT] = {LIFE_FORCING, 0},
	},
	[LIFE_DRAINING] = {
		[LIFE_STARTED] = {LIFE_DRAINING, 0},
		[LIFE_LEG_ENDED] = {LIFE_DRAINING, 0},
		[LIFE_REAPER_GONE] = {LIFE_DRAINING, 0},
		[LIFE_TIMEOUT] = {LIFE_DRAINING, 0},
		/* A reader that takes nothing would hold up the restore. */
		[LIFE_CANCEL] = {LIFE_DRAINING, LIFE_DO_DISCARD},
		[LIFE_OVERFLOW] = {LIFE_DRAINING, LIFE_DO_DISCARD},
		[LIFE_READER_GONE] = {LIFE_DRAINING, LIFE_DO_DISCARD},
		[LIFE_CONTENDED] = {LIFE_DRAINING, 0},
		[LIFE_GRACE_OVER] = {LIFE_DRAINING, LIFE_DO_DISCARD},
		[LIFE_NEXT] = {LIFE_RESTORING, 0},
	},
/* From here on the steps follow each other, whatever comes in between. */
#define STEP(state, after) \
	[state] = { \
		[LIFE_STARTED] = {state, 0}, \
		[LIFE_LEG_ENDED] = {state, 0}, \
		[LIFE_REAPER_GONE] = {state, 0}, \
		[LIFE_TIMEOUT] = {state, 0}, \
		[LIFE_CANCEL] = {state, 0}, \
		[LIFE_OVERFLOW] = {state, 0}, \
		[LIFE_READER_GONE] = {state, 0}, \
		[LIFE_CONTENDED] = {state, 0}, \
		[LIFE_GRACE_OVER] = {state, 0}, \
		[LIFE_NEXT] = {after, 0}, \
	}
	STEP(LIFE_RESTORING, LIFE_PUBLISHING),
	STEP(LIFE_PUBLISHING, LIFE_REPORTING),
	STEP(LIFE_REPORTING, LIFE_DONE),
	STEP(LIFE_DONE, LIFE_DONE),
};
/* clang-format on */

unsigned int
life_on(struct life *life, enum life_event event)
{
	const struct cell *cell = &table[life->state][event];
	bool has_leg = life_has_leg(life);

	switch (event) {
	case LIFE_TIMEOUT:
		life->timed_out |= has_leg && life->state < LIFE_TERMINATING;
		break;
	case LIFE_OVERFLOW:
		life->overflowed |= life->state <= LIFE_DRAINING;
		break;
	case LIFE_CONTENDED:
		life->contended |= has_leg;
		break;
	case LIFE_CANCEL:
	case LIFE_READER_GONE:
		life->cancelled |= life->state < LIFE_PUBLISHING;
		break;
	default:
		break;
	}
	life->state = cell->next;
	return cell->actions;
}

int
life_last_grace(const struct life *life)
{
	return life->cancelled ? LIFE_CANCELLED_LAST_GRACE_MS : LIFE_LAST_GRACE_MS;
}

bool
life_is_cut_short(const struct life *life)
{
	return life->cancelled || life->contended || life->timed_out || life->overflowed;
}

bool
life_has_leg(const struct life *life)
{
	return life->state < LIFE_DRAINING;
}
