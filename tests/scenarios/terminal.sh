# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# P7 where the step's output is a terminal: whoever is given that, or opens it, goes around the filter.

# Runs in the leg: every way to the terminal $1 by descriptors, by name and by the descriptors of the processes $2...,
# and to the one outside of that. What is said on stdout is said through the filter.
try_all() {
	local terminal=$1 pid fd
	shift
	try() {
		{ echo "::set-env name=$2::x" >"$1"; } 2>/dev/null && echo "wrote to it: $2"
	}
	[[ ! -t 0 ]] || echo "0 is a terminal"
	{ echo "::set-env name=fd0::x" >&0; } 2>/dev/null && echo "wrote to it: fd0"
	for fd in 0 1 2; do
		[[ $(readlink "/proc/self/fd/$fd") != "$terminal" ]] || try "/proc/self/fd/$fd" "fd$fd, opened anew"
	done
	try "$terminal" "by name"
	[[ -z ${OUTER-} ]] || try "$OUTER" "the outer one"
	try /dev/tty "the controlling one"
	for pid; do
		for fd in /proc/"$pid"/fd/*; do
			# Their pipes and files are those of who runs this test.
			[[ ! -c $fd ]] || try "$fd" "$fd"
		done
	done
	mkdir -p mount
	unshare -Urm bash -c '
		mount --rbind /dev mount && echo "::set-env name=bound::x" >"mount/${1#/dev/}"
		umount -l "$1" && echo "::set-env name=uncovered::x" >"$1"
		mount -t devpts -o newinstance devpts mount && echo "::set-env name=new::x" >"mount/${1##*/}"
		mount -t devpts devpts /dev/pts && echo "::set-env name=over::x" >"$1"' - "$terminal" 2>/dev/null
	echo "::set-env name=printed::x"
	: >tried
}

# on_terminal [OPTION]...: that leg, started on a terminal that belongs to $owner, by default the caller. What appeared there
# is $work/log. $redirect is the shell's, of the program's descriptors; $around, if set, is one terminal more around it;
# $mounts is done beforehand, in a mount namespace, and sets OUTER.
redirect="" owner="" around="" mounts=""
on_terminal() {
	need script
	declare -f try_all >"$PWD/leg"
	echo 'try_all "$@"' >>"$PWD/leg"
	cat >"$work/step.sh" <<-EOF2
		terminal=\$(tty)
		[[ ! "$owner" ]] || chown "$owner" "\$terminal"
		if [[ "$around" && ! \${OUTER-} ]]; then
			OUTER=\$terminal exec script -qec "bash $work/step.sh \$*" /dev/null
		fi
		$mounts
		"$LEGGUARD" run "\$@" -- bash "$PWD/leg" "\$terminal" "\$\$" "\$PPID" $redirect
		echo "step: \$?"
	EOF2
	${mounts:+unshare -m} script -qec "bash $work/step.sh $*" /dev/null </dev/null | tr -d '\r' >"$work/log"
	has "$work/log" "step: 0"
	rm tried
}

filtered() {
	! grep -F "::set-env" "$work/log" || fail "workflow commands came past the filter"
}

through_the_filter() {
	filtered
	has "$work/log" '::\set-env name=printed'
	lacks "$work/log" "0 is a terminal"
	lacks "$work/log" "wrote to it"
}

views=("" --pin --share-pid "--writable ." "--isolation landlock")
each_view() {
	local options
	for options in "${views[@]}"; do
		on_terminal "$options"
		through_the_filter
		has "$work/log" "legguard: the leg's standard input was /dev/null"
		kept
	done
}

by_name_alone() {
	local options
	for redirect in "</dev/null" "</dev/null >$work/stdout" "</dev/null >$work/stdout 2>&1"; do
		for options in "" "--isolation landlock"; do
			on_terminal "$options"
			filtered
			lacks "$work/log" "standard input was"
		done
	done
}

the_outer_one() {
	local options
	around=yes
	for options in "${views[@]}"; do
		on_terminal "$options"
		through_the_filter
	done
}

