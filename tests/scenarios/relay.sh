# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# The leg's output passes through the launcher: whole, in order, without being held back or kept open.

# The leg's output: SIZE bytes that are nowhere the same.
numbers() { # SIZE
	seq 1000000 9999999 | head -c "$1"
}
export -f numbers

sum_of() {
	sha256sum | cut -d' ' -f1
}

# What the leg wrote last is still in the pipes when it is dead; only then does the reader begin.
late_reader() {
	mkfifo "$work/pipe"
	exec 8<>"$work/pipe"
	launch_to=$work/pipe
	launch -- bash -c 'exec 9<>"$1"; flock -s 9; numbers 250000' - "$work/alive"
	until_true test -e "$work/alive"
	dies "$work/alive"
	exec 7<"$work/pipe" 8>&-
	same "$(sum_of <&7)" "$(numbers 250000 | sum_of)"
	finish
	expect 0
}
slow_reader() {
	# Odd sizes on both sides, so that neither page nor pipe is ever just full.
	"$LEGGUARD" run -- bash -c 'numbers 5000003 | dd bs=4093 status=none' 2>"$work/stderr" |
		dd bs=1021 status=none | sum_of >"$work/sum"
	same "$(<"$work/sum")" "$(numbers 5000003 | sum_of)"
}
two_streams() {
	{
		"$LEGGUARD" run -q -- bash -c 'numbers 3000000 & numbers 4000000 >&2; wait' |
			sum_of >"$work/sum1"
	} 2>&1 >"$work/nothing" | sum_of >"$work/sum2"
	same "$(<"$work/sum1")" "$(numbers 3000000 | sum_of)" stdout
	same "$(<"$work/sum2")" "$(numbers 4000000 | sum_of)" stderr
}
one_stream() {
	local leg='for ((i = 0; i < 2000; i++)); do echo "$i"; echo "$((++i))" >&2; done'
	"$LEGGUARD" run -q -- bash -c "$leg" 2>&1 | diff - <(seq 0 1999) >&2 || fail "a pipe has another order"
	"$LEGGUARD" run -q -- bash -c "$leg" >"$work/both" 2>&1
	diff "$work/both" <(seq 0 1999) >&2 || fail "a file has another order"
	"$LEGGUARD" run -q -- bash -c "$leg" >>"$work/both" 2>&1
	diff "$work/both" <(seq 0 1999; seq 0 1999) >&2 || fail "a file opened for appending has another order"
}

# What the leg could write before it was blocked for good, into a pipe of 64 KiB.
back_pressure() {
	mkfifo "$work/pipe"
	exec 8<>"$work/pipe"
	launch_to=$work/pipe
	launch -- python3 -c '
import os, select, sys
os.set_blocking(1, False)
room = select.poll()
room.register(1, select.POLLOUT)
taken = 0
while taken < 64 << 20 and room.poll(500):
    try:
        taken += os.write(1, b"x" * 4096)
    except BlockingIOError:
        pass
open(sys.argv[1], "w").write(str(taken))' "$work/taken"
	until_true test -s "$work/taken"
	exec 7<"$work/pipe" 8>&-
	same "$(wc -c <&7)" "$(<"$work/taken")" "bytes that arrived"
	finish
	expect 0
	(($(<"$work/taken") <= 600 * 1024)) || fail "$(<"$work/taken") bytes were taken"
}

reader_leaves() {
	local -a both
	set +o pipefail
	"$LEGGUARD" run --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; yes; :' - "$work/alive" \
		2>"$work/stderr" | head -n 1 >"$work/stdout"
	both=("${PIPESTATUS[@]}")
	set -o pipefail
	same "${both[0]}" 141
	same "$(cat "$work/stdout")" y
	dead "$work/alive"
	kept
	same "$(output lane-class)" cancelled
	same "$(status_of cancelled)" SIGPIPE
	has "$work/stderr" "nobody takes the leg's output"
}
reader_leaves_silent_leg() {
	mkfifo "$work/pipe" "$work/started"
	exec 8<>"$work/pipe"
	launch_to=$work/pipe
	launch -- bash -c ': >"$1"; exec sleep 1000' - "$work/started"
	await "$work/started"
	exec 8>&-
	finish
	expect 141
	same "$(output lane-class)" cancelled
}

# A survivor that even outlives the run: the reaper is killed, and nobody ends what it had.
survivor_holds_no_pipe() {
	mkfifo "$work/pipe" "$work/started" "$work/go"
	cat "$work/pipe" >"$work/all" &
	local reader=$!
	launch_to=$work/pipe
	launch --sweep off --isolation none -- bash -c 'echo $$ >"$1"; echo said; : >"$2"; : <"$3"' - "$work/leg" \
		"$work/started" "$work/go"
	await "$work/started"
	kill -KILL "$(child_of "$launcher" leg-reaper)"
	finish
	expect 121
	wait "$reader"
	kill -0 "$(<"$work/leg")" || fail "the leg did not survive, so this shows nothing"
	announce "$work/go"
	same "$(<"$work/all")" said
}

