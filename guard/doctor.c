/*
 * `legguard doctor`. See doctor.h.
 *
 * The verdict is not made from the single checks: a whole run in each tier, of this program's own
 * `--version`, says whether that works, and the checks say what it was that did not.
 */
#include "guard/doctor.h"

#include "bindmount/cleanup.h"
#include "bindmount/probe.h"
#include "guard/diagnosis.h"
#include "guard/options.h"
#include "guard/plan.h"
#include "guard/profile.h"
#include "guard/run.h"
#include "guard/surroundings.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUN_MS = 20 * 1000 };

static const struct {
	const char *name;
	bool needed;
	probe_function *probe;
} checks[] = {
    {"kernel", false, surroundings_kernel},
    {"user", true, surroundings_user},
    {"user_namespaces", true, probe_user_namespaces},
    {"mounts", true, probe_mounts},
    {"apparmor", false, surroundings_apparmor},
    {"pid_namespace", true, probe_pid_namespace},
    {"nested_namespaces", true, probe_nested_namespaces},
    {"nested_bubblewrap", false, probe_nested_bubblewrap},
    {"open_tree", false, probe_open_tree},
    {"move_mount", false, probe_move_mount},
    {"mount_setattr", false, probe_mount_setattr},
    {"clone3", false, probe_clone3},
    {"pidfd_open", true, probe_pidfd_open},
    {"pidfd_send_signal", false, probe_pidfd_send_signal},
    {"landlock", false, probe_landlock},
    {"landlock_scopes", false, probe_landlock_scopes},
    {"cgroup", false, surroundings_cgroup},
    {"ptrace_scope", false, surroundings_ptrace_scope},
    {"container", false, surroundings_container},
    {"seccomp", false, surroundings_seccomp},
    {"no_new_privs", false, surroundings_no_new_privs},
    {"sudo", false, surroundings_sudo},
    {"docker_group", false, surroundings_docker_group},
};

enum { CHECKS = sizeof checks / sizeof checks[0] };

_Static_assert((int)CHECKS <= (int)DIAGNOSIS_CHECKS_MAX, "room for all checks");

struct request {
	bool json;
	bool help;
	const char *profile; /* --apparmor-profile PATH, or NULL */
};

static int
parse(struct request *r, int argc, char **argv, struct error *e)
{
	static const char cure[] = "see legguard doctor --help";

	*r = (struct request){0};
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json") == 0)
			r->json = true;
		else if (strcmp(argv[i], "--help") == 0)
			r->help = true;
		else if (strcmp(argv[i], "--apparmor-profile") != 0)
			return error_set(e, 0, cure, "doctor: unknown argument %s", argv[i]);
		else if (++i < argc)
			r->profile = argv[i];
		else
			return error_set(e, 0, "write --apparmor-profile PATH",
			    "--apparmor-profile has no argument");
	return 0;
}

/* A whole run, told by options and environment. */
struct rehearsal {
	const char *tier;
	char *program;
	char **env;
	const struct startup *startup;
};

static void
rehearse(void *arg, struct trial_result *r)
{
	const struct rehearsal *h = arg;
	char *isolation = (char *)h->tier;
	/* Nothing is written, so one file, which is there for certain, may be read-only for it. */
	char *argv[] = {"run", "--isolation", isolation, "--no-outputs", "--read-only", h->program,
	    "--", h->program, "--version", NULL};
	struct options o;
	struct outcome out = {0};
	AUTO_FREE char *text = NULL;

	r->state = TRIAL_MISSING;
	if (options_parse(&o, sizeof argv / sizeof argv[0] - 1, argv, &r->error) != 0 ||
	    run(&o, h->startup, h->env, &out, &text, &r->error) != 0)
		return;
	if (out.exit_status == 0) {
		r->state = TRIAL_OK;
		return;
	}
	r->error = out.error;
	error_set(&r->error, out.exec_errno, NULL, "a run of %s ended with %d", h->program,
	    out.exit_status);
}

