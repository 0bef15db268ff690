/* One run. See run.h. */
#include "guard/run.h"

#include "bindmount/cleanup.h"
#include "guard/carry.h"
#include "guard/delegation.h"
#include "guard/describe.h"
#include "guard/events.h"
#include "guard/hide.h"
#include "guard/job.h"
#include "guard/outputs.h"
#include "guard/recording.h"
#include "guard/settle.h"
#include "guard/spine.h"
#include "guard/supervise.h"
#include "guard/surroundings.h"
#include "guard/terminal.h"
#include "guard/writable.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STATUS_ROOM = 64 * 1024, /* what the status object is likely to take at the most */
	SWEEP_MS = 3000, /* nothing that is killed takes longer to end, unless it never does */
};

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
 * Where the leg shares the host's pid namespace, and wherever it could get at the group that we are in: see
 * delegation.h. Landlock rules keep it from the files of any.
 */
static int
make_cgroup(struct job *j, struct error *e)
{
	const struct options *o = j->options;
	struct stat st;

	if (has_pid_namespace(o) && !j->needs_cgroup)
		return 0;
	if (cgroup_make(&j->cgroup, o->cgroup, e) != 0)
		return -1;
	if (o->isolation != ISOLATION_NAMESPACE)
		return 0;
	if (j->cgroup.dir < 0 && j->needs_cgroup)
		return error_set(e, 0,
		    j->plan.leg.kind == IDENTITY_ROOT
			? "mount cgroup2 writable at /sys/fs/cgroup (docker run --privileged), or "
			  "choose --user, or --isolation none"
			: "start legguard in a control group that is not delegated to the leg's "
			  "user, or choose --isolation landlock or none",
		    "the leg could end legguard through its control group, and none can be made "
		    "for the leg alone");
	if (j->cgroup.dir < 0 || j->needs_cgroup) /* nothing to close, or it is hidden */
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
	AUTO_FREE struct guard_request *taken = NULL;
	size_t n;

	if (plan_begin(&j->plan, o, env, e) != 0)
		return -1;
	if (o->dry_run)
		return 0;
	if (recording_open(j, e) != 0)
		return -1;
	taken = recording_requests(j, &n);
	if (taken == NULL)
		return error_set(e, errno, NULL, "can't plan the run");
	if (statusfile_open(&j->status, o, taken, n, j->startup->umask, e) != 0)
		return -1;
	if (j->status.path != NULL)
		plan_guard_status(&j->plan, j->status.path, j->status.option);
	return 0;
}

static int
make_temp(struct job *j, struct error *e)
{
	const struct rights rights = job_rights(j);
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
	const struct rights rights = job_rights(j);

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
	if (recording_hide(j, e) != 0)
		return -1;
	if (delegation_plan(&j->plan, &j->needs_cgroup, e) != 0 ||
	    hide_check(&j->plan, j->snapshot, e) != 0 || carry_plan(&j->plan, e) != 0)
		return -1;
	if (o->isolation == ISOLATION_LANDLOCK)
		return prepare_landlock(j, e);
	if (o->pin)
		return spine_plan(&j->plan.view, j->snapshot, j->plan.leg.uid, j->plan.leg.gid, e);
	return writable_plan(&j->plan, j->snapshot, env, e);
}

/* What has to be known before the leg starts. */
static int
take_snapshot(const struct job *j, struct error *e)
{
	if (look_for_leftovers(j, e) != 0 || snapshot_record(j->snapshot, e) != 0)
		return -1;
	return plan_check(&j->plan, j->snapshot, e);
}

static int
reserve(const struct job *j, struct error *e)
{
	if (job_publishes(j) && snapshot_reserve(j->snapshot, job_output_index(j),
				    outputs_bound(j->options->outputs, j->options->n_outputs) +
					carry_outputs_bound(j->options),
				    e) != 0)
		return -1;
	if (carry_reserve(&j->plan, j->snapshot, e) != 0)
		return -1;
	if (j->status.path != NULL)
		return snapshot_reserve(j->snapshot, job_status_index(j), STATUS_ROOM, e);
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

	events_survivors(j);
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
	events_sweep(j);
}

/* Done while the leg's namespaces are being made. */
static int
provide(void *arg, int reaper_pidfd, struct error *e)
{
	struct job *j = arg;

	if (take_snapshot(j, e) != 0 || reserve(j, e) != 0 || open_sweep(j, e) != 0 ||
	    protected_keep(&j->plan.protected, j->snapshot, e) != 0 || recording_begin(j, e) != 0)
		return -1;
	/* An unconfined leg may write, as it was asked for; it is put back. */
	if (j->options->isolation != ISOLATION_NONE)
		j->out->held = snapshot_hold(
		    j->snapshot, j->status.path != NULL ? job_status_index(j) : SIZE_MAX);
	return janitor_start(&j->janitor, j->snapshot, &j->cgroup, reaper_pidfd, e);
}

static void
note_life(void *arg, enum life_event event)
{
	events_life(arg, event);
}

static void
note_end(void *arg, const uint64_t bytes[2])
{
	events_leg_end(arg, bytes);
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
	const struct rights rights = job_rights(j);
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
	const struct rights rights = job_rights(j);

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
	    .keep_limits =
		j->options->isolation != ISOLATION_NONE && !has_pid_namespace(j->options),
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
	struct trial_result tracing;
	const struct meanwhile meanwhile = {.work = provide,
	    .attacked = is_attacked,
	    .gone = sweep_up,
	    .happened = note_life,
	    .ended = note_end,
	    .arg = j};

	if (terminal_shut_stdin(&j->plan, e) != 0 || begin_bringout(j, &leg, e) != 0)
		return -1;
	j->out->isolation = j->options->isolation;
	j->out->scopes = j->plan.scopes;
	j->out->own_pids = leg.pid_namespace;
	j->out->landlock_abi = j->plan.landlock_abi;
	j->out->truncation_denied = j->plan.truncation_denied;
	j->out->limits = j->options->limits;
	j->out->classifies = j->options->classify;
	surroundings_ptrace_scope(NULL, &tracing);
	j->out->traceable = tracing.value <= 0;
	j->out->neutralizes = j->plan.neutralizes;
	j->out->stdin_shut = j->plan.shuts_stdin;
	j->out->on_terminal = j->plan.on_terminal;
	j->out->annotates = j->plan.under_actions;
	/* Commands that pass are counted for the record, where the runner acts on them. */
	j->out->counts_commands =
	    record_wanted(&j->record) && !j->plan.neutralizes && j->plan.under_actions;
	/* For a hint, or for how the leg's last line ends, behind which something is said. */
	j->out->keeps_output = !j->options->quiet || j->status.fd >= 0 || record_wanted(&j->record);
	return supervise(&leg, &j->options->limits, &meanwhile, &j->life, j->out, e);
}

int
run(const struct options *o, const struct startup *startup, char **env, struct outcome *out,
    char **text, struct error *e)
{
	struct job j = {.options = o,
	    .env = env,
	    .began_us = events_now_us(),
	    .record = RECORD_NONE,
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
		if (prepare(&j, env, e) == 0 && take_snapshot(&j, e) == 0 &&
		    (*text = describe_plan(&j.plan, j.snapshot, &j.temp, e)) != NULL)
			result = 0;
	} else if (prepare(&j, env, e) == 0 && make_cgroup(&j, e) == 0 && run_leg(&j, e) == 0) {
		settle(&j);
		result = 0;
	}
	if (result != 0)
		settle_refusal(&j, e);
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
	record_close(&j.record);
	return result;
}
