/* One run. See run.h. */
#include "guard/run.h"

#include "bindmount/cleanup.h"
#include "guard/bringout.h"
#include "guard/carry.h"
#include "guard/cgroup.h"
#include "guard/describe.h"
#include "guard/doors.h"
#include "guard/hide.h"
#include "guard/hints.h"
#include "guard/janitor.h"
#include "guard/outputs.h"
#include "guard/plan.h"
#include "guard/privatetemp.h"
#include "guard/rights.h"
#include "guard/snapshot.h"
#include "guard/spine.h"
#include "guard/status.h"
#include "guard/statusfile.h"
#include "guard/supervise.h"
#include "guard/sweep.h"
#include "guard/writable.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
	const struct options *options;
	const struct startup *startup;
	struct statusfile status;
	struct plan plan;
	struct private_temp temp;
	struct snapshot *snapshot;
	struct life life;
	struct cgroup cgroup;
	struct janitor janitor;
	struct sweep_scope sweep;
	struct bringout bringout;
	struct outcome *out;
};

enum {
	STATUS_ROOM = 64 * 1024, /* what the status object is likely to take at the most */
	SWEEP_MS = 3000, /* nothing that is killed takes longer to end, unless it never does */
};

static bool
publishes(const struct job *j)
{
	return j->plan.output_request != PLAN_NO_OUTPUT && !j->options->no_outputs;
}

static size_t
output_index(const struct job *j)
{
	return snapshot_index(j->snapshot, j->plan.output_request);
}

/* The status file is the last request, if there is one. */
static size_t
status_index(const struct job *j)
{
	return snapshot_index(j->snapshot, j->plan.n_requests - 1);
}

static bool
has_pid_namespace(const struct options *o)
{
	return o->isolation == ISOLATION_NAMESPACE && !o->share_pid;
}

/* Before the snapshot, whose own descriptors would be writers too. */
static int
look_for_leftovers(const struct job *j, struct error *e)
{
	struct leftovers *l = &j->out->leftovers;

	for (size_t i = 0; i < j->plan.n_requests; i++)
		if (j->plan.requests[i].path !=
			j->status.path && /* which we are writing ourselves */
		    leftovers_look_at(l, j->plan.requests[i].path, true) != 0)
			return error_set(e, errno, NULL, "can't note what others hold");
	if (j->options->strict_files && l->count > 0)
		return error_set(e, 0, "end the process that an earlier step left, see fuser(1)",
		    "--strict-files: %s is %s", l->list[0].path, leftover_text(l->list[0].kind));
	return 0;
}

/*
 * Where the leg shares the host's pid namespace; its view must not let it leave the group. A root leg gets one in any
 * case: with a cgroup2 of its own mounting it could end or freeze all that is in its group.
 */
