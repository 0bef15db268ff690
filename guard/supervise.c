/*
 * Driving the leg's life: one loop that waits for signals to the launcher, the reaper's messages, the
 * reaper's end, the leg's output and the timers, hands each as an event to the table in life.c, and does
 * what that says.
 */
#include "guard/supervise.h"

#include "bindmount/cleanup.h"
#include "guard/ancestor.h"
#include "guard/bounded.h"
#include "guard/cgroup.h"
#include "guard/reaper.h"
#include "guard/snapshot.h"
#include "guard/streams.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NEVER = -1 };

struct watch {
	struct life *life;
	const struct limits *limits;
	const struct meanwhile *meanwhile;
	struct reaper reaper;
	int signals;                  /* signalfd */
	int ancestors[ANCESTORS_MAX]; /* see guard/ancestor.h; -1: none, or it has ended */
	struct relay relay[STREAMS];
	uint64_t output_left;
	int64_t timeout_at, grace_at; /* CLOCK_MONOTONIC in ms, or NEVER */
	struct outcome *out;
	struct error *e;
	bool blind;    /* see go_on_blind() */
	bool hung_up;  /* the reaper says nothing any more: its end is all there is to wait for */
	bool told_end; /* that the leg has ended */
	bool all_dead; /* the reaper's word, which is the proof only without a pid namespace */
};

/* Saturates: a time-out of a million years is one that never comes. */
static int64_t
after(int64_t ms)
{
	int64_t now = bounded_now();

	return ms < INT64_MAX - now ? now + ms : NEVER;
}

static int64_t
min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* After what is to be done about it is done. */
static void
tell(const struct watch *w, enum life_event event, const struct life *before)
{
	const struct life *now = w->life;

	if (w->meanwhile->happened == NULL)
		return;
	if (event == LIFE_STARTED || now->timed_out != before->timed_out ||
	    now->cancelled != before->cancelled || now->overflowed != before->overflowed ||
	    now->contended != before->contended)
		w->meanwhile->happened(w->meanwhile->arg, event);
}

static void
event(struct watch *w, enum life_event event)
{
	const struct life before = *w->life;
	unsigned int todo = life_on(w->life, event);

	if (w->life->cancelled && !before.cancelled)
		w->out->write_until = after(LIFE_CANCELLED_MS);
	if ((todo & LIFE_DO_SIGNAL) != 0)
		reaper_signal(&w->reaper, w->limits->signal);
	if ((todo & LIFE_DO_FORWARD) != 0)
		reaper_signal(&w->reaper, w->out->cancel_signal);
	if ((todo & (LIFE_DO_SIGNAL | LIFE_DO_FORWARD)) != 0)
		reaper_signal(&w->reaper, SIGCONT); /* as timeout(1): a stopped leg hears nothing */
	if ((todo & LIFE_DO_END_LEG) != 0)
		reaper_end_leg(&w->reaper);
	if ((todo & LIFE_DO_KILL_REAPER) != 0)
		reaper_kill(&w->reaper);
	if ((todo & LIFE_DO_GRACE) != 0)
		w->grace_at = after(w->limits->kill_after);
	if ((todo & LIFE_DO_CANCEL_GRACE) != 0)
		w->grace_at = after(min(w->limits->kill_after, LIFE_CANCEL_GRACE_MS));
	if ((todo & LIFE_DO_LAST_GRACE) != 0)
		w->grace_at = after(life_last_grace(w->life));
	if ((todo & LIFE_DO_SHORTEN) != 0) {
		int64_t at = after(life_last_grace(w->life));

		w->grace_at = w->grace_at == NEVER ? at : min(w->grace_at, at);
	}
	if ((todo & LIFE_DO_DRAIN) != 0)
		w->grace_at = life_is_cut_short(w->life) ? after(life_last_grace(w->life)) : NEVER;
	if ((todo & LIFE_DO_DISCARD) != 0)
		for (size_t i = 0; i < STREAMS; i++)
			w->relay[i].discard = true;
	tell(w, event, &before);
}

static void
keep_survivors(struct outcome *out, const struct reaper_message *m)
{
	out->survivors_total = m->survivors_total;
	if (m->n_survivors == 0)
		return;
	out->survivors = calloc(m->n_survivors, sizeof *out->survivors);
	if (out->survivors == NULL)
		return; /* their number is kept */
	memcpy(out->survivors, m->survivors, m->n_survivors * sizeof *out->survivors);
	out->n_survivors = m->n_survivors;
}

