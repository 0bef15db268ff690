# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# In a container, imitated: what its engine refuses is refused by the program with the cure, and what can be held
# there is held.

refused_for() { # WORD... : in the line on stderr
	refused
	local w
	for w; do
		has "$work/stderr" "$w"
	done
	kept unpublished
}

docker_refuses() {
	under=("$TOOLS/deny" docker-default)
	refused_for "Operation not permitted" "user namespaces" seccomp "--isolation none"
	rm -f "$work/ran"
	guard --share-pid -- touch "$work/ran"
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
	has "$work/stderr" "user namespaces"
}
# As with a profile of one's own that was made for this, but not for all of it.
docker_with_namespaces() {
	under=("$TOOLS/deny" "mount=EPERM,open_tree=EPERM,move_mount=EPERM,mount_setattr=EPERM,umount2=EPERM,pivot_root=EPERM")
	refused_for "Operation not permitted" "user namespaces"
}
no_user_namespaces() {
	under=("$TOOLS/oddly" no-user-namespaces --)
	refused_for user.max_user_namespaces "No space left on device" "--isolation none"
}

# masked: sets $under to what has a mount on a file below /proc, as every engine puts some there.
masked() {
	local f
	for f in /proc/kcore /proc/timer_list /proc/keys /proc/sysrq-trigger; do
		[[ ! -e $f ]] || break
	done
	under=("$TOOLS/oddly" "bind=/dev/null:$f" --)
}
masked_proc() {
	masked
	refused_for "can't mount a fresh /proc" "Operation not permitted" unmasked --share-pid "--isolation none"
}
# Which needs no /proc of its own, so that nothing is lost but the kernel's proof.
masked_proc_shared() {
	masked
	guard --share-pid --status "$work/status.json" -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect 0
	dead "$work/alive"
	same "$(sort -u "$work/result")" EROFS
	kept
	same "$(status_of confined)" true
	[[ $(status_of proof) == subreaper || $(status_of proof) == cgroup ]] || fail "the proof is $(status_of proof)"
}

# Where nothing of that is to be had Landlock holds the files.
landlock() {
	local abi
	abi=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))')
	((abi > 0)) || skip "this kernel has no Landlock, or it is off"
	guard --isolation landlock --status "$work/status.json" -- "$LEGS/late-writer" "$work/workspace/result" "$work/workspace/alive"
	expect 0
	dead "$work/workspace/alive"
	same "$(sort -u "$work/workspace/result")" EACCES
	kept
	same "$(output lane-class)" ok
	same "$(status_of isolation)" landlock
	same "$(status_of confined)" true
	same "$(status_of promises.writes_denied)" true
	same "$(status_of promises.names_held)" true
	guard --isolation landlock --status "$work/status.json" -- "$LEGS/write-names" "$GITHUB_OUTPUT" "$GITHUB_ENV"
	# Modes and times are no rights of Landlock's: they are put back.
	expect 120
	has "$work/stdout" "append to set_output_4f4c0d54-9d2c: Permission denied"
	kept
}
docker_landlock() {
	under=("$TOOLS/deny" docker-default)
	landlock
}
no_user_namespaces_landlock() {
	under=("$TOOLS/oddly" no-user-namespaces --)
	landlock
}
masked_proc_landlock() {
	masked
	landlock
}

# Without isolation the leg writes, and what it wrote is gone afterwards; nothing else is claimed.
unconfined() {
	guard --isolation none --status "$work/status.json" -- bash -c 'echo lane-class=credit-stop >>"$GITHUB_OUTPUT"
		: >"$GITHUB_ENV"; exec 9<>"$1"; flock -s 9; setsid sleep 1000 & exit 0' - "$work/alive"
	expect 120
	dead "$work/alive"
	kept
	same "$(output lane-class)" tampered
	has "$work/stderr" "unconfined"
	same "$(status_of isolation)" none
	same "$(status_of confined)" false
	same "$(status_of landlock_scopes)" false
	same "$(status_of held)" false
	guard --isolation none -- true
	expect 0
	same "$(output lane-class)" ok
	has "$work/stderr" "unconfined"
}
docker_unconfined() {
	under=("$TOOLS/deny" docker-default)
	unconfined
}
no_user_namespaces_unconfined() {
	under=("$TOOLS/oddly" no-user-namespaces --)
	unconfined
}

scenario "under Docker's default seccomp profile a run is refused, with the cure" docker_refuses
scenario "where an engine lets namespaces through but no mount, a run is refused, with the cure" docker_with_namespaces
scenario "with user.max_user_namespaces=0 a run is refused, with the cure" no_user_namespaces
scenario "where /proc is masked a run is refused, with the cure" masked_proc
scenario "where /proc is masked --share-pid holds the files" masked_proc_shared
scenario "under Docker's default seccomp profile --isolation landlock holds the files" docker_landlock
scenario "with user.max_user_namespaces=0 --isolation landlock holds the files" no_user_namespaces_landlock
scenario "where /proc is masked --isolation landlock holds the files" masked_proc_landlock
scenario "under Docker's default seccomp profile --isolation none repairs, and says that it held nothing" docker_unconfined
scenario "with user.max_user_namespaces=0 --isolation none repairs, and says that it held nothing" no_user_namespaces_unconfined
