/* The first event of a record: what was asked for, by whom, of what, where. See events.h. */
#include "guard/events.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"
#include "guard/executable.h"
#include "guard/jsontext.h"
#include "guard/process.h"
#include "guard/promises.h"
#include "guard/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Of one line, in bytes: together, with all else at its longest, less than JOURNAL_LINE_MAX. */
enum { ARGV_ROOM = 8 * 1024, ENV_ROOM = 6 * 1024, WORDS_ROOM = 12 * 1024, GENERATIONS = 16 };

static json_t *
boot_id(void)
{
	char text[40];
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

	if (n <= 0)
		return json_null();
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return jsontext(text);
}

struct member {
	const char *name, *variable;
};

/* Those of the members whose variables are set. */
static json_t *
from_environment(char *const *env, const struct member *members, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++) {
		const char *value = environment_get(env, members[i].variable);

		if (value != NULL)
			o = jsontext_set(o, members[i].name, jsontext_short(value));
	}
	return o;
}

/* The run's identifiers, if it runs under a workflow. */
static json_t *
workflow(char *const *env)
{
	static const struct member members[] = {
	    {"run_id", "GITHUB_RUN_ID"},
	    {"run_attempt", "GITHUB_RUN_ATTEMPT"},
	    {"job", "GITHUB_JOB"},
	    {"step", "GITHUB_ACTION"},
	    {"repository", "GITHUB_REPOSITORY"},
	    {"workflow", "GITHUB_WORKFLOW"},
	    {"sha", "GITHUB_SHA"},
	    {"ref", "GITHUB_REF"},
	    {"actor", "GITHUB_ACTOR"},
	};

	return from_environment(env, members, sizeof members / sizeof members[0]);
}

/* The same for OTLP, by the names that OpenTelemetry's conventions for CI/CD and VCS have for them. */
static json_t *
resource(char *const *env)
{
	static const struct member members[] = {
	    {"cicd.pipeline.run.id", "GITHUB_RUN_ID"},
	    {"cicd.pipeline.name", "GITHUB_WORKFLOW"},
	    {"cicd.pipeline.task.name", "GITHUB_JOB"},
	    {"cicd.worker.name", "RUNNER_NAME"},
	    {"vcs.repository.name", "GITHUB_REPOSITORY"},
	    {"vcs.ref.head.name", "GITHUB_REF"},
	    {"vcs.ref.head.revision", "GITHUB_SHA"},
	};

	return from_environment(env, members, sizeof members / sizeof members[0]);
}

static json_t *
set_words(json_t *o, const char *name, const struct words *w, size_t *room)
{
	json_t *list;

	if (w->count == 0)
		return o;
	list = json_array();
	for (size_t i = 0; i < w->count; i++)
		list = jsontext_append(list, room, w->list[i]);
	return jsontext_set(o, name, list);
}

static json_t *
set_text(json_t *o, const char *name, const char *text)
{
	return text != NULL ? jsontext_set(o, name, jsontext(text)) : o;
}

static json_t *
set_flag(json_t *o, const char *name, bool flag)
{
	return flag ? jsontext_set(o, name, json_true()) : o;
}

/* A list that is left out if it is empty. */
static json_t *
set_list(json_t *o, const char *name, json_t *list)
{
	if (list == NULL || json_array_size(list) > 0)
		return jsontext_set(o, name, list);
	json_decref(list);
	return o;
}

/* Names alone of --setenv and --unset, of --set-output and --import: values may be secrets. */
static json_t *
set_names(json_t *o, const struct options *options, size_t *room)
{
	static const char *const lists[] = {"unset", "setenv"};
	json_t *list;

	for (size_t set = 0; set < 2; set++) {
		list = json_array();
		for (size_t i = 0; i < options->n_env; i++)
			if ((options->env[i].value != NULL) == (set == 1))
				list = jsontext_append(list, room, options->env[i].name);
		o = set_list(o, lists[set], list);
	}
	list = json_array();
	for (size_t i = 0; i < options->n_outputs; i++)
		list = jsontext_append(list, room, options->outputs[i].name);
	o = set_list(o, "set_output", list);
	list = json_array();
	for (size_t i = 0; i < options->n_imports; i++) {
		const struct import *one = &options->imports[i];
		AUTO_FREE char *text = NULL;

		if (asprintf(&text, "%s%s%s", import_kind_name(one->kind),
			one->name != NULL ? ":" : "", one->name != NULL ? one->name : "") < 0)
			text = NULL;
		list = text != NULL ? jsontext_append(list, room, text)
		                    : jsontext_append_item(list, NULL);
	}
	return set_list(o, "import", list);
}

