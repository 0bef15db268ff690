# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# What is hidden from the leg: --hide, and that nobody below it gets it back.

secrets() {
	mkdir -p "$work/secrets/deep"
	echo treasure >"$work/secrets/deep/key"
	echo treasure >"$work/token"
}
hidden() {
	secrets
	guard --hide "$work/secrets" --hide "$work/token" -- bash -c '
		ls -A "$1/secrets"
		stat -c "%n %F %a" "$1/secrets" "$1/token"
		for f in "$1/secrets/deep/key" "$1/token" "$1/./secrets/../token"; do
			cat "$f" || echo "stopped $f"
		done' - "$work"
	expect 0
	lacks "$work/stdout" treasure
	same "$(grep -c stopped "$work/stdout")" 3
	has "$work/stdout" "$work/secrets directory 555"
	has "$work/stdout" "$work/token regular empty file 0"
	kept
	same "$(cat "$work/secrets/deep/key" "$work/token")" $'treasure\ntreasure'
}
every_kind() {
	mkfifo "$work/fifo"
	ln -s "$work/token" "$work/link"
	secrets
	python3 -c 'import socket, os, sys
os.chdir(sys.argv[1])
socket.socket(socket.AF_UNIX).bind("socket")' "$work"
	guard --hide "$work/fifo" --hide "$work/link" --hide "$work/socket" --hide /dev/null -- bash -c '
		for f in "$1"/{fifo,socket,token} /dev/null; do
			stat -c "%F %a" "$f"
			if cat "$f"; then echo THROUGH; fi
			if chmod 644 "$f"; then echo THROUGH; fi
			if mv "$f" "$f.aside"; then echo THROUGH; fi
			if rm -f "$f"; then echo THROUGH; fi
		done
		exit 0' - "$work"
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(sort "$work/stdout" | uniq -c | tr -s ' ')" " 4 regular empty file 0"
}
holds() {
	secrets
	local path file
	for path in "$work/secrets" "$work/token"; do
		file=$path
		[[ -f $path ]] || file=$path/deep/key
		guard --hide "$path" -- env GITHUB_OUTPUT="$file" "$LEGS/undo-mounts" "$path"
		expect 0
		same "$(cat "$file")" treasure
	done
}
alone_in_userns() {
	secrets
	guard --hide "$work/secrets" --hide "$work/token" -- unshare -Urm bash -c '
		cat "$1/token" "$1/secrets/deep/key"
		mount -o remount,rw "$1/token" && echo THROUGH
		umount -l "$1/token" && echo THROUGH
		mount --bind / /mnt && echo THROUGH
		mount --rbind / /mnt && cat "/mnt$1/token" "/mnt$1/secrets/deep/key"
		exit 0' - "$work"
	expect 0
	lacks "$work/stdout" treasure
	lacks "$work/stdout" THROUGH
}
nested() {
	need bwrap
	secrets
	local options
	for options in "--dev-bind / /" "--dev-bind / / --unshare-pid --unshare-net --proc /proc --dev /dev" \
		"--ro-bind / / --unshare-all --proc /proc --dev /dev --tmpfs /tmp"; do
		# shellcheck disable=SC2086
		guard --hide "$work/secrets" --hide "$work/token" -- bwrap $options bash -c '
			echo inside
			cat "$1/token" "$1/secrets/deep/key"
			exit 3' - "$work"
		expect 3
		has "$work/stdout" inside
		lacks "$work/stdout" treasure
	done
}
aliases() {
	secrets
	mkdir "$work/alias"
	under=("$TOOLS/oddly" "bind=$work:$work/alias" --)
	guard --hide "$work/secrets" --hide "$work/token" -- bash -c '
		for d in "$1" "$1/alias"; do cat "$d/token" "$d/secrets/deep/key" || echo stopped; done' - "$work"
	expect 0
	lacks "$work/stdout" treasure
	same "$(grep -c stopped "$work/stdout")" 2
	guard --hide "$work/alias/token" -- cat "$work/token" "$work/alias/token"
	expect 1
	lacks "$work/stdout" treasure
}
with_read_only() {
	secrets
	guard --read-only "$work/secrets" --hide "$work/secrets/deep" -- bash -c '
		ls "$1/secrets/deep"; cat "$1/secrets/deep/key" || echo hidden
		: >"$1/secrets/new" || echo read-only' - "$work"
	same "$(cat "$work/stdout")" $'hidden\nread-only'
	guard --read-only "$work/secrets/deep" --hide "$work/secrets" -- bash -c '
		ls -A "$1/secrets"; cat "$1/secrets/deep/key" || echo hidden' - "$work"
	same "$(cat "$work/stdout")" hidden
}
overlapping() {
	secrets
	guard --hide "$work/secrets/deep/key" --hide "$work/secrets" --hide "$work/secrets/deep" -- ls -A "$work/secrets"
	expect 0
	[[ ! -s $work/stdout ]] || fail "something is left"
}
share_pid() {
	secrets
	guard --share-pid --hide "$work/secrets" --hide "$work/token" -- bash -c '
		cat "$1/secrets/deep/key" "$1/token"; [[ -r /proc/self/status ]] && echo proc' - "$work"
	same "$(cat "$work/stdout")" proc
}
odd_names() {
	local name
	for name in 'two  words' $'new\nline' $'\\134' $'\xff\xfe' ' (deleted)' '-n'; do
		echo treasure >"$work/$name"
		guard --hide "$work/$name" -- cat "$work/$name"
		expect 1
		lacks "$work/stdout" treasure
	done
}
refuses() {
	local path
	for path in / /proc /proc/self /proc/sys/kernel; do
		refusal_names="--hide: " refused --hide "$path"
	done
	refusal_names=/no/such refused --hide /no/such/path
	refusal_names="directory" refused --hide .
	refusal_names="directory $work/workspace" refused --hide "$work/workspace"
	refusal_names=_runner_file_commands refused --hide "$RUNNER_TEMP"
	refusal_names=_runner_file_commands refused --hide "$file_commands"
	echo x >"$work/file"
	refusal_names="$work/file" refused --guard "$work/file" --hide "$work/file"
	kept unpublished
}
classic_calls() {
	local rules
	secrets
	for rules in open_tree=ENOSYS open_tree=EPERM move_mount=ENOSYS \
		clone3=ENOSYS,open_tree=EPERM,mount_setattr=EPERM,move_mount=EPERM; do
		under=("$TOOLS/deny" "$rules")
		guard --hide "$work/secrets" --hide "$work/token" -- bash -c '
			cat "$1/secrets/deep/key" || cat "$1/token" || touch "$1/secrets/new" || chmod 644 "$1/token" || echo stopped' - "$work"
		expect 0
		same "$(cat "$work/stdout")" stopped "$rules"
		guard --hide "$work/token" -- env GITHUB_OUTPUT="$work/token" "$LEGS/undo-mounts" "$work/token"
		expect 0
	done
}
dry_run() {
	secrets
	guard --hide "$work/secrets" -n -- true
	expect 0
	has "$work/stdout" "hide       $work/secrets (--hide; the leg could move it to get around that)"
}

