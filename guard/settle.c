/* The end of a run. See settle.h. */
#include "guard/settle.h"

#include "bindmount/cleanup.h"
#include "guard/carry.h"
#include "guard/doors.h"
#include "guard/events.h"
#include "guard/hints.h"
#include "guard/outputs.h"
#include "guard/recording.h"
#include "guard/status.h"
#include "guard/summary.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit status by the leg alone. */
static int
leg_status(struct outcome *out)
{
	if (out->exec_errno != 0) {
		out->guard_origin = true;
		return out->exec_errno == ENOENT || out->exec_errno == ENOTDIR
		           ? EXIT_NOT_FOUND
		           : EXIT_NOT_EXECUTABLE;
	}
	if (!out->leg_ended) {
		out->guard_origin = true;
		return EXIT_GUARD;
	}
	if (WIFSIGNALED(out->wait_status))
		return 128 + WTERMSIG(out->wait_status);
	return WEXITSTATUS(out->wait_status);
}

static void
override_status(struct outcome *out, int status)
{
	out->exit_status = status;
	out->guard_origin = true;
}

/* Only what nobody can write to any more is looked at. */
static void
take_imports(struct job *j)
{
	struct outcome *out = j->out;

	if (out->proof != PROOF_NONE && record_wanted(&j->record))
		events_attempted(j);
	if (out->proof != PROOF_NONE && carry_take(&j->plan, j->snapshot, out, &out->error) != 0)
		out->restore_failed = true;
	if (out->has_decoys)
		(void)close(out->decoys);
	out->has_decoys = false;
}

/* Class and exit status from everything that is known. The worst is looked at last. */
static void
decide(const struct job *j)
{
	const struct options *o = j->options;
	struct outcome *out = j->out;
	const struct lane_facts facts = {
	    .tampered = out->findings.count > 0 || (o->import_strict && out->importing.refused > 0),
	    .survivors = out->proof == PROOF_NONE ||
	                 (o->fail_on_survivors && out->survivors_total + out->swept_total > 0),
	    .cancelled = j->life.cancelled,
	    .timed_out = out->timed_out,
	    .overflowed = out->overflowed,
	};
	enum lane classified;

	out->tampered = facts.tampered;
	out->exit_status = leg_status(out);
	classified = out->exit_status == 0 ? LANE_OK : LANE_ERROR;
	if (!out->guard_origin && o->classify)
		classified = classify_end(&out->classifier, out->wait_status);
	if (!out->guard_origin && o->exit_class_set[out->exit_status])
		classified = o->exit_class[out->exit_status];
	out->lane = lane_decide(&facts, classified);
	if (facts.overflowed)
		override_status(out, EXIT_OVERFLOW);
	if (facts.timed_out)
		override_status(out, EXIT_TIMEOUT);
	if (facts.cancelled)
		override_status(out, 128 + out->cancel_signal);
	if (facts.survivors)
		override_status(out, EXIT_SURVIVORS);
	if (facts.tampered && !o->keep_status_on_tamper)
		override_status(out, EXIT_TAMPERED);
	/* What is alive may undo what was restored. */
	if (out->proof == PROOF_NONE)
		override_status(out, EXIT_SURVIVORS);
	if (out->restore_failed)
		override_status(out, EXIT_RESTORE);
}

/* With nobody having asked for it, one that can't be written changes nothing. */
static int
append_summary(struct job *j)
{
	AUTO_FREE char *text = NULL;

	if (!j->options->summary) {
		janitor_wait(&j->janitor); /* which has it open as well */
		if (!carry_summary_is_free(&j->plan, j->snapshot))
			return 0;
	}
	text = summary_render(j->out, &j->out->error);
	return text != NULL ? carry_append_summary(&j->plan, j->snapshot, text, &j->out->error)
	                    : -1;
}

static void
publish(struct job *j)
{
	const struct options *o = j->options;
	struct outcome *out = j->out;
	struct outputs_facts facts = {
	    .exit_code = out->exit_status,
	    .tampered = out->tampered,
	    .reaped = out->proof != PROOF_NONE,
	    .lane = out->lane,
	};
	AUTO_FREE char *block = NULL;
	AUTO_FREE struct output *list = NULL;
	size_t size, n;
	bool carried = carry_append(&j->plan, j->snapshot, &out->importing, &out->error) == 0;

	if (carried && summary_is_wanted(o, out) && append_summary(j) != 0 && o->summary)
		carried = false;
	if (!job_publishes(j) && carried) {
		(void)recording_prepare(j, NULL, 0, NULL);
		return;
	}
	if (carried && carry_outputs(o, &out->importing, &list, &n, &out->error) == 0) {
		facts.audit_head = recording_prepare(j, list, n, &facts);
		if (outputs_render(list, n, &facts, &block, &size, &out->error) == 0 &&
		    snapshot_append(j->snapshot, job_output_index(j), block, size, &out->error) ==
			0) {
			out->published = true;
			return;
		}
	}
	out->restore_failed = true;
	override_status(out, EXIT_RESTORE);
	recording_unpublished(j);
}

/* A record that is not whole ends the run only where that is asked for; nothing that was done is undone for it. */
static void
require_record(const struct job *j, bool whole)
{
	if (!whole && j->options->audit_required)
		override_status(j->out, EXIT_RESTORE);
}