static json_t *
set_limits(json_t *o, const struct limits *l)
{
	char text[TEXT_SIGNAL];

	if (l->timeout > 0)
		o = jsontext_set(o, "timeout_ms", json_integer((json_int_t)l->timeout));
	if (l->max_output != UINT64_MAX)
		o = jsontext_set(o, "max_output", json_integer((json_int_t)l->max_output));
	o = jsontext_set(o, "signal", json_string(text_signal(text, l->signal)));
	return jsontext_set(o, "kill_after_ms", json_integer((json_int_t)l->kill_after));
}

static json_t *
exit_classes(const struct options *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof o->exit_class_set / sizeof o->exit_class_set[0]; i++)
		if (o->exit_class_set[i])
			list = jsontext_append_item(
			    list, json_sprintf("%zu=%s", i, lane_name(o->exit_class[i])));
	return list;
}

/* What was given, and nothing that was not, but the limits. */
static json_t *
options(const struct options *o)
{
	static const char *const commands[] = {
	    [WORKFLOW_COMMANDS_NEUTRALIZE] = "neutralize", [WORKFLOW_COMMANDS_PASS] = "pass"};
	static const char *const sweeps[] = {
	    [SWEEP_OFF] = "off", [SWEEP_REPORT] = "report", [SWEEP_KILL] = "kill"};
	size_t room = WORDS_ROOM;
	json_t *all = set_limits(set_names(json_object(), o, &room), &o->limits);

	all = set_words(all, "guard", &o->guard, &room);
	all = set_words(all, "read_only", &o->read_only, &room);
	all = set_words(all, "unprotect", &o->unprotect, &room);
	all = set_words(all, "hide", &o->hide, &room);
	all = set_words(all, "allow_socket", &o->allow_socket, &room);
	all = set_words(all, "writable", &o->writable, &room);
	all = set_words(all, "keep_env", &o->keep_env, &room);
	all = set_flag(all, "pin", o->pin);
	all = set_flag(all, "allow_hard_links", o->allow_hard_links);
	all = set_flag(all, "strict_files", o->strict_files);
	all = set_flag(all, "root_leg", o->root_leg);
	all = set_flag(all, "share_pid", o->share_pid);
	all = set_flag(all, "import_unsafe", o->import_unsafe);
	all = set_flag(all, "import_strict", o->import_strict);
	all = set_flag(all, "no_outputs", o->no_outputs);
	all = set_flag(all, "clear_env", o->clear_env);
	all = set_flag(all, "classify", o->classify);
	all = set_flag(all, "audit_argv", o->audit_argv);
	all = set_flag(all, "audit_required", o->audit_required);
	all = set_flag(all, "summary", o->summary);
	all = set_flag(all, "no_summary", o->no_summary);
	all = set_text(all, "user", o->user);
	all = set_text(all, "cgroup", o->cgroup);
	all = set_text(all, "directory", o->directory);
	all = set_text(all, "managed_settings", o->managed_settings);
	all = set_text(all, "exactly_one_env", o->exactly_one_env);
	all = set_text(all, "status", o->status_path);
	all = set_text(all, "file_commands", o->decoys ? "decoy" : NULL);
	all = set_text(all, "on_tamper", o->keep_status_on_tamper ? "keep-status" : NULL);
	all = set_text(all, "on_survivors", o->fail_on_survivors ? "fail" : NULL);
	all = set_text(all, "workflow_commands", commands[o->workflow_commands]);
	all = set_list(all, "exit_class", exit_classes(o));
	return set_text(all, "sweep", sweeps[o->sweep]);
}

/* As describe.c has them: what the run will hold unless something fails. */
static json_t *
promises(const struct outcome *known)
{
	const struct outcome o = {
	    .isolation = known->isolation,
	    .view = known->view,
	    .scopes = known->scopes,
	    .own_pids = known->own_pids,
	    .truncation_denied = known->truncation_denied,
	    .held = true,
	    .proof = PROOF_SUBREAPER,
	};
	json_t *object = json_object();

	for (int i = 0; i < PROMISES; i++)
		object = jsontext_set(object, promise_name(i), json_boolean(promise_holds(&o, i)));
	return object;
}