/* What the leg has written: read, and waiting to be. */
static void
tell_end(struct watch *w)
{
	uint64_t bytes[STREAMS];

	if (w->told_end || w->meanwhile->ended == NULL)
		return;
	w->told_end = true;
	for (size_t i = 0; i < STREAMS; i++)
		bytes[i] = relay_bytes(&w->relay[i]);
	w->meanwhile->ended(w->meanwhile->arg, bytes);
}

static void
take_message(struct watch *w, const struct reaper_message *m)
{
	switch (m->kind) {
	case REAPER_DECOYS:
		w->out->has_decoys = w->reaper.decoys >= 0;
		w->out->decoys = fd_take(&w->reaper.decoys);
		break;
	case REAPER_STARTED:
		event(w, LIFE_STARTED);
		break;
	case REAPER_FAILED:
		w->all_dead = true;
		if (m->failure.exec_errno != 0) {
			w->out->exec_errno = m->failure.exec_errno;
			tell_end(w);
		} else if (w->e->what[0] == '\0') {
			*w->e = m->failure.error;
		}
		event(w, LIFE_LEG_ENDED);
		break;
	case REAPER_ENDED:
		w->out->leg_ended = true;
		w->out->wait_status = m->wait_status;
		w->all_dead = m->all_dead;
		w->out->usage = m->usage;
		keep_survivors(w->out, m);
		tell_end(w);
		event(w, LIFE_LEG_ENDED);
		break;
	}
}

static void
take_messages(struct watch *w)
{
	struct reaper_message m;
	int got;

	while ((got = reaper_receive(&w->reaper, &m)) == 1)
		take_message(w, &m);
	w->hung_up = got < 0;
}

/* As any foreground command: the leg stops and goes on with the launcher. */
static void
stop_and_continue(const struct watch *w)
{
	reaper_signal(&w->reaper, SIGSTOP);
	(void)raise(SIGSTOP);
	reaper_signal(&w->reaper, SIGCONT);
}

static void
take_signals(struct watch *w)
{
	struct signalfd_siginfo info;
	bool watched = false, renamed = false;

	while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGIO || info.ssi_signo == SNAPSHOT_RENAMED) {
			watched = true;
			renamed |= info.ssi_signo != SIGIO;
			continue;
		}
		if (info.ssi_signo == SIGTSTP) {
			stop_and_continue(w);
			continue;
		}
		if (w->out->cancel_signal == 0)
			w->out->cancel_signal = (int)info.ssi_signo;
		event(w, LIFE_CANCEL);
	}
	/* With all of them read: a rename was told before the open that it made possible. */
	if (watched && w->meanwhile->attacked(w->meanwhile->arg, renamed))
		event(w, LIFE_CONTENDED);
}

static void
drop_ancestors(struct watch *w)
{
	for (size_t i = 0; i < ANCESTORS_MAX; i++)
		fd_drop(&w->ancestors[i]);
}

/* The word of somebody who can't give a signal. */
static void
take_ancestors_end(struct watch *w, const struct pollfd p[ANCESTORS_MAX])
{
	bool ended = false;

	for (size_t i = 0; i < ANCESTORS_MAX; i++)
		ended |= (p[i].revents & POLLIN) != 0;
	if (!ended)
		return;
	/* The end of the other one is no second cancel. */
	drop_ancestors(w);
	if (w->out->cancel_signal == 0)
		w->out->cancel_signal = SIGTERM;
	event(w, LIFE_CANCEL);
}

static void
pass_output(struct watch *w, struct relay *r)
{
	switch (relay_pump(r, &w->output_left)) {
	case RELAY_LIMIT:
		event(w, LIFE_OVERFLOW);
		break;
	case RELAY_READER_GONE:
		if (w->out->cancel_signal == 0)
			w->out->cancel_signal = SIGPIPE;
		event(w, LIFE_READER_GONE);
		break;
	case RELAY_AGAIN:
	case RELAY_END:
		break;
	}
}

static void
take_timers(struct watch *w)
{
	int64_t now = bounded_now();

	if (w->timeout_at != NEVER && now >= w->timeout_at) {
		w->timeout_at = NEVER;
		event(w, LIFE_TIMEOUT);
	}
	if (w->grace_at != NEVER && now >= w->grace_at) {
		w->grace_at = NEVER;
		event(w, LIFE_GRACE_OVER);
	}
}

