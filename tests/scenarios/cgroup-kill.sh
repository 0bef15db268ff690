# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# A control group that is delegated to the leg's user: the leg can't end its guard through it.

# The step's group and one in it that the user made, in which legguard is started.
delegate() {
	local base
	base=$(awk '$(NF-2) == "cgroup2" { print $5; exit }' /proc/self/mountinfo)
	[[ $base && -e $base/cgroup.procs ]] || skip "no cgroup v2 is mounted here"
	group=$base/legguard-test-$$
	mkdir "$group" 2>/dev/null || skip "cgroups can't be made here"
	trap 'find "$group" -depth -type d -exec rmdir {} \;' EXIT
	chown "$TEST_UID:$TEST_UID" "$group" "$group"/cgroup.{procs,subtree_control,threads}
	setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups mkdir "$group/svc"
	[[ -e $group/svc/cgroup.kill ]] || skip "no cgroup.kill before Linux 5.14"
	mkdir "$work/cg" "$work/out"
	chown -R "$TEST_UID:$TEST_UID" "$work"
	remember
}
in_tier() {
	under=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group/svc")
	case $1 in
	default) options=() ;;
	share-pid) options=(--share-pid) ;;
	user) options=(--user "$TEST_UID") ;;
	landlock) options=(--isolation landlock) ;;
	esac
	[[ $1 == user ]] || under+=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
}
tiers=(default share-pid user landlock)

# A directory of the leg's own making in the place of the step's, then the guard's end.
forge='
	exec 9<>"$1/out/alive"; flock -s 9
	setsid -f sleep 1000
	dir=${GITHUB_OUTPUT%/*}
	mkdir "$dir-forged" && printf "lane-class=ok\n" >"$dir-forged/${GITHUB_OUTPUT##*/}" &&
		mv "$dir" "$dir-moved" && mv "$dir-forged" "$dir"'
attacked() { # TIER LEG
	in_tier "$1"
	guard --sweep off --status "$work/status.json" "${options[@]}" -- bash -c "$forge
		$2" - "$work" "$group/svc" "$LEGS/leave-cgroup"
	dead "$work/out/alive"
	lacks "$work/stdout" THROUGH
	kept
	same "$(status_of origin)" "$([[ $status == 120 ]] && echo guard || echo leg)" "$1"
	same "$(output reaped)" true "$1"
	[[ $(output lane-class) != ok ]] || fail "$1: the class is the leg's"
	rm -rf "$file_commands-moved" "$file_commands-forged"
	printf 'before=kept\n' >"$GITHUB_OUTPUT"
	remember
}
by_path() {
	local tier
	delegate
	for tier in "${tiers[@]}"; do
		attacked "$tier" '
			mkdir "$2/../mine" && echo THROUGH: a group
			echo 0 >"${2%/*}/cgroup.procs" && echo THROUGH: moved
			echo 1 >"$2/cgroup.freeze" && echo THROUGH: freeze
			echo 1 >"$2/cgroup.kill" && echo THROUGH: kill
			exit 3'
	done
}
# The leg's own group is all that it shows, so this ends the leg.
by_mount() {
	local tier
	delegate
	for tier in "${tiers[@]}"; do
		attacked "$tier" 'unshare -UrmC --propagation private sh -c "mount -t cgroup2 none \"\$0\" && echo 1 >\"\$0/cgroup.kill\"" "$1/cg"
			exit 3'
	done
}
# To start a process in the guard's group takes a descriptor on its directory; a rule can't keep that, but allows no mount.
by_clone() {
	local tier
	delegate
	for tier in "${tiers[@]}"; do
		attacked "$tier" '"$3" "$2" unshare -UrmC --propagation private sh -c "mount -t cgroup2 none \"\$0\" && echo 1 >\"\$0/cgroup.kill\"" "$1/cg"
			exit 3'
	done
}
# Without a view of its own the leg does all of that.
unconfined() {
	delegate
	in_tier default
	guard --sweep off --isolation none -- bash -c 'echo 1 >"$1/cgroup.kill"' - "$group/svc"
	expect 137
	until_true grep -qx "populated 0" "$group/svc/cgroup.events" # whose group is left, with its janitor killed
}

scenario_as_root "a leg in a delegated control group can't end its guard by that group's files" by_path
scenario_as_root "nor by a cgroup2 that it mounts in namespaces of its own" by_mount
scenario_as_root "nor from a process that it starts in the guard's group" by_clone
scenario_as_root "an unconfined leg can, so that there is something to keep it from" unconfined
