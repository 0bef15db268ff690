# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P5: what can't be guarded as asked for is refused, with 125, one line and its cure, before the leg runs.

missing() {
	rm "$GITHUB_ENV"
	remember
	refusal_names=GITHUB_ENV refused
	[[ ! -e $GITHUB_ENV ]] || fail "it made the file"
	kept unpublished
}
put_in_place() { # KIND
	rm "$GITHUB_ENV"
	"${@:2}"
	refusal_names=GITHUB_ENV
	refused
	kept_others
}
kept_others() {
	local f
	for f in "$work/remembered"/*; do
		[[ $file_commands/${f##*/} == "$GITHUB_ENV" ]] || cmp "$f" "$file_commands/${f##*/}"
	done
}
directory() { put_in_place directory mkdir "$GITHUB_ENV"; }
symlink() { put_in_place symlink ln -s "$GITHUB_PATH" "$GITHUB_ENV"; }
dangling() { put_in_place symlink ln -s /nonexistent "$GITHUB_ENV"; }
fifo() { put_in_place FIFO mkfifo "$GITHUB_ENV"; }
device() {
	GITHUB_ENV=/dev/null
	refusal_names=GITHUB_ENV refused
}
socket() {
	need socat
	rm "$GITHUB_ENV"
	python3 -c 'import socket, sys, os
os.chdir(os.path.dirname(sys.argv[1]))
socket.socket(socket.AF_UNIX).bind(os.path.basename(sys.argv[1]))' "$GITHUB_ENV"
	refusal_names=GITHUB_ENV refused
}
second_link() {
	ln "$GITHUB_ENV" "$work/second"
	remember
	refusal_names=GITHUB_ENV refused
	has "$work/stderr" --allow-hard-links
	kept unpublished
}
not_writable() {
	((EUID != 0)) || skip "root may write anything"
	chmod 0444 "$GITHUB_ENV"
	remember
	refusal_names=GITHUB_ENV refused
	kept unpublished
}
same_for_guard() {
	mkdir "$work/dir"
	refusal_names=--guard
	refused --guard "$work/dir"
	refused --guard "$work/nothing"
	refused --guard ""
	kept unpublished
}

other_owner() {
	chown "$TEST_UID:$TEST_UID" "$work" "$work/workspace"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"
	chown 12345 "$GITHUB_ENV"
	chmod 0666 "$GITHUB_ENV"
	remember
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	refusal_names=GITHUB_ENV refused
	kept unpublished
}
as_root() {
	refusal_names=--user refused
	has "$work/stderr" --root-leg
	kept unpublished
}
set_uid() {
	[[ $VARIANT != asan ]] || skip "the sanitizers' own run time does not work set-user-ID"
	local copy=$work/legguard
	cp "$LEGGUARD" "$copy"
	chown 12345 "$copy"
	chmod 4755 "$copy"
	findmnt -no OPTIONS -T "$copy" | grep -qv nosuid || skip "$work is on a nosuid file system"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP" "$work/workspace"
	remember
	LEGGUARD=$copy
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	refused
	kept unpublished
	chown 0:12345 "$copy"
	chmod 2755 "$copy"
	refused
}

# What containers and old kernels refuse.
denied() { # RULES...
	local rules
	for rules; do
		under=("$TOOLS/deny" "$rules")
		refused
		case $rules in
		*=EPERM) has "$work/stderr" "Operation not permitted" ;;
		*=EACCES) has "$work/stderr" "Permission denied" ;;
		esac
		has "$work/stderr" "user namespaces"
		kept unpublished
	done
}
no_mount() { denied mount=EPERM mount=EACCES; }
no_user_namespace() { denied clone3=ENOSYS,clone-newuser=EPERM,unshare=EPERM clone3=EPERM,clone-newuser=EPERM; }

# falls_back RULES...: with these system calls missing, the view is made in the classic way and holds.
falls_back() {
	local rules
	for rules; do
		under=("$TOOLS/deny" "$rules")
		rm -f "$work/result" "$work/alive"
		guard -- "$LEGS/late-writer" "$work/result" "$work/alive"
		[[ $status == 0 ]] || fail "$rules: exit status $status"
		dead "$work/alive"
		same "$(sort -u "$work/result")" EROFS "$rules: attempts"
		guard -- "$LEGS/undo-mounts" "$file_commands"
		[[ $status == 0 ]] || fail "$rules: $(grep THROUGH "$work/stdout")"
		kept
	done
}
no_clone3() { falls_back clone3=ENOSYS clone3=EPERM; }
no_open_tree() { falls_back open_tree=ENOSYS open_tree=EPERM; }
no_mount_setattr() { falls_back mount_setattr=ENOSYS mount_setattr=EPERM; }
no_move_mount() { falls_back move_mount=ENOSYS move_mount=EPERM; }
no_new_mount_api() { falls_back clone3=ENOSYS,open_tree=ENOSYS,mount_setattr=ENOSYS,move_mount=ENOSYS; }
no_others() { falls_back landlock_create_ruleset=ENOSYS close_range=ENOSYS fallocate=EOPNOTSUPP openat2=ENOSYS; }

# The words of the command line.
bad_options() {
	local words
	while read -r words; do
		# shellcheck disable=SC2086
		refused $words
	done <<-'EOF2'
		--no-such-option
		--isolation firm
		--isolation
		--on-tamper shrug
		--on-survivors adopt
		--exit-class 75
		--exit-class 75=no-such-class
		--exit-class 256=ok
		--exit-class -1=ok
		--exit-class x=ok
		--exit-class 7=ok --exit-class 7=auth
		--status-fd x
		--status-fd 99
		--setenv novalue
		--read-only /no/such/path
		-C /no/such/directory
		-C /dev/null
	EOF2
	kept unpublished
}
empty_command() {
	guard --
	expect 125
	guard -- ""
	[[ $status == 125 || $status == 127 ]] || fail "status $status"
	kept_unpublished_or_not
}
kept_unpublished_or_not() { kept; }

scenario "a missing file is refused" missing
scenario "a directory is refused" directory
scenario "a symbolic link is refused" symlink
scenario "a dangling symbolic link is refused" dangling
scenario "a FIFO is refused" fifo
scenario "a device is refused" device
scenario "a socket is refused" socket
scenario "a file with a second hard link is refused, and --allow-hard-links named" second_link
scenario "a file that can't be written is refused" not_writable
scenario "--guard refuses the same things" same_for_guard
scenario_as_root "a file of another owner is refused" other_owner
scenario_as_root "running as root without --user is refused" as_root
scenario_as_root "running set-user-ID or set-group-ID is refused" set_uid
scenario "a machine that refuses mounts is named with the cure" no_mount
scenario "a machine that refuses user namespaces is named with the cure" no_user_namespace
scenario "without clone3 the view still holds" no_clone3
scenario "without open_tree the view still holds" no_open_tree
scenario "without mount_setattr the view still holds" no_mount_setattr
scenario "without move_mount the view still holds" no_move_mount
scenario "without any of the newer mount calls the view still holds" no_new_mount_api
scenario "without Landlock, close_range, fallocate or openat2 the view still holds" no_others
scenario "odd words on the command line are refused" bad_options
scenario "an empty command is refused" empty_command
