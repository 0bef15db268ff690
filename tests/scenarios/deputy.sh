# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# A launcher that is root does nothing for the leg that the leg could not have done itself.

# The step is the ordinary user's. Beside it, in a directory that is the user's as well, lie things of root's.
as_step() {
	umask 000
	PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin # what any user can search
	chown "$TEST_UID:$TEST_UID" "$work" "$work/workspace" "$work/home" "$work/never"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"
	remember
	mkdir -m 0700 "$work/roots"
	cp -r "$RUNNER_TEMP" "$work/roots/_temp"
	cp -r "$file_commands" "$work/roots/_runner_file_commands"
	find "$work/roots" -type f -exec sh -c 'echo secret >"$1"; chmod 0600 "$1"' - {} \;
	echo secret >"$work/roots/secret"
	chmod 0600 "$work/roots/secret"
	roots_were=$(roots_are)
}
roots_are() {
	find "$work/roots" -printf '%P %y %m %U %G %i %n %s\n' | LC_ALL=C sort
	find "$work/roots" -type f -exec cat {} + | sort | uniq -c
}
roots_untouched() {
	same "$(roots_are)" "$roots_were" "what is root's"
}

# Each directory above the files in turn becomes a symbolic link to one of root's with the same names in it.
links_to_roots() {
	as_step
	local component
	for component in _runner_file_commands _temp; do
		guard --user "$TEST_UID" -- bash -c '
			cd "$1"
			case $2 in
			_temp) mv _temp aside && ln -s roots/_temp _temp ;;
			*) python3 - "$3" <<-"EOF3"
				import ctypes, os, sys
				libc = ctypes.CDLL(None, use_errno=True)
				fd = os.open("_temp", os.O_PATH)
				uid, gid = os.getuid(), os.getgid()
				if libc.unshare(0x10000000 | 0x00020000) != 0:
				    sys.exit("no user namespace")
				open("/proc/self/setgroups", "w").write("deny")
				open("/proc/self/uid_map", "w").write("%d %d 1" % (uid, uid))
				open("/proc/self/gid_map", "w").write("%d %d 1" % (gid, gid))
				if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) != 0:
				    sys.exit("no mount")
				os.chdir("/tmp")
				os.mkdir("old")
				if libc.syscall(155, b".", b"old") != 0:
				    sys.exit("no new root")
				os.chdir("/")
				libc.umount2(b"/old", 2)
				os.rename("_runner_file_commands", "aside", src_dir_fd=fd, dst_dir_fd=fd)
				os.symlink("../roots/_runner_file_commands", "_runner_file_commands", dir_fd=fd)
			EOF3
			esac' - "$work" "$component"
		expect 120
		has "$work/stderr" "tampered: path-moved"
		kept
		roots_untouched
		cat "$work/remembered/${GITHUB_OUTPUT##*/}" >"$GITHUB_OUTPUT"
	done
}

# Where the sticky bit keeps users apart, root would not be kept from anything.
others_place() {
	as_step
	mkdir -m 1777 "$work/shared"
	chown 0:0 "$work/shared"
	install -d -o "$TEST_UID" -g "$TEST_UID" "$work/shared/mine"
	printf 'precious\n' >"$work/shared/mine/file"
	chown "$TEST_UID:$TEST_UID" "$work/shared/mine/file"
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		install -d -o 12345 -g 12345 -m 0700 "$work/shared/mine"
		stat -c '%i %u %a' "$work/shared/mine" >"$work/others"
		announce "$work/go"
	} &
	guard --user "$TEST_UID" --guard "$work/shared/mine/file" -- bash -c '
		mv "$1/shared/mine" "$1/shared/aside"; : >"$1/started"; : <"$1/go"' - "$work"
	wait $!
	# It can't be put back without moving what is another user's: said, and left.
	expect 122
	has "$work/stderr" "NOT restored"
	same "$(stat -c '%i %u %a' "$work/shared/mine")" "$(cat "$work/others")"
	same "$(ls "$work/shared")" $'aside\nmine'
	same "$(cat "$work/shared/aside/file")" precious
}

