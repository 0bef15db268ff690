/*
 * The command line of `legguard run`, read into plain data.
 *
 * Pure: no system call, no environment, no output. Everything that can be refused by looking at
 * the words alone is refused here, by name.
 */
#ifndef GUARD_OPTIONS_H
#define GUARD_OPTIONS_H

#include "bindmount/error.h"
#include "guard/import.h"
#include "guard/lane.h"
#include "guard/limits.h"

#include <stdbool.h>
#include <stddef.h>

enum isolation { ISOLATION_NAMESPACE, ISOLATION_LANDLOCK, ISOLATION_NONE };

/* Whether processes that left the leg's tree are looked for after its end, and what becomes of them. */
enum sweep_mode { SWEEP_DEFAULT, SWEEP_OFF, SWEEP_REPORT, SWEEP_KILL };

/* What happens to workflow commands in the leg's output. */
enum workflow_commands {
	WORKFLOW_COMMANDS_DEFAULT,
	WORKFLOW_COMMANDS_NEUTRALIZE,
	WORKFLOW_COMMANDS_PASS
};

/* A list of strings that point into argv. */
struct words {
	const char **list;
	size_t count;
};

/* NAME=VALUE of --set-output. name is owned; value points into argv. */
struct output {
	char *name;
	const char *value;
};

/* --setenv, --unset, --clear-env in the order given; name is owned, value NULL for --unset. */
struct env_change {
	char *name;
	const char *value;
};

struct options {
	struct words guard;        /* --guard PATH */
	struct words read_only;    /* --read-only PATH */
	struct words unprotect;    /* --unprotect PATH */
	struct words hide;         /* --hide PATH */
	struct words allow_socket; /* --allow-socket PATH */
	bool pin;                  /* --pin */
	struct words writable;     /* --writable PATH: strict if there is any */
	bool allow_hard_links;
	enum isolation isolation;
	const char *user;       /* --user USER[:GROUP], or NULL */
	bool root_leg;          /* --root-leg */
	bool share_pid;         /* --share-pid: no pid namespace of the leg's own */
	const char *cgroup;     /* --cgroup DIR, or NULL */
	struct limits limits;   /* --timeout, --signal, --kill-after, --max-output */
	enum sweep_mode sweep;  /* --sweep */
	bool strict_files;      /* --strict-files */
	bool decoys;            /* --file-commands decoy */
	struct import *imports; /* --import */
	size_t n_imports;
	bool import_unsafe;                       /* --import-unsafe */
	bool import_strict;                       /* --import-strict */
	enum workflow_commands workflow_commands; /* --workflow-commands */
	struct output *outputs;                   /* --set-output */
	size_t n_outputs;
	bool no_outputs;
	bool summary;          /* --summary: in any case */
	bool no_summary;       /* --no-summary: in none */
	const char *directory; /* -C, or NULL */
	struct env_change *env;
	size_t n_env;
	bool clear_env;               /* -i: applied before the changes in env */
	const char *managed_settings; /* --managed-settings, or NULL */
	const char *exactly_one_env;  /* --exactly-one-env, or NULL: names with commas between */
	struct words keep_env;        /* --keep-env NAME: not removed as dangerous */
	bool keep_status_on_tamper;   /* --on-tamper=keep-status */
	bool fail_on_survivors;       /* --on-survivors=fail */
	const char *status_path;      /* --status, or NULL */
	int status_fd;                /* --status-fd, or -1 */
	const char *audit_path;       /* --audit FILE, or NULL */
	int audit_fd;                 /* --audit fd:N, or -1 */
	bool audit_argv;              /* --audit-argv */
	bool audit_required;          /* --audit-required */
	const char *audit_otlp;       /* --audit-otlp, or NULL */
	bool dry_run;
	bool quiet;
	bool classify;            /* --classify claude-json */
	bool exit_class_set[256]; /* --exit-class CODE=CLASS */
	enum lane exit_class[256];
	bool help; /* --help or --version was given: nothing else counts */
	bool version;
	char **command; /* COMMAND [ARG]..., NULL-terminated, the tail of argv; empty list only for
	                   help, version and dry_run */
};

/*
 * Read argv (argv[0] is skipped; "run" is not in it). Options stop at the first operand, as in
 * env(1). *o is to be given back with options_free() in either case.
 */
int options_parse(struct options *o, int argc, char **argv, struct error *e);

/* True if an audit record is asked for, in whatever form. */
bool options_audits(const struct options *o);

void options_free(struct options *o);

/* The text of `legguard run --help`, of `legguard doctor --help` and of `legguard --help`. */
extern const char options_run_help[];
extern const char options_doctor_help[];
extern const char options_audit_help[];
extern const char options_main_help[];

/* Of `legguard classify --help`, `legguard parse --help` and `legguard outcome --help`. */
extern const char options_classify_help[];
extern const char options_parse_help[];
extern const char options_outcome_help[];

#endif
