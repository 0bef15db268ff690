# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P5, whatever fails while a run is set up and carried out: see tests/lib/inject-faults.

faults() { # TIER [OPTION]...
	"$TOOLS/inject" "$work/report" list "$LEGGUARD" --version >"$work/stdout" ||
		skip "system calls can't be made to fail here: $(<"$work/stdout")"
	export work
	"$LIB/inject-faults" "$@" >"$work/faults" 2>&1 || fail "$(tail -n 40 "$work/faults")"
}
namespace() { faults namespace; }
unconfined() { faults none --isolation none; }
# What these do besides is done by the reaper, and by the leg's process before its command.
set_up() { FAULTS_IN=0.1 faults "$@"; }
share_pid() { set_up share-pid --share-pid; }
pinned() { set_up namespace --pin; }
landlock() { set_up landlock --isolation landlock; }
strict() { set_up namespace --writable "$work/workspace"; }

scenario_slow "any one system call of a run fails: the leg is held, or there is none and the status says so" namespace
scenario_slow "likewise with --isolation none" unconfined
scenario_slow "likewise in the reaper and the leg's process with --share-pid" share_pid
scenario_slow "likewise with --isolation landlock" landlock
scenario_slow "likewise while --pin is set up" pinned
scenario_slow "likewise while --writable is set up" strict
