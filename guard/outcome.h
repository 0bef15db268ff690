/* All that is known about a run when it is over: what status, outputs and notes are made from. */
#ifndef GUARD_OUTCOME_H
#define GUARD_OUTCOME_H

#include "bindmount/error.h"
#include "guard/bringout.h"
#include "guard/classify.h"
#include "guard/digest.h"
#include "guard/findings.h"
#include "guard/import.h"
#include "guard/lane.h"
#include "guard/leftovers.h"
#include "guard/limits.h"
#include "guard/options.h"
#include "guard/neutralize.h"
#include "guard/process.h"
#include "guard/protected.h"
#include "guard/tail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A process of the leg that was alive after the leg's main process had ended. */
struct survivor {
	pid_t pid;  /* in the leg's pid namespace if it had one, else the launcher's */
	pid_t ppid; /* likewise */
	unsigned long long start; /* field 22 of /proc/PID/stat: clock ticks since boot */
	char name[64];            /* field 2: untrusted, raw bytes */
};

enum proof {
	PROOF_NONE,          /* nothing shows that all are dead */
	PROOF_PID_NAMESPACE, /* PID 1 of the leg's pid namespace has been waited for */
	PROOF_CGROUP,        /* the leg's control group, which it could not leave, is empty */
	PROOF_SUBREAPER,     /* the reaper, a child subreaper, has no child left */
};

/* How the leg sees the file system. */
enum outcome_view { VIEW_NONE, VIEW_DEFAULT, VIEW_PIN, VIEW_STRICT };

/* What became of the record that was asked for. */
struct outcome_audit {
	bool asked;
	char *path; /* of --audit, else of --audit-otlp; owned */
	char head[DIGEST_TEXT]; /* of the run's last line, or empty */
	struct error why; /* why something is missing in it, or empty */
	bool changed;     /* by the leg, and not put back */
};

struct outcome {
	bool guard_origin; /* exit_status is the guard's word, not the leg's */
	int exit_status;
	enum lane lane;
	bool leg_ended;    /* wait_status is valid */
	int wait_status;   /* as of waitpid(2) */
	struct rusage usage; /* of the leg's main process, if that is valid */
	uint64_t bytes[2];   /* that the leg wrote to stdout and stderr (both, if they are one) */
	int exec_errno;    /* why the leg's command could not be executed, or 0 */
	int cancel_signal; /* SIGINT, SIGTERM or SIGHUP that the launcher got, SIGPIPE when its own
	                      output could not be written any more, or 0 */
	int64_t write_until;  /* when to stop waiting for readers, see bounded.h; 0: never */
	struct limits limits; /* that were set */
	bool timed_out;       /* the leg was ended at --timeout */
	bool overflowed;      /* the leg was ended at --max-output */
	enum isolation isolation;
	enum outcome_view view;
	bool scopes;            /* Landlock keeps signals and abstract sockets inside the leg */
	bool own_pids;          /* the leg had a pid namespace of its own */
	int landlock_abi;       /* of the ruleset that confined it, or 0 */
	bool truncation_denied; /* by that, or by a filter */
	bool began;             /* the leg may have run: the rest says something */
	enum proof proof;
	struct survivor *survivors; /* the first of them; owned */
	size_t n_survivors;         /* listed */
	size_t survivors_total;     /* counted; may be more than listed */
	enum sweep_mode sweep;      /* that took place; SWEEP_DEFAULT: none */
	struct processes swept; /* the first of what it found: killed, or only reported; owned */
	size_t swept_total;     /* counted */
	bool sweep_clean;       /* it found nothing, or nothing any more */
	bool sweep_failed;      /* it could not end all it found; then there is no proof either */
	bool tampered; /* something was found, or an import refused where that counts as such */
	struct findings findings;
	struct leftovers leftovers; /* what others hold on the guarded files */
	bool held; /* the guarded files had leases, the directories above them were watched */
	bool keeps_output;     /* asked for: the end of the leg's stdout and stderr */
	struct tail output[2]; /* if it was; stderr's is empty where both are one pipe */
	bool classifies;       /* asked for: stdout is only read, for the class */
	bool traceable; /* processes of the leg may trace each other: Yama doesn't restrict it */
	struct classifier classifier;
	bool has_decoys; /* then: */
	int decoys;      /* on the copies that the leg had, see decoy_put_all(); run()'s */
	struct importing importing; /* what became of --import */
	bool one_stream;            /* stdout and stderr are one file */
	bool annotates; /* the runner reads stderr: what matters is told it by workflow commands */
	int64_t duration_ms; /* from the leg's start to its end and that of all it left */
	bool counts_commands; /* or they pass, and are counted for the record */
	bool neutralizes;    /* asked for: workflow commands in the leg's output are made inert */
	bool stdin_shut;     /* if so: the leg's standard input is /dev/null, see terminal.h */
	bool on_terminal;    /* likewise: there are terminals that lead to the log */
	struct neutralizer neutralizer[2]; /* of stdout and stderr; their counts */
	struct outcome_audit audit;
	const char *hint;                  /* why the leg may have failed, or NULL; constant */
	const struct protected
	    *protected; /* not owned, as the next: NULL but while the run's plan is there */
	const struct words *removed_env;
	struct brought_out brought_out;
	const struct view_paths *hidden;
	bool unrestored; /* something could not be put back */
	bool published;
	bool restore_failed; /* something could not be put back or published; error says what */
	struct error error;  /* the first guard failure, or empty */
};

const char *isolation_name(enum isolation isolation);
const char *proof_name(enum proof proof);
/* Which one the options ask for, and its name. */
enum outcome_view outcome_view(const struct options *o);
const char *outcome_view_name(enum outcome_view view);
/* The time for bounded_write_all(): after a cancel, a time-out or an overflow no reader is waited for
 * longer than BOUNDED_LAST_MS. */
int64_t outcome_write_until(const struct outcome *o);
void outcome_free(struct outcome *o);

#endif
