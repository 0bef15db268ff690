# shellcheck shell=bash disable=SC2154,SC2016
# P8: whatever kills the launcher, the leg dies with it and has changed no guarded file's content.

killed() { # [OPTION]...
	mkfifo "$work/started"
	"$LEGGUARD" run "$@" -- bash -c '
		trap "" INT TERM HUP
		exec 9<>"$1"; flock -s 9
		: >"$2"
		for ((;;)); do
			echo lane-class=credit-stop >>"$GITHUB_OUTPUT"
			read -r -t 0.01
		done 2>/dev/null <>"$2"' - "$work/alive" "$work/started" >"$work/stdout" 2>"$work/stderr" </dev/null &
	local launcher=$!
	await "$work/started"
	kill -KILL "$launcher"
	wait "$launcher" || true
	dies "$work/alive"
}
kill_launcher() {
	killed
	kept unpublished
}
kill_launcher_none() {
	# Unconfined, contents can't be held; but the leg must die.
	killed --isolation none
}

# kill_at N: the launcher gets SIGKILL at its Nth system call. False if it has none.
kill_at() {
	local status=0
	rm -f "$work/alive" "$work/result"
	strace -o /dev/null -e trace=none -e "inject=all:signal=SIGKILL:when=$1" \
		"$LEGGUARD" run --set-output a=1 -- "$LEGS/late-writer" "$work/result" "$work/alive" \
		</dev/null >"$work/stdout" 2>"$work/stderr" || status=$?
	dies "$work/alive"
	[[ ! -e $work/result ]] || same "$(sort -u "$work/result")" EROFS "attempts after a kill at call $1"
	published_wholly "$1"
	[[ $status != 0 ]]
}

# Nothing, or everything the launcher had to publish.
published_wholly() {
	local size
	size=$(stat -c %s "$work/remembered/${GITHUB_OUTPUT##*/}")
	if cmp -s "$work/remembered/${GITHUB_OUTPUT##*/}" "$GITHUB_OUTPUT"; then
		kept unpublished
	else
		kept
		same "$(output lane-class)" ok "after a kill at call $1"
		truncate -s "$size" "$GITHUB_OUTPUT"
	fi
}

every_step() {
	need strace
	local n=1 step=$1
	while kill_at "$n"; do
		n=$((n + step))
		((n < 3000)) || fail "no end of system calls"
	done
	((n > 60)) || fail "only $n system calls were tried"
	# No half-made reservation either.
	same "$(find "$RUNNER_TEMP" -type f | wc -l)" 14 "files below RUNNER_TEMP"
}
every_call() { every_step 1; }
some_calls() { every_step 23; }

scenario "kill -9 of the launcher kills the leg, and contents are unchanged" kill_launcher
scenario "kill -9 of the launcher kills an unconfined leg, too" kill_launcher_none
scenario "kill -9 at some system calls of a run: the leg is dead, contents are unchanged" some_calls
scenario_slow "kill -9 at every system call of a run: the leg is dead, contents are unchanged" every_call
