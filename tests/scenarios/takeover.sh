# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# The leg against the guard itself: its mounts, its PID 1, its launcher.

mounts_hold() {
	guard -- "$LEGS/undo-mounts" "$file_commands"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "unmount with capabilities in a nested namespace: Invalid argument"
	has "$work/stdout" "remount writable with capabilities in a nested namespace: Operation not permitted"
	kept
}
mounts_hold_single() {
	printf 'x=1' >"$work/file"
	GITHUB_OUTPUT=$work/file guard --no-outputs --guard "$work/file" -- "$LEGS/undo-mounts" "$work/file"
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(cat "$work/file")" x=1
}

pid1_out_of_reach() {
	guard -- "$LEGS/pid1"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "trace PID 1: Operation not permitted"
	has "$work/stdout" "kill PID 1: still here"
	kept
}

limited_pid1() {
	guard -- "$LEGS/limit-pid1"
	# Its own run may be lost; then it must not count as the leg's word.
	[[ $status == 0 || $status == 12[1-5] ]] || fail "exit status $status"
	kept
	[[ $status == 0 ]] || [[ $(output lane-class) != ok ]] || fail "status $status with class ok"
}

launcher_survives() {
	under=(bash -c 'echo $$ >"$0" && exec "$@"' "$work/launcher")
	guard -- bash -c 'exec "$0" "$1" "$PPID" "$(<"$2")" "$3"' "$LEGS/kill-everything" \
		"$(readlink /proc/self/ns/pid)" "$work/launcher" "$$"
	expect 0
	has "$work/stdout" "still here"
	kept
}

nothing_of_the_machine_visible() {
	guard -- bash -c 'ls /proc | grep -c "^[0-9]"; ls -d /proc/'"$$"' 2>/dev/null; exit 0'
	expect 0
	(($(head -n 1 "$work/stdout") < 8)) || fail "the leg sees other processes"
}

powerless() {
	guard -- grep -E '^(Cap|NoNewPrivs)' /proc/self/status
	expect 0
	same "$(grep -c 0000000000000000 "$work/stdout")" 5 "empty capability sets"
	has "$work/stdout" $'NoNewPrivs:\t1'
	guard -- cat /proc/self/oom_score_adj
	same "$(cat "$work/stdout")" 1000
	guard -- bash -c 'ps -o sid= -p $$ 2>/dev/null || cut -d" " -f6 /proc/$$/stat; echo $$'
	same "$(tr -d ' ' <"$work/stdout" | uniq | wc -l)" 1 "session leaders"
	guard -- id -u
	same "$(cat "$work/stdout")" "$(id -u)"
}

# Landlock's scopes keep the leg off abstract sockets of the machine, where the kernel has them.
abstract_sockets() {
	"$LEGGUARD" run --status "$work/status.json" -- true
	[[ $(status_of landlock_scopes) == true ]] || skip "no Landlock scopes on this kernel"
	cat >"$work/listen.py" <<-'EOF2'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind("\0" + sys.argv[1])
		s.listen()
		open(sys.argv[2], "w").close()
		s.settimeout(30)
		try:
		    s.accept()
		except OSError:
		    pass
	EOF2
	mkfifo "$work/listening"
	python3 "$work/listen.py" "legguard-$$" "$work/listening" &
	await "$work/listening"
	guard -- python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\0" + sys.argv[1])
    print("THROUGH")
except PermissionError:
    print("refused")' "legguard-$$"
	python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).connect("\0" + sys.argv[1])' "legguard-$$"
	wait
	same "$(cat "$work/stdout")" refused
}

# Another mount of the same file system is another way in (container actions have one).
alias_covered() {
	mkdir -p "$work/alias"
	under=("$TOOLS/oddly" "bind=$RUNNER_TEMP:$work/alias" --)
	guard -- bash -c 'echo lane-class=credit-stop >>"$1" && echo THROUGH; exit 0' - \
		"$work/alias/_runner_file_commands/${GITHUB_OUTPUT##*/}"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stderr" "Read-only file system"
	kept
}
alias_of_directory() {
	mkdir -p "$work/alias"
	under=("$TOOLS/oddly" "bind=$file_commands:$work/alias" --)
	guard -- bash -c 'echo lane-class=credit-stop >>"$1" && echo THROUGH; exit 0' - \
		"$work/alias/${GITHUB_OUTPUT##*/}"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stderr" "Read-only file system"
	kept
}
alias_of_file() {
	: >"$work/alias-file"
	under=("$TOOLS/oddly" "bind=$GITHUB_OUTPUT:$work/alias-file" --)
	guard -- bash -c 'echo lane-class=credit-stop >>"$1" && echo THROUGH; exit 0' - "$work/alias-file"
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

# In a container action the guarded directory is a mount point for the launcher itself.
directory_is_mount_point() {
	mkdir -p "$work/github/file_commands"
	local f
	for f in GITHUB_OUTPUT GITHUB_ENV GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY; do
		export "$f=$work/github/file_commands/$(basename "${!f}")"
	done
	unset GITHUB_ARTIFACTS GITHUB_ARTIFACTS_LIST
	under=("$TOOLS/oddly" "bind=$file_commands:$work/github/file_commands" --)
	guard -- "$LEGS/dirfd-rename" rename "$work/github" file_commands
	[[ $status == 120 || $status == 0 ]] || fail "exit status $status"
	lacks "$work/stdout" THROUGH
	GITHUB_OUTPUT=$file_commands/$(basename "$GITHUB_OUTPUT")
	GITHUB_STEP_SUMMARY=$file_commands/$(basename "$GITHUB_STEP_SUMMARY")
	kept
}

read_only_option() {
	mkdir "$work/extra"
	echo x >"$work/extra/file"
	guard --read-only "$work/extra" -- bash -c 'echo y >"$1/file"; echo z >"$1/new"; echo own >own; exit 0' - "$work/extra"
	expect 0
	same "$(cat "$work/extra/file")" x
	same "$(ls "$work/extra")" file
	same "$(cat "$work/workspace/own")" own
}

scenario "the leg can't undo the read-only mount, not even with capabilities of its own" mounts_hold
scenario "nor that of a single file" mounts_hold_single
scenario "PID 1 of the leg's namespace is out of its reach" pid1_out_of_reach
blinded_pid1() {
	guard --on-survivors fail --status "$work/status.json" -- python3 -c '
import os, resource, time
resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)'
	expect 121
	same "$(status_of class)" survivors
	same "$(status_of survivors.count)" 1
}

scenario "a leg that blinds PID 1 can't hide that it left something" blinded_pid1
scenario "a leg that chokes PID 1 with resource limits harms only its own run" limited_pid1
scenario "a leg that kills everything it can reaches neither launcher nor machine" launcher_survives
scenario "a leg sees no process of the machine" nothing_of_the_machine_visible
scenario "a leg has no capabilities, can't gain any, goes first when memory ends, leads its session" powerless
scenario "a leg can't connect to abstract sockets outside" abstract_sockets
scenario "a write through another mount of RUNNER_TEMP fails" alias_covered
scenario "a write through another mount of the guarded directory fails" alias_of_directory
scenario "a write through another mount of the guarded file fails" alias_of_file
scenario "a guarded directory that is a mount point for the launcher is held" directory_is_mount_point
scenario "--read-only holds for the leg, beside what it may write" read_only_option
