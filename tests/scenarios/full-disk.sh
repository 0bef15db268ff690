# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# A leg fills the disk: what was there is put back, and the outputs still fit.

# on_image FILE_SYSTEM FUNCTION [ARG]...: with the step's files on a small loop image.
on_image() {
	local fs=$1 image=$work/image mnt=$work/mnt
	need "mkfs.$fs" losetup
	truncate -s "$2" "$image"
	"mkfs.$fs" -q "$image" >&2
	mkdir "$mnt"
	mount -o loop,nosuid,nodev "$image" "$mnt" 2>"$work/mount.log" ||
		skip "can't mount $fs: $(tail -n 1 "$work/mount.log")"
	trap 'umount "$mnt"' EXIT
	cp -a "$RUNNER_TEMP" "$mnt/"
	mkdir "$mnt/junk"
	chown -R "$TEST_UID:$TEST_UID" "$mnt"
	chown "$TEST_UID:$TEST_UID" "$work" "$work/workspace"
	local f
	for f in GITHUB_OUTPUT GITHUB_ENV GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_ARTIFACTS GITHUB_ARTIFACTS_LIST; do
		export "$f=$mnt/_temp/_runner_file_commands/$(basename "${!f}")"
	done
	outer_output=$mnt/_temp/_runner_file_commands/$(basename "$outer_output")
	file_commands=$mnt/_temp/_runner_file_commands
	export RUNNER_TEMP=$mnt/_temp
	seq 1000 >>"$GITHUB_STEP_SUMMARY"
	remember
	export mnt
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	"${@:3}"
	cd "$work"
	umount "$mnt"
	trap - EXIT
}

fill='dd if=/dev/zero of="$mnt/junk/big" bs=1M 2>/dev/null; dd if=/dev/zero of="$mnt/junk/rest" bs=512 2>/dev/null
	i=0; while echo x >"$mnt/junk/$i" && ((i < 20000)); do i=$((i + 1)); done 2>/dev/null'

fill_and_end() {
	guard --set-output "text=$(seq 200)" -- bash -c "$fill; exit 3"
	expect 3
	kept
	same "$(output text)" "$(seq 200)"
	same "$(output lane-class)" error
}
fill_and_move() {
	guard -- bash -c "$fill; mv \"\$RUNNER_TEMP\" \"\$RUNNER_TEMP.aside\"; exit 3"
	expect 120
	kept
	same "$(output lane-class)" tampered
}
fill_and_forge() {
	guard -- bash -c "mv \"\$RUNNER_TEMP\" \"\$RUNNER_TEMP.aside\"; mkdir -p \"\$RUNNER_TEMP/_runner_file_commands\"
		echo forged=1 >\"\$RUNNER_TEMP/_runner_file_commands/x\"; $fill; exit 3"
	expect 120
	kept
	same "$(output lane-class)" tampered
}
fill_and_unlink() {
	guard --guard "$mnt/single" -- bash -c "$fill; \"\$0\" unlink \"\$mnt\" single" "$LEGS/dirfd-rename"
	expect 120
	same "$(cat "$mnt/single")" precious
	kept
}
with_single() {
	printf 'precious\n' >"$mnt/single"
	chown "$TEST_UID:$TEST_UID" "$mnt/single"
	fill_and_unlink
}
full_before() {
	dd if=/dev/zero of="$mnt/junk/big" bs=1M 2>/dev/null || true
	dd if=/dev/zero of="$mnt/junk/rest" bs=512 2>/dev/null || true
	sync -f "$mnt"
	guard --set-output "text=$(seq 20000)" -- true
	[[ $status == 125 || $status == 122 ]] || fail "exit status $status"
	kept unpublished
}

btrfs_end() { on_image btrfs 128M fill_and_end; }
btrfs_move() { on_image btrfs 128M fill_and_move; }
btrfs_forge() { on_image btrfs 128M fill_and_forge; }
btrfs_unlink() { on_image btrfs 128M with_single; }
xfs_end() { on_image xfs 320M fill_and_end; }
xfs_move() { on_image xfs 320M fill_and_move; }
xfs_forge() { on_image xfs 320M fill_and_forge; }
xfs_unlink() { on_image xfs 320M with_single; }
ext4_end() { on_image ext4 16M fill_and_end; }
ext4_move() { on_image ext4 16M fill_and_move; }
ext4_forge() { on_image ext4 16M fill_and_forge; }
ext4_unlink() { on_image ext4 16M with_single; }
ext4_full() { on_image ext4 16M full_before; }

scenario_as_root "btrfs filled by the leg: the outputs fit" btrfs_end
scenario_as_root "btrfs filled by the leg: moved names are put back" btrfs_move
scenario_as_root "btrfs filled by the leg: a forged directory is undone" btrfs_forge
scenario_as_root "btrfs filled by the leg: an unlinked file is made anew" btrfs_unlink
scenario_as_root "xfs filled by the leg: the outputs fit" xfs_end
scenario_as_root "xfs filled by the leg: moved names are put back" xfs_move
scenario_as_root "xfs filled by the leg: a forged directory is undone" xfs_forge
scenario_as_root "xfs filled by the leg: an unlinked file is made anew" xfs_unlink
scenario_as_root "ext4 filled by the leg: the outputs fit" ext4_end
scenario_as_root "ext4 filled by the leg: moved names are put back" ext4_move
scenario_as_root "ext4 filled by the leg: a forged directory is undone" ext4_forge
scenario_as_root "ext4 filled by the leg: an unlinked file is made anew" ext4_unlink
scenario_as_root "a disk that is full beforehand: refused, or the publication is reported as failed" ext4_full
