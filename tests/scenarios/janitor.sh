# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P8: when the launcher is killed, its janitor puts everything back before the step's stdout closes, which
# is what the runner waits for before it reads the files.

# killed [OPTION]... -- SCRIPT [ARG]...: kill the launcher once the leg's SCRIPT is done, and wait for the end
# of the step's stdout. The leg stays until it is killed.
killed() {
	local options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	local script=$2
	shift 2
	mkfifo "$work/pipe" "$work/started"
	launch_to=$work/pipe
	launch "${options[@]}" -- bash -c 'exec 9<>"$1"; flock -s 9; shift
		started=$1; shift
		'"$script"'
		setsid -f sleep 1000
		: >"$started"
		exec sleep 1000' - "$work/alive" "$work/started" "$@"
	exec 7<"$work/pipe"
	await "$work/started"
	kill -KILL "$launcher"
	cat <&7 >"$work/stdout"
	exec 7<&-
}
restored() {
	# Both at once, without any wait.
	kept unpublished
	dead "$work/alive"
	finish
	expect 137
	has "$work/stderr" "the launcher was killed; nothing is published"
	has "$work/stderr" "tampered:"
	has "$work/stderr" ", restored"
}

ancestor='mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"'
replaced='mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"; mkdir -p "${GITHUB_OUTPUT%/*}"; echo lane-class=credit-stop >"$GITHUB_OUTPUT"'

ancestor_moved() {
	killed -- "$ancestor"
	restored
}
ancestor_replaced() {
	killed -- "$replaced"
	restored
}
directory_replaced() {
	killed -- '"$1" rename "$RUNNER_TEMP" _runner_file_commands >"$2"' "$LEGS/dirfd-rename" "$work/attack"
	has "$work/attack" moved
	restored
}
unconfined_ancestor() {
	killed --isolation none -- "$replaced"
	restored
}
unconfined_directory() {
	killed --isolation none -- 'mv "${GITHUB_OUTPUT%/*}" "$RUNNER_TEMP/elsewhere"
		mkdir "${GITHUB_OUTPUT%/*}"; echo lane-class=credit-stop >"$GITHUB_OUTPUT"'
	restored
}
unconfined_contents() {
	killed --isolation none -- 'echo lane-class=credit-stop >>"$GITHUB_OUTPUT"; printf %s MODE=slow >"$GITHUB_ENV"
		: >"$GITHUB_PATH"; mv "$GITHUB_STATE" "$GITHUB_STATE.aside"; ln -s /etc/passwd "$GITHUB_STATE"'
	rm -f "$GITHUB_STATE.aside"
	restored
}
shared_pids() {
	killed --share-pid -- "$replaced"
	restored
}

# Nothing was changed: nothing is done, and nobody stays.
quiet_kill() {
	local tier
	for tier in --isolation=namespace --share-pid --isolation=none; do
		rm -f "$work/pipe" "$work/started"
		killed "$tier" -- :
		kept unpublished
		dead "$work/alive"
		finish
		expect 137
		lacks "$work/stderr" tampered
		has "$work/stderr" "nothing is published"
	done
}

janitor_killed() {
	local tier
	mkfifo "$work/started" "$work/go"
	for tier in --isolation=namespace --share-pid --isolation=none; do
		launch "$tier" -- bash -c 'exec 9<>"$1"; flock -s 9; : >"$2"; : <"$3"; setsid -f sleep 1000; exit 7' - \
			"$work/alive" "$work/started" "$work/go"
		await "$work/started"
		kill -KILL "$(child_of "$launcher" leg-janitor)"
		announce "$work/go"
		finish
		expect 7
		kept
		dead "$work/alive"
		same "$(output exit-code)" 7
	done
}
none_left() {
	local tier
	mkfifo "$work/started" "$work/go"
	for tier in --isolation=namespace --share-pid --isolation=none; do
		launch "$tier" -- bash -c ': >"$1"; : <"$2"' - "$work/started" "$work/go"
		await "$work/started"
		local reaper janitor
		reaper=$(child_of "$launcher" leg-reaper)
		janitor=$(child_of "$launcher" leg-janitor)
		announce "$work/go"
		finish
		expect 0
		# Not even as a zombie: the launcher has waited for both.
		[[ ! -e /proc/$reaper && ! -e /proc/$janitor ]] || fail "a process of the launcher's is left"
	done
}

# An unconfined leg reaches it. It has nothing to do by then, but would never end.
janitor_stopped() {
	guard --isolation none --status "$work/status.json" -- bash -c '
		launcher=$(ps -o ppid= -p "$PPID")
		until pkill -STOP -P $launcher leg-janitor; do :; done'
	expect 0
	kept
	same "$(output lane-class)" ok
}

scenario "kill -9 after the leg moved a directory above the files: it is back before stdout closes" ancestor_moved
scenario "kill -9 after the leg replaced a directory above the files: it is back before stdout closes" ancestor_replaced
scenario "kill -9 after the leg replaced the guarded directory: it is back before stdout closes" directory_replaced
scenario "kill -9 with an unconfined leg and a replaced ancestor: it is back before stdout closes" unconfined_ancestor
scenario "kill -9 with an unconfined leg and a replaced directory: it is back before stdout closes" unconfined_directory
scenario "kill -9 with an unconfined leg and changed files: their contents are back before stdout closes" unconfined_contents
scenario "kill -9 with a shared pid namespace: names are back, and the leg dead, before stdout closes" shared_pids
scenario "kill -9 when nothing was changed: nobody stays, and nothing is touched" quiet_kill
scenario "killing the janitor alone changes nothing for a run" janitor_killed
scenario "a run ends though its leg has stopped the janitor" janitor_stopped
scenario "neither reaper nor janitor is left of a run" none_left
