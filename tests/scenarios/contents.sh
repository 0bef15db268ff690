# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P1: what a guarded file held before is what it holds after, whoever changed it in place.

# outside CHANGE: while the leg waits, a process that is not in its namespaces changes the output file.
outside() {
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		"$@"
		announce "$work/go"
	} &
	guard --status "$work/status.json" -- bash -c ": >'$work/started'; : <'$work/go'"
	# Had the leg been ended before, there would be nobody to announce it to.
	kill $! 2>/dev/null || true
	wait $! || true
	expect 120
	kept
	same "$(output lane-class)" tampered
	same "$(output tampered)" true
	same "$(output exit-code)" 120
	has "$work/stderr" "tampered: $finding $GITHUB_OUTPUT"
	same "$(wc -l <"$work/stderr")" 1 "lines on stderr"
	same "$(status_of origin)" guard
	same "$(status_of class)" tampered
	same "$(status_of tampered)" true
}

rewrite() { printf 'FORGED' | dd of="$GITHUB_OUTPUT" conv=notrunc status=none; }
# truncate(1) opens without waiting, which a lease answers with EAGAIN.
cut_to() { python3 -c 'import os, sys; os.truncate(sys.argv[1], int(sys.argv[2]))' "$GITHUB_OUTPUT" "$1"; }
shorten() { cut_to 3; }
empty() { : >"$GITHUB_OUTPUT"; }
append() { echo lane-class=credit-stop >>"$GITHUB_OUTPUT"; }
append_large() { head -c 3000000 /dev/zero | tr '\0' x >>"$GITHUB_OUTPUT"; }
make_sparse() { cut_to 1073741824; }
restore_times() {
	local before
	before=$(stat -c %y "$GITHUB_OUTPUT")
	rewrite
	touch -d "$before" "$GITHUB_OUTPUT"
}
change_mode() { chmod 0600 "$GITHUB_OUTPUT"; }

outside_rewrite() { finding=rewritten outside rewrite; }
outside_times() { finding=rewritten outside restore_times; }
outside_truncate() { finding=truncated outside shorten; }
outside_empty() { finding=truncated outside empty; }
outside_append() { finding=appended outside append; }
outside_large() { finding=appended outside append_large; }
outside_sparse() { finding=appended outside make_sparse; }
outside_mode() { finding=metadata outside change_mode; }

# A hard link made before is the leg's way past any read-only mount.
hard_link() {
	ln "$GITHUB_OUTPUT" "$work/second-name"
	remember
	guard --allow-hard-links -- bash -c 'printf FORGED | dd of="$0" conv=notrunc status=none' \
		"$work/second-name"
	expect 120
	kept
	has "$work/stderr" "tampered: rewritten"
	same "$(output lane-class)" tampered
}

by_name() {
	guard -- "$LEGS/write-names" "$GITHUB_OUTPUT" "$GITHUB_ENV" "$GITHUB_PATH" "$GITHUB_STATE" \
		"$GITHUB_STEP_SUMMARY" "$outer_output"
	expect 0
	kept
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "append to set_output_4f4c0d54-9d2c: Read-only file system"
	has "$work/stdout" "create beside add_path_4f4c0d54-9d2c-4: Read-only file system"
	same "$(output lane-class)" ok
}

# Files with no directory of the runner's around them are bound one by one.
by_name_single() {
	mkdir "$work/elsewhere"
	printf 'a=1\n' >"$work/elsewhere/output"
	printf 'important\n' >"$work/elsewhere/file"
	cp -a "$work/elsewhere" "$work/before"
	GITHUB_OUTPUT=$work/elsewhere/output guard --no-outputs --guard "$work/elsewhere/file" -- \
		bash -c 'for f; do
			echo x >>"$f" && echo "THROUGH: append"
			rm -f "$f" && echo "THROUGH: remove"
			mv "$f" "$f.moved" && echo "THROUGH: move"
			echo y >"$f.new" && mv "$f.new" "$f" && echo "THROUGH: replace"
		done 2>/dev/null; exit 0' - "$work/elsewhere/output" "$work/elsewhere/file"
	expect 0
	lacks "$work/stdout" THROUGH
	cmp "$work/before/output" "$work/elsewhere/output"
	cmp "$work/before/file" "$work/elsewhere/file"
}

all_changed_outside() {
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		local f
		for f in "$GITHUB_ENV" "$GITHUB_PATH" "$GITHUB_STATE" "$GITHUB_STEP_SUMMARY"; do
			echo forged=1 >"$f"
		done
		announce "$work/go"
	} &
	guard -- bash -c ": >'$work/started'; : <'$work/go'"
	wait $!
	expect 120
	kept
	same "$(grep -c 'legguard: tampered: ' "$work/stderr")" 4
}

# Parallel and enclosing steps write theirs while the leg runs; that is no tampering.
neighbours_move_on() {
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		echo "later=1" >>"$outer_output"
		: >"$file_commands/set_output_of-a-new-step"
		announce "$work/go"
	} &
	guard -- bash -c ": >'$work/started'; : <'$work/go'"
	wait $!
	expect 0
	same "$(cat "$outer_output")" $'outer=kept\nlater=1'
	[[ -e $file_commands/set_output_of-a-new-step ]] || fail "the new step's file is gone"
	same "$(output lane-class)" ok
}

large() {
	# The last byte is known, as a random one may be the one that is written.
	{ head -c 67108863 /dev/urandom && printf A; } >"$GITHUB_STEP_SUMMARY"
	head -c 67108856 /dev/zero | tr "\0" x | sed "1s,^,line=," >"$GITHUB_ENV"
	echo >>"$GITHUB_ENV"
	remember
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		printf X | dd of="$GITHUB_STEP_SUMMARY" bs=1 seek=67108863 conv=notrunc status=none
		announce "$work/go"
	} &
	guard -- bash -c ": >'$work/started'; : <'$work/go'"
	wait $!
	expect 120
	kept
	same "$(grep -c 'legguard: tampered: rewritten' "$work/stderr")" 1
}

attributes() {
	need setfattr getfattr
	setfattr -n user.origin -v runner "$GITHUB_OUTPUT" 2>/dev/null || skip "no xattrs on $work"
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		setfattr -n user.origin -v forged "$GITHUB_OUTPUT"
		setfattr -n user.added -v 1 "$GITHUB_OUTPUT"
		announce "$work/go"
	} &
	guard -- bash -c ": >'$work/started'; : <'$work/go'"
	wait $!
	expect 120
	kept
	same "$(getfattr --only-values -n user.origin "$GITHUB_OUTPUT" 2>/dev/null)" runner
	! getfattr -n user.added "$GITHUB_OUTPUT" 2>/dev/null || fail "an attribute was added"
}

scenario "a leg can change no guarded file by its name, in any way" by_name
scenario "nor one that lies in a directory of its own" by_name_single
scenario "a same-size rewrite from outside is put back byte for byte" outside_rewrite
scenario "a same-size rewrite with the times set back is found all the same" outside_times
scenario "a truncation from outside is put back" outside_truncate
scenario "an emptied file is filled again" outside_empty
scenario "what was appended from outside is taken off" outside_append
scenario "three appended megabytes are taken off" outside_large
scenario "a file made sparse and huge is cut back" outside_sparse
scenario "a changed mode is put back" outside_mode
scenario "changed extended attributes are put back" attributes
scenario "a same-size rewrite through a hard link is put back byte for byte" hard_link
scenario "all guarded files are put back, each with one line" all_changed_outside
scenario "files of other steps in the directory may change meanwhile" neighbours_move_on
scenario "one changed byte in 64 MiB is found and put back" large
