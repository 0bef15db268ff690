# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
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

# traced STRACE_OPTION...: a run of the late writer with only the launcher traced.
traced() {
	status=0
	rm -f "$work/alive" "$work/result"
	{
		strace "$@" "$LEGGUARD" run --set-output a=1 -- "$LEGS/late-writer" "$work/result" "$work/alive" \
			</dev/null >"$work/stdout" 2>"$work/stderr" || status=$?
	} 2>/dev/null # the shell's own "Killed"
}

# Nothing, or everything the launcher had to publish.
published_wholly() {
	local size
	size=$(stat -c %s "$work/remembered/${GITHUB_OUTPUT##*/}")
	if cmp -s "$work/remembered/${GITHUB_OUTPUT##*/}" "$GITHUB_OUTPUT"; then
		kept unpublished
	else
		kept
		same "$(output lane-class)" ok "after $1"
		truncate -s "$size" "$GITHUB_OUTPUT"
	fi
}

# Kill the launcher at its first, second, ... call of each kind; $1 = 10: only at every tenth of all these.
every_step() {
	need strace
	local call n count step=0 killed=0
	traced -o "$work/trace"
	expect 0
	published_wholly "no kill"
	# Waiting is one step, or a few; thousands would be a launcher that burns the machine's time.
	(($(wc -l <"$work/trace") < 1000)) || fail "$(wc -l <"$work/trace") system calls in one short run"
	sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' "$work/trace" | sort | uniq -c >"$work/calls"
	while read -r count call; do
		# A loop makes no new state each time round.
		for ((n = 1; n <= count && n <= 40; n++)); do
			((step++ % $1 == 0)) || continue
			traced -o /dev/null -e "inject=$call:signal=SIGKILL:when=$n"
			[[ $status != 137 ]] || killed=$((killed + 1))
			dies "$work/alive"
			[[ ! -e $work/result ]] || ! grep -vx EROFS "$work/result" >&2 ||
				fail "an attempt did not fail as it should, after a kill at $call $n"
			published_wholly "a kill at $call $n"
		done
	done <"$work/calls"
	# Polls differ from run to run; most steps are always there.
	((killed * $1 > 60)) || fail "only $killed of $step steps were killed"
	same "$(find "$RUNNER_TEMP" -type f | wc -l)" 14 "files below RUNNER_TEMP"
}
every_call() { every_step 1; }
some_calls() { every_step 10; }

scenario "kill -9 of the launcher kills the leg, and contents are unchanged" kill_launcher
scenario "kill -9 of the launcher kills an unconfined leg, too" kill_launcher_none
scenario "kill -9 at some system calls of a run: the leg is dead, contents are unchanged" some_calls
scenario_slow "kill -9 at every system call of a run: the leg is dead, contents are unchanged" every_call
