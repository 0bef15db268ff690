# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# -t ends a leg that takes too long, however it takes that.

# outlast [OPTION]... -- COMMAND: COMMAND makes the file $work/ready as soon as it is where the time-out is
# to meet it. On a busy machine that may take longer than the time-out: then it gets more.
outlast() {
	local t
	for t in 0.4 2 10; do
		rm -f "$work/ready" "$work/got"
		guard -t "$t" --status "$work/status.json" "$@"
		[[ ! -e $work/ready ]] || return 0
	done
	fail "the leg did not get ready in time"
}

timed_out() {
	expect 124
	kept
	same "$(output lane-class)" timeout
	same "$(output exit-code)" 124
	same "$(status_of class)" timeout
	same "$(status_of timed_out)" true
	same "$(status_of origin)" guard
}

ends() {
	outlast -- bash -c ': >"$1"; exec sleep 1000' - "$work/ready"
	timed_out
	same "$(status_of leg.signal)" SIGTERM
	has "$work/stderr" "(--timeout)"
}
ends_status_0() {
	outlast -- bash -c 'trap "exit 0" TERM; : >"$1"; sleep 1000 & wait' - "$work/ready"
	timed_out
	same "$(status_of leg.exit)" 0
}
reaps() {
	outlast -- bash -c 'exec 9<>"$1"; flock -s 9; setsid -f sleep 1000; trap "" TERM; : >"$2"; exec sleep 1000' - \
		"$work/alive" "$work/ready"
	timed_out
	dead "$work/alive"
	same "$(status_of proof)" pid-namespace
}
restores() {
	outlast --isolation none -- bash -c 'rm "$GITHUB_ENV"; : >"$1"; exec sleep 1000' - "$work/ready"
	expect 120
	same "$(cat "$GITHUB_ENV")" MODE=fast
	same "$(output lane-class)" tampered
	same "$(status_of timed_out)" true
}

# The leg's main process outlives the signal until its child has told that it got it, too. Without that
# it would wait for ever, and be killed.
telling() { # HOW-TO-START [OPTION]...
	local how=$1
	shift
	rm -f "$work/tell"
	mkfifo "$work/tell"
	outlast -k 100 "$@" -- bash -c '
		trap "read -r _ <>\"\$1\"; echo main >>\"\$3\"; exit 5" TERM
		'"$how"' bash -c "trap \"echo child >>\\\"\\\$3\\\"; echo >\\\"\\\$1\\\"; exit\" TERM; : >\"\$2\"
			sleep 1000 & wait" - "$@" &
		wait; wait; wait' - "$work/tell" "$work/ready" "$work/got"
	timed_out
	same "$(status_of leg.exit)" 5
	same "$(paste -sd ' ' "$work/got")" "child main"
}
group() {
	telling ''
	telling '' --share-pid
	telling '' --isolation none
}
detached() { telling setsid; }

deaf() {
	local tier
	for tier in --isolation=namespace --share-pid --isolation=none; do
		outlast -k 0.1 "$tier" -- bash -c 'exec 9<>"$1"; flock -s 9; trap "" TERM; : >"$2"
			while :; do sleep 1000; done' - "$work/alive" "$work/ready"
		timed_out
		dead "$work/alive"
		same "$(status_of leg.signal)" SIGKILL
	done
}

signal() {
	outlast -s INT -k 100 -- bash -c 'trap "exit 3" INT; trap "" TERM; : >"$1"; while :; do read -r -t 1 <>"$2"; done' - \
		"$work/ready" "$work/never"
	timed_out
	same "$(status_of leg.exit)" 3
	outlast --signal=SIGUSR1 -- bash -c ': >"$1"; exec sleep 1000' - "$work/ready"
	timed_out
	same "$(status_of leg.signal)" SIGUSR1
	outlast -s 9 -k 100 -- bash -c 'trap "" TERM; : >"$1"; exec sleep 1000' - "$work/ready"
	timed_out
	same "$(status_of leg.signal)" SIGKILL
}

stopped() {
	local tier
	for tier in --isolation=namespace --share-pid --isolation=none; do
		outlast -k 100 "$tier" -- bash -c 'trap "exit 6" TERM; : >"$1"; kill -STOP $$; sleep 1000 & wait' - "$work/ready"
		timed_out
		same "$(status_of leg.exit)" 6
	done
}

fractions() {
	local t
	for t in 0.2 .2 0.2s 0.004m 0.0001h; do
		guard -t "$t" -- sleep 1000
		expect 124
	done
	# So short that the leg may not even begin.
	for t in 0.001 0.002 0.003 0.004 0.005; do
		guard -t "$t" --status "$work/status.json" -- sleep 1000
		timed_out
	done
}
in_time() {
	guard -t 1000 --status "$work/status.json" -- sh -c 'exit 4'
	expect 4
	same "$(status_of timed_out)" false
	for t in 0 0.0s 1000000d 1e1; do
		guard -t "$t" -- true
		[[ $t == 1e1 ]] && expect 125 || expect 0
	done
	same "$(output lane-class)" ok
}

# Nobody reads, neither while the leg runs nor later: the restore does not wait for that.
unread() {
	mkfifo "$work/pipe"
	exec 8<>"$work/pipe"
	launch_to=$work/pipe
	launch -t 1 --status "$work/status.json" -- bash -c 'yes; :'
	finish
	timed_out
}

scenario "a leg that outlasts -t is ended: status 124, class timeout" ends
scenario "a leg that ends with status 0 because of -t is 124 all the same" ends_status_0
scenario "what a timed-out leg leaves behind is dead, by the same proof" reaps
scenario "a timed-out leg's changes are put back, and tampering is the class" restores
scenario "the signal of -t reaches the leg's whole process group, in every tier" group
scenario "in the namespace the signal of -t reaches a process in a session of its own" detached
scenario "a leg that ignores the signal is killed after -k" deaf
scenario "-s chooses the signal" signal
scenario "a stopped leg hears the signal" stopped
scenario "-t takes fractions, and times in which no leg can start" fractions
scenario "-t means nothing to a leg that ends in time, and 0 is never" in_time
scenario "a time-out ends the run although nobody takes the leg's output" unread