static const char *
proof_expected(const struct job *j)
{
	if (j->out->own_pids)
		return proof_name(PROOF_PID_NAMESPACE);
	return proof_name(j->cgroup.dir >= 0 ? PROOF_CGROUP : PROOF_SUBREAPER);
}

static json_t *
executable(const struct job *j)
{
	const struct rights rights = job_rights(j);
	char sha256[DIGEST_TEXT] = "";
	AUTO_FREE char *path = NULL;

	/* By name, in directories of others: with the rights of whoever executes it. */
	if (rights_take(&rights) == 0) {
		path = executable_find(
		    j->options->command[0], j->plan.leg_env, j->plan.view.cwd.path, sha256);
		rights_give_back(&rights);
	}
	return json_pack("{s:o, s:o}", "path", jsontext(path), "sha256",
	    sha256[0] != '\0' ? json_string(sha256) : json_null());
}

static json_t *
arguments(json_t *o, const struct options *options)
{
	size_t argc = 0, room = ARGV_ROOM;
	char hash[DIGEST_TEXT];
	struct digest d;
	json_t *list;

	digest_begin(&d);
	for (; options->command[argc] != NULL; argc++)
		digest_add(&d, options->command[argc], strlen(options->command[argc]) + 1);
	o = jsontext_set(o, "argc", json_integer((json_int_t)argc));
	o = jsontext_set(o, "argv_sha256", json_string(digest_end(&d, hash)));
	if (!options->audit_argv)
		return o;
	list = json_array();
	for (size_t i = 0; i < argc; i++)
		list = jsontext_append(list, &room, options->command[i]);
	return jsontext_set(o, "argv", list);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the leg's variables, sorted; without the values, which may be secrets, as all of an entry without a '=' may be. */
static json_t *
names(char *const *env, size_t *malformed)
{
	size_t n = 0, room = ENV_ROOM;
	AUTO_FREE char **sorted = NULL;
	json_t *list = json_array();

	while (env[n] != NULL)
		n++;
	sorted = reallocarray(NULL, n + 1, sizeof *sorted);
	if (sorted == NULL)
		return jsontext_append_item(list, NULL);
	memcpy(sorted, env, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_names);
	for (size_t i = 0; i < n; i++) {
		size_t length = strcspn(sorted[i], "=");
		AUTO_FREE char *name = strndup(sorted[i], length);

		if (sorted[i][length] == '\0')
			++*malformed;
		else
			list = name != NULL ? jsontext_append(list, &room, name)
			                    : jsontext_append_item(list, NULL);
	}
	return list;
}

static json_t *
add_parent(json_t *list, pid_t pid, const char *name)
{
	return jsontext_append_item(
	    list, json_pack("{s:i, s:o}", "pid", (int)pid, "name", jsontext(name)));
}

/* From the launcher upwards: those that were looked at already, and the rest. */
static json_t *
parents(const struct processes *seen)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[16] = "";
	json_t *list;
	struct process p = {.ppid = getppid()};
	size_t n = 0;

	(void)prctl(PR_GET_NAME, name);
	list = add_parent(json_array(), getpid(), name);
	for (; n < seen->count && n < GENERATIONS; n++) {
		p = seen->list[n];
		list = add_parent(list, p.pid, p.name);
	}
	for (; n < GENERATIONS && p.ppid > 0 && process_read(&p, procfd, p.ppid) == 0; n++)
		list = add_parent(list, p.pid, p.name);
	return list;
}

void
events_start(struct job *j)
{
	struct utsname kernel;
	size_t malformed = 0;
	json_t *o;

	if (!record_wanted(&j->record))
		return;
	record_resource(&j->record, resource(j->env));
	(void)uname(&kernel); /* fails for a bad address only */
	o = json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "tool",
	    "legguard " LEGGUARD_VERSION, "kernel", kernel.release, "boot_id", boot_id(),
	    "isolation", isolation_name(j->out->isolation), "view", outcome_view_name(j->out->view),
	    "promises", promises(j->out), "proof_expected", proof_expected(j), "options",
	    options(j->options), "workflow", workflow(j->env), "executable", executable(j));
	o = arguments(o, j->options);
	o = jsontext_set(o, "env", names(j->plan.leg_env, &malformed));
	if (malformed > 0)
		o = jsontext_set(o, "env_malformed", json_integer((json_int_t)malformed));
	record_event(
	    &j->record, "start", jsontext_set(o, "parents", parents(&j->plan.protected.ancestors)));
}