static int
make_cgroup(struct job *j, struct error *e)
{
	const struct options *o = j->options;
	struct stat st;

	if (has_pid_namespace(o) && j->plan.leg.kind != IDENTITY_ROOT)
		return 0;
	if (cgroup_make(&j->cgroup, o->cgroup, e) != 0)
		return -1;
	if (j->cgroup.dir < 0 || o->isolation != ISOLATION_NAMESPACE)
		return 0;
	if (stat(j->cgroup.mount, &st) != 0 ||
	    view_paths_add(&j->plan.view.read_only, j->cgroup.mount, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't protect %s", j->cgroup.mount);
	return 0;
}

/* Before all that can be refused, so that a refusal has its status object. */
static int
begin(struct job *j, char **env, struct error *e)
{
	const struct options *o = j->options;

	if (plan_begin(&j->plan, o, env, e) != 0)
		return -1;
	if (o->dry_run)
		return 0;
	if (statusfile_open(
		&j->status, o, j->plan.requests, j->plan.n_requests, j->startup->umask, e) != 0)
		return -1;
	if (j->status.path != NULL)
		plan_guard_status(&j->plan, j->status.path, j->status.option);
	return 0;
}

/* With whose rights names in the leg's own directories are changed; see guard/rights.h. */
static struct rights
leg_rights(const struct job *j)
{
	const struct identity *leg = &j->plan.leg;

	return (struct rights){leg->kind == IDENTITY_USER, leg->uid, leg->gid};
}

static int
make_temp(struct job *j, struct error *e)
{
	const struct rights rights = leg_rights(j);
	int result;

	if (rights_take(&rights) != 0)
		return error_set(e, errno, NULL, "can't take on the leg's rights");
	result = private_temp_make(&j->temp, &j->bringout, &j->plan, j->options->dry_run, e);
	rights_give_back(&rights);
	return result;
}

static void
end_temp(struct job *j, bool dead)
{
	const struct rights rights = leg_rights(j);

	if (rights_take(&rights) != 0)
		return; /* what there is stays */
	private_temp_end(&j->temp, dead, j->life.cancelled);
	rights_give_back(&rights);
}

/* A rule can keep a link in its place, as no mount can. */
static int
prepare_landlock(struct job *j, struct error *e)
{
	if (snapshot_link_paths(j->snapshot, &j->plan.view.read_only, e) != 0)
		return -1;
	return make_temp(j, e);
}

/* What the leg's view is made from. */
static int
prepare(struct job *j, char **env, struct error *e)
{
	const struct options *o = j->options;

	if (plan_make(&j->plan, env, e) != 0 ||
	    snapshot_walk(
		&j->snapshot, j->plan.requests, j->plan.n_requests, o->allow_hard_links, e) != 0)
		return -1;
	if (j->plan.leg.kind == IDENTITY_USER &&
	    snapshot_for_leg(j->snapshot, j->plan.leg.uid, j->plan.leg.gid, e) != 0)
		return -1;
	if (snapshot_read_only_paths(j->snapshot, &j->plan.view.read_only, e) != 0)
		return -1;
	if (hide_check(&j->plan, j->snapshot, e) != 0 || carry_plan(&j->plan, e) != 0)
		return -1;
	if (o->isolation == ISOLATION_LANDLOCK)
		return prepare_landlock(j, e);
	if (o->pin)
		return spine_plan(&j->plan.view, j->snapshot, j->plan.leg.uid, j->plan.leg.gid, e);
	return writable_plan(&j->plan, j->snapshot, env, e);
}

/* What has to be known before the leg starts. */
static int
record(const struct job *j, struct error *e)
{
	if (look_for_leftovers(j, e) != 0 || snapshot_record(j->snapshot, e) != 0)
		return -1;
	return plan_check(&j->plan, j->snapshot, e);
}

static int
reserve(const struct job *j, struct error *e)
{
	if (publishes(j) && snapshot_reserve(j->snapshot, output_index(j),
				outputs_bound(j->options->outputs, j->options->n_outputs) +
				    carry_outputs_bound(j->options),
				e) != 0)
		return -1;
	if (carry_reserve(&j->plan, j->snapshot, e) != 0)
		return -1;
	if (j->status.path != NULL)
		return snapshot_reserve(j->snapshot, status_index(j), STATUS_ROOM, e);
	return 0;
}

/* A leg with a pid namespace of its own is looked for outside of it only if that is asked for. */
static int
open_sweep(struct job *j, struct error *e)
{
	enum sweep_mode asked = j->options->sweep;

	if (asked == SWEEP_OFF || (asked == SWEEP_DEFAULT && has_pid_namespace(j->options)))
		return 0;
	return sweep_scope_open(&j->sweep, j->plan.leg.uid, e);
}

/* Before the leg's output is drained: what left its tree may hold that as well. */
static void
sweep_up(void *arg)
{
	struct job *j = arg;
	struct outcome *out = j->out;
	enum sweep_mode mode = sweep_mode(j->options->sweep, out->proof, &j->sweep);
	int64_t bound = j->life.cancelled ? LIFE_CANCELLED_LAST_GRACE_MS : SWEEP_MS;
	struct sweep_result result;

	if (j->sweep.procfd < 0 || mode == SWEEP_OFF)
		return;
	(void)sweep_run(&result, &j->sweep, mode, bound, &out->error);
	out->sweep = mode;
	out->swept = result.found;
	out->swept_total = result.total;
	out->sweep_clean = result.clean;
	out->sweep_failed = mode == SWEEP_KILL && !result.clean;
	if (out->sweep_failed)
		out->proof = PROOF_NONE;
}

/* Done while the leg's namespaces are being made. */
static int
provide(void *arg, int reaper_pidfd, struct error *e)
{
	struct job *j = arg;

	if (record(j, e) != 0 || reserve(j, e) != 0 || open_sweep(j, e) != 0 ||
	    protected_keep(&j->plan.protected, j->snapshot, e) != 0)
		return -1;
	/* An unconfined leg may write, as it was asked for; it is put back. */
	if (j->options->isolation != ISOLATION_NONE)
		j->out->held =
		    snapshot_hold(j->snapshot, j->status.path != NULL ? status_index(j) : SIZE_MAX);
	return janitor_start(&j->janitor, j->snapshot, &j->cgroup, reaper_pidfd, e);
}

static bool
is_attacked(void *arg, bool renamed)
{
	const struct job *j = arg;

	/* With Landlock the leg can't rename a directory above, so whoever did is not the leg. */
	return snapshot_is_attacked(
	    j->snapshot, renamed && j->options->isolation == ISOLATION_NAMESPACE);
}

static int
begin_bringout(struct job *j, const struct leg_plan *leg, struct error *e)
{
	const struct rights rights = leg_rights(j);
	int result;

	if (!leg->confined)
		return 0; /* without a view there is one already, or none */
	if (rights_take(&rights) != 0)
		return error_set(e, errno, NULL, "can't take on the leg's rights");
	result = bringout_begin(&j->bringout, &j->plan.view, leg->uid, leg->gid, e);
	rights_give_back(&rights);
	return result;
}

static void
end_bringout(struct job *j)
{
	const struct rights rights = leg_rights(j);

	if (j->bringout.real < 0 || rights_take(&rights) != 0)
		return; /* there is none, or what there is stays */
	bringout_end(&j->bringout);
	rights_give_back(&rights);
}

static int
run_leg(struct job *j, struct error *e)
{
	struct leg_plan leg = {
	    .confined = j->options->isolation == ISOLATION_NAMESPACE,
	    .scopes = j->plan.scopes,
	    .landlock_abi = j->plan.landlock_abi,
	    .ruleset = -1,
	    .no_truncation = j->plan.no_truncation,
	    .pid_namespace = has_pid_namespace(j->options),
	    .cgroup = j->cgroup.dir,
	    .view = &j->plan.view,
	    .argv = j->options->command,
	    .envp = j->plan.leg_env,
	    .kind = j->plan.leg.kind,
	    .uid = j->plan.leg.uid,
	    .gid = j->plan.leg.gid,
	    .umask = j->startup->umask,
	    .nofile = j->startup->nofile,
	};
	const struct meanwhile meanwhile = {
	    .work = provide, .attacked = is_attacked, .gone = sweep_up, .arg = j};

	if (begin_bringout(j, &leg, e) != 0)
		return -1;
	j->out->isolation = j->options->isolation;
	j->out->scopes = j->plan.scopes;
	j->out->own_pids = leg.pid_namespace;
	j->out->landlock_abi = j->plan.landlock_abi;
	j->out->truncation_denied = j->plan.truncation_denied;
	j->out->limits = j->options->limits;
	j->out->classifies = j->options->classify;
	j->out->neutralizes = j->plan.neutralizes;
	j->out->keeps_output =
	    j->options->isolation != ISOLATION_NONE && (!j->options->quiet || j->status.fd >= 0);
	return supervise(&leg, &j->options->limits, &meanwhile, &j->life, j->out, e);
}

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
take_imports(const struct job *j)
{
	struct outcome *out = j->out;

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

static void
publish(const struct job *j)
{
	const struct options *o = j->options;
	struct outcome *out = j->out;
	const struct outputs_facts facts = {
	    .exit_code = out->exit_status,
	    .tampered = out->tampered,
	    .reaped = out->proof != PROOF_NONE,
	    .lane = out->lane,
	};
	AUTO_FREE char *block = NULL;
	AUTO_FREE struct output *list = NULL;
	size_t size, n;
	bool carried = carry_append(&j->plan, j->snapshot, &out->importing, &out->error) == 0;

	if (!publishes(j) && carried)
		return;
	if (carried && carry_outputs(o, &out->importing, &list, &n, &out->error) == 0 &&
	    outputs_render(list, n, &facts, &block, &size, &out->error) == 0 &&
	    snapshot_append(j->snapshot, output_index(j), block, size, &out->error) == 0) {
		out->published = true;
		return;
	}
	out->restore_failed = true;
	override_status(out, EXIT_RESTORE);
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

	if (!out->keeps_output || j->life.cancelled || out->timed_out || out->overflowed)
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
}

/* After the outputs are published, which nothing is to delay. */
static void
bring_out(struct job *j)
{
	const struct rights rights = leg_rights(j);
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
		result =
		    snapshot_append(j->snapshot, status_index(j), text, strlen(text), &out->error);
		(void)lseek(
		    j->status.fd, 0, SEEK_END); /* whoever gave it to us goes on behind that */
	} else {
		result = statusfile_write(&j->status, text, outcome_write_until(out), &out->error);
	}
	if (result != 0)
		override_status(out, EXIT_RESTORE);
}

/* The leg is gone. Each step follows the one before, whatever became of that. */
static void
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
			take_imports(j);
			find_hint(j);
			note_late_cancel(j);
			decide(j);
			break;
		case LIFE_PUBLISHING:
			publish(j);
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

static void
refuse(const struct job *j, const struct error *e)
{
	struct outcome *out = j->out;

	out->error = *e;
	out->lane = LANE_ERROR;
	out->isolation = j->options->isolation;
	override_status(out, EXIT_GUARD);
	/* Through the descriptor: there may be no snapshot, and nobody has been at the file. */
	if (j->status.fd >= 0) {
		AUTO_FREE char *text = status_render(out, &out->error);

		if (text != NULL)
			(void)statusfile_write(
			    &j->status, text, outcome_write_until(out), &out->error);
	}
}

int
run(const struct options *o, const struct startup *startup, char **env, struct outcome *out,
    char **text, struct error *e)
{
	struct job j = {.options = o,
	    .startup = startup,
	    .status = {.fd = -1},
	    .temp = PRIVATE_TEMP_NONE,
	    .cgroup = {.parent = -1, .dir = -1},
	    .janitor = JANITOR_NONE,
	    .sweep = {.procfd = -1},
	    .bringout = BRINGOUT_NONE,
	    .out = out};
	int result = -1;

	*text = NULL;
	out->protected = &j.plan.protected;
	out->removed_env = &j.plan.removed_env;
	out->hidden = o->isolation == ISOLATION_NAMESPACE ? &j.plan.view.hidden : NULL;
	out->view = outcome_view(o);
	if (begin(&j, env, e) != 0) {
		result = -1;
	} else if (o->dry_run) {
		if (prepare(&j, env, e) == 0 && record(&j, e) == 0 &&
		    (*text = describe_plan(&j.plan, j.snapshot, &j.temp, e)) != NULL)
			result = 0;
	} else if (prepare(&j, env, e) == 0 && make_cgroup(&j, e) == 0 && run_leg(&j, e) == 0) {
		settle(&j);
		result = 0;
	}
	if (result != 0)
		refuse(&j, e);
	end_temp(&j, result != 0 || out->proof != PROOF_NONE);
	if (out->has_decoys)
		(void)close(out->decoys);
	janitor_wait(&j.janitor);
	sweep_scope_close(&j.sweep);
	cgroup_remove(&j.cgroup);
	end_bringout(&j);
	snapshot_free(j.snapshot);
	out->protected = NULL;
	out->removed_env = NULL;
	out->hidden = NULL;
	plan_free(&j.plan);
	statusfile_close(&j.status);
	return result;
}
