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

# Names are another matter in a view that leaves ancestors writable: a janitor puts them back.
names_after_kill() {
	mkfifo "$work/started"
	"$LEGGUARD" run -- bash -c '
		exec 9<>"$1"; flock -s 9
		mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"
		mkdir -p "${GITHUB_OUTPUT%/*}"
		echo lane-class=credit-stop >"$GITHUB_OUTPUT"
		: >"$2"
		while :; do sleep 1000; done' - "$work/alive" "$work/started" >"$work/stdout" 2>"$work/stderr" </dev/null &
	local launcher=$! i
	await "$work/started"
	has "$GITHUB_OUTPUT" credit-stop
	kill -KILL "$launcher"
	wait "$launcher" || true
	dies "$work/alive"
	# Nothing tells when the janitor is done; what it has to do is little.
	for ((i = 0; i < 1000; i++)); do
		! diff -q "$work/remembered.inodes" <(inventory "$file_commands") >/dev/null 2>&1 || break
		sleep 0.01
	done
	kept unpublished
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
		kept # but for the table in the summary, which comes first
	else
		kept
		same "$(output lane-class)" ok "after $1"
		truncate -s "$size" "$GITHUB_OUTPUT"
	fi
	truncate -s "$(stat -c %s "$work/remembered/${GITHUB_STEP_SUMMARY##*/}")" "$GITHUB_STEP_SUMMARY"
}

# Kill the launcher at its first, second, ... call of each kind; $1 = 10: only at every tenth of all these.
every_step() {
	need strace
	local call n count step=0 killed=0
	traced -o "$work/trace"
	expect 0
	published_wholly "no kill"
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
# Waiting is one call, or a few; hundreds are a launcher that spins while the kernel kills what the leg left.
no_spinning() {
	need strace
	local calls i
	under=(strace -o "$work/trace" -e "trace=poll,ppoll,epoll_wait,epoll_pwait")
	for ((i = 0; i < 5; i++)); do
		guard -- "$LEGS/detach" many "$work/alive"
		expect 0
		calls=$(grep -c poll "$work/trace")
		((calls < 100)) || fail "$calls calls of poll in one run"
	done
}

every_call() { every_step 1; }
some_calls() { every_step 10; }

scenario "kill -9 of the launcher kills the leg, and contents are unchanged" kill_launcher
scenario "kill -9 of the launcher kills an unconfined leg, too" kill_launcher_none
scenario "kill -9 of the launcher with a directory just moved: the name is put back" names_after_kill
scenario "a launcher that waits does not spin" no_spinning
scenario "kill -9 at some system calls of a run: the leg is dead, contents are unchanged" some_calls
scenario_slow "kill -9 at every system call of a run: the leg is dead, contents are unchanged" every_call
