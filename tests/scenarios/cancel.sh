# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# A cancel, in whatever state it comes, ends in restoring, publishing and reporting.

was_cancelled() { # SIGNAL STATUS
	expect "$2"
	kept
	same "$(output lane-class)" cancelled
	same "$(output exit-code)" "$2"
	same "$(status_of class)" cancelled
	same "$(status_of cancelled)" "SIG$1"
	same "$(status_of origin)" guard
	same "$(status_of published)" true
}

# The leg's main process ends only when its child in a session of its own has got the signal as well.
told() { # SIGNAL STATUS
	mkfifo "$work/started" "$work/tell"
	launch -k 4 --status "$work/status.json" -- bash -c '
		trap "read -r _ <>\"\$1\"; echo main >>\"\$3\"; exit 9" "$0"
		setsid -f bash -c "trap \"echo child >>\\\"\\\$3\\\"; echo >\\\"\\\$1\\\"; exit\" $0; : >\"\$2\"
			sleep 1000 & wait" - "$@"
		sleep 1000 & wait' "$1" "$work/tell" "$work/started" "$work/got"
	await "$work/started"
	kill "-$1" "$launcher"
	finish
	was_cancelled "$1" "$2"
	same "$(status_of leg.exit)" 9
	same "$(paste -sd ' ' "$work/got")" "child main"
}
told_int() { told INT 130; }
told_term() { told TERM 143; }
told_hup() { told HUP 129; }

deaf_leg='trap "" INT TERM HUP; exec 9<>"$1"; flock -s 9; : >"$2"; while :; do sleep 1000; done'
deaf() {
	local tier
	mkfifo "$work/started"
	for tier in --share-pid --isolation=none; do
		launch -k 0.1 --status "$work/status.json" "$tier" -- bash -c "$deaf_leg" - "$work/alive" "$work/started"
		await "$work/started"
		kill -TERM "$launcher"
		finish
		was_cancelled TERM 143
		dead "$work/alive"
	done
}

# The time-out's grace would last for longer than any test; the signal ends it.
impatient() {
	local t
	mkfifo "$work/started"
	for t in 0.4 2 10; do
		rm -f "$work/got"
		launch -t "$t" -k 100000 --status "$work/status.json" -- bash -c '
			trap ": >\"\$1\"" TERM; trap "" INT; : >"$0"
			while :; do read -r -t 0.1 <>"$2"; done' "$work/started" "$work/got" "$work/never"
		await "$work/started"
		until_true test -e "$work/got"
		kill -INT "$launcher"
		finish
		break
	done
	was_cancelled INT 130
	same "$(status_of leg.signal)" SIGKILL
	same "$(status_of timed_out)" true
}
twice() {
	mkfifo "$work/started"
	launch --status "$work/status.json" -- bash -c "$deaf_leg" - "$work/alive" "$work/started"
	await "$work/started"
	kill -INT "$launcher"
	kill -TERM "$launcher"
	finish
	# Which one is taken first is the kernel's choice: the lower number.
	was_cancelled INT 130
	same "$(status_of leg.signal)" SIGKILL
}

starting() {
	local pair
	for pair in INT:130 TERM:143 HUP:129; do
		under=("$TOOLS/oddly" "pending=$(kill -l "${pair%:*}")" --)
		guard --status "$work/status.json" -- bash -c 'trap "" INT TERM HUP; exec 9<>"$1"; flock -s 9; sleep 1000; sleep 1000' - \
			"$work/alive"
		was_cancelled "${pair%:*}" "${pair#*:}"
		[[ ! -e $work/alive ]] || dead "$work/alive"
	done
}

