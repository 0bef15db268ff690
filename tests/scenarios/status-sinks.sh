# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# Where the status object may go: nothing is lost where it may not, and nobody else can write it where it may.

names_a_guarded_file() {
	ln -s "$GITHUB_ENV" "$work/link"
	refusal_names=GITHUB_OUTPUT refused --status "$GITHUB_OUTPUT"
	refusal_names=GITHUB_ENV refused --status "$work/link"
	refused --status "$outer_output"
	refused --status "$file_commands/another"
	kept unpublished
	: >"$work/own"
	refused --guard "$work/own" --status "$work/own"
	refused --guard "$work/none" --status "$work/none"
	[[ ! -e $work/none ]] || fail "an empty file is left"
}
# Whatever else is wrong, and would be said first.
names_it_beside_another_error() {
	rm "$GITHUB_STATE"
	remember
	refused --status "$GITHUB_OUTPUT"
	refused -C /no/such/directory --status "$GITHUB_OUTPUT"
	kept unpublished
}
has_another_name() {
	ln "$GITHUB_OUTPUT" "$work/other"
	ln "$outer_output" "$work/outer"
	remember
	refused --status "$work/other"
	refused --allow-hard-links --status "$work/other"
	refused --allow-hard-links --status "$work/outer"
	printf 'kept\n' >"$work/one"
	ln "$work/one" "$work/two"
	rm "$work/other" "$work/outer"
	remember
	refused --status "$work/one"
	kept unpublished
	same "$(cat "$work/two")" kept
}
is_a_standard_descriptor() {
	local name
	for name in /dev/stdout /proc/self/fd/1 "$work/log"; do
		printf 'earlier\n' >"$work/log"
		status=0
		"$LEGGUARD" run --status "$name" -- touch "$work/ran" >>"$work/log" 2>"$work/stderr" </dev/null || status=$?
		expect 125
		same "$(cat "$work/log")" earlier "$name"
		status=0
		"$LEGGUARD" run --status "$work/log" -- touch "$work/ran" <"$work/log" >"$work/stdout" 2>"$work/stderr" || status=$?
		expect 125
		same "$(cat "$work/log")" earlier stdin
	done
	[[ ! -e $work/ran ]] || fail "the leg ran"
}
refusal_replaces_the_last() {
	printf 'the last run said more than this one will, for certain: %02000d\n' 0 >"$work/status.json"
	refused --guard "$work/none" --status "$work/status.json"
	same "$(wc -l <"$work/status.json")" 1
	same "$(status_of exit_status)" 125
}

# A reader that waits is not even woken up.
fifo() {
	mkfifo "$work/fifo"
	refusal_names=FIFO refused --status "$work/fifo"
	exec 8<>"$work/fifo"
	refusal_names=FIFO refused --status "$work/fifo"
	status=0
	"$LEGGUARD" run --status-fd 3 -- touch "$work/ran" 3>"$work/fifo" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
	kept unpublished
}
nameless_pipe() {
	{ "$LEGGUARD" run --status-fd 3 -- true 3>&1 >"$work/stdout" 2>"$work/stderr" </dev/null; } | cat >"$work/status.json"
	same "$(status_of class)" ok
	status=0
	"$LEGGUARD" run --status-fd 1 -- echo said 2>"$work/stderr" </dev/null | cat >"$work/both"
	same "$(head -n 1 "$work/both")" said
	tail -n 1 "$work/both" >"$work/status.json"
	same "$(status_of class)" ok
	"$LEGGUARD" run --status-fd 1 -- echo said >"$work/both" 2>"$work/stderr" </dev/null
	same "$(head -n 1 "$work/both")" said
	tail -n 1 "$work/both" >"$work/status.json"
	same "$(status_of class)" ok
}
through_descriptor() { # OPTION...
	rm -f "$work/ran"
	status=0
	"$LEGGUARD" run "$@" -- touch "$work/ran" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
	same "$(wc -l <"$work/stderr")" 1
}
guarded_behind_a_descriptor() {
	through_descriptor --status-fd 3 3>>"$GITHUB_OUTPUT"
	through_descriptor --status-fd 3 3<>"$GITHUB_OUTPUT"
	through_descriptor --status-fd 3 3>>"$outer_output"
	status=0
	"$LEGGUARD" run --status-fd 1 -- true >>"$GITHUB_OUTPUT" 2>"$work/stderr" </dev/null || status=$?
	expect 125
	kept unpublished
	printf 'kept\n' >"$work/nameless"
	exec 8>>"$work/nameless" 7<"$work/nameless"
	rm "$work/nameless"
	through_descriptor --status-fd 3 3>&8
	same "$(cat <&7)" kept
	printf 'kept\n' >"$work/log"
	status=0
	"$LEGGUARD" run --status-fd 3 -- true 3>>"$work/log" >"$work/stdout" 2>>"$work/log" </dev/null || status=$?
	expect 125
	same "$(head -n 1 "$work/log")" kept
	lacks "$work/log" '{'
}
# Others write through the same descriptor, before and after.
file_behind_a_descriptor() {
	exec 8>"$work/status.json"
	status=0
	"$LEGGUARD" run --status-fd 8 -- bash -c 'echo "{\"class\":\"forged\"}" >>"$1"' - "$work/status.json" \
		>"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	expect 1
	has "$work/stderr" "Read-only file system"
	same "$(wc -l <"$work/status.json")" 1
	same "$(status_of class)" error
	echo behind >&8
	exec 8>&-
	same "$(wc -l <"$work/status.json")" 2
	same "$(tail -n 1 "$work/status.json")" behind
	"$LEGGUARD" run --status-fd 8 -- true 8<>"$work/status.json" >"$work/stdout" 2>"$work/stderr" </dev/null
	same "$(sed -n 2p "$work/status.json")" behind
	same "$(wc -l <"$work/status.json")" 3
}

scenario "--status that names a guarded file, or one beside it, is refused and nothing is lost" names_a_guarded_file
scenario "nor is anything lost when something else is refused as well" names_it_beside_another_error
scenario "a status file that has another name is refused and left as it is" has_another_name
scenario "--status that names the file behind stdin or stdout is refused, and that is left as it is" is_a_standard_descriptor
scenario "the status object of a refusal replaces the last run's" refusal_replaces_the_last
scenario "a FIFO with a name is refused: the leg could write to it as well" fifo
scenario "--status-fd writes to a pipe without a name, and to stdout" nameless_pipe
scenario "--status-fd with a guarded file behind it is refused, and so is a file without a name" guarded_behind_a_descriptor
scenario "a file behind --status-fd is guarded from the leg, and what it held stays" file_behind_a_descriptor