/* Milliseconds until the next timer, as poll(2) takes them. */
static int
until_timer(const struct watch *w)
{
	int64_t at = w->timeout_at, left;

	if (at == NEVER || (w->grace_at != NEVER && w->grace_at < at))
		at = w->grace_at;
	if (at == NEVER)
		return -1;
	left = at - bounded_now();
	return left < 0 ? 0 : (int)min(left, INT_MAX);
}

static bool
reaper_has_ended(const struct watch *w)
{
	siginfo_t info = {0};

	/* With WNOWAIT it is still there to be waited for. */
	return waitid(P_PID, (id_t)w->reaper.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == w->reaper.pid;
}

/*
 * poll(2) takes no more descriptors than the process may have open, and where the leg shares our user and is not kept
 * from it, it can lower that (prlimit(2)). Nothing can be opened any more then, so the leg is ended; until that is over
 * we look at everything again and again, none of which waits, and what the leg wrote is dropped, as there is no telling
 * whether writing it would wait.
 */
static void
go_on_blind(struct watch *w)
{
	static const struct timespec tick = {.tv_nsec = 20 * 1000000L};

	if (!w->blind) {
		w->blind = true;
		event(w, LIFE_CONTENDED);
		error_set(&w->out->error, 0, "see what else runs as this user",
		    "somebody took legguard's descriptors (prlimit); the leg was ended");
	}
	(void)nanosleep(&tick, NULL);
	take_signals(w);
	if (life_has_leg(w->life)) {
		bool ended = reaper_has_ended(w);

		take_messages(w);
		if (ended)
			event(w, LIFE_REAPER_GONE);
	}
	for (size_t i = 0; i < STREAMS; i++) {
		w->relay[i].discard = true;
		pass_output(w, &w->relay[i]);
	}
	take_timers(w);
}

static void
turn(struct watch *w)
{
	struct pollfd p[2 + ANCESTORS_MAX + 2 * STREAMS + 1];
	nfds_t n = 0;
	bool has_leg = life_has_leg(w->life);

	p[n++] = (struct pollfd){.fd = w->signals, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = has_leg ? w->reaper.pidfd : -1, .events = POLLIN};
	for (size_t i = 0; i < ANCESTORS_MAX; i++)
		p[n++] = (struct pollfd){.fd = w->ancestors[i], .events = POLLIN};
	for (size_t i = 0; i < STREAMS; i++)
		n += (nfds_t)relay_poll(&w->relay[i], &p[n]);
	p[n++] =
	    (struct pollfd){.fd = has_leg && !w->hung_up ? w->reaper.socket : -1, .events = POLLIN};
	if (poll(p, n, until_timer(w)) < 0) {
		if (errno == EINVAL)
			go_on_blind(w);
		return;
	}
	if ((p[0].revents & POLLIN) != 0)
		take_signals(w);
	take_ancestors_end(w, &p[2]);
	if (has_leg)
		take_messages(w);
	for (size_t i = 0; i < STREAMS; i++)
		pass_output(w, &w->relay[i]);
	if ((p[1].revents & POLLIN) != 0) {
		take_messages(w); /* after its end was seen, so that the last one is not missed */
		event(w, LIFE_REAPER_GONE);
	}
	take_timers(w);
}

/*
 * With the writers gone, what is in the pipes ends with an end of file. If they may not be gone, as
 * without a proof, what is there now is all that is waited for.
 */
static bool
drained(struct watch *w, bool proven)
{
	bool done = true;

	for (size_t i = 0; i < STREAMS; i++) {
		struct relay *r = &w->relay[i];

		done &= r->from < 0 || (!proven && !r->wants_room && r->held_size == 0);
	}
	return done;
}

/*
 * The group is empty, and the reaper has seen the end of every descendant. One without the other is no proof: the leg can
 * leave the group, even where its view has it read-only (clone3(2) with CLONE_INTO_CGROUP writes no file), and a reaper
 * that was killed has seen nothing.
 */
static bool
group_is_empty(const struct watch *w, const struct leg_plan *plan)
{
	if (plan->cgroup < 0)
		return false;
	(void)cgroup_kill(plan->cgroup); /* done already, unless the reaper was killed */
	return cgroup_wait_empty(plan->cgroup, life_last_grace(w->life)) && w->all_dead;
}

/*
 * A reaper that is gone without a word was killed from outside, or with its namespace: then no exit
 * status is known, which is never to be taken for the leg's own.
 */
static void
conclude(struct watch *w, const struct leg_plan *plan, bool waited)
{
	struct outcome *out = w->out;

	if (waited && plan->pid_namespace)
		out->proof = PROOF_PID_NAMESPACE;
	else if (group_is_empty(w, plan))
		out->proof = PROOF_CGROUP;
	else if (waited && w->all_dead)
		out->proof = PROOF_SUBREAPER;
	out->timed_out = w->life->timed_out;
	out->overflowed = w->life->overflowed;
	if (w->blind)
		out->leg_ended = false; /* by us, and not at its time */
	if (out->leg_ended || out->exec_errno != 0 || w->blind)
		return;
	if (w->life->contended)
		error_set(&out->error, 0, "see with fuser(1) who does, and end it",
		    "somebody opened a guarded file for writing; the leg was ended for it");
	else if (!w->life->cancelled && !w->life->timed_out)
		error_set(&out->error, 0, "see what else on this machine kills processes",
		    "the leg's reaper was killed from outside; the leg's exit status is lost");
}

static int
open_signals(struct watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGIO); /* these two come from guard/hold.h */
	sigaddset(&set, SNAPSHOT_RENAMED);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->signals < 0)
		return error_set(w->e, errno, NULL, "can't make a signalfd");
	return 0;
}

