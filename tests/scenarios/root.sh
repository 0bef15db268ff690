# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# Started as root: --user and --root-leg.

# The step is the ordinary user's, and the launcher root. Whatever a scenario makes itself anybody may use.
as_step() {
	umask 000
	chown "$TEST_UID:$TEST_UID" "$work" "$work/workspace" "$work/home" "$work/never"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"
	remember
}

# through OPTION FILE FUNCTION: a scenario of another file, with the launcher as root and this option more.
through() {
	# shellcheck source=/dev/null
	source "${BASH_SOURCE[0]%/*}/$2.sh"
	umask 000
	[[ $1 == --root-leg ]] || as_step
	printf '#!/bin/bash\n[[ $1 == run ]] || exec "%s" "$@"\nshift\nexec "%s" run "%s" "$@"\n' \
		"$LEGGUARD" "$LEGGUARD" "$1" >"$work/through"
	chmod 0755 "$work/through"
	LEGGUARD=$work/through
	"$3"
}

who_it_is() {
	as_step
	guard --user "$TEST_UID" -- grep -E '^(Uid:|Gid:|Groups:|Cap|NoNewPrivs:)' /proc/self/status
	expect 0
	same "$(grep -c 0000000000000000 "$work/stdout")" 5 "empty capability sets"
	has "$work/stdout" $'NoNewPrivs:\t1'
	has "$work/stdout" "$(printf 'Uid:\t%s\t%s\t%s\t%s' "$TEST_UID" "$TEST_UID" "$TEST_UID" "$TEST_UID")"
	has "$work/stdout" "$(printf 'Gid:\t%s\t%s\t%s\t%s' "$TEST_UID" "$TEST_UID" "$TEST_UID" "$TEST_UID")"
	same "$(sed -n 's/^Groups:[[:space:]]*//p' "$work/stdout")" "" "supplementary groups"
	kept
	same "$(output lane-class)" ok
	# Nothing lies between it and the machine's ids: root's files show as root's.
	guard --user "$TEST_UID" -- stat -c '%u' /
	same "$(cat "$work/stdout")" 0
	guard --user "$TEST_UID" -- readlink /proc/self/ns/user
	same "$(cat "$work/stdout")" "$(readlink /proc/self/ns/user)"
}

no_way_back() {
	need python3
	as_step
	guard --user "$TEST_UID" -- python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, call):
    try:
        call()
        print("THROUGH:", what)
    except OSError as e:
        print("stopped:", what, e.strerror)