# A pipe that somebody holds open and nobody reads.
unread() {
	mkfifo "$work/pipe"
	exec 8<>"$work/pipe"
	launch_to=$work/pipe
}
draining() {
	unread
	launch --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; : >"$1.locked"; head -c 150000 /dev/zero' - \
		"$work/alive"
	until_true test -e "$work/alive.locked"
	dies "$work/alive"
	# It can't end before somebody reads; if it did, this would fail.
	kill -TERM "$launcher"
	finish
	was_cancelled TERM 143
	same "$(status_of leg.exit)" 0
}
blocked() {
	unread
	launch --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; yes; :' - "$work/alive"
	until_true full
	kill -TERM "$launcher"
	finish
	was_cancelled TERM 143
	dead "$work/alive"
}
# The pipe has no room for what the leg writes.
full() {
	python3 -c 'import select; p = select.poll(); p.register(8, select.POLLOUT); raise SystemExit(bool(p.poll(0)))'
}

# Its notes have nowhere to go either: stdout and stderr are one full pipe.
blocked_notes() {
	unread
	"$LEGGUARD" run --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; yes; :' - "$work/alive" \
		>"$work/pipe" 2>&1 </dev/null 8>&- &
	launcher=$!
	until_true full
	kill -TERM "$launcher"
	finish
	was_cancelled TERM 143
	dead "$work/alive"
}
# A run that has ended waits for the reader of its notes, until it is told not to.
blocked_after_the_end() {
	unread
	python3 -c 'import os
os.set_blocking(8, False)
try:
    while True:
        os.write(8, b"x" * 4096)
except BlockingIOError:
    pass'
	"$LEGGUARD" run --status "$work/status.json" -- bash -c 'sleep 1000 & exit 0' \
		>"$work/stdout" 2>"$work/pipe" </dev/null 8>&- &
	launcher=$!
	until_true test -s "$work/status.json"
	kill -TERM "$launcher"
	finish
	expect 0
	kept
}
# The terminal is somebody else's, and nobody reads at its other side.
blocked_terminal() {
	cat >"$work/terminal.py" <<-'EOF2'
		import os, pty, select, signal, subprocess, sys
		ours, theirs = pty.openpty()
		name = os.ttyname(theirs)
		os.chmod(name, 0)
		command = [os.environ["LEGGUARD"], "run", "--status", sys.argv[1], "--", "yes"]
		p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=2)
		room = select.poll()
		room.register(theirs, select.POLLOUT)
		while room.poll(0):
		    pass
		p.send_signal(signal.SIGTERM)
		sys.exit(p.wait())
	EOF2
	((EUID != 0)) || skip "root opens any terminal"
	status=0
	python3 "$work/terminal.py" "$work/status.json" 2>"$work/stderr" || status=$?
	was_cancelled TERM 143
}

# The launcher gets the signal at its first, tenth, ... system call of each kind, after the leg's end as well.
at_some_calls() {
	need strace
	local call n count step=0 cancelled=0
	strace -o "$work/trace" "$LEGGUARD" run -- true >"$work/stdout" 2>"$work/stderr" </dev/null
	sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' "$work/trace" | sort | uniq -c >"$work/calls"
	while read -r count call; do
		[[ $call != exit_group ]] || continue
		for ((n = 1; n <= count && n <= 40; n++)); do
			((step++ % 12 == 0)) || continue
			printf 'before=kept\n' >"$GITHUB_OUTPUT"
			rm -f "$work/status.json"
			under=(strace -o /dev/null -e "inject=$call:signal=SIGTERM:when=$n")
			guard --status "$work/status.json" -- true
			if [[ $status == 143 && ! -e $work/status.json ]]; then
				kept unpublished # the process was not even the launcher's own yet
				continue
			fi
			kept
			same "$(output exit-code)" "$status" "after SIGTERM at $call $n"
			case $status in
			0) same "$(output lane-class)" ok "after SIGTERM at $call $n" ;;
			143)
				same "$(output lane-class)" cancelled "after SIGTERM at $call $n"
				cancelled=$((cancelled + 1))
				;;
			*) fail "status $status after SIGTERM at $call $n" ;;
			esac
		done
	done <"$work/calls"
	((cancelled * 12 > 50)) || fail "only $cancelled runs were cancelled"
}
restoring() {
	need strace
	# The only such call is the wait for the reaper.
	under=(strace -o "$work/trace" -e trace=wait4 -e "inject=wait4:signal=SIGTERM:when=1")
	guard --status "$work/status.json" -- true
	was_cancelled TERM 143
	same "$(status_of leg.exit)" 0
}

