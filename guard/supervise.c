/*
 * Waiting for the leg: one loop over the signals for the launcher, the reaper's messages and the
 * reaper's end.
 */
#include "guard/supervise.h"

#include "bindmount/cleanup.h"
#include "guard/reaper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { CANCEL_GRACE_MS = 2000 }; /* the runner allows 7.5 s from the first signal to the last word */

struct watch {
	struct reaper reaper;
	int signals; /* signalfd */
	struct outcome *out;
	struct error *e;
	bool started;  /* the command has been executed, or could not be */
	bool all_dead; /* the reaper's word, which is the proof only without a pid namespace */
	bool reaper_gone;
};

static int
keep_survivors(struct outcome *out, const struct reaper_message *m)
{
	out->survivors_total = m->survivors_total;
	if (m->n_survivors == 0)
		return 0;
	out->survivors = calloc(m->n_survivors, sizeof *out->survivors);
	if (out->survivors == NULL)
		return -1; /* the count is kept */
	memcpy(out->survivors, m->survivors, m->n_survivors * sizeof *out->survivors);
	out->n_survivors = m->n_survivors;
	return 0;
}

static void
take_message(struct watch *w, const struct reaper_message *m)
{
	switch (m->kind) {
	case REAPER_STARTED:
		w->started = true;
		break;
	case REAPER_FAILED:
		w->all_dead = true;
		if (m->failure.exec_errno != 0) {
			w->started = true;
			w->out->exec_errno = m->failure.exec_errno;
		} else {
			*w->e = m->failure.error;
		}
		break;
	case REAPER_ENDED:
		w->out->leg_ended = true;
		w->out->wait_status = m->wait_status;
		w->all_dead = m->all_dead;
		(void)keep_survivors(w->out, m);
		break;
	}
}

static void
take_messages(struct watch *w)
{
	struct reaper_message m;

	while (reaper_receive(&w->reaper, &m) == 1)
		take_message(w, &m);
}

/* The first signal ends the leg, the second, or the end of the grace, the reaper with it. */
static void
take_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (w->out->cancel_signal != 0) {
			reaper_kill(&w->reaper);
			continue;
		}
		w->out->cancel_signal = (int)info.ssi_signo;
		reaper_end_leg(&w->reaper);
	}
}

static void
watch_until_end(struct watch *w)
{
	while (!w->reaper_gone) {
		struct pollfd p[] = {
			{.fd = w->reaper.pidfd, .events = POLLIN},
			{.fd = w->signals, .events = POLLIN},
			{.fd = w->reaper.socket, .events = POLLIN},
		};
		int n = poll(p, 3, w->out->cancel_signal != 0 ? CANCEL_GRACE_MS : -1);

		if (n == 0)
			reaper_kill(&w->reaper);
		if ((p[1].revents & POLLIN) != 0)
			take_signals(w);
		w->reaper_gone = (p[0].revents & POLLIN) != 0;
		take_messages(w); /* after the end was seen, so that the last one is not missed */
		if ((p[2].revents & POLLHUP) != 0 && !w->reaper_gone) {
			/* Its end is all that is left to wait for. */
			p[0].revents = 0;
			(void)poll(p, 1, -1);
			w->reaper_gone = true;
		}
	}
}

/*
 * A reaper that is gone without a word was killed from outside, or with its namespace: then no exit
 * status is known, which is never to be taken for the leg's own.
 */
static void
conclude(struct watch *w, const struct leg_plan *plan, bool waited)
{
	struct outcome *out = w->out;

	if (waited && plan->confined)
		out->proof = PROOF_PID_NAMESPACE;
	else if (waited && w->all_dead)
		out->proof = PROOF_SUBREAPER;
	if (!out->leg_ended && out->exec_errno == 0 && out->cancel_signal == 0)
		error_set(&out->error, 0, "see what else on this machine kills processes",
		    "the leg's reaper was killed from outside; the leg's exit status is lost");
}

int
supervise(const struct leg_plan *plan, const struct meanwhile *meanwhile, struct outcome *out,
    struct error *e)
{
	struct watch w = {.out = out, .e = e};
	bool waited;
	sigset_t cancel;

	sigemptyset(&cancel);
	sigaddset(&cancel, SIGINT);
	sigaddset(&cancel, SIGTERM);
	sigaddset(&cancel, SIGHUP);
	AUTO_FD int signals = signalfd(-1, &cancel, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return error_set(e, errno, NULL, "can't make a signalfd");
	w.signals = signals;
	if (reaper_start(&w.reaper, plan, e) != 0)
		return -1;
	if (meanwhile->work(meanwhile->arg, e) == 0)
		reaper_go(&w.reaper);
	else
		reaper_kill(&w.reaper);
	watch_until_end(&w);
	waited = reaper_wait(&w.reaper, &out->error) == 0;
	reaper_close(&w.reaper);
	if (e->what[0] != '\0')
		return -1;
	if (!w.started && out->cancel_signal == 0)
		return error_set(e, 0, "see what else on this machine kills processes",
		    "the leg's reaper was killed before the leg ran");
	conclude(&w, plan, waited);
	return 0;
}
