# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# Many legs: every status is the right one, and nothing is left.

childless() {
	local children=""
	read -r children <"/proc/$$/task/$$/children" || true
	same "$children" "" children
}
# The file as it has to be after a run, with status N, of what held LINE before.
published() { # FILE N LINE
	local class=ok
	(($2 == 0)) || class=error
	mapfile -t lines <"$1"
	[[ ${lines[0]} == "$3" && ${lines[2]} == "$2" && ${lines[-2]} == "$class" && ${#lines[@]} == 13 ]] ||
		fail "after a run with status $2 the outputs are: ${lines[*]}"
}

in_a_row() {
	local n before lines
	before=$(find "$RUNNER_TEMP" | wc -l)
	for ((n = 0; n < 10000; n++)); do
		status=0
		"$LEGGUARD" run -- sh -c "exit $((n % 120))" || status=$?
		((status == n % 120)) || fail "run $n ended with $status, expected $((n % 120))"
		published "$GITHUB_OUTPUT" "$((n % 120))" before=kept
		printf 'before=kept\n' >"$GITHUB_OUTPUT"
	done
	same "$(find "$RUNNER_TEMP" | wc -l)" "$before" "files below RUNNER_TEMP"
	childless
	kept
}

# Each with a survivor and outputs of its own, all in one directory of file commands.
at_once() {
	local n launchers=() lines
	for ((n = 0; n < 200; n++)); do
		printf 'before=%s\n' "$n" >"$file_commands/set_output_$n"
	done
	mkfifo "$work/go" "$work/started"
	exec 8<>"$work/started"
	for ((n = 0; n < 200; n++)); do
		GITHUB_OUTPUT=$file_commands/set_output_$n "$LEGGUARD" run --status "$work/status.$n" -- \
			bash -c 'exec 9<>"$1"; flock -s 9; setsid -f sleep 1000; echo >"$2"; : <"$3"; exit "$4"' - \
			"$work/alive" "$work/started" "$work/go" "$((n % 120))" >"$work/stdout.$n" 2>&1 </dev/null 8>&- &
		launchers+=($!)
	done
	for ((n = 0; n < 200; n++)); do
		read -r -u 8
	done
	# All are there at the same time; one opening lets go of all that wait.
	exec 7<>"$work/go"
	for ((n = 0; n < 200; n++)); do
		status=0
		wait "${launchers[n]}" || status=$?
		same "$status" "$((n % 120))" "status of leg $n"
		published "$file_commands/set_output_$n" "$((n % 120))" "before=$n"
		same "$(grep -c '"proof":"pid-namespace","survivors":{"count":1,' "$work/status.$n")" 1
	done
	dead "$work/alive"
	childless
}

scenario_slow "ten thousand legs in a row: every status and class is right, nothing is left" in_a_row
scenario "two hundred legs at once: every status is right, nothing is left" at_once
