# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# What a daemon started for the leg is nobody's descendant that the reaper could know. Each of these has
# a pid namespace for a machine, so that a sweep can find nobody else's processes.

# machine NAME: what is run under it has a pid 1 and a daemon, called NAME, that was there before. For each
# line that it reads from $work/request it starts a process, whose number it writes to $work/started.
machine() {
	need unshare setsid
	unshare --user --map-current-user --pid --fork --mount-proc true 2>/dev/null ||
		skip "user namespaces are refused"
	export work
	mkfifo "$work/request"
	cat >"$work/daemon" <<-'END'
		#!/bin/bash
		printf %s "$1" >/proc/self/comm
		exec 3<>"$work/request"
		: >"$work/serving"
		while read -r -u 3; do
			setsid sleep 1000 3<&- >/dev/null 2>&1 &
			until [[ $(<"/proc/$!/comm") == sleep ]]; do :; done
			echo $! >"$work/started"
		done
	END
	cat >"$work/init" <<-'END'
		#!/bin/bash
		"$work/daemon" "$1" &
		until [[ -e $work/serving ]]; do sleep 0.01; done
		sleep 0.03 # start times have hundredths of a second
		shift
		setsid --wait "$@"
		status=$?
		read -r pid <"$work/started"
		# One look: between two of them it may be reaped.
		! grep -qs '^State:.[^ZX]' "/proc/$pid/status" || : >"$work/alive"
		exit "$status"
	END
	chmod +x "$work/daemon" "$work/init"
	under=(unshare --user --map-current-user --pid --fork --mount-proc "$work/init" "$1")
}

# It asks the daemon and ends.
leg='echo >"$work/request"; until [[ -s $work/started ]]; do sleep 0.01; done; exit 3'

swept() { # OPTION...
	guard --isolation none --status "$work/status.json" "$@" -- bash -c "$leg"
	kept
}

killed() {
	machine systemd
	swept --sweep kill
	expect 3
	[[ ! -e $work/alive ]] || fail "what the manager started is alive"
	same "$(status_of sweep.mode)" kill
	same "$(status_of sweep.count)" 1
	same "$(status_of sweep.clean)" true
	same "$(output reaped)" true
	same "$(output lane-class)" error
	has "$work/stderr" "legguard: killed 1 process that had left the leg's tree: sleep"
}

by_default() {
	machine systemd
	swept
	expect 3
	[[ $(status_of proof) == subreaper ]] || skip "a control group proves the leg's end here"
	same "$(status_of sweep.mode)" kill
	[[ ! -e $work/alive ]] || fail "what the manager started is alive"
}

reported() {
	machine systemd
	swept --sweep report
	expect 3
	[[ -e $work/alive ]] || fail "it was killed"
	same "$(status_of sweep.mode)" report
	same "$(status_of sweep.count)" 1
	same "$(status_of sweep.clean)" false
	same "$(output reaped)" true
	has "$work/stderr" "legguard: found 1 process that may have left the leg's tree: sleep"
}

off() {
	machine systemd
	swept --sweep off
	expect 3
	[[ -e $work/alive ]] || fail "it was killed"
	same "$(status_of sweep)" null
}

counts_as_survivor() {
	machine systemd
	swept --sweep kill --on-survivors fail
	expect 121
	same "$(output lane-class)" survivors
}

server_keeps_worker() {
	machine server
	swept --sweep kill
	expect 3
	[[ -e $work/alive ]] || fail "the worker of an earlier step's server was killed"
	same "$(status_of sweep.count)" 0
	same "$(status_of sweep.clean)" true
}

fails_closed() {
	machine systemd
	under+=("$TOOLS/deny" pidfd_send_signal=0)
	swept --sweep kill --quiet
	expect 121
	[[ -e $work/alive ]] || fail "it was killed all the same"
	same "$(status_of proof)" none
	same "$(status_of sweep.clean)" false
	same "$(output reaped)" false
	same "$(output lane-class)" survivors
	has "$work/stderr" "legguard: leg left 1 process running after it ended: sleep"
}

from_a_namespace() {
	machine systemd
	guard --sweep kill --status "$work/status.json" -- bash -c "$leg"
	expect 3
	[[ ! -e $work/alive ]] || fail "what the manager started is alive"
	same "$(status_of proof)" pid-namespace
	same "$(status_of sweep.count)" 1
}

step_goes_on() {
	machine systemd
	"${under[@]}" bash -c '
		"$LEGGUARD" run --isolation none --sweep kill --status "$work/status.json" -- bash -c "$1" |
			setsid bash -c "sleep 0.1; cat >/dev/null; echo went on >$work/tee"' - "echo text; $leg" \
		2>"$work/stderr"
	until_true test -s "$work/tee"
	same "$(status_of sweep.count)" 1
}

scenario "what a service manager started for the leg is killed with --sweep kill" killed
scenario "that is the default where only a reaper vouches for the leg's end" by_default
scenario "--sweep report finds it, names it and leaves it" reported
scenario "--sweep off does not look" off
scenario "--on-survivors fail counts it as a survivor" counts_as_survivor
scenario "the worker of an earlier step's server is left alone" server_keeps_worker
scenario "a kill without effect fails closed: 121, class survivors, reaped false" fails_closed
scenario "the step's own pipeline goes on, in a session of its own too" step_goes_on
scenario "what was started for a leg in a pid namespace of its own is found as well" from_a_namespace