/* A leg that failed by itself may have missed what its view took away. */
static void
find_hint(const struct job *j)
{
	struct outcome *out = j->out;
	const struct options *o = j->options;
	const struct hints_facts facts = {
	    .tier = o->isolation == ISOLATION_LANDLOCK ? HINTS_LANDLOCK : HINTS_NAMESPACE,
	    .pinned = out->view == VIEW_PIN,
	    .strict = out->view == VIEW_STRICT,
	    .root = o->root_leg,
	    .user = o->user != NULL,
	    .engines_closed = doors_closed(&j->plan, DOORS_ENGINE),
	    .buses_closed = doors_closed(&j->plan, DOORS_BUS),
	};

	if (!out->keeps_output || o->isolation == ISOLATION_NONE || j->life.cancelled ||
	    out->timed_out || out->overflowed)
		return;
	if (out->exec_errno != 0)
		out->hint = hints_exec(out->exec_errno, &facts);
	if (!out->leg_ended || out->wait_status == 0)
		return;
	/* stderr first, where it is told. */
	for (size_t i = 2; i-- > 0 && out->hint == NULL;)
		out->hint = hints_find(out->output[i].bytes, out->output[i].used, &facts);
}

/* A signal to end that came when the loop no longer looked, or 0. */
static int
late_cancel(void)
{
	static const int cancels[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t pending;

	if (sigpending(&pending) != 0)
		return 0;
	for (size_t i = 0; i < sizeof cancels / sizeof cancels[0]; i++)
		if (sigismember(&pending, cancels[i]) == 1)
			return cancels[i];
	return 0;
}

static bool
is_told_to_end(void)
{
	return late_cancel() != 0;
}

/* It is a cancel as well. */
static void
note_late_cancel(struct job *j)
{
	int sig = j->life.cancelled ? 0 : late_cancel();

	if (sig == 0)
		return;
	j->out->cancel_signal = sig;
	(void)life_on(&j->life, LIFE_CANCEL);
	events_life(j, LIFE_CANCEL);
}

/* After the outputs are published, which nothing is to delay. */
static void
bring_out(struct job *j)
{
	const struct rights rights = job_rights(j);
	const char *leave = NULL;

	if (j->life.cancelled)
		leave = "the run was cancelled";
	else if (j->out->proof == PROOF_NONE)
		leave = "something of the leg may be alive";
	if (rights_take(&rights) != 0)
		return; /* it is told of as what is left in the private directory */
	bringout_collect(&j->bringout, leave, is_told_to_end, &j->out->brought_out);
	rights_give_back(&rights);
}

/* What is held on the files now was not ended with the leg. */
static void
look_again(struct job *j)
{
	struct outcome *out = j->out;

	janitor_wait(&j->janitor); /* which has them open as well */
	if (snapshot_note_changes(j->snapshot, &out->leftovers) != 0)
		error_set(&out->error, errno, NULL, "can't note what was changed");
	for (size_t i = 0; i < j->plan.n_requests; i++) {
		const struct guard_request *r = &j->plan.requests[i];
		size_t index = snapshot_index(j->snapshot, i);
		int fd;

		if (r->path == j->status.path ||
		    leftovers_none(snapshot_descriptor(j->snapshot, index)))
			continue;
		fd = snapshot_let_go(j->snapshot, index);
		if (fd >= 0 && leftovers_look(&out->leftovers, fd, r->path, false) != 0)
			error_set(&out->error, errno, NULL, "can't note what others hold");
	}
}

static void
report(const struct job *j)
{
	struct outcome *out = j->out;
	AUTO_FREE char *text = NULL;
	int result;

	if (j->status.fd < 0)
		return;
	text = status_render(out, &out->error);
	if (text == NULL) {
		result = -1;
	} else if (j->status.path != NULL && j->snapshot != NULL) {
		result = snapshot_append(
		    j->snapshot, job_status_index(j), text, strlen(text), &out->error);
		(void)lseek(
		    j->status.fd, 0, SEEK_END); /* whoever gave it to us goes on behind that */
	} else {
		result = statusfile_write(&j->status, text, outcome_write_until(out), &out->error);
	}
	if (result != 0)
		override_status(out, EXIT_RESTORE);
}

void
settle(struct job *j)
{
	struct outcome *out = j->out;

	out->began = true;
	while (j->life.state != LIFE_DONE) {
		switch (j->life.state) {
		case LIFE_RESTORING:
			out->unrestored =
			    snapshot_restore(j->snapshot, &out->findings, &out->error) != 0;
			out->restore_failed = out->unrestored;
			janitor_dismiss(&j->janitor);
			recording_check(j);
			events_commands(j);
			events_tampering(j);
			take_imports(j);
			events_imports(j);
			find_hint(j);
			note_late_cancel(j);
			decide(j);
			break;
		case LIFE_PUBLISHING:
			require_record(j, recording_hold(j));
			publish(j);
			recording_end(j);
			require_record(j, out->audit.why.what[0] == '\0');
			break;
		case LIFE_REPORTING:
			bring_out(j);
			look_again(j);
			report(j);
			break;
		default:
			break;
		}
		(void)life_on(&j->life, LIFE_NEXT);
	}
}

void
settle_refusal(struct job *j, const struct error *e)
{
	struct outcome *out = j->out;

	out->error = *e;
	out->lane = LANE_ERROR;
	out->isolation = j->options->isolation;
	override_status(out, EXIT_GUARD);
	recording_refused(j);
	/* Through the descriptor: there may be no snapshot, and nobody has been at the file. */
	if (j->status.fd >= 0) {
		AUTO_FREE char *text = status_render(out, &out->error);

		if (text != NULL)
			(void)statusfile_write(
			    &j->status, text, outcome_write_until(out), &out->error);
	}
}
