# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# --pin: no name above a guarded file can be changed, not even for an instant; below that all goes on.

every_name() {
	mkdir -p "$work/sibling" "$RUNNER_TEMP/beside"
	observed guard --no-outputs --pin --status "$work/status.json" -- \
		"$LEGS/change-names" "$GITHUB_OUTPUT" "$work/workspace"
	unchanged
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "stopped: rename _temp below another root: Read-only file system"
	has "$work/stdout" "stopped: exchange _temp below another root: Read-only file system"
	has "$work/stdout" "stopped: remove ${GITHUB_OUTPUT##*/} below another root: Read-only file system"
	has "$work/stdout" "stopped: close the directory of _temp as the leg: Read-only file system"
	kept
	same "$(status_of view)" pin
	same "$(status_of tampered)" false
}
# The same observer sees what a leg does to names without it, as long as that lasts.
names_by_default() {
	observed guard --no-outputs --status "$work/status.json" -- bash -c '
		"$1" rename "$2" _temp && until grep -q changed "$2/seen"; do :; done' - "$LEGS/dirfd-rename" "$work"
	has "$work/stdout" moved
	[[ $seen == 1 ]] || fail "the observer saw nothing: $(cat "$work/seen")"
	same "$(status_of view)" default
	expect 120
	kept
}

