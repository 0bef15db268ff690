# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# P2, around the mount: a directory beside the guarded one, bound without what is mounted below, and an ancestor renamed
# into that, show the guarded files where nothing covers them.

# around COMMAND: run it as the leg, in a namespace of its own, where $bare is the uncovered guarded directory.
around() {
	mkdir "$work/beside" "$work/bare"
	guard --status "$work/status.json" -- unshare -rm bash -c '
		mount --bind "$1/beside" "$1/bare" || exit 9
		mv "$RUNNER_TEMP" "$1/beside/t" || exit 9
		bare=$1/bare/t/_runner_file_commands
		eval "$2"' - "$work" "$1"
}

append_around() {
	around 'echo lane-class=credit-stop >>"$bare/${GITHUB_OUTPUT##*/}" && : >"$1/wrote"'
	expect 120
	kept
	[[ ! -e $work/wrote ]] || fail "the leg could write"
	has "$work/stderr" "tampered: opened $GITHUB_OUTPUT"
	same "$(output lane-class)" tampered
}

truncate_around() {
	around 'python3 -c "import os, sys; os.truncate(sys.argv[1], 0)" "$bare/${GITHUB_ENV##*/}" && : >"$1/wrote"'
	expect 120
	kept
	[[ ! -e $work/wrote ]] || fail "the leg could truncate"
}

without_waiting() {
	around 'dd if=/dev/zero of="$bare/${GITHUB_OUTPUT##*/}" oflag=nonblock conv=notrunc bs=1 count=1 && : >"$1/wrote"
		mv "$1/beside/t" "$RUNNER_TEMP"'
	expect 120
	kept
	[[ ! -e $work/wrote ]] || fail "the leg could write"
}

# Real-time signals need room in a queue that all processes of a user share.
full_queue() {
	mkdir "$work/beside" "$work/bare"
	guard -- python3 -c '
import ctypes, os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
libc = ctypes.CDLL(None)
while libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) == 0:
    pass
os.execvp("unshare", ["unshare", "-rm", "bash", "-c", sys.argv[1], "-", sys.argv[2]])' '
		mount --bind "$1/beside" "$1/bare" || exit 9
		mv "$RUNNER_TEMP" "$1/beside/t" && echo forged=1 >>"$1/bare/t/_runner_file_commands/${GITHUB_OUTPUT##*/}" &&
			: >"$1/wrote"' "$work"
	expect 120
	kept
	[[ ! -e $work/wrote ]] || fail "the leg could write"
	has "$work/stderr" "tampered: opened $GITHUB_OUTPUT"
}

# Renames in the directories above are nothing by themselves, and a neighbour may be written from outside.
honest() {
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		echo more >>"$outer_output"
		announce "$work/go"
	} &
	guard -- bash -c ": >'$work/started'; : <'$work/go'; echo 1 >'$RUNNER_TEMP/a' && mv '$RUNNER_TEMP/a' '$RUNNER_TEMP/b'"
	wait $!
	expect 0
	same "$(tail -n 1 "$outer_output")" more
}

scenario "an append around the read-only mount is stopped before it happens" append_around
scenario "a truncation around the read-only mount is stopped before it happens" truncate_around
scenario "nor does a writer get through that does not wait" without_waiting
scenario "nor one that has filled the queue of signals" full_queue
scenario "a leg that renames its own files, and a step beside it that writes its own, go on" honest