as_root() {
	owner=$1
	chown "$TEST_UID:$TEST_UID" "$work" "$work/workspace" "$work/home"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"
	umask 000
	on_terminal "${@:2}"
	through_the_filter
}
with_user() {
	as_root "$TEST_UID" --user "$TEST_UID"
	as_root "$TEST_UID" --user "$TEST_UID" --writable "$work/workspace"
}
by_another_mount() {
	mkdir "$work/other"
	mounts='export OUTER=$PWD/../other/${terminal##*/}; mount --bind /dev/pts "$PWD/../other"'
	as_root "$TEST_UID" --user "$TEST_UID"
	mounts+='; mount -t devpts none /dev/pts'
	as_root "$TEST_UID" --user "$TEST_UID"
}
with_root_leg() {
	as_root 0 --root-leg
}

# The same leg does get through where nothing is filtered, so the others can fail.
left_alone() {
	around=yes
	on_terminal --workflow-commands pass
	has "$work/log" "wrote to it: the outer one"
	has "$work/log" "0 is a terminal"
	has "$work/log" "wrote to it: fd0"
	has "$work/log" "wrote to it: by name"
	has "$work/log" "::set-env name=printed::x"
	unset GITHUB_ACTIONS
	on_terminal
	has "$work/log" "0 is a terminal"
	has "$work/log" "wrote to it: by name"
	lacks "$work/log" "/dev/null"
}

unconfined() {
	on_terminal --isolation none
	lacks "$work/log" "0 is a terminal"
	lacks "$work/log" "wrote to it: fd0"
	has "$work/log" "legguard: the leg could write workflow commands to the terminal (--isolation none)"
	on_terminal --isolation landlock
	lacks "$work/log" "the leg could write workflow commands"
}

told_beforehand() {
	script -qec "tty >'$work/tty'; '$LEGGUARD' run -n -- true" /dev/null </dev/null | tr -d '\r' >"$work/log"
	has "$work/log" "hide       $(<"$work/tty") (what is written to the step's terminal gets to the log as it is)"
	has "$work/log" "input      /dev/null"
}

# One socket for both directions, as some start what they serve.
a_socket() {
	local python='
import socket, subprocess, sys
ours, theirs = socket.socketpair()
leg = "{ echo ::set-env name=x::y >&0; } 2>&1; read -r line; echo \"read: $line\""
ours.sendall(sys.argv.pop(1).encode())
p = subprocess.Popen([*sys.argv[1:], "--", "bash", "-c", leg], stdin=theirs, stdout=theirs)
theirs.close()
while data := ours.recv(65536):
    sys.stdout.buffer.write(data)
sys.exit(p.wait())'
	python3 -c "$python" "" "$LEGGUARD" run -q >"$work/log"
	lacks "$work/log" "::set-env"
	has "$work/log" "read: "
	python3 -c "$python" $'a line\n' "$LEGGUARD" run -q --workflow-commands pass >"$work/log"
	has "$work/log" "::set-env"
	has "$work/log" "read: a line"
}

own_terminals() {
	local leg='
import os, pty
ours, theirs = pty.openpty()
os.write(theirs, b"x")
print("read", os.read(ours, 1))'
	printf '%s' "$leg" >"$work/terminals.py"
	script -qec "'$LEGGUARD' run -q -- python3 '$work/terminals.py'" /dev/null </dev/null >"$work/log" || true
	has "$work/log" "read b'x'"
}

scenario "a terminal: no workflow command gets there past the filter, in any view" each_view
scenario "a terminal: nor by its name where standard input is something else" by_name_alone
scenario "a terminal: nor to the one around it, as sudo has one" the_outer_one
scenario_as_root "a terminal: nor with --user, whose terminal it is" with_user
scenario_as_root "a terminal: nor through another mount of it, its own covered" by_another_mount
scenario_as_root "a terminal: nor with --root-leg" with_root_leg
scenario "a terminal: it stays the leg's where nothing is filtered" left_alone
scenario "a terminal: --isolation none says that it can't be held" unconfined
scenario "a terminal: -n says so" told_beforehand
scenario "a socket that is input and output at once is not the leg's input either" a_socket
scenario "a terminal: the leg can make terminals of its own" own_terminals