static int
start(struct watch *w, struct leg_plan *plan)
{
	if (open_signals(w) != 0 || streams_open(w->relay, plan, w->out, w->e) != 0)
		return -1;
	if (reaper_start(&w->reaper, plan, w->e) != 0)
		return -1;
	for (size_t i = 0; i < STREAMS; i++)
		relay_started(&w->relay[i]);
	return 0;
}

static void
run_life(struct watch *w, const struct leg_plan *plan, const struct meanwhile *meanwhile)
{
	bool waited;
	int64_t began = bounded_now();

	if (meanwhile->work(meanwhile->arg, w->reaper.pidfd, w->e) != 0 ||
	    reaper_go(&w->reaper, w->e) != 0)
		reaper_kill(&w->reaper);
	if (w->limits->timeout > 0)
		w->timeout_at = after(w->limits->timeout);
	while (life_has_leg(w->life))
		turn(w);
	waited = reaper_wait(&w->reaper) == 0;
	conclude(w, plan, waited);
	w->out->duration_ms = bounded_now() - began;
	if (w->e->what[0] == '\0')
		tell_end(w);
	if (meanwhile->gone != NULL)
		meanwhile->gone(meanwhile->arg);
	for (size_t i = 0; i < STREAMS; i++)
		pass_output(w, &w->relay[i]);
	while (!drained(w, w->out->proof != PROOF_NONE))
		turn(w);
	for (size_t i = 0; i < STREAMS; i++)
		relay_mend(&w->relay[i], after(BOUNDED_LAST_MS));
	for (size_t i = 0; i < STREAMS; i++)
		w->out->bytes[i] = w->relay[i].bytes;
	if (life_is_cut_short(w->life) && w->out->write_until == 0)
		w->out->write_until = after(BOUNDED_LAST_MS);
	event(w, LIFE_NEXT);
}

int
supervise(struct leg_plan *plan, const struct limits *limits, const struct meanwhile *meanwhile,
    struct life *life, struct outcome *out, struct error *e)
{
	struct watch w = {
	    .life = life,
	    .limits = limits,
	    .meanwhile = meanwhile,
	    .reaper = {.pid = -1, .pidfd = -1, .socket = -1, .decoys = -1},
	    .signals = -1,
	    .relay = STREAMS_NONE,
	    .output_left = limits->max_output,
	    .timeout_at = NEVER,
	    .grace_at = NEVER,
	    .out = out,
	    .e = e,
	};

	*life = (struct life){.state = LIFE_STARTING};
	ancestor_watch(w.ancestors);
	if (start(&w, plan) == 0)
		run_life(&w, plan, meanwhile);
	reaper_close(&w.reaper);
	for (size_t i = 0; i < STREAMS; i++)
		relay_close(&w.relay[i]);
	fd_drop(&w.signals);
	drop_ancestors(&w);
	/* A leg that nothing was heard of may have begun all the same, so that is no refusal. */
	return e->what[0] == '\0' ? 0 : -1;
}
