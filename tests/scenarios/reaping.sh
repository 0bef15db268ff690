# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P3: nothing the leg started is alive when the launcher publishes, however it detached itself.

survivors_of() { # STYLE
	guard --status "$work/status.json" "${options[@]}" -- "$LEGS/detach" "$1" "$work/alive"
	expect "${want_status-0}"
	dead "$work/alive"
	kept
	same "$(output reaped)" true
	same "$(output lane-class)" "${want_class-ok}"
	(($(status_of survivors.count) >= 1)) || fail "no survivors counted"
}
options=()

background() { survivors_of background; }
double_fork() { survivors_of double-fork; }
stopped() { survivors_of stopped; }
forking() { survivors_of forking; }
deaf() { survivors_of deaf; }
nested() { survivors_of nested; }
vforked() { survivors_of vforked; }
renamed() {
	survivors_of renamed
	same "$(status_of proof)" pid-namespace
}
many() {
	survivors_of many
	(($(status_of survivors.count) == 201)) || fail "$(status_of survivors.count) survivors, expected 201"
}

by_shell() { # COMMAND: a background way of the shell
	guard --status "$work/status.json" -- bash -c "exec 9<>'$work/alive'; flock -s 9; $1
 exit 7"
	expect 7
	dead "$work/alive"
	kept
	same "$(output exit-code)" 7
	(($(status_of survivors.count) >= 1)) || fail "no survivors counted"
}
shell_ampersand() { by_shell 'sleep 1000 &'; }
shell_nohup() { by_shell 'nohup sleep 1000 >/dev/null 2>&1 &'; }
shell_setsid() { by_shell 'setsid -f sleep 1000'; }
shell_disown() { by_shell 'sleep 1000 & disown -a; trap "" HUP'; }

none_background() { unconfined background; }
none_double_fork() { unconfined double-fork; }
none_stopped() { unconfined stopped; }
none_forking() { unconfined forking; }
none_deaf() { unconfined deaf; }
none_many() { unconfined many; }
none_renamed() { unconfined renamed; }
unconfined() {
	options=(--isolation none)
	survivors_of "$1"
	same "$(status_of proof)" subreaper
}

fail_on_survivors() {
	options=(--on-survivors fail) want_status=121 want_class=survivors
	survivors_of background
	same "$(status_of origin)" guard
}
fail_without_survivors() {
	guard --on-survivors fail -- true
	expect 0
	same "$(output lane-class)" ok
}

# Its pipes are closed when it returns: a step that pipes on is not held up.
pipes_close() {
	"$LEGGUARD" run -- "$LEGS/detach" deaf "$work/alive" 2>"$work/stderr" | cat >/dev/null
	dead "$work/alive"
}

lock_released() {
	guard -- "$LEGS/hold-lock" "$GITHUB_OUTPUT"
	expect 0
	has "$work/stdout" locked
	flock -n -x "$GITHUB_OUTPUT" true || fail "the output file is still locked"
	flock -n -s "$GITHUB_OUTPUT" true
	kept
}

survivors_are_named() {
	guard --status "$work/status.json" -- bash -c 'sleep 1000 & until read -r comm </proc/$!/comm && [[ $comm == sleep ]]; do :; done; exit 0'
	expect 0
	has "$work/stderr" "legguard: killed 1 process the leg left running: sleep"
	same "$(wc -l <"$work/stderr")" 1
	same "$(python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["survivors"]["list"][0]["name"])' "$work/status.json")" sleep
}

scenario "a background process dies with the leg" background
scenario "a double-forked process in a session of its own dies with the leg" double_fork
scenario "a stopped process dies with the leg" stopped
scenario "a chain of processes that fork for ever dies with the leg" forking
scenario "a process that ignores and blocks all signals dies with the leg" deaf
scenario "a process in a nested pid namespace dies with the leg" nested
scenario "a process stuck in vfork dies with the leg" vforked
scenario "two hundred processes die with the leg, and are counted" many
scenario "a process whose name imitates /proc/PID/stat dies with the leg" renamed
scenario "'&' in a shell dies with the leg, whose status is kept" shell_ampersand
scenario "nohup dies with the leg" shell_nohup
scenario "setsid -f dies with the leg" shell_setsid
scenario "a disowned job dies with the leg" shell_disown
scenario "without isolation a background process dies as well" none_background
scenario "without isolation a double-forked process dies as well" none_double_fork
scenario "without isolation a stopped process dies as well" none_stopped
scenario "without isolation a chain of forking processes dies as well" none_forking
scenario "without isolation a deaf process dies as well" none_deaf
scenario "without isolation two hundred processes die as well" none_many
scenario "without isolation a process with a misleading name dies as well" none_renamed
scenario "--on-survivors fail makes survivors status 121 and class survivors" fail_on_survivors
scenario "--on-survivors fail means nothing where there are none" fail_without_survivors
scenario "the leg's pipes are closed when the launcher returns" pipes_close
scenario "a lock the leg left on the output file is gone" lock_released
scenario "survivors are named on stderr and in the status" survivors_are_named
