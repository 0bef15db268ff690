# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P3 in each tier: what the leg left is dead, and the status says whose word that is; or the run says 121.

tiers=(namespace share-pid none)

# in_tier TIER: sets $options and $proofs, what the proof may be.
in_tier() {
	under=()
	case $1 in
	namespace) options=() proofs=pid-namespace ;;
	share-pid) options=(--share-pid) proofs="subreaper cgroup" ;; # cgroup where the user's own is delegated
	landlock) options=(--isolation landlock) proofs="subreaper cgroup" ;;
	none) options=(--isolation none) proofs="subreaper cgroup" ;;
	cgroup)
		options=(--share-pid) proofs=cgroup
		under=(bash -c 'echo $$ >"$0/cgroup.procs" && exec setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups -- "$@"' "$group")
		;;
	esac
}
proven() {
	[[ " $proofs " == *" $(status_of proof) "* ]] || fail "$1: the proof is $(status_of proof), expected $proofs"
	same "$(output reaped)" true "$1"
	dead "$work/alive"
	kept
}

styles() { # STYLE...
	local tier style
	for tier in "${tiers[@]}"; do
		in_tier "$tier"
		for style; do
			guard --status "$work/status.json" "${options[@]}" -- "$LEGS/detach" "$style" "$work/alive"
			expect 0
			proven "$tier, $style"
			(($(status_of survivors.count) >= 1)) || fail "$tier, $style: no survivors counted"
		done
	done
}
forking() { styles forking; }
stopped() { styles stopped; }
traced() { styles traced; }
leaderless() { styles leaderless; }

# Each says that it is there before the leg ends.
four_ways() {
	local tier leg='
		exec 9<>"$1" 8<>"$2"; flock -s 9
		stay=(sh -c "echo here >&8; exec 8>&-; exec sleep 1000")
		"${stay[@]}" &
		nohup "${stay[@]}" >/dev/null 2>&1 &
		env -u RUNNER_TRACKING_ID setsid -f "${stay[@]}"
		( ( exec env -i "$(command -v setsid)" "${stay[@]}" ) & )
		for i in 1 2 3 4; do read -r -u 8; done
		exit 7'
	export RUNNER_TRACKING_ID=github_1234
	mkfifo "$work/here"
	chmod 0666 "$work/here"
	for tier in "${tiers[@]}"; do
		in_tier "$tier"
		guard --status "$work/status.json" "${options[@]}" -- bash -c "$leg" - "$work/alive" "$work/here"
		expect 7
		proven "$tier"
		same "$(status_of survivors.count)" 4 "$tier"
		same "$(output exit-code)" 7
		same "$(status_of origin)" leg
		guard --on-survivors fail "${options[@]}" -- bash -c "$leg" - "$work/alive" "$work/here"
		expect 121
		same "$(output lane-class)" survivors
		same "$(output reaped)" true
	done
}

# The same with a control group that belongs to the user and to nobody else.
delegated() { # COMMAND...
	local base
	base=$(awk '$(NF-2) == "cgroup2" || $9 == "cgroup2" { print $5; exit }' /proc/self/mountinfo)
	[[ $base && -e $base/cgroup.procs ]] || skip "no cgroup v2 is mounted here"
	group=$base/legguard-test-$$
	mkdir "$group" 2>/dev/null || skip "cgroups can't be made here"
	trap 'rmdir "$group"' EXIT
	chown "$TEST_UID:$TEST_UID" "$group" "$group"/cgroup.{procs,subtree_control,threads}
	hand_over
	tiers=(cgroup)
	"$@"
	same "$(find "$group" -mindepth 1 -type d)" "" "groups that are left"
}
# The scenario is root's; the step is the user's.
hand_over() {
	chown -R "$TEST_UID:$TEST_UID" "$work"
	remember
}
delegated_styles() { delegated styles background double-fork deaf many vforked nested forking stopped traced leaderless; }
delegated_four_ways() { delegated four_ways; }
# A leg that may write where it is: it makes groups of its own and hides in one.
delegated_deep() { delegated deep; }
deep() {
	in_tier cgroup
	guard --status "$work/status.json" "${options[@]}" -- bash -c 'exec 9<>"$1"; flock -s 9
		own=$2$(sed -n "s/^0:://p" /proc/self/cgroup)
		mkdir "$own/below" 2>/dev/null && echo THROUGH
		echo $$ 2>/dev/null >"${own%/*}/cgroup.procs" && echo THROUGH
		setsid -f sleep 1000; exit 0' - "$work/alive" "${group%/*}"
	expect 0
	lacks "$work/stdout" THROUGH
	proven cgroup
}