around() {
	mkdir "$work/beside" "$work/bare"
	observed guard --no-outputs --pin -- unshare -rm bash -c '
		mount --bind "$1/beside" "$1/bare" || exit 9
		mv "$RUNNER_TEMP" "$1/beside/t" && echo THROUGH
		mount --bind "$1" "$1/bare" && echo THROUGH
		mount --bind "$RUNNER_TEMP" "$1/bare" && echo THROUGH
		mkdir "$1/new" && echo THROUGH
		echo x >>"$GITHUB_OUTPUT" && echo THROUGH
		exit 0' - "$work"
	unchanged
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

mounts_hold() {
	guard --pin -- "$LEGS/undo-mounts" "$RUNNER_TEMP"
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "stopped: write after lazy unmount with capabilities in a nested namespace"
	kept
	guard --pin -- "$LEGS/undo-mounts" "$file_commands"
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

# The symbolic link on the way to a file is a name of its own.
links_on_the_way() {
	ln -s "$RUNNER_TEMP" "$work/link"
	export GITHUB_OUTPUT=$work/link/_runner_file_commands/${GITHUB_OUTPUT##*/}
	observed guard --no-outputs --pin -- "$LEGS/change-names" "$GITHUB_OUTPUT" "$work/workspace"
	unchanged
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "stopped: rename link below another root: Read-only file system"
}

# Through another mount of the directory above, or of what is above that.
other_mounts() {
	local from
	for from in "$RUNNER_TEMP" "$work"; do
		mkdir -p "$work/alias" "$work/sibling"
		under=("$TOOLS/oddly" "bind=$from:$work/alias" --)
		local path=$work/alias${RUNNER_TEMP#"$from"}/_runner_file_commands/${GITHUB_OUTPUT##*/}
		observed guard --no-outputs --pin -- "$LEGS/change-names" "$path" "$work/workspace"
		unchanged
		expect 0
		lacks "$work/stdout" THROUGH
		has "$work/stdout" "stopped: rename _runner_file_commands below another root: Read-only file system"
		kept
	done
}

protected_paths() {
	mkdir -p "$work/tree/inner/deep" "$work/tree/beside"
	echo x >"$work/tree/inner/deep/file"
	guard --pin --read-only "$work/tree/inner/deep" -- "$LEGS/change-names" "$work/tree/inner/deep/file" "$work/workspace"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "stopped: rename inner below another root: Read-only file system"
}

# What is in a pinned directory stays as writable as it was, whatever it is.
below_goes_on() {
	mkdir -p "$RUNNER_TEMP/sub/a" "$work/locked/inner"
	echo old >"$RUNNER_TEMP/file"
	mkfifo "$RUNNER_TEMP/fifo"
	ln -s file "$RUNNER_TEMP/link"
	ln -s nowhere "$RUNNER_TEMP/dangling"
	printf x >"$work/name with
newline"
	chmod 000 "$work/locked"
	python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$RUNNER_TEMP/socket"
	guard --pin --unprotect "$RUNNER_TEMP" -- bash -euc '
		echo new >"$RUNNER_TEMP/file"
		same=$(<"$RUNNER_TEMP/link"); [[ $same == new ]]
		mkdir "$RUNNER_TEMP/sub/b"; mv "$RUNNER_TEMP/sub/a" "$RUNNER_TEMP/sub/c"; ln "$RUNNER_TEMP/file" "$RUNNER_TEMP/sub/x" 2>/dev/null && exit 3
		[[ -p $RUNNER_TEMP/fifo && -S $RUNNER_TEMP/socket && -L $RUNNER_TEMP/dangling ]]
		exec 3<>"$RUNNER_TEMP/fifo"; echo through >&3; read -r line <&3; [[ $line == through ]]
		: >"$RUNNER_TEMP/new" && exit 4
		rm "$RUNNER_TEMP/link" && exit 5
		echo own >"$GITHUB_WORKSPACE/own"
		rm "$RUNNER_TEMP/file" && exit 6
		exit 0'
	expect 0
	kept
	same "$(cat "$RUNNER_TEMP/file")" new
	[[ -d $RUNNER_TEMP/sub/b && -d $RUNNER_TEMP/sub/c && ! -e $RUNNER_TEMP/new ]] || fail "the leg's work is not there"
	same "$(cat "$work/workspace/own")" own
	chmod 755 "$work/locked"
}

# A mount in a pinned directory stays what it is.
mount_below() {
	mkdir -p "$RUNNER_TEMP/volume" "$work/source"
	under=("$TOOLS/oddly" "bind=$work/source:$RUNNER_TEMP/volume" --)
	guard --pin -- bash -c ': >"$RUNNER_TEMP/volume/made" || exit 3; : >"$RUNNER_TEMP/new" && exit 4; exit 0'
	expect 0
	[[ -e $work/source/made ]] || fail "what was written to the mount is not there"
}

honest_leg() {
	need git gcc
	guard --pin -- bash -euc '
		git init -q --bare "$GITHUB_WORKSPACE/origin"
		git clone -q "$GITHUB_WORKSPACE/origin" repo 2>/dev/null
		cd repo
		git config user.email a@b && git config user.name n
		printf "int main(void) { return 0; }\n" >a.c
		printf "all: a\n" >Makefile
		git add .
		git commit -qm one
		git push -q origin HEAD
		gcc -o a a.c
		./a
		t=$(mktemp -p "$GITHUB_WORKSPACE")
		mv "$t" here
		cd .. && mv repo moved && rm -rf moved'
	expect 0
	kept
}

bubblewrap() {
	need bwrap
	guard --pin -- bwrap --dev-bind / / --unshare-pid --unshare-net --proc /proc --dev /dev \
		bash -c 'echo "inside $$"; echo own >"$GITHUB_WORKSPACE/own"; mv "$RUNNER_TEMP" "$RUNNER_TEMP-x" && echo THROUGH; exit 6'
	expect 6
	has "$work/stdout" inside
	lacks "$work/stdout" THROUGH
	same "$(cat "$work/workspace/own")" own
	guard --pin -- bwrap --ro-bind / / --unshare-all --die-with-parent --new-session --proc /proc --dev /dev --tmpfs /tmp true
	expect 0
	kept
}

too_many() {
	mkdir "$RUNNER_TEMP/many"
	(cd "$RUNNER_TEMP/many" && seq 5000 | xargs touch)
	guard --no-outputs --pin -- true
	expect 0
	(cd "$work" && mkdir sibling && seq 5000 | xargs touch)
	refused --pin
	has "$work/stderr" "more than 4096 entries"
	has "$work/stderr" "--writable"
	kept unpublished
}

dry_run() {
	export HOME=$work
	guard --pin --dry-run
	expect 0
	has "$work/stdout" "pin        $RUNNER_TEMP"
	has "$work/stdout" "warning    HOME ($work) is pinned: nothing new can be made directly in it"
	has "$work/stdout" "warning    RUNNER_TEMP ($RUNNER_TEMP) is pinned"
	lacks "$work/stdout" "pin        $file_commands"
	guard --dry-run
	lacks "$work/stdout" "pin "
}

scenario "with --pin no name above a guarded file changes for an instant, whatever a leg tries" every_name
scenario "without it a leg changes names, and somebody outside sees it" names_by_default
scenario "with --pin nobody gets around the read-only mount by moving a directory above it" around
scenario "with --pin the mounts can't be undone" mounts_hold
scenario "with --pin the symbolic links on the way to a guarded file hold" links_on_the_way
scenario "with --pin names hold through other mounts of the directories above" other_mounts
scenario "with --pin the names above a --read-only path hold" protected_paths
scenario "in a pinned directory everything stays as writable as it was, and nothing can be added" below_goes_on
scenario "a mount in a pinned directory stays as it is" mount_below
scenario "git, gcc and mktemp work in a leg with --pin" honest_leg
scenario "a nested bubblewrap works with --pin, and can't rename either" bubblewrap
scenario "--pin refuses more entries than it can bind, and says what to do" too_many
scenario "--dry-run says what is pinned, and warns where programs expect to write" dry_run

# Which directories the leg could change names in.
which_are_pinned() {
	local d
	unset "${!GITHUB_@}"
	mkdir -p "$work"/{group,other,sticky,sticky-own,plain,listed}/in
	for d in "$work"/{group,other,sticky,sticky-own,plain,listed}; do
		: >"$d/in/file"
		chown "$TEST_UID:$TEST_UID" "$d/in/file" "$d/in"
	done
	chown root:root "$work/sticky/in"
	chown "root:$TEST_UID" "$work/group"
	chmod 0775 "$work/group"
	chmod 0777 "$work/other"
	chmod 1777 "$work/sticky" "$work/sticky-own"
	local guards=(--guard "$work/group/in/file" --guard "$work/other/in/file" --guard "$work/sticky/in/file"
		--guard "$work/sticky-own/in/file" --guard "$work/plain/in/file")
	if setfacl -m "u:$TEST_UID:rwx" "$work/listed" 2>"$work/no-acl"; then
		guards+=(--guard "$work/listed/in/file")
	fi
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	guard --pin --dry-run "${guards[@]}"
	expect 0
	for d in group group/in other other/in sticky-own sticky-own/in plain/in; do
		grep -qx "pin        $work/$d" "$work/stdout" || fail "$d is not pinned"
	done
	for d in sticky sticky/in plain; do
		! grep -qx "pin        $work/$d" "$work/stdout" || fail "$d is pinned"
	done
	[[ -s $work/no-acl ]] || grep -qx "pin        $work/listed" "$work/stdout" || fail "listed is not pinned"
	chmod 0755 "$work"
}
scenario_as_root "--pin pins the directories in which the leg could change a name, and no others" which_are_pinned