attempt("setuid", lambda: os.setuid(0))
attempt("setresuid", lambda: os.setresuid(-1, 0, -1))
attempt("setgid", lambda: os.setgid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("chroot", lambda: os.chroot("."))
attempt("mknod", lambda: os.mknod("node", 0o20666, os.makedev(1, 3)))
attempt("kill PID 1", lambda: os.kill(1, 9))
attempt("limit PID 1", lambda: __import__("resource").prlimit(1, __import__("resource").RLIMIT_NOFILE, (0, 0)))
def mount():
    if libc.mount(b"none", b"/", None, 0x1000 | 0x20 | 1, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
attempt("mount", mount)
def keyring():
    # root has put a key into its session keyring; search it
    if libc.syscall(250, 10, -3, b"user", b"legguard-scenario", 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
attempt("a key of the root session", keyring)'
	expect 0
	lacks "$work/stdout" THROUGH
	(($(grep -c stopped "$work/stdout") == 10)) || fail "not all were tried"
	need sudo
	guard --user "$TEST_UID" -- sudo -n true
	[[ $status != 0 ]] || fail "sudo works"
}

# A user of /etc/passwd, in a mount namespace of our own so that the machine's stays as it is.
with_accounts() {
	mkdir -p "$work/etc"
	cp /etc/passwd /etc/group "$work/etc/"
	printf 'leg-user:x:%s:%s:Leg:%s:/bin/bash\n' "$TEST_UID" 34567 "$work/home" >>"$work/etc/passwd"
	printf 'leg-user:x:34567:\nleg-other:x:34568:leg-user\n' >>"$work/etc/group"
	under=(unshare -m bash -c 'mount --bind "$1/etc/passwd" /etc/passwd && mount --bind "$1/etc/group" /etc/group &&
		shift && exec "$@"' - "$work")
}
by_name() {
	as_step
	with_accounts
	guard --user leg-user -- id
	expect 0
	same "$(cat "$work/stdout")" "uid=$TEST_UID(leg-user) gid=34567(leg-user) groups=34567(leg-user)"
	guard --user leg-user:leg-other -- id -g
	same "$(cat "$work/stdout")" 34568
	guard --user "$TEST_UID" -- id -g
	same "$(cat "$work/stdout")" 34567
	guard --user "$TEST_UID:34568" -- id -g
	same "$(cat "$work/stdout")" 34568
	guard --user leg-user -n -- id
	has "$work/stdout" "user       $TEST_UID, group 34567, no other groups"
	kept
}
environment() {
	as_step
	with_accounts
	export SUDO_UID=1 SUDO_GID=1 SUDO_USER=x SUDO_COMMAND=y USER=root LOGNAME=root SHELL=/bin/false HOME=/root MAIL=z
	guard --user leg-user -- bash -c 'echo "$HOME $USER $LOGNAME $SHELL ${MAIL-none}"; env | grep -c ^SUDO_'
	same "$(cat "$work/stdout")" "$work/home leg-user leg-user /bin/bash none"$'\n0'
	guard --user leg-user --setenv USER=mine -u HOME -- bash -c 'echo "$USER ${HOME-none}"'
	same "$(cat "$work/stdout")" "mine none"
	# A home that is the user's own stays, whatever the entry says.
	HOME=$RUNNER_TEMP guard --user leg-user -- bash -c 'echo "$HOME"'
	same "$(cat "$work/stdout")" "$RUNNER_TEMP"
	under=()
	guard --user "$TEST_UID" -- bash -c 'echo "${HOME-none} ${USER-none} ${LOGNAME-none}"'
	same "$(cat "$work/stdout")" "none none none"
}
refusals() {
	as_step
	local words
	while read -r words; do
		# shellcheck disable=SC2086
		refusal_names=--user refused --user $words
	done <<-'EOF2'
		root
		0
		0:0
		no-such-user
		1001:no-such-group
		1001:0
		1001:root
		:1001
		1001:
		4294967295
		99999999999999999999
	EOF2
	refusal_names=--share-pid refused --user "$TEST_UID" --share-pid
	# Group 4 is known, and uid 4 has no entry there.
	with_accounts
	sed -i '/^[^:]*:[^:]*:4:/d' "$work/etc/passwd"
	printf 'someone:x:4:\n' >>"$work/etc/group"
	refusal_names=group refused --user 4
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	refusal_names=--user refused --user "$TEST_UID"
	has "$work/stderr" sudo
	kept unpublished
}
directory_out_of_reach() {
	as_step
	mkdir -m 0700 "$work/private"
	mkdir -m 0777 "$work/private/below"
	refusal_names="$work/private" refused --user "$TEST_UID" -C "$work/private"
	refusal_names="$work/private/below" refused --user "$TEST_UID" -C "$work/private/below"
	has "$work/stderr" "-C"
	kept unpublished
}
standard_streams() {
	as_step
	guard --user "$TEST_UID" -- bash -c 'echo one >/dev/stdout; echo two >/dev/stderr; echo three >/proc/self/fd/1'
	expect 0
	same "$(cat "$work/stdout")" $'one\nthree'
	same "$(cat "$work/stderr")" two
	{ guard_piped; } > >(cat >"$work/both")
	wait $!
	same "$(sort "$work/both")" $'one\ntwo'
}
guard_piped() {
	"$LEGGUARD" run --user "$TEST_UID" -- bash -c 'echo one >/dev/stdout; echo two >/dev/stderr' 2>&1
}
without_unprivileged_namespaces() {
	as_step
	under=("$TOOLS/deny" "clone-newuser=EPERM,unshare=EPERM")
	guard --user "$TEST_UID" -- bash -c 'echo x >>"$GITHUB_OUTPUT" && echo THROUGH; exit 5'
	expect 5
	lacks "$work/stdout" THROUGH
	kept
}

# Through sudo, as a step of an ordinary user does it: with accounts and a sudoers file of our own.
through_sudo() {
	need sudo
	as_step
	with_accounts
	cp /etc/shadow "$work/etc/"
	printf 'leg-user:*:19000:0:99999:7:::\n' >>"$work/etc/shadow"
	printf 'Defaults !lecture\nDefaults !pam_session\nroot ALL=(ALL:ALL) ALL\nleg-user ALL=(ALL:ALL) NOPASSWD:SETENV: ALL\n' \
		>"$work/etc/sudoers"
	chown 0:0 "$work/etc"/*
	chmod 0440 "$work/etc/sudoers" "$work/etc/shadow"
	under=(unshare -m bash -c 'mount --bind "$1/etc/passwd" /etc/passwd && mount --bind "$1/etc/group" /etc/group &&
		mount --bind "$1/etc/shadow" /etc/shadow && mount --bind "$1/etc/sudoers" /etc/sudoers &&
		shift && exec setpriv --reuid "$1" --regid 34567 --groups 34568 -- "${@:2}"' - "$work" "$TEST_UID")
}
sudo_just_works() {
	through_sudo
	status=0
	"${under[@]}" bash -c 'exec sudo -E "$1" run --user leg-user --status "$2/status.json" --set-output a=1 -- \
		bash -c "id; echo \"\$HOME \$USER\"; echo x >>\"\$GITHUB_OUTPUT\" && echo THROUGH; env | grep -c ^SUDO; exit 3"' \
		- "$LEGGUARD" "$work" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	expect 3
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "uid=$TEST_UID(leg-user) gid=34567(leg-user) groups=34567(leg-user)"
	has "$work/stdout" "$work/home leg-user"
	same "$(tail -n 1 "$work/stdout")" 0
	kept
	same "$(output a)" 1
	same "$(stat -c %u "$work/status.json")" "$TEST_UID"
	same "$(status_of class)" error
}
# What the runner can do: signal the entry process, a shell that has called sudo or has become it.
sudo_cancelled() { # SIGNAL exec|call
	mkfifo "$work/started"
	"${under[@]}" bash -c '
		leg="exec 9<>\"\$1/alive\"; flock -s 9; : >\"\$1/started\"; sleep 1000"
		[[ $3 == call ]] || exec sudo -E "$1" run --user leg-user -- bash -c "$leg" - "$2"
		sudo -E "$1" run --user leg-user -- bash -c "$leg" - "$2"; true' - "$LEGGUARD" "$work" "$2" \
		>"$work/stdout" 2>"$work/stderr" </dev/null &
	local entry=$!
	await "$work/started"
	# sudo does not relay what comes from its own process group.
	as_user setsid -w kill "-$1" "$entry"
	status=0
	wait "$entry" || status=$?
	until_true flock -n -x "$work/alive" true
	until_true grep -q lane-class "$GITHUB_OUTPUT"
	kept
	same "$(output lane-class)" cancelled
	rm "$work/started"
	cat "$work/remembered/${GITHUB_OUTPUT##*/}" >"$GITHUB_OUTPUT"
}
sudo_shell_ends() {
	through_sudo
	sudo_cancelled TERM call
	sudo_cancelled KILL call
}
sudo_killed() {
	through_sudo
	sudo_cancelled KILL exec
}
sudo_relays() {
	through_sudo
	sudo_cancelled INT exec
	expect 130
	sudo_cancelled TERM exec
	expect 143
}

scenario_as_root "--user: ids, no groups, no capabilities in any set, no_new_privs, the machine's own user namespace" who_it_is
scenario_as_root "--user: there is no way back to root, nor to its keyrings" no_way_back
scenario_as_root "--user takes names and numbers of users and groups" by_name
scenario_as_root "--user: HOME, USER, LOGNAME and SHELL are the user's, sudo's variables go, --setenv counts" environment
scenario_as_root "--user refuses root, who is unknown, half a name, --share-pid, and a caller who is not root" refusals
scenario_as_root "--user refuses a working directory that the user can't enter" directory_out_of_reach
scenario_as_root "--user: /dev/stdout and /dev/stderr can be opened" standard_streams
scenario_as_root "--user needs no user namespace" without_unprivileged_namespaces
scenario_as_root "sudo -E legguard run --user: it just works, and what it makes is the user's" sudo_just_works
scenario_as_root "sudo: the end of the step's shell is a cancel" sudo_shell_ends
scenario_as_root "sudo: the end of sudo itself is a cancel" sudo_killed
scenario_as_root "sudo: a signal that it relays is a cancel" sudo_relays

# Everything that holds for an ordinary user's launcher holds for root's.
while read -r from which; do
	eval "user_${from//-/_}_$which() { through --user=\$TEST_UID $from $which; }"
	scenario_again_as_root "--user: $from: ${which//_/ }" "user_${from//-/_}_$which"
done <<'EOF2'
forged-lane-class late_writer
forged-lane-class late_writer_with_time
names by_plain_rename
names parent_replaced
names parent_gone
names parent_symlink
names parent_fifo
names parent_file
names parent_below
names parent_deep
names parent_odd_name
names parent_decoys
names chmod_ancestors
names nested_rename
names nested_unlink
names nested_replace
names nested_bwrap
names own_files_stay
names outside_replace
names outside_remove
names outside_directory
names outside_symlink
names outside_fifo
names outside_swap
names outside_link
names outside_rmdir
contents by_name
contents by_name_single
contents outside_rewrite
contents outside_truncate
contents outside_append
contents outside_mode
contents attributes
contents hard_link
contents all_changed_outside
contents neighbours_move_on
around append_around
around truncate_around
around without_waiting
around full_queue
around honest
takeover mounts_hold
takeover mounts_hold_single
takeover pid1_out_of_reach
takeover launcher_survives
takeover nothing_of_the_machine_visible
takeover abstract_sockets
takeover read_only_option
nested bubblewrap
nested unshare_all
nested everyday_tools
reaping background
reaping double_fork
reaping forking
reaping deaf
reaping nested
reaping many
reaping fail_on_survivors
reaping survivors_are_named
reaping pipes_close
reaping lock_released
time-out ends
time-out restores
time-out reaps
launcher-killed kill_launcher
launcher-killed kill_launcher_none
launcher-killed names_after_kill
descriptors nothing_inherited
descriptors working_directory
cancel told_int
cancel told_term
janitor ancestor_replaced
janitor directory_replaced
janitor unconfined_contents
leftovers own_holds
pinned every_name
pinned around
pinned links_on_the_way
pinned protected_paths
pinned below_goes_on
pinned bubblewrap
strict every_name
strict every_name_in_tmp
strict around
strict mounts_hold
strict own_temp_only
strict only_named
strict honest_leg
strict bubblewrap
strict brought_out
strict collision
strict cancelled
strict failing_runs
strict temporary_directory
protected by_their_names
protected own_script
protected around_to_the_script
protected around_to_an_action
protected names_put_back
protected others_write
protected credentials
EOF2

# --- a root leg

root_powers() {
	guard --root-leg -- bash -c 'id -u; grep -E "^(Cap|NoNewPrivs)" /proc/self/status'
	expect 0
	same "$(head -n 1 "$work/stdout")" 0
	# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, sys_chroot, audit_write, setfcap
	local set
	for set in Prm Eff Bnd; do
		has "$work/stdout" $'Cap'$set$':\t00000000a00405fb'
	done
	has "$work/stdout" $'CapInh:\t0000000000000000'
	has "$work/stdout" $'CapAmb:\t0000000000000000'
	has "$work/stdout" $'NoNewPrivs:\t1'
	kept
	same "$(output lane-class)" ok
}
root_attempts() {
	need python3
	mknod "$work/null" c 1 3
	mkdir "$work/sys" "$work/proc"
	under=(unshare -m bash -c 'mount -t sysfs sysfs "$1/sys" && mount -t proc proc "$1/proc" && shift && exec "$@"' - "$work")
	local pattern
	pattern=$(cat /proc/sys/kernel/core_pattern)
	guard --root-leg -- bash -c '
		attempt() {
			if (eval "$1") 2>/dev/null; then echo "THROUGH: $1"; else echo "stopped: $1"; fi
		}
		attempt "echo x >>\$GITHUB_OUTPUT"
		attempt "chmod 0600 \$GITHUB_OUTPUT"
		attempt "chown 12345 \$GITHUB_OUTPUT"
		attempt "touch \$GITHUB_OUTPUT"
		attempt "setfattr -n trusted.x -v y \$GITHUB_OUTPUT"
		attempt "ln \$GITHUB_OUTPUT second"
		attempt "mount -t tmpfs none /mnt"
		attempt "mount -o remount,rw ${GITHUB_OUTPUT%/*}"
		attempt "umount ${GITHUB_OUTPUT%/*}"
		attempt "umount -l /proc/sys"
		attempt "umount -l /dev"
		attempt "mknod block b 7 0"
		attempt "mknod node c 1 3"
		attempt ": <$1/null"
		attempt "unshare -m true"
		attempt "nsenter -t 1 -m true"
		attempt "head -c 1 /proc/1/mem"
		attempt "ls /proc/1/root/"
		attempt "cat /proc/kmsg & sleep 0; wait \$!"
		attempt "cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern"
		attempt "echo 0 >/proc/sysrq-trigger"
		attempt "echo x >/proc/bus/pci/x"
		attempt "echo 0 >/sys/kernel/uevent_seqnum"
		attempt "touch $1/sys/x"
		attempt "cat /proc/sys/kernel/core_pattern >$1/proc/sys/kernel/core_pattern"
		attempt "echo 0 >$1/proc/sysrq-trigger"
		attempt "find /sys/fs/cgroup -name cgroup.procs -exec sh -c \"echo 0 >{}\" \; -quit; find /sys/fs/cgroup -type d -writable | grep ."
		attempt "mkdir /sys/fs/cgroup/x"
		attempt "hostname $(hostname)"
		attempt "find /dev -type b | grep ."
		attempt "test -s /proc/kcore"
		attempt "test -s /proc/keys"
		attempt "unshare -Urmpf --mount-proc true"
		attempt "unshare -Urm mount -o remount,rw,bind ${GITHUB_OUTPUT%/*}"
		attempt "unshare -Urm umount ${GITHUB_OUTPUT%/*}"
		attempt "unshare -Urm mount -o remount,dev,bind /"
		attempt "unshare -Urm umount /proc/sys"
		exit 0' - "$work"
	expect 0
	lacks "$work/stdout" THROUGH
	(($(grep -c stopped "$work/stdout") == 37)) || fail "not all were tried"
	same "$(cat /proc/sys/kernel/core_pattern)" "$pattern"
	kept
}
# Root may list the numbers of another root's descriptors, and nothing more.
root_pid1() {
	guard --root-leg -- "$LEGS/pid1"
	same "$(grep THROUGH "$work/stdout")" "THROUGH: /proc/1/fd/"
	has "$work/stdout" "trace PID 1: Operation not permitted"
	has "$work/stdout" "kill PID 1: still here"
	guard --root-leg -- bash -c 'for f in /proc/1/fd/*; do readlink "$f" && echo THROUGH; (: <"$f") 2>/dev/null && echo THROUGH; done; exit 0'
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}
root_devices() {
	guard --root-leg -- bash -euc 'echo x >/dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c
		echo out >/dev/stdout; echo err >/dev/stderr; : >/dev/shm/own
		python3 -c "import os, pty; os.write(pty.openpty()[1], b\"x\")"; ls /dev | tr "\n" " "'
	expect 0
	same "$(cat "$work/stdout")" $'4\n4\nout\nfd full null ptmx pts random shm stderr stdin stdout tty urandom zero '
	same "$(cat "$work/stderr")" err
	[[ ! -e /dev/shm/own ]] || fail "its shared memory is the machine's"
}
# The nodes are the machine's own inodes, by their names, as masks in /proc, and by inherited descriptors. Here the
# machine has a /dev of its own.
root_device_nodes() {
	local nodes=(null zero full random urandom tty)
	under=(unshare -m --propagation private bash -c '
		mount -t tmpfs tmpfs /dev
		mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/zero c 1 5; mknod -m 666 /dev/full c 1 7
		mknod -m 666 /dev/random c 1 8; mknod -m 666 /dev/urandom c 1 9; mknod -m 666 /dev/tty c 5 0
		status=0
		"${@:2}" </dev/zero || status=$?
		stat -c "%n %u %a" /dev/* >"$1"
		exit "$status"' - "$work/nodes")
	guard --root-leg -- bash -c '
		exec 5</dev/full
		for f in "${@/#//dev/}" /proc/keys /proc/timer_list /dev/stdin /proc/self/fd/{0,5}; do
			[[ -e $f ]] || continue
			chmod 600 "$f" && echo "THROUGH: chmod $f"
			chown 12345 "$f" && echo "THROUGH: chown $f"
			echo "tried $f"
		done
		for f in null zero; do echo x >"/dev/$f" || echo "no writing: $f"; done
		head -c 3 | wc -c; head -c 4 /dev/random | wc -c
		echo x >/dev/full || echo full' - "${nodes[@]}"
	expect 0
	lacks "$work/stdout" THROUGH
	lacks "$work/stdout" "no writing"
	(($(grep -c ^tried "$work/stdout") >= 9)) || fail "not all were tried"
	same "$(tail -n 3 "$work/stdout")" $'3\n4\nfull'
	same "$(cat "$work/nodes")" "$(printf '/dev/%s 0 666\n' "${nodes[@]}" | LC_ALL=C sort)"
}
root_refusals() {
	as_step
	refusal_names=--share-pid refused --root-leg --share-pid
	refusal_names=--root-leg refused --root-leg --isolation none
	refusal_names=--user refused --root-leg --user "$TEST_UID"
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	refusal_names=--root-leg refused --root-leg
	kept unpublished
}
# A tree that root's leg may do everything to, but its guarded files.
root_owns_step() {
	guard --root-leg -- bash -euc 'echo 1 >own; chown 12345:12345 own; chmod 4755 own; git --version >/dev/null || true
		install -d -o 12345 dir; rm -rf dir'
	expect 0
	same "$(stat -c '%u %a' own)" "12345 4755"
	kept
}

scenario_as_root "--root-leg: the capabilities of a container's root, no device nodes, no raw sockets" root_powers
scenario_as_root "--root-leg: neither the guarded files nor the kernel's settings nor devices are in reach" root_attempts
scenario_as_root "--root-leg: PID 1 of the leg's namespace is out of its reach" root_pid1
scenario_as_root "--root-leg: the minimal /dev works" root_devices
scenario_as_root "--root-leg: owners and modes of the machine's device nodes can't be changed" root_device_nodes
scenario_as_root "--root-leg: what needs root's ordinary powers works" root_owns_step
scenario_as_root "--root-leg refuses --share-pid, --isolation none, --user and a caller who is not root" root_refusals

while read -r from which; do
	eval "root_${from//-/_}_$which() { through --root-leg $from $which; }"
	scenario_again_as_root "--root-leg: $from: ${which//_/ }" "root_${from//-/_}_$which"
done <<'EOF2'
forged-lane-class late_writer
names by_plain_rename
names parent_replaced
names nested_unlink
names nested_replace
contents by_name
around append_around
around truncate_around
takeover mounts_hold
takeover mounts_hold_single
takeover launcher_survives
takeover nothing_of_the_machine_visible
takeover abstract_sockets
reaping double_fork
reaping forking
reaping many
time-out ends
launcher-killed kill_launcher
janitor directory_replaced
EOF2