# Nor does it help to leave the group, which nothing prevents without a view.
delegated_outside() { delegated outside; }
outside() {
	in_tier cgroup
	touch "$work/alive"
	guard --status "$work/status.json" --isolation none --sweep off -- bash -c \
		'exec 9<>"$1"; flock -s 9; exec "$2" "$3"' - "$work/alive" "$LEGS/leave-cgroup" "$group"
	expect 0
	same "$(cat "$work/stdout")" left
	dead "$work/alive"
	proven cgroup
}

# An empty group is no proof without the reaper's word.
delegated_unproven() { delegated reaper_gone; }
reaper_gone() {
	mkfifo -m 0666 "$work/started"
	in_tier cgroup
	launch --sweep off --status "$work/status.json" --isolation none -- bash -c \
		'exec 9<>"$1"; flock -s 9; "$4" "$5"; echo $$ >"$3"; echo >"$2"; sleep 1000' - \
		"$work/alive" "$work/started" "$work/leg" "$LEGS/leave-cgroup" "$group"
	await "$work/started"
	# The kernel's list of children may lack one while another one ends.
	until_true child_of "$launcher" leg-reaper >"$work/reaper"
	kill -KILL "$(<"$work/reaper")"
	finish
	unproven
	end_session "$(<"$work/leg")"
}