/* The files of the step that doctor runs in are none of its business. */
static char **
without_file_commands(char *const *env)
{
	size_t n = 0, count = 0;
	char **kept;

	while (env[count] != NULL)
		count++;
	kept = calloc(count + 1, sizeof *kept);
	for (size_t i = 0; kept != NULL && i < count; i++)
		if (!plan_is_file_command(env[i]))
			kept[n++] = env[i];
	return kept;
}

static int
try_tiers(struct diagnosis *d, char *program, char *const *env, const struct startup *startup,
    struct error *e)
{
	static const char *const names[] = {
	    [TIER_NAMESPACE] = "namespace", [TIER_LANDLOCK] = "landlock"};
	AUTO_FREE char **kept = without_file_commands(env);

	if (kept == NULL)
		return error_set(e, errno, NULL, "can't copy the environment");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct rehearsal h = {
		    .tier = names[i], .program = program, .env = kept, .startup = startup};
		const struct trial t = {.ms = RUN_MS, .body = rehearse, .arg = &h};

		trial_run(&t, &d->tiers[i]);
	}
	d->tiers[TIER_NONE].state = TRIAL_OK; /* it needs no more than a child */
	return 0;
}

/* The view of the probes: this program's file read-only. A leg needs a directory that can be named. */
static int
plan_view(struct view *view, const char *program, struct error *e)
{
	struct stat st;

	view->cwd.path = realpath(".", NULL);
	if (view->cwd.path == NULL)
		view->cwd.path = strdup("/");
	if (view->cwd.path == NULL || stat(view->cwd.path, &st) != 0)
		return error_set(e, errno, NULL, "can't find a directory");
	view->cwd.dev = st.st_dev;
	view->cwd.ino = st.st_ino;
	if (stat(program, &st) != 0 ||
	    view_paths_add(&view->read_only, program, st.st_dev, st.st_ino) != 0)
		return error_set(e, errno, NULL, "can't find this program's file %s", program);
	return 0;
}

/* Of the first that is missing: the others may only follow from it. */
static void
find_obstacle(struct diagnosis *d)
{
	int errnum = 0;

	for (size_t i = d->n_checks; i-- > 0;)
		if (checks[i].needed && d->checks[i].result.state == TRIAL_MISSING &&
		    d->checks[i].result.error.errnum != 0)
			errnum = d->checks[i].result.error.errnum;
	d->obstacle = userns_obstacle(errnum);
}

/* Children are bound to us, so to end at once leaves nothing. */
static void
end_on_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int
examine(struct diagnosis *d, char *const *env, const struct startup *startup, struct error *e)
{
	AUTO_FREE char *program = realpath("/proc/self/exe", NULL);
	struct view view = {0};
	int result;

	if (program == NULL)
		return error_set(e, errno, "start it from a file that is there",
		    "can't find this program's file");
	end_on_signals();
	result = plan_view(&view, program, e);
	for (size_t i = 0; i < CHECKS && result == 0; i++) {
		struct check *c = &d->checks[d->n_checks++];

		c->name = checks[i].name;
		c->needed = checks[i].needed;
		checks[i].probe(&view, &c->result);
	}
	if (result == 0)
		result = try_tiers(d, program, env, startup, e);
	find_obstacle(d);
	d->program = ptr_take(&program);
	view_paths_free(&view.read_only);
	free(view.cwd.path);
	return result;
}

int
doctor(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e)
{
	AUTO_FREE struct diagnosis *d = calloc(1, sizeof *d);
	struct request r;

	if (d == NULL)
		return error_set(e, errno, NULL, "can't begin");
	if (parse(&r, argc, argv, e) != 0)
		return -1;
	*status = 0;
	if (r.help) {
		*text = strdup(options_doctor_help);
	} else if (r.profile != NULL) {
		*text = profile_text(r.profile, e);
	} else if (examine(d, env, startup, e) == 0) {
		*text = r.json ? diagnosis_json(d, e) : diagnosis_table(d, e);
		*status = diagnosis_tier(d) == TIER_NAMESPACE ? 0 : 1;
	}
	free(d->program);
	return *text != NULL ? 0 : error_set(e, errno, NULL, "can't write what was found");
}
