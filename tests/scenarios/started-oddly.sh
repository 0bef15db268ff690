# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# Started by careless parents, in strange places.

oddly() { # CONDITION...
	under=("$TOOLS/oddly" "$@" --)
	guard --status "$work/status.json" -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect "${want_status-0}"
	dead "$work/alive"
	kept
	same "$(sort -u "$work/result")" EROFS "attempts"
	same "$(output lane-class)" ok
	same "$(status_of proof)" pid-namespace
}
sigchld() { oddly sigchld-ignored; }
blocked() {
	oddly signals-blocked
	guard -- grep -E '^Sig(Blk|Ign)' /proc/self/status
	same "$(grep -c 0000000000000000 "$work/stdout")" 2 "signals of the leg are as in a fresh process"
}
ignored() {
	oddly signals-ignored
	guard -- grep -E '^Sig(Blk|Ign)' /proc/self/status
	same "$(grep -c 0000000000000000 "$work/stdout")" 2 "signals of the leg are as in a fresh process"
}
children() { oddly children; }
children_and_all() { oddly children signals-ignored itimer pdeathsig nofile=64; }
itimer() { oddly itimer; }
few_files() {
	oddly nofile=64
	guard -- bash -c 'ulimit -n'
	same "$(cat "$work/stdout")" 64 "the leg's limit"
}
too_few_files() {
	under=("$TOOLS/oddly" nofile=6 --)
	refused
	kept unpublished
}
empty_argv0() { oddly empty-argv0; }