# A frozen process takes no SIGKILL before it is thawed, as one in uninterruptible sleep.
freezer() {
	freezer=/sys/fs/cgroup/freezer/legguard-test-$$
	[[ -e ${freezer%/*}/cgroup.procs ]] || skip "no cgroup v1 freezer here"
	mkdir "$freezer"
	trap thaw EXIT
}
freeze() { # PID
	echo "$1" >"$freezer/cgroup.procs"
	echo FROZEN >"$freezer/freezer.state"
	until_true grep -qx FROZEN "$freezer/freezer.state"
}
thaw() {
	echo THAWED >"$freezer/freezer.state"
	until_true rmdir "$freezer" 2>/dev/null
}
unproven() {
	expect 121
	kept
	same "$(output lane-class)" survivors
	same "$(output exit-code)" 121
	same "$(output reaped)" false
	same "$(status_of proof)" none
	same "$(status_of origin)" guard
	has "$work/stderr" "no proof that everything the leg started is dead"
}
frozen() { # [OPTION]...
	freezer
	mkfifo "$work/started" "$work/go"
	touch "$work/status.json"
	hand_over
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	launch --sweep off --status "$work/status.json" "$@" -- bash -c 'exec 9<>"$1"; flock -s 9
		sleep 1000 & : >"$2"; : <"$3"; exit 0' - "$work/alive" "$work/started" "$work/go"
	await "$work/started"
	local leg
	leg=$(child_of "$(child_of "$launcher" leg-reaper)" bash)
	until_true child_of "$leg" sleep >/dev/null
	freeze "$(child_of "$leg" sleep)"
	announce "$work/go"
	finish
	unproven
	flock -n -x "$work/alive" true && fail "nothing was alive, so this shows nothing"
	thaw
	trap - EXIT
	dies "$work/alive"
}
frozen_none() { frozen --isolation none; }
frozen_share_pid() { frozen --share-pid; }
frozen_namespace() {
	[[ $VARIANT == gcc ]] || skip "takes 20 s, and does in the gcc build"
	frozen
}

waiting_leg='exec 9<>"$1"; flock -s 9; setsid -f sleep 1000; : >"$2"; exec sleep 1000'
reaper_killed_namespace() {
	mkfifo "$work/started"
	launch --status "$work/status.json" -- bash -c "$waiting_leg" - "$work/alive" "$work/started"
	await "$work/started"
	kill -KILL "$(child_of "$launcher" leg-reaper)"
	finish
	expect 125
	dead "$work/alive"
	kept
	same "$(output lane-class)" error
	same "$(output exit-code)" 125
	same "$(status_of leg)" null
	same "$(status_of origin)" guard
	same "$(status_of proof)" pid-namespace
	has "$work/stderr" "status is lost"
}
reaper_killed_otherwise() {
	local tier leg reaper
	mkfifo "$work/started"
	for tier in share-pid none; do
		in_tier "$tier"
		launch --sweep off --status "$work/status.json" "${options[@]}" -- bash -c "echo \$\$ >\"\$3\"; $waiting_leg" - \
			"$work/alive" "$work/started" "$work/leg"
		await "$work/started"
		reaper=$(child_of "$launcher" leg-reaper)
		kill -KILL "$reaper"
		finish
		[[ $(status_of proof) != cgroup ]] || skip "the user's cgroup is delegated, which gives a proof"
		unproven
		same "$(status_of leg)" null
		end_session "$(<"$work/leg")"
	done
}
# What the test itself has to clean up: the leg, and what it put into sessions of their own.
end_session() { # PID
	kill -KILL "$1" 2>/dev/null || true
	local pid
	for pid in /proc/[0-9]*; do
		[[ ! $pid/fd/9 -ef $work/alive ]] || kill -KILL "${pid##*/}" 2>/dev/null || true
	done
	dies "$work/alive"
}
# Unconfined, the leg can reach the reaper.
reaper_stopped() {
	mkfifo "$work/started"
	launch -k 0.1 --sweep off --isolation none --status "$work/status.json" -- bash -c \
		"echo \$\$ >\"\$3\"; kill -STOP \$PPID; $waiting_leg" - "$work/alive" "$work/started" "$work/leg"
	await "$work/started"
	kill -TERM "$launcher"
	finish
	unproven
	same "$(status_of cancelled)" SIGTERM
	end_session "$(<"$work/leg")"
}

# choke_above TIER: the leg tries to take their descriptors from its reaper and its launcher.
choke_above() {
	in_tier "$1"
	guard "${options[@]}" --status "$work/status.json" -t 30 -- bash -c '
		launcher=$(ps -o ppid= -p "$PPID")
		"$0" "$PPID"; "$0" $launcher
		ulimit -n 100 && prlimit --pid "$PPID" --nofile && echo own limits' "$TOOLS/choke"
}

limits_kept() {
	local tier
	for tier in share-pid landlock; do
		choke_above "$tier"
		expect 0
		has "$work/stdout" "own limits"
		lacks "$work/stdout" "done"
		same "$(status_of class)" ok
		kept
	done
}

# Nothing keeps an unconfined leg from it. The reaper still ends all, but the sweep can't be made.
launcher_choked() {
	in_tier none
	guard "${options[@]}" --exit-class 137=ok --status "$work/status.json" -- bash -c \
		'exec 9<>"$1"; flock -s 9; "$2" $(ps -o ppid= -p "$PPID"); sleep 1000' - "$work/alive" "$TOOLS/choke"
	unproven
	dead "$work/alive"
	has "$work/stderr" "took legguard's descriptors"
	guard "${options[@]}" --sweep off --exit-class 137=ok --status "$work/status.json" -- bash -c \
		'"$1" $(ps -o ppid= -p "$PPID"); sleep 1000' - "$TOOLS/choke"
	expect 125
	same "$(status_of class)" error
	same "$(status_of origin)" guard
}

both_choked() {
	in_tier none
	guard "${options[@]}" --sweep off --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9
		setsid sleep 1000 & echo "$!" >"$2"; launcher=$(ps -o ppid= -p "$PPID")
		"$3" "$PPID"; "$3" $launcher; sleep 1000' - "$work/alive" "$work/survivor" "$TOOLS/choke"
	unproven
	has "$work/stderr" "took legguard's descriptors"
	end_session "$(<"$work/survivor")"
}

# A child may make its parent its tracer without asking; that its signals then stop it first is no end.
makes_a_tracer() {
	local tier
	for tier in namespace share-pid landlock none; do
		in_tier "$tier"
		guard "${options[@]}" --status "$work/status.json" -- python3 -c '
import ctypes, fcntl, os, signal, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_SH)
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
os.kill(os.getpid(), signal.SIGUSR1)
sys.exit(7 if got else 8)' "$work/alive"
		expect 7
		proven "$tier"
		same "$(status_of survivors.count)" 0 "$tier"
		: >"$GITHUB_OUTPUT"
		remember
	done
}

# What the leg has left by then is found by the reaper and by nobody else.
at_once_around() {
	in_tier share-pid
	mkdir "$work/beside" "$work/bare"
	guard "${options[@]}" --status "$work/status.json" -- unshare -rm bash -c '
		exec 9<>"$2"; flock -s 9
		for i in 1 2 3 4; do setsid -f sleep 1000; done
		mount --bind "$1/beside" "$1/bare" && mv "$RUNNER_TEMP" "$1/beside/t" &&
			echo forged=1 >>"$1/bare/t/_runner_file_commands/${GITHUB_OUTPUT##*/}"' - "$work" "$work/alive"
	expect 120
	kept
	same "$(status_of promises.all_dead)" true
	[[ " $proofs " == *" $(status_of proof) "* ]] || fail "the proof is $(status_of proof)"
	dead "$work/alive"
}

kill_does_nothing() {
	local result
	guard --share-pid --status "$work/status.json" -- true
	[[ $(status_of proof) != cgroup ]] || skip "the user's cgroup is delegated: killing needs no signal"
	for result in EPERM 0; do
		printf 'before=kept\n' >"$GITHUB_OUTPUT"
		under=("$TOOLS/deny" "kill=$result,pidfd_send_signal=$result")
		guard --share-pid --sweep off --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9
			setsid sleep 1000 & echo "$!" >"$2"; exit 0' - "$work/alive" "$work/survivor"
		unproven
		same "$(status_of survivors.count)" 1
		end_session "$(<"$work/survivor")"
	done
	# In the namespace no signal is needed.
	guard --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; setsid -f sleep 1000; exit 0' - "$work/alive"
	expect 0
	in_tier namespace
	proven namespace
}

# Few numbers, and two who take them: the leg, and somebody outside who must not be hit.
pid_reuse() {
	local machines
	machines=$(</proc/sys/kernel/pid_max)
	unshare --pid --fork --mount-proc sh -c 'echo 30000 >/proc/sys/kernel/pid_max' 2>/dev/null ||
		skip "no pid namespace with a pid_max of its own here"
	if [[ $(</proc/sys/kernel/pid_max) != "$machines" ]]; then
		echo "$machines" >/proc/sys/kernel/pid_max
		skip "pid_max is the machine's before Linux 6.14"
	fi
	mkfifo "$work/begun"
	touch "$work/status.json"
	hand_over
	export -f outsider small_pids guard expect proven status_of output dead kept inventory inventory_metadata fail same in_tier
	export work file_commands
	unshare --pid --fork --mount-proc bash -eEuo pipefail -c small_pids >&2 || fail "it failed in the small namespace"
}
outsider() {
	local n
	for ((n = 0; n < 1000000; n++)); do
		/bin/true || { echo "a process outside ended with $?" >"$work/hit"; exit 1; }
		((n != 500)) || : >"$work/begun"
		[[ ! -e $work/enough ]] || exit 0
	done
}
small_pids() {
	local tier i user=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	echo 400 >/proc/sys/kernel/pid_max
	"${user[@]}" bash -c outsider &
	: <"$work/begun"
	for tier in share-pid none namespace; do
		in_tier "$tier"
		under=("${user[@]}")
		for i in 1 2 3 4 5 6; do
			guard --status "$work/status.json" "${options[@]}" -- "$LEGS/detach" forking "$work/alive"
			expect 0
			proven "$tier"
		done
	done
	: >"$work/enough"
	wait
	[[ ! -e $work/hit ]] || fail "$(<"$work/hit")"
}

scenario "in every tier '&', nohup, setsid -f and a double fork die with the leg, whose status is kept" four_ways
scenario "in every tier a chain of forking processes dies with the leg" forking
scenario "in every tier a stopped process dies with the leg" stopped
scenario "in every tier a process stopped under its tracer dies with the leg" traced
scenario "in every tier a process without its first thread is alive, and dies with the leg" leaderless
scenario_as_root "in a delegated cgroup all of that dies with the leg, by the cgroup's proof" delegated_styles
scenario_as_root "in a delegated cgroup '&', nohup, setsid -f and a double fork die with the leg" delegated_four_ways
scenario_as_root "the leg can't leave its cgroup by its files, nor make one in it" delegated_deep
scenario_as_root "what leaves the cgroup by clone3 dies with the leg all the same" delegated_outside
scenario_as_root "an empty cgroup is no proof if the reaper was killed" delegated_unproven
scenario_as_root "an unconfined leg's process that takes no SIGKILL: 121, survivors, and all is restored" frozen_none
scenario_as_root "with --share-pid a process that takes no SIGKILL: 121, survivors, and all is restored" frozen_share_pid
scenario_as_root "in the namespace a process that takes no SIGKILL: 121, survivors, and all is restored" frozen_namespace
scenario "PID 1 killed from outside loses the leg's status, which is the guard's failure" reaper_killed_namespace
scenario "the reaper killed from outside without a namespace is 121, survivors" reaper_killed_otherwise
scenario "an unconfined leg that stops its reaper is 121 when it is cancelled" reaper_stopped
scenario "with --share-pid and with Landlock the leg can't set limits of legguard's, but its own" limits_kept
scenario "an unconfined leg that takes the launcher's descriptors is ended, and has no class" launcher_choked
scenario "one that takes the reaper's as well is ended, with 121 and nothing claimed" both_choked
scenario "in every tier a leg that makes its guard its tracer ends when it ends" makes_a_tracer
scenario "with --share-pid what a leg left before it wrote around the mount dies with it" at_once_around
scenario "a kill that does nothing is 121, survivors; the namespace needs none" kill_does_nothing
scenario_as_root "where pid numbers are few and used again, all of the leg and nobody else dies" pid_reuse