scenario "--hide: a directory is empty for the leg, a file can't be opened" hidden
scenario "--hide: FIFOs, sockets, devices and what a symbolic link leads to" every_kind
scenario "what is hidden can't be uncovered, not with all capabilities in a nested namespace" holds
scenario "what is hidden stays so for a leg that makes itself root of a namespace" alone_in_userns
scenario "bubblewrap works in the leg, and what is hidden stays so in it" nested
scenario "what is hidden is hidden by its other names, too" aliases
scenario "hidden in a read-only directory, and read-only in a hidden one" with_read_only
scenario "hidden directories in one another" overlapping
scenario "--hide with --share-pid leaves /proc as it is" share_pid
scenario "hidden paths with blanks, newlines and other bytes" odd_names
scenario "--hide refuses what can't be hidden, or is not there" refuses
scenario "without the newer mount calls hidden paths are hidden all the same" classic_calls
scenario "--dry-run lists what is hidden" dry_run

# Through the descriptor it could be opened anew, and written.
by_standard_input() {
	local view refusal_names="pass it through a pipe"
	mkdir "$work/closed"
	echo secret >"$work/closed/input"
	for view in "--hide $work/closed" "--hide $work/closed/input" "--writable $work/workspace"; do
		status=0
		[[ $view != --writable* ]] || cp "$work/closed/input" "/dev/shm/legguard-input-$$"
		local input=$work/closed/input
		[[ $view != --writable* ]] || input=/dev/shm/legguard-input-$$
		# shellcheck disable=SC2086
		"$LEGGUARD" run $view -- touch "$work/workspace/ran" <"$input" >"$work/stdout" 2>"$work/stderr" || status=$?
		rm -f "/dev/shm/legguard-input-$$"
		expect 125
		has "$work/stderr" "$refusal_names"
		[[ ! -e $work/workspace/ran ]] || fail "the leg ran"
	done
	same "$("$LEGGUARD" run --hide "$work/closed" -- cat < <(cat "$work/closed/input"))" secret
}
scenario "a standard input that the view does not show is refused" by_standard_input