deleted_directory() {
	mkdir "$work/gone"
	cd "$work/gone"
	rmdir "$work/gone"
	refused
	guard -C "$work/workspace" -- pwd
	expect 0
	same "$(cat "$work/stdout")" "$work/workspace"
	cd "$work"
	kept
}
umask_kept() {
	local mask
	for mask in 0000 0777 0027; do
		umask "$mask"
		status=0
		"$LEGGUARD" run -q -- bash -c 'umask; : >"made-$(umask)"' >&3 || status=$?
		umask 022
		expect 0
		kept
		same "$(tail -n 1 <"$work/mask.log")" "$mask"
		[[ -e made-$mask ]] || fail "no made-$mask"
	done 3>"$work/mask.log"
}
status_mode() {
	umask 0777
	"$LEGGUARD" run --status status.json -- true || status=$?
	umask 022
	kept
	chmod 600 status.json
	cp status.json "$work/"
	same "$(status_of class)" ok
}
empty_environment() {
	env -i "$LEGGUARD" run -- /bin/sh -c 'echo ran' >"$work/stdout" 2>"$work/stderr"
	same "$(cat "$work/stdout")" ran
	env -i "$LEGGUARD" run --guard "$GITHUB_OUTPUT" -- /bin/sh -c "echo forged=1 >>'$GITHUB_OUTPUT' && echo THROUGH; exit 0" \
		>"$work/stdout" 2>&1
	lacks "$work/stdout" THROUGH
	kept unpublished
}
odd_paths() {
	local dir name
	for name in 'two  words' $'new\nline' $'\\134 and \\n' "quo'te\"" $'\xff\xfe bytes' '-n' ' (deleted)' '*?[a]' $'tab\t'; do
		dir=$work/$name
		mkdir "$dir"
		printf 'x=%s\n' 1 >"$dir/$name"
		export GITHUB_OUTPUT=$dir/$name
		guard -- bash -c 'echo lane-class=credit-stop >>"$GITHUB_OUTPUT" && echo THROUGH; mv "$GITHUB_OUTPUT" x && echo THROUGH; exit 0'
		[[ $status == 0 ]] || fail "$name: exit status $status"
		lacks "$work/stdout" THROUGH
		same "$(output lane-class)" ok "$name"
		same "$(output x)" 1 "$name"
		mkdir "$dir/_runner_file_commands"
		mv "$dir/$name" "$dir/_runner_file_commands/$name"
		export GITHUB_OUTPUT=$dir/_runner_file_commands/$name
		guard -- bash -c 'echo lane-class=credit-stop >>"$GITHUB_OUTPUT" && echo THROUGH; mv "$1" "$1.aside"; exit 0' - "$dir"
		[[ $status == 120 ]] || fail "$name: exit status $status"
		lacks "$work/stdout" THROUGH
		same "$(output lane-class)" tampered "$name"
		same "$(output x)" 1 "$name"
	done
}
one_file_twice() {
	export GITHUB_STATE=$GITHUB_OUTPUT
	guard --guard "$GITHUB_OUTPUT" -- true
	expect 0
	kept
	same "$(output lane-class)" ok
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | grep -c ^lane-class)" 1
}
relative_path() {
	cd "$RUNNER_TEMP"
	GITHUB_OUTPUT=_runner_file_commands/${GITHUB_OUTPUT##*/} guard -C / -- true
	expect 0
	kept
	same "$(output lane-class)" ok
}
symlinked_ancestor() {
	ln -s "$work/_temp" "$work/link"
	GITHUB_OUTPUT=$work/link/_runner_file_commands/${GITHUB_OUTPUT##*/} guard -- \
		bash -c 'echo x=1 >>"$GITHUB_OUTPUT" && echo THROUGH; exit 0'
	expect 0
	lacks "$work/stdout" THROUGH
	kept
	same "$(output lane-class)" ok
}
tmpfs() {
	mkdir "$work/mnt"
	under=("$TOOLS/oddly" "tmpfs=$work/mnt" -- bash -c '
		mkdir "$1/_runner_file_commands"
		export GITHUB_OUTPUT=$1/_runner_file_commands/output
		unset GITHUB_ENV GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_ARTIFACTS GITHUB_ARTIFACTS_LIST
		echo kept=1 >"$GITHUB_OUTPUT"
		shift
		status=0
		"$@" || status=$?
		cp "$GITHUB_OUTPUT" result
		exit "$status"' - "$work/mnt")
	guard -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect 0
	dead "$work/alive"
	same "$(sort -u "$work/result")" EROFS
	GITHUB_OUTPUT=$PWD/result
	same "$(output kept)" 1
	same "$(output lane-class)" ok
}
in_nested_namespaces() {
	mkdir "$work/mnt"
	oddly "bind-locked=$RUNNER_TEMP:$work/mnt"
}
# The runner's temporary directory may be the machine's.
temp_is_tmp() {
	local dir
	dir=$(mktemp -d /tmp/legguard-runner.XXXXXX)
	mkdir "$dir/_runner_file_commands"
	echo kept=1 >"$dir/_runner_file_commands/output"
	RUNNER_TEMP=/tmp GITHUB_OUTPUT=$dir/_runner_file_commands/output guard -- "$LEGS/late-writer" "$work/result" "$work/alive"
	cp "$dir/_runner_file_commands/output" "$work/copy"
	rm -r "$dir"
	expect 0
	same "$(sort -u "$work/result")" EROFS
	GITHUB_OUTPUT=$work/copy
	same "$(output lane-class)" ok
	same "$(output kept)" 1
}
leaves_nothing_behind() {
	find "$work/_temp" "$work/workspace" "$work/home" | sort >"$work/tree.before"
	guard --status "$work/status.json" -- true
	guard -- bash -c 'mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"'
	expect 120
	find "$work/_temp" "$work/workspace" "$work/home" | sort >"$work/tree.after"
	diff "$work/tree.before" "$work/tree.after" >&2 || fail "the run left something"
	local allocated
	allocated=$(stat -c %b "$GITHUB_OUTPUT")
	((allocated <= 16)) || fail "reserved blocks were not given back: $allocated"
}
ancestors_0711() {
	mkdir -p "$work/outer/inner"
	chmod 0711 "$work/outer" "$work/outer/inner"
	chown -R 0:0 "$work/outer"
	cp -a "$RUNNER_TEMP" "$work/outer/inner/"
	chown -R "$TEST_UID:$TEST_UID" "$work/outer/inner/_temp"
	chown "$TEST_UID:$TEST_UID" "$work/workspace" "$work"
	local f
	for f in GITHUB_OUTPUT GITHUB_ENV GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_ARTIFACTS GITHUB_ARTIFACTS_LIST; do
		export "$f=$work/outer/inner/_temp/_runner_file_commands/$(basename "${!f}")"
	done
	file_commands=$work/outer/inner/_temp/_runner_file_commands
	export RUNNER_TEMP=$work/outer/inner/_temp
	remember
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	guard -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect 0
	dead "$work/alive"
	same "$(sort -u "$work/result")" EROFS
	kept
	guard -- "$LEGS/dirfd-rename" rename "$RUNNER_TEMP" _runner_file_commands
	expect 120
	kept
}

scenario "with SIGCHLD ignored" sigchld
scenario "with all signals blocked" blocked
scenario "with signals ignored" ignored
scenario "with children it did not start" children
scenario "with several oddities at once" children_and_all
scenario "with a 1 ms interval timer" itimer
scenario "with few descriptors allowed" few_files
scenario "with too few descriptors it refuses" too_few_files
scenario "with an empty argv[0]" empty_argv0
scenario "in a deleted working directory it refuses, unless -C names another" deleted_directory
scenario "umask 0, 0777 and 027 are the leg's, not the launcher's" umask_kept
scenario "with umask 0777 the status object is written" status_mode
scenario "with an empty environment" empty_environment
scenario "with blanks, newlines, quotes and other bytes in paths" odd_paths
scenario "with several variables that name one file" one_file_twice
scenario "with a relative path in the environment" relative_path
scenario "with a symbolic link among the ancestors" symlinked_ancestor
scenario "on a nosuid,nodev tmpfs" tmpfs
scenario "inside user namespaces of somebody else" in_nested_namespaces
scenario "with RUNNER_TEMP=/tmp" temp_is_tmp
scenario "a run leaves nothing behind beside the guarded files" leaves_nothing_behind
scenario_as_root "with ancestors of mode 0711 that belong to root" ancestors_0711
