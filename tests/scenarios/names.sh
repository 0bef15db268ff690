# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P1: each guarded path leads to the same inode as before, whatever was done to it or its ancestors.

# The view stops plain renames of the directory; its ancestors' names it can't stop.
by_plain_rename() {
	guard -- bash -c 'mv "$1" "$1.aside" && echo "THROUGH: the directory itself"; exit 0' - "$file_commands"
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

# tampering NAME SCRIPT...: the leg's script ($1 = RUNNER_TEMP, $2 = its base name) moves names; all comes back.
tampering() {
	inventory "$work/_temp" >"$work/names.before"
	guard --status "$work/status.json" -- bash -c "$2" - "$RUNNER_TEMP" "${GITHUB_OUTPUT##*/}"
	chmod u+rwx "$work" "$work"/* 2>/dev/null || true
	expect 120
	kept
	has "$work/stderr" "tampered: $1"
	same "$(output lane-class)" tampered
	same "$(status_of class)" tampered
}

forge='mkdir -p "$1/_runner_file_commands"; echo lane-class=credit-stop >"$1/_runner_file_commands/$2"'

parent_replaced() { tampering path-moved "mv \"\$1\" \"\$1.aside\" && $forge"; }
parent_gone() { tampering path-moved 'mv "$1" "$1.aside"'; }
parent_symlink() { tampering path-moved 'mv "$1" "$1.aside" && ln -s "$1.aside" "$1"'; }
parent_fifo() { tampering path-moved 'mv "$1" "$1.aside" && mkfifo "$1"'; }
parent_file() { tampering path-moved 'mv "$1" "$1.aside" && echo >"$1"'; }
parent_below() { tampering path-moved 'mv "$1" "$1.aside" && mkdir "$1" && mv "$1.aside" "$1/deep"'; }
parent_deep() {
	tampering path-moved 'd=$1.aside; mkdir "$d"; mv "$1" "$d/x"; cd "$d"
		n=$(printf "%0200d" 0)
		for i in {1..30}; do mkdir "$n" && mv x "$n/x" && cd -P "./$n" || exit 0; done'
}
parent_odd_name() { tampering path-moved $'mv "$1" "$1\n (deleted)" && mkdir "$1"'; }
parent_decoys() {
	tampering path-moved 'd=$1; mv "$d" "${d%/*}/a \"(deleted)\""; mkdir "$d"; cd "${d%/*}/workspace" &&
		seq 3000 | xargs touch'
	(($(find "$work/workspace" -type f | wc -l) == 3000)) || fail "the leg's own files are gone"
}
chmod_ancestors() {
	tampering metadata 'chmod 000 "$1"'
	same "$(stat -c %a "$RUNNER_TEMP")" 755
}

# What is only kept is looked up by its name as well: an earlier step's file, an action, what --read-only names. To be out
# of reach is not to be changed, nor to be gone.
chmod_above_what_is_kept() {
	local options
	echo true >"$RUNNER_TEMP/earlier.sh"
	mkdir -p "$work/_actions/theirs" "$work/workspace/deep"
	echo true | tee "$work/_actions/theirs/main.js" >"$work/workspace/deep/asked"
	for options in "" --share-pid "--isolation landlock"; do
		# shellcheck disable=SC2086
		guard $options --status "$work/status.json" --read-only "$work/workspace/deep/asked" -- bash -c '
			mkdir "$1/new" "$1/_temp/new"
			chmod 000 "$1/workspace/deep" "$1/_temp" "$1"' - "$work"
		expect 120
		kept
		lacks "$work/stderr" "NOT restored"
		lacks "$work/stderr" "was changed"
		same "$(grep -c tampered: "$work/stderr")" 2
		has "$work/stderr" "tampered: metadata $work (mode 0755 became 0000), restored"
		has "$work/stderr" "tampered: metadata $RUNNER_TEMP (mode 0755 became 0000), restored"
		# In the workspace modes are the leg's.
		same "$(stat -c %a "$work/workspace/deep")" 0
		chmod 755 "$work/workspace/deep"
	done
}
kept_file_gone_from_a_closed_directory() {
	mkdir "$work/workspace/deep"
	echo asked >"$work/workspace/deep/asked"
	guard --status "$work/status.json" --read-only "$work/workspace/deep/asked" -- bash -c '
		mv deep away && mkdir deep && chmod 000 deep away'
	expect 120
	lacks "$work/stderr" "NOT restored"
	chmod 755 "$work/workspace/deep"
	same "$(cat "$work/workspace/deep/asked")" asked
}

# The kernel lets a nested sandbox act on names by descriptor. Contents hold, names come back.
nested_rename() {
	guard -- "$LEGS/dirfd-rename" rename "$RUNNER_TEMP" _runner_file_commands
	expect 120
	has "$work/stdout" moved
	lacks "$work/stdout" THROUGH
	has "$work/stderr" "tampered: path-moved"
	kept
	same "$(output lane-class)" tampered
}

single() {
	mkdir "$work/single"
	printf 'precious\n' >"$work/single/file"
	chmod 0640 "$work/single/file"
	exec 8<"$work/single/file"
	ino=$(stat -c %i "$work/single/file")
	guard --guard "$work/single/file" -- "$LEGS/dirfd-rename" "$1" "$work/single" file
	expect 120
	has "$work/stdout" moved
	lacks "$work/stdout" THROUGH
	same "$(cat "$work/single/file")" precious
	same "$(stat -c '%a %F %h' "$work/single/file")" "640 regular file 1"
	same "$(ls "$work/single")" file
	kept
}

nested_unlink() {
	single unlink
	has "$work/stderr" "tampered: removed"
}

nested_replace() {
	single replace
	has "$work/stderr" "tampered: replaced"
}

# The same through the stock bubblewrap, by a shell that holds the directory as its working directory.
nested_bwrap() {
	need bwrap
	bwrap --dev-bind / / true 2>/dev/null || skip "bubblewrap does not work here"
	guard -- bash -c 'cd "$1" && exec bwrap --ro-bind /usr /usr --ro-bind-try /lib /lib \
		--ro-bind-try /lib64 /lib64 --ro-bind-try /bin /bin --dev /dev --proc /proc --tmpfs /tmp \
		--bind . /held bash -c "cd /held && mv _runner_file_commands aside; mkdir _runner_file_commands && echo moved"' \
		- "$RUNNER_TEMP"
	# Binding the directory anew brings the read-only mount along: then nothing moved, and that is fine, too.
	[[ $status == 120 || $status == 1 || $status == 0 ]] || fail "exit status $status"
	kept
}

# What the leg does to its own files stays done.
own_files_stay() {
	guard -- bash -c 'mkdir "$1/own"; echo data >"$1/own/file"; ln -s own "$1/link"' - "$RUNNER_TEMP"
	expect 0
	kept
	same "$(cat "$RUNNER_TEMP/link/file")" data
}

# From outside the names inside the guarded directory can be moved as well.
outside_names() {
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		case $1 in
		replace) echo lane-class=credit-stop >"$work/new" && mv "$work/new" "$GITHUB_OUTPUT" ;;
		remove) rm "$GITHUB_OUTPUT" ;;
		directory) mv "$GITHUB_OUTPUT" "$work/aside" && mkdir "$GITHUB_OUTPUT" ;;
		symlink) mv "$GITHUB_OUTPUT" "$work/aside" && ln -s "$work/aside" "$GITHUB_OUTPUT" ;;
		fifo) mv "$GITHUB_OUTPUT" "$work/aside" && mkfifo "$GITHUB_OUTPUT" ;;
		swap) mv "$GITHUB_OUTPUT" "$work/a" && mv "$GITHUB_ENV" "$GITHUB_OUTPUT" && mv "$work/a" "$GITHUB_ENV" ;;
		link) ln "$GITHUB_OUTPUT" "$work/second" ;;
		rmdir) rm -r "$file_commands" ;;
		esac
		announce "$work/go"
	} &
	guard -- bash -c ": >'$work/started'; : <'$work/go'"
	wait $!
	expect "${3-120}"
	has "$work/stderr" "tampered: $2"
	same "$(output lane-class)" tampered
	same "$(output before)" kept
}

outside_replace() {
	# The original loses its last link; made anew, it has another inode.
	outside_names replace replaced
	same "$(stat -c '%F %a' "$GITHUB_OUTPUT")" "regular file 644"
}
outside_remove() {
	outside_names remove removed
	same "$(stat -c '%F %a' "$GITHUB_OUTPUT")" "regular file 644"
}
outside_directory() { outside_names directory replaced && kept; }
outside_symlink() { outside_names symlink replaced && kept; }
outside_fifo() { outside_names fifo replaced && kept; }
outside_swap() { outside_names swap replaced && kept; }
outside_link() {
	# The other name may be anywhere: it can't be taken away, so it is no success either.
	outside_names link linked 122
	cmp -n 12 "$GITHUB_OUTPUT" "$work/remembered/${GITHUB_OUTPUT##*/}"
}
outside_rmdir() {
	outside_names rmdir removed
	same "$(cat "$GITHUB_ENV")" MODE=fast
	same "$(cat "$outer_output")" outer=kept
}

