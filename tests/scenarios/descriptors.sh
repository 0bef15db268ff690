# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P6: the leg has descriptors 0, 1 and 2, and none of them leads to a guarded file.

nothing_inherited() {
	status=0
	"$LEGGUARD" run -- "$LEGS/descriptors" </dev/null >"$work/stdout" 2>"$work/stderr" \
		7<"$GITHUB_OUTPUT" 8>>"$GITHUB_OUTPUT" 9<"$RUNNER_TEMP" 200<>"$GITHUB_ENV" || status=$?
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

refused_with() {
	rm -f "$work/ran"
	status=0
	"$@" 2>"$work/stderr.of-shell" || status=$?
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
	kept unpublished
}
run_it() { "$LEGGUARD" run -- touch "$work/ran"; }
stdout_to_output() { run_it >>"$GITHUB_OUTPUT"; }
stderr_to_output() { run_it 2>>"$GITHUB_ENV"; }
stdin_from_output() { run_it <"$GITHUB_OUTPUT"; }
stdin_directory() { run_it <"$RUNNER_TEMP"; }
stdin_other_directory() { run_it </; }
stdin_to_neighbour() { run_it <"$outer_output"; }
opath() { "$TOOLS/oddly" "opath=0:$RUNNER_TEMP" -- "$LEGGUARD" run -- touch "$work/ran"; }
opath_file() { "$TOOLS/oddly" "opath=1:$GITHUB_OUTPUT" -- "$LEGGUARD" run -- touch "$work/ran"; }
opath_other() { "$TOOLS/oddly" opath=1:/dev/null -- "$LEGGUARD" run -- touch "$work/ran"; }

guarded_stdin() { refused_with stdin_from_output; }
guarded_stdout() { refused_with stdout_to_output; }
guarded_stderr() {
	# The refusal itself must not end up in the guarded file.
	status=0
	cp "$GITHUB_ENV" "$work/env.before"
	stderr_to_output || status=$?
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
}
guarded_neighbour() { refused_with stdin_to_neighbour; }
directories() {
	refused_with stdin_directory
	refused_with stdin_other_directory
}
opaths() {
	refused_with opath
	refused_with opath_file
	refused_with opath_other
}

closed() { # N...
	local n conditions=()
	for n; do conditions+=("closed=$n"); done
	status=0
	"$TOOLS/oddly" "${conditions[@]}" -- "$LEGGUARD" run -- \
		bash -c '"$0" >"$1" 2>&1' "$LEGS/descriptors" "$work/report" </dev/null >"$work/stdout" 2>"$work/stderr" || status=$?
	expect 0
	lacks "$work/report" THROUGH
	kept
	same "$(output lane-class)" ok
}
closed_each() {
	closed 0
	closed 1
	closed 2
	closed 0 1 2
}

working_directory() {
	cd "$file_commands"
	status=0
	"$LEGGUARD" run -- bash -c 'echo lane-class=credit-stop >>"${GITHUB_OUTPUT##*/}" && echo THROUGH; exit 0' \
		</dev/null >"$work/stdout" 2>"$work/stderr" || status=$?
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stderr" "Read-only file system"
	kept
	cd "$work/workspace"
	guard -- "$LEGS/descriptors" "../_temp/_runner_file_commands/${GITHUB_OUTPUT##*/}"
	expect 0
	lacks "$work/stdout" THROUGH
}

streams_pass_through() {
	status=0
	printf 'in\nput' | "$LEGGUARD" run -q -- bash -c 'cat; printf err >&2' >"$work/stdout" 2>"$work/stderr" || status=$?
	expect 0
	same "$(cat "$work/stdout")" $'in\nput'
	same "$(cat "$work/stderr")" err
}

scenario "no descriptor but 0, 1 and 2 is inherited" nothing_inherited
scenario "a guarded file as stdin is refused" guarded_stdin
scenario "a guarded file as stdout is refused" guarded_stdout
scenario "a guarded file as stderr is refused" guarded_stderr
scenario "another step's file as stdin is refused" guarded_neighbour
scenario "a directory as stdin is refused" directories
scenario "an O_PATH descriptor is refused" opaths
scenario "closed standard descriptors are filled, and work" closed_each
scenario "the working directory leads through the leg's own view" working_directory
scenario "stdin, stdout and stderr pass straight through" streams_pass_through
