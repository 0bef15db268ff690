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
#include "guard/profile.h"
#include "guard/rehearsal.h"
#include "guard/surroundings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum { USER_MAX = 32 }; /* two numbers */

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

static enum trial_state
state_of(const struct diagnosis *d, const char *name)
{
	for (size_t i = 0; i < d->n_checks; i++)
		if (strcmp(d->checks[i].name, name) == 0)
			return d->checks[i].result.state;
	return TRIAL_UNKNOWN;
}

/* Whom the leg would be as an ordinary user: who called, or asked sudo to, or nobody. */
static void
name_user(char name[USER_MAX])
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (getuid() != 0)
		snprintf(name, USER_MAX, "%u:%u", getuid(), getgid());
	else if (uid != NULL && gid != NULL && atoi(uid) > 0 && atoi(gid) > 0)
		snprintf(name, USER_MAX, "%d:%d", atoi(uid), atoi(gid));
	else
		snprintf(name, USER_MAX, "65534:65534");
}

static void
try_tiers(struct diagnosis *d, const struct rehearsal *r)
{
	rehearsal_run(r, "namespace", NULL, &d->tiers[TIER_NAMESPACE]);
	rehearsal_run(r, "landlock", NULL, &d->tiers[TIER_LANDLOCK]);
	d->tiers[TIER_NONE].state = TRIAL_OK; /* it needs no more than a child */
	if (d->tiers[TIER_NAMESPACE].state == TRIAL_OK)
		return;
	d->through_sudo = getuid() != 0;
	if (!d->through_sudo)
		rehearsal_run(r, "namespace", d->user, &d->other_user);
	else if (state_of(d, "sudo") == TRIAL_YES)
		rehearsal_run_as_root(r, d->user, &d->other_user);
}

/*
 * What the plan hides of others. A socket is open to whoever may write it; it is not connected to, which could
 * start what listens only when it is asked for.
 */
static int
list_doors(struct diagnosis *d, const struct plan *p, struct error *e)
{
	const struct view_paths *hidden = &p->view.hidden;

	d->doors = calloc(hidden->count + 1, sizeof *d->doors);
	if (d->doors == NULL)
		return error_set(e, errno, NULL, "can't list the doors");
	for (size_t i = 0; i < hidden->count; i++) {
		const char *path = hidden->list[i].path;
		struct stat st;

		if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
			continue;
		d->doors[d->n_doors++] = (struct door){.path = path,
		    .why = p->hidden_for.list[i],
		    .open = access(path, S_ISDIR(st.st_mode) ? X_OK : W_OK) == 0};
	}
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

static char *
find_program(struct error *e)
{
	char *program = realpath("/proc/self/exe", NULL);

	if (program == NULL)
		error_set(e, errno, "start it from a file that is there",
		    "can't find this program's file");
	return program;
}

static void
examine(struct diagnosis *d, const struct rehearsal *r)
{
	for (size_t i = 0; i < CHECKS; i++) {
		struct check *c = &d->checks[d->n_checks++];

		c->name = checks[i].name;
		c->needed = checks[i].needed;
		checks[i].probe(&r->plan.view, &c->result);
	}
	try_tiers(d, r);
	find_obstacle(d);
}

static char *
diagnose(bool json, char *const *env, const struct startup *startup, int *status, struct error *e)
{
	AUTO_FREE struct diagnosis *d = calloc(1, sizeof *d);
	AUTO_FREE char *program = find_program(e);
	struct rehearsal r = {0};
	char user[USER_MAX];
	char *text = NULL;

	if (d == NULL)
		error_set(e, errno, NULL, "can't begin");
	if (d == NULL || program == NULL)
		return NULL;
	name_user(user);
	d->program = program;
	d->user = user;
	end_on_signals();
	if (rehearsal_begin(&r, program, env, startup, e) == 0 && list_doors(d, &r.plan, e) == 0) {
		examine(d, &r);
		text = json ? diagnosis_json(d, e) : diagnosis_table(d, e);
		*status = diagnosis_tier(d) == TIER_NAMESPACE ? 0 : 1;
	}
	free(d->doors);
	rehearsal_end(&r);
	return text;
}

int
doctor(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e)
{
	struct request r;

	if (parse(&r, argc, argv, e) != 0)
		return -1;
	*status = 0;
	if (r.help)
		*text = strdup(options_doctor_help);
	else if (r.profile != NULL)
		*text = profile_text(r.profile, e);
	else
		*text = diagnose(r.json, env, startup, status, e);
	return *text != NULL ? 0 : error_set(e, errno, NULL, "can't write what was found");
}