# through KIND STATUS COMMAND: runs it with a stdout of that kind, copies what arrives to stdout.
through() {
	python3 - "$@" <<-'EOF2'
		import os, pty, socket, subprocess, sys, threading
		kind, status, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
		if kind == "terminal":
		    ours, theirs = pty.openpty()
		elif kind == "stream socket":
		    a, b = socket.socketpair()
		    ours, theirs = a.detach(), b.detach()
		elif kind == "pipe":
		    ours, theirs = os.pipe()
		p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=2)
		os.close(theirs)
		while True:
		    try:
		        data = os.read(ours, 1000)
		    except OSError:
		        break
		    if not data:
		        break
		    os.write(1, data)
		got = p.wait()
		if got != status:
		    sys.exit("exit status %d, expected %d" % (got, status))
	EOF2
}
kinds() {
	local kind
	for kind in terminal "stream socket" pipe; do
		same "$(through "$kind" 0 "$LEGGUARD" run -- bash -c 'numbers 300000' | tr -d '\r' | sum_of)" \
			"$(numbers 300000 | sum_of)" "$kind"
	done
	guard -- bash -c 'numbers 300000'
	same "$(sum_of <"$work/stdout")" "$(numbers 300000 | sum_of)" "a file"
	"$LEGGUARD" run -q -- bash -c 'numbers 300000' >>"$work/stdout"
	same "$(sum_of <"$work/stdout")" "$({ numbers 300000; numbers 300000; } | sum_of)" "a file opened for appending"
	"$LEGGUARD" run -- bash -c 'numbers 3000000' >/dev/null
	status=0
	"$LEGGUARD" run -- bash -c 'numbers 3000000' >/dev/full 2>"$work/stderr" || status=$?
	expect 141
}

at_the_limit() {
	local n
	for n in 1 1000 65536 300000; do
		guard --max-output "$n" -- bash -c 'numbers "$1"' - "$n"
		expect 0
		same "$(wc -c <"$work/stdout")" "$n"
		same "$(through pipe 0 "$LEGGUARD" run --max-output "$n" -- bash -c 'numbers "$1"' - "$n" | wc -c)" "$n"
		same "$(through terminal 0 "$LEGGUARD" run --max-output "$n" -- bash -c 'numbers "$1"' - "$n" | tr -d '\r' | wc -c)" "$n"
	done
	guard --max-output 0 -- true
	expect 0
	same "$(output lane-class)" ok
}
over_the_limit() {
	local n
	for n in 0 1 1000 65536 300000; do
		guard --max-output "$n" --status "$work/status.json" -- bash -c 'numbers "$1"; exec sleep 1000' - "$((n + 1))"
		overflowed
		same "$(sum_of <"$work/stdout")" "$(numbers "$n" | sum_of)"
		same "$(through pipe 123 "$LEGGUARD" run -q --max-output "$n" -- bash -c 'numbers "$1"; exec sleep 1000' - "$((n + 1))" | sum_of)" \
			"$(numbers "$n" | sum_of)"
	done
	has "$work/stderr" "(--max-output)"
}
overflowed() {
	expect 123
	kept
	same "$(output lane-class)" overflow
	same "$(output exit-code)" 123
	same "$(status_of overflowed)" true
	same "$(status_of origin)" guard
}
limit_is_shared() {
	guard -q --max-output 1000 --status "$work/status.json" -- bash -c 'numbers 600; numbers 600 >&2; exec sleep 1000'
	overflowed
	same "$(cat "$work/stdout" "$work/stderr" | wc -c)" 1000
	guard -q --max-output 1200 -- bash -c 'numbers 600; numbers 600 >&2'
	expect 0
}
limit_against_the_deaf() {
	guard -k 0.1 --max-output 1M --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; trap "" TERM
		while :; do yes; done' - "$work/alive"
	overflowed
	dead "$work/alive"
	same "$(wc -c <"$work/stdout")" 1048576
	same "$(status_of leg.signal)" SIGKILL
}
limit_after_the_end() {
	guard --max-output 1000 --status "$work/status.json" -- bash -c 'numbers 1001'
	overflowed
	same "$(wc -c <"$work/stdout")" 1000
}

scenario "the leg's last output arrives although the reader begins after its end" late_reader
scenario "megabytes arrive whole, whatever the sizes of writes and reads" slow_reader
scenario "stdout and stderr arrive whole, each in its order" two_streams
scenario "after 2>&1 the order between stdout and stderr is kept" one_stream
scenario "a leg whose reader takes nothing is blocked after a few hundred KiB" back_pressure
scenario "a reader that goes away ends the leg: status 141, class cancelled" reader_leaves
scenario "a reader that goes away ends a leg that writes nothing as well" reader_leaves_silent_leg
scenario "not even a survivor that can't be ended keeps the step's pipe open" survivor_holds_no_pipe
scenario "output arrives whole at a file, a pipe, a terminal and a socket; a write error is a cancel" kinds
scenario "--max-output is no limit for a leg that writes just that much" at_the_limit
scenario "--max-output ends a leg that writes one byte more: status 123, and the rest has arrived" over_the_limit
scenario "--max-output counts stdout and stderr together" limit_is_shared
scenario "--max-output ends a leg that ignores signals and writes for ever" limit_against_the_deaf
scenario "--max-output holds for a leg that has ended before it was noticed" limit_after_the_end