is_in_state() { # STATE PID...
	local state=$1 pid stat
	shift
	for pid; do
		read -r stat <"/proc/$pid/stat"
		[[ ${stat##*) } == "$state"* ]] || return 1
	done
}
leg_of() {
	local reaper
	reaper=$(child_of "$launcher" leg-reaper)
	child_of "$reaper" bash
}
stop_and_go() {
	local tier leg
	mkfifo "$work/started" "$work/go"
	for tier in --isolation=namespace --share-pid --isolation=none; do
		launch "$tier" -- bash -c ': >"$1"; : <"$2"; exit 7' - "$work/started" "$work/go"
		await "$work/started"
		leg=$(leg_of)
		kill -TSTP "$launcher"
		until_true is_in_state T "$launcher" "$leg"
		kill -CONT "$launcher"
		until_true is_in_state S "$launcher" "$leg"
		announce "$work/go"
		finish
		expect 7
		kept
	done
}
# At a terminal, from a shell with job control.
at_terminal() {
	cat >"$work/terminal.py" <<-'EOF2'
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
		seen = b""
		def expect(what):
		    global seen
		    while what not in seen:
		        seen += os.read(fd, 4096)
		    seen = seen[seen.index(what) + len(what):]
		def type(text):
		    os.write(fd, text)
		type(b"PS1=; stty -echo\n")
		type(b"$LEGGUARD run -- sh -c 'echo run''ning; read -r x <$work/go; exit 7'\n")
		expect(b"running")
		type(b"\x1a")
		expect(b"Stopped")
		type(b"fg; echo status=$?.\n")
		with open(os.environ["work"] + "/go", "w") as f:
		    f.write("\n")
		expect(b"status=7.")
		type(b"$LEGGUARD run -- sh -c 'echo run''ning; sleep 1000'; echo status=$?.\n")
		expect(b"running")
		type(b"\x03")
		expect(b"status=130.")
		type(b"exit 0\n")
		while True:
		    try:
		        if not os.read(fd, 4096):
		            break
		    except OSError:
		        break
		os.waitpid(pid, 0)
	EOF2
	mkfifo "$work/go"
	export work
	python3 "$work/terminal.py"
	kept
}

scenario "SIGINT reaches the leg and what it detached; published is cancelled, status 130" told_int
scenario "SIGTERM reaches the leg and what it detached; published is cancelled, status 143" told_term
scenario "SIGHUP reaches the leg and what it detached; published is cancelled, status 129" told_hup
scenario "a leg that ignores everything is killed after a cancel without a namespace, too" deaf
scenario "a signal ends the grace that a time-out gave" impatient
scenario "a second signal is no harm, and the first one counts" twice
scenario "a cancel before the leg started publishes cancelled" starting
scenario "a cancel while the leg's last output waits for a reader that takes nothing ends the run" draining
scenario "a cancel while the leg is blocked by a reader that takes nothing ends the run" blocked
scenario "a cancel ends the run although nobody takes its notes either" blocked_notes
scenario "a signal ends the wait for a reader of the notes" blocked_after_the_end
scenario "a cancel ends the run at a terminal that nobody reads and that can't be opened anew" blocked_terminal
scenario "a cancel after the leg's end counts until the outputs are published" restoring
scenario "SIGTERM at some system calls of a run: exit status, class and outputs agree" at_some_calls
scenario "SIGTSTP stops launcher and leg, SIGCONT lets both go on" stop_and_go
scenario "Ctrl-Z, fg and Ctrl-C at a terminal work as for any command" at_terminal