# Another name for a file of root's in the guarded directory does not make root guard it for the step.
neighbours_of_root() {
	as_step
	ln "$work/roots/secret" "$file_commands/set_output_${GITHUB_OUTPUT##*_}x"
	ln "$work/roots/secret" "$file_commands/artifacts_list_${GITHUB_OUTPUT##*_}y"
	remember
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		echo changed >"$work/roots/secret"
		announce "$work/go"
	} &
	guard --user "$TEST_UID" -- bash -c '
		mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside" && mkdir "$RUNNER_TEMP"; : >"$1/started"; : <"$1/go"' - "$work"
	wait $!
	expect 120
	same "$(cat "$work/roots/secret")" changed
	same "$(stat -c '%u %a' "$work/roots/secret")" "0 600"
}

# Somebody of the leg's uid lives on outside, and puts root's directory in the place of whatever the launcher makes.
raced() {
	need strace
	as_step
	local target=$file_commands
	cat >"$work/racer.py" <<-'EOF2'
		import os, shutil, sys
		work, target, started, go = sys.argv[1:]
		parent, name = os.path.split(target)
		roots, aside = os.path.join(parent, "roots"), os.path.join(parent, "aside")
		open(started).close()
		shutil.rmtree(target)
		open(go, "w").close()
		sys.stdout.write("racing\n")
		sys.stdout.flush()
		def attempt(a, b):
		    try:
		        os.rename(a, b)
		        return True
		    except OSError:
		        return False
		while not os.path.exists(os.path.join(work, "stop")):
		    if attempt(target, aside) and attempt(roots, target):
		        break
	EOF2
	mv "$work/roots" "${target%/*}/roots"
	mkfifo "$work/started" "$work/go"
	setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups \
		python3 "$work/racer.py" "$work" "$target" "$work/started" "$work/go" >/dev/null &
	# Between what makes it and what looks at what was made there is time enough.
	under=(strace -f -o /dev/null -e trace=mkdirat -e inject=mkdirat:delay_exit=500000)
	guard --user "$TEST_UID" -- bash -c ': >"$1/started"; : <"$1/go"' - "$work"
	: >"$work/stop"
	wait $!
	[[ $status == 120 || $status == 122 ]] || fail "exit status $status"
	[[ -e $target/secret ]] || fail "the race was lost"
	local at
	for at in "${target%/*}/roots" "$target"; do
		[[ ! -e $at/secret ]] || break
	done
	same "$(stat -c '%u %g %a' "$at")" "0 0 700" "root's directory"
	same "$(stat -c '%u %g %a' "$at/secret")" "0 0 600" "root's file"
	same "$(cat "$at/secret")" secret
	[[ $(find "$at" ! -uid 0 | wc -l) == 0 ]] || fail "something of the user's was put into root's directory"
}
# What the launcher opens by a name in the user's directory it opens as the user would.
status_through_link() {
	as_step
	ln -s "$work/roots/secret" "$RUNNER_TEMP/status.json"
	ln -s "$work/roots/new" "$RUNNER_TEMP/new.json"
	chown -h "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"/*.json
	refusal_names=--status
	refused --user "$TEST_UID" --status "$RUNNER_TEMP/status.json"
	refused --user "$TEST_UID" --status "$RUNNER_TEMP/new.json"
	refused --isolation none --status "$RUNNER_TEMP/new.json"
	roots_untouched
	guard --user "$TEST_UID" --status "$RUNNER_TEMP/own.json" -- true
	expect 0
	same "$(stat -c '%u:%g' "$RUNNER_TEMP/own.json")" "$TEST_UID:$TEST_UID"
}

# A link that comes when root has just seen that nothing is there.
status_raced() {
	need strace
	as_step
	mkdir -m 1777 "$work/shared"
	chown 0:0 "$work" "$work/shared" # all the way down
	local at target
	for at in out/status.json status.json; do
		target=$work/roots
		[[ $at == out/* ]] || target=$work/roots/secret
		: >"$work/trace"
		{
			until_true grep -q "\"${at%%/*}\"" "$work/trace"
			as_user ln -s "$target" "$work/shared/${at%%/*}"
		} &
		under=(strace -f -o "$work/trace" -P "${at%%/*}" -e trace=openat -e inject=openat:delay_exit=1000000)
		guard --user "$TEST_UID" --status "$work/shared/$at" -- true
		wait $!
		expect 125
		has "$work/stderr" "--status"
		[[ -L $work/shared/${at%%/*} ]] || fail "there was no race"
		roots_untouched
		rm "$work/shared/${at%%/*}"
	done
	# What is all root's, is root's.
	under=()
	guard --user "$TEST_UID" --status "$work/shared/status.json" -- true
	expect 0
	same "$(stat -c '%u:%g' "$work/shared/status.json")" 0:0
}
# A link of one user's does not lead to another's files with that one's rights.
status_through_others_link() {
	as_step
	mkdir -m 0777 "$work/workspace/open"
	install -m 0600 -o "$TEST_UID" -g "$TEST_UID" /dev/null "$work/workspace/mine"
	echo precious >"$work/workspace/mine"
	ln -s ../mine "$work/workspace/open/status.json"
	chown -h 12345:12345 "$work/workspace/open/status.json"
	chown "$TEST_UID:$TEST_UID" "$work/workspace/open"
	refusal_names="another user's link" refused --user "$TEST_UID" --status "$work/workspace/open/status.json"
	same "$(cat "$work/workspace/mine")" precious
	chown -h "$TEST_UID:$TEST_UID" "$work/workspace/open/status.json"
	guard --user "$TEST_UID" --status "$work/workspace/open/status.json" -- true
	expect 0
	has "$work/workspace/mine" '"class"'
}

set_user_id() {
	as_step
	chmod 4755 "$GITHUB_ENV"
	remember
	refusal_names=GITHUB_ENV refused --user "$TEST_UID"
	kept unpublished
}

# A proc of the machine's beside the leg's own would show it processes of its uid, and the machine through their roots.
another_proc() {
	as_step
	mkdir "$work/proc"
	setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups sleep 1000 &
	local outsider=$!
	# Until then it may still be root's.
	until_true grep -qx sleep "/proc/$outsider/comm"
	under=(unshare -m bash -c 'mount -t proc proc "$1/proc" && shift && exec "$@"' - "$work")
	# Without the guard that is so.
	"${under[@]}" setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups \
		test -w "$work/proc/$outsider/root$GITHUB_OUTPUT" || fail "there is no such way at all"
	guard --user "$TEST_UID" -- bash -c '
		echo x >>"$1/proc/$2/root$GITHUB_OUTPUT" && echo THROUGH
		ls -d "$1/proc/$2" && echo THROUGH
		ls "$1/proc" | grep -c "^[0-9]"' - "$work" "$outsider"
	kill "$outsider"
	expect 0
	lacks "$work/stdout" THROUGH
	(($(tail -n 1 "$work/stdout") < 8)) || fail "the leg sees other processes"
	kept
}

scenario_as_root "symbolic links to root's directories in the place of components lead the launcher nowhere" links_to_roots
scenario_as_root "nothing of another user is moved in a directory with the sticky bit" others_place
scenario_as_root "a file of root's with another name in the guarded directory is not put back" neighbours_of_root
scenario_as_root "a process that puts root's directory where the launcher makes one gains nothing by it" raced
scenario_as_root "--status follows no link that the user could not follow, and the file is the user's" status_through_link
scenario_as_root "--status: a link that comes between two looks leads root nowhere" status_raced
scenario_as_root "--status: a link of one user's does not lead to another's files" status_through_others_link
scenario_as_root "a guarded file that is set-user-ID is refused with --user" set_user_id
scenario_as_root "--user: a second proc file system shows no process of the machine" another_proc