scenario "the guarded directory can't be renamed by its name" by_plain_rename
scenario "a parent directory that was replaced by a forged one is put back" parent_replaced
scenario "a parent directory that was moved away is put back" parent_gone
scenario "a parent directory that was replaced by a symbolic link to it is put back" parent_symlink
scenario "a parent directory that was replaced by a FIFO is put back" parent_fifo
scenario "a parent directory that was replaced by a file is put back" parent_file
scenario "a parent directory that was moved below its replacement is put back" parent_below
scenario "a parent directory that was moved beyond PATH_MAX is put back" parent_deep
scenario "a parent directory with a newline and '(deleted)' in its new name is put back" parent_odd_name
scenario "a parent directory among thousands of files is put back, and the files stay" parent_decoys
scenario "an ancestor made inaccessible gets its mode back" chmod_ancestors
scenario "what is kept below it counts neither as changed nor as gone" chmod_above_what_is_kept
scenario "what is kept is put back into a directory made inaccessible" kept_file_gone_from_a_closed_directory
scenario "a directory renamed by descriptor from a nested namespace is put back" nested_rename
scenario "a file unlinked by descriptor from a nested namespace is made anew" nested_unlink
scenario "a file replaced by descriptor from a nested namespace is put back" nested_replace
scenario "a nested bubblewrap over the parent directory changes nothing for good" nested_bwrap
scenario "what the leg does to its own names beside the guarded ones stays" own_files_stay
scenario "a file replaced by rename from outside is put back" outside_replace
scenario "a file removed from outside is made anew" outside_remove
scenario "a file replaced by a directory is put back" outside_directory
scenario "a file replaced by a symbolic link to it is put back" outside_symlink
scenario "a file replaced by a FIFO is put back" outside_fifo
scenario "two files that changed places change back" outside_swap
scenario "a second link made meanwhile is reported" outside_link
scenario "a guarded directory that was removed with all its files is made anew" outside_rmdir
