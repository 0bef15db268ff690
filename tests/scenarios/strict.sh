# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# --writable: the leg writes nothing but what is named, so that every name outside holds; and its RUNNER_TEMP.

# The step's files where nothing is private anyway: $work is another directory from here on.
outside_tmp() {
	work=$(mktemp -d /var/tmp/legguard-strict.XXXXXX)
	trap 'rm -rf --one-file-system "$work"' EXIT
	make_step
	((EUID != 0)) || as_step
	cd "$work/workspace"
}
# strictly OPTION... -- COMMAND: with the workspace writable.
strictly() {
	guard --writable "$GITHUB_WORKSPACE" --status "$work/status.json" "$@"
}
no_litter() {
	[[ -z $(find "$RUNNER_TEMP" -name '_legguard-*') ]] || fail "a private directory is left: $(ls -A "$RUNNER_TEMP")"
}

every_name() {
	outside_tmp
	mkdir -p "$work/sibling" "$RUNNER_TEMP/beside"
	observed strictly --no-outputs -- "$LEGS/change-names" "$GITHUB_OUTPUT" "$work/workspace"
	unchanged
	has "$work/stdout" "stopped: rename _temp below another root: Read-only file system"
	has "$work/stdout" "stopped: exchange _temp below another root: Read-only file system"
	has "$work/stdout" "stopped: close the directory of _temp as the leg: Read-only file system"
	# In RUNNER_TEMP, which is its own, it has its way with what it sees there, and with nothing else.
	! grep THROUGH "$work/stdout" | grep -v "_runner_file_commands" || fail "something got through"
	kept
	same "$(status_of view)" strict
	same "$(status_of tampered)" false
	no_litter
}
# The same where all of it lies in /tmp, which is private: what the leg moves there is its own view's.
every_name_in_tmp() {
	mkdir -p "$work/sibling"
	observed strictly --no-outputs -- "$LEGS/change-names" "$GITHUB_OUTPUT" "$work/workspace"
	unchanged
	kept
	same "$(status_of tampered)" false
}
around() {
	outside_tmp
	mkdir "$work/beside" "$work/bare"
	observed strictly --no-outputs -- unshare -rm bash -c '
		mkdir beside bare
		mount --bind "$1/beside" "$1/bare"
		mount --bind beside bare
		for to in "$1/beside/t" beside/t; do mv "$RUNNER_TEMP" "$to" && echo THROUGH; done
		mv "$RUNNER_TEMP/_runner_file_commands" beside/t && echo THROUGH
		mount --bind "$1" bare && echo THROUGH
		mount -o remount,bind,rw / && echo THROUGH
		umount -l / && echo THROUGH
		mkdir "$1/new" && echo THROUGH
		echo x >>"$GITHUB_OUTPUT" && echo THROUGH
		exit 0' - "$work"
	unchanged
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}
mounts_hold() {
	outside_tmp
	strictly -- "$LEGS/undo-mounts" "$file_commands"
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

# What the leg does to its own RUNNER_TEMP, past the mounts in it, stays there.
own_temp_only() {
	outside_tmp
	observed strictly --no-outputs -- "$LEGS/dirfd-rename" rename "$RUNNER_TEMP" _runner_file_commands
	unchanged
	expect 0
	has "$work/stdout" moved
	kept
	same "$(status_of brought_out.left)" 1
	has "$work/stderr" "is not brought out but in $RUNNER_TEMP/_legguard-"
	[[ -e $(status_of brought_out.where)/_runner_file_commands/${GITHUB_OUTPUT##*/} ]] || fail "it is not there"
}

# A mount in a writable directory that leads to guarded files, or to what is above them.
way_in() {
	outside_tmp
	local from
	for from in "$file_commands" "$RUNNER_TEMP" "$work"; do
		mkdir -p "$work/workspace/way-in"
		under=("$TOOLS/oddly" "bind=$from:$work/workspace/way-in" --)
		# Its place in the workspace is the leg's to change, and is not what is behind it.
		observed strictly --no-outputs --read-only "$LEGS" -- bash -c '
			to=$1/${2##*/}; [[ ! -e $1/_runner_file_commands ]] || to=$1/_runner_file_commands/${2##*/}
			[[ ! -e $1/_temp ]] || to=$1/_temp/_runner_file_commands/${2##*/}
			echo x >>"$to" && echo THROUGH
			mv "$to" "$to-x" && echo THROUGH
			mv "${to%/*}" "${to%/*}-x" && echo THROUGH
			"$3" "$to" . | grep -v " way-in "
			: >"$1/new" && echo THROUGH
			exit 0' - "$work/workspace/way-in" "$GITHUB_OUTPUT" "$LEGS/change-names"
		unchanged
		expect 0
		lacks "$work/stdout" THROUGH
		has "$work/stdout" "stopped: rename ${GITHUB_OUTPUT##*/} below another root: Read-only file system"
		kept
	done
}

refusals() {
	mkdir "$work/dir"
	: >"$work/file"
	refusal_names="--writable: $work/nowhere"
	refused --writable "$work/nowhere"
	refusal_names="Not a directory"
	refused --writable "$work/file"
	refusal_names="/ is everything"
	refused --writable /
	refusal_names="which the leg must not write"
	refused --writable "$work"
	refused --writable "$RUNNER_TEMP"
	refused --writable "$file_commands"
	mkdir "$file_commands/sub"
	refused --writable "$file_commands/sub"
	rmdir "$file_commands/sub"
	refused --writable "$work/workspace" --read-only "$work/workspace"
	mkdir "$work/alias"
	under=("$TOOLS/oddly" "bind=$RUNNER_TEMP:$work/alias" --)
	refused --writable "$work/alias"
	under=()
	# Neither what lies deeper nor what is directly in it: the leg could move it away from its mask.
	mkdir -p "$work/dir/in/deep"
	mkdir "$work/other"
	local name
	for name in "$work/dir/in" "$work/dir/in/deep"; do
		refusal_names="--writable: $work/dir holds $name, which the leg could uncover"
		refused --writable "$work/dir" --hide "$name"
	done
	under=("$TOOLS/oddly" "bind=$work/dir/in:$work/other" --)
	refusal_names="--writable: $work/other holds $work/other/deep, another name of $work/dir/in/deep"
	refused --writable "$work/other" --hide "$work/dir/in/deep"
	under=()
	refusal_names="on the way to a guarded file"
	ln -s "$RUNNER_TEMP" "$work/dir/link"
	GITHUB_OUTPUT=$work/dir/link/_runner_file_commands/${GITHUB_OUTPUT##*/} refused --writable "$work/dir"
	refusal_names="is a private one then"
	refused --writable "$work/dir" -C /tmp
	refusal_names="more than 4096 entries"
	mkdir "$RUNNER_TEMP/many"
	(cd "$RUNNER_TEMP" && seq 4200 | xargs mkdir)
	refused --writable "$work/dir"
	no_litter
	kept unpublished
}

# A link, or a directory that ".." leaves again, which the leg could put another in the place of.
ways() {
	outside_tmp
	local option variable name
	mkdir -p "$work/real/dir" "$work/workspace/sub"
	echo x >"$work/real/file"
	ln -s ../real "$work/workspace/link"
	ln -s "$work/workspace/link" "$work/outer"
	ln -s "$work/real/file" "$work/workspace/last"
	refusal_names="which is on the way to "
	for option in --read-only --hide --guard --status --audit --audit-otlp; do
		[[ $option != --audit ]] || rm "$work/real/file"
		for name in "$work/workspace/link/file" "$work/outer/file" "$work/workspace/sub/../../real/file" link/file; do
			(cd "$work/workspace" && refused --writable "$work/workspace" "$option" "$name")
		done
		[[ $option != --audit* ]] || [[ ! -s $work/real/file ]] || fail "something was recorded"
	done
	echo x >"$work/real/file"
	for option in --read-only --hide; do
		refused --writable "$work/workspace" "$option" "$work/workspace/last"
		refused --writable "$work/workspace" "$option" "$work/workspace/link/dir"
	done
	for variable in GITHUB_EVENT_PATH ACTIONS_RUNNER_HOOK_JOB_COMPLETED; do
		(
			export "$variable=$work/workspace/link/file"
			refused --writable "$work/workspace"
			has "$work/stderr" "on the way to $variable"
			guard --writable "$work/workspace" --unprotect "$work/real/file" -- true
			expect 0
		)
	done
	mv "$GITHUB_OUTPUT" "$work/real/output"
	GITHUB_OUTPUT=$work/workspace/link/output refused --writable "$work/workspace"
	mv "$work/real/output" "$GITHUB_OUTPUT"
	# A link by another mount of where it lies.
	mkdir "$work/again"
	under=("$TOOLS/oddly" "bind=$work/workspace:$work/again" --)
	refusal_names="another name of $work/again/link"
	refused --writable "$work/workspace" --read-only "$work/again/link/file"
	refused --writable "$work/workspace" --guard "$work/again/link/file"
	under=()
	# A link that the leg can't change is none of that.
	ln -s real "$work/held"
	strictly --read-only "$work/held/file" --hide "$work/held/dir" -- bash -c '! : >"$1"' - "$work/held/file"
	expect 0
	kept
}

only_named() {
	outside_tmp
	mkdir -p "$work/tree/a/b"
	local marker
	marker=$(mktemp /tmp/legguard-runner.XXXXXX)
	guard --writable "$work/tree" --writable "$work/tree/a" -- bash -c '
		: >"$1/tree/x" || exit 3
		mkdir "$1/tree/a/b/c" || exit 4
		mv "$1/tree/x" "$1/tree/a/b" || cp "$1/tree/x" "$1/tree/a/b" || exit 5
		: >"$1/no" && exit 6
		: >"$1/workspace/no" && exit 7
		: >"$HOME/no" && exit 8
		: >/var/tmp/no-$$ && exit 9
		: >/tmp/yes && : >/dev/shm/yes && [[ -k /tmp && ! -e $2 ]] || exit 10
		echo x >/dev/null && head -c 1 /dev/zero >/dev/null && python3 -c "import pty; pty.openpty()" || exit 11
		: >"$RUNNER_TEMP/yes" || exit 12
		exit 0' - "$work" "$marker"
	rm "$marker"
	expect 0
	[[ -d $work/tree/a/b/c && -e $RUNNER_TEMP/yes && ! -e /tmp/yes && ! -e /dev/shm/yes ]] ||
		fail "what the leg wrote is in the wrong place"
	kept
	no_litter
}
share_pid() {
	outside_tmp
	strictly --share-pid -- bash -c ': >own && echo 500 >/proc/self/oom_score_adj; : >../no && exit 3; exit 0'
	[[ $status != 125 ]] || skip "no --share-pid here: $(cat "$work/stderr")"
	expect 0
	[[ -e $work/workspace/own && ! -e $work/no ]] || fail "what the leg wrote is in the wrong place"
	kept
}
without_runner_temp() {
	outside_tmp
	local temp=$RUNNER_TEMP
	unset RUNNER_TEMP
	strictly -- bash -c ': >own; : >"$1/new" && exit 3; exit 0' - "$temp"
	expect 0
	RUNNER_TEMP=$temp kept
	same "$(status_of brought_out)" null
}
stays_visible() {
	echo kept >"$work/seen"
	echo gone >"$work/unseen"
	echo '#!/bin/sh
cat "$1" "$2"' >"$work/command"
	chmod +x "$work/command"
	strictly --read-only "$work/seen" -- "$work/command" "$work/seen" "$work/unseen"
	expect 1
	same "$(cat "$work/stdout")" kept
	has "$work/stderr" "No such file"
}

honest_leg() {
	need git meson gcc
	outside_tmp
	as_user git init -q --bare "$work/workspace/origin"
	strictly -- bash -euc '
		export HOME=$GITHUB_WORKSPACE/home; mkdir "$HOME"
		git clone -q origin repo 2>/dev/null
		cd repo
		git config user.email a@b && git config user.name n
		printf "int main(void) { return 0; }\n" >a.c
		printf "project(\047a\047, \047c\047)\ntest(\047a\047, executable(\047a\047, \047a.c\047))\n" >meson.build
		git add .
		git commit -qm one
		git push -q origin HEAD
		meson setup build >/dev/null
		ninja -C build >/dev/null
		meson test -C build >/dev/null
		t=$(mktemp)
		d=$(mktemp -d)
		mv "$t" "$d"
		rm -r "$d"
		echo "{}" >"$RUNNER_TEMP/result.json"'
	expect 0
	same "$(cat "$RUNNER_TEMP/result.json")" "{}"
	same "$(as_user git -C "$work/workspace/origin" rev-list --count --all)" 1
	kept
	no_litter
	same "$(status_of brought_out)" '{"moved": 1, "left": 0, "where": null}'
}
bubblewrap() {
	need bwrap
	outside_tmp
	strictly -- bwrap --dev-bind / / --unshare-pid --unshare-net --proc /proc --dev /dev \
		bash -c 'echo "inside $$"; : >own; : >/tmp/own; : >"$RUNNER_TEMP/own"; : >../no && echo THROUGH; exit 6'
	expect 6
	has "$work/stdout" inside
	lacks "$work/stdout" THROUGH
	[[ -e $work/workspace/own && -e $RUNNER_TEMP/own && ! -e $work/no ]] || fail "what the leg wrote is in the wrong place"
	strictly -- bwrap --ro-bind / / --unshare-all --die-with-parent --new-session --proc /proc --dev /dev --tmpfs /tmp true
	expect 0
	kept
}

brought_out() {
	outside_tmp
	mkdir -p "$RUNNER_TEMP/there/sub"
	echo old >"$RUNNER_TEMP/there/sub/file"
	echo old >"$RUNNER_TEMP/script.sh"
	ln -s script.sh "$RUNNER_TEMP/link"
	strictly -- bash -euc '
		cd "$RUNNER_TEMP"
		[[ $(<script.sh) == old && $(<link) == old && $(<there/sub/file) == old ]]
		: >script.sh && exit 3; : >there/new && exit 4
		mkdir -p d/e/f closed read-only/x _own; echo new >d/e/f/file; echo own >_own/file
		ln -s "$GITHUB_OUTPUT" to-guarded; ln -s /etc/passwd d/abs; ln -s nowhere dangling
		mkfifo fifo; echo x >"with
newline"; echo x >.hidden
		chmod 000 closed; chmod 555 read-only; chmod 000 "$RUNNER_TEMP"'
	expect 0
	kept
	same "$(cat "$RUNNER_TEMP/d/e/f/file")" new
	same "$(readlink "$RUNNER_TEMP/to-guarded")" "$GITHUB_OUTPUT"
	same "$(readlink "$RUNNER_TEMP/dangling")" nowhere
	same "$(stat -c %a "$RUNNER_TEMP/closed")" 0
	same "$(stat -c %a "$RUNNER_TEMP/read-only")" 555
	same "$(cat "$RUNNER_TEMP/script.sh" "$RUNNER_TEMP/there/sub/file")" $'old\nold'
	[[ -e $RUNNER_TEMP/.hidden && -e "$RUNNER_TEMP/with
newline" && -L $RUNNER_TEMP/link ]] || fail "something was not brought out"
	[[ ! -e $RUNNER_TEMP/_own && ! -e $RUNNER_TEMP/fifo ]] || fail "something was brought out that is not to be"
	same "$(status_of brought_out.left)" 2
	local where
	where=$(status_of brought_out.where)
	[[ $where == "$RUNNER_TEMP/_legguard-"* ]] || fail "it is in $where"
	same "$(cat "$where/_own/file")" own
	same "$(ls -A "$where" | wc -l)" 2
	has "$work/stderr" "2 of what the leg left in RUNNER_TEMP are not brought out but in $where"
	chmod -R u+rwx "$RUNNER_TEMP"
}
# Somebody outside takes the name meanwhile.
collision() {
	outside_tmp
	mkfifo "$work/workspace/started" "$work/workspace/go"
	launch --writable "$work/workspace" --status "$work/status.json" -- bash -c '
		mkdir "$RUNNER_TEMP/dir"; echo leg >"$RUNNER_TEMP/name"; echo leg >"$RUNNER_TEMP/link"
		: >started; : <go'
	await "$work/workspace/started"
	echo outside >"$RUNNER_TEMP/name"
	mkdir "$RUNNER_TEMP/dir"
	ln -s "$work/elsewhere" "$RUNNER_TEMP/link"
	announce "$work/workspace/go"
	finish
	expect 0
	same "$(cat "$RUNNER_TEMP/name")" outside
	[[ ! -e $work/elsewhere ]] || fail "a link was followed"
	same "$(status_of brought_out.moved)" 0
	same "$(status_of brought_out.left)" 3
	same "$(cat "$(status_of brought_out.where)/name")" leg
	has "$work/stderr" "there is something by its name"
	kept
}
bounded() {
	outside_tmp
	strictly -- bash -c 'cd "$RUNNER_TEMP" && seq 100000 | xargs touch'
	expect 0
	local moved left
	moved=$(status_of brought_out.moved)
	left=$(status_of brought_out.left)
	((moved <= 10000 && moved > 0 && moved + left == 100000)) || fail "moved $moved, left $left"
	same "$(find "$RUNNER_TEMP" -maxdepth 1 -name '[0-9]*' | wc -l)" "$moved"
	same "$(find "$(status_of brought_out.where)" -type f | wc -l)" "$left"
	kept
}
cancelled() {
	outside_tmp
	mkfifo "$work/workspace/started"
	launch --writable "$work/workspace" --status "$work/status.json" -- bash -c '
		echo x >"$RUNNER_TEMP/result"; : >started; exec sleep 1000'
	await "$work/workspace/started"
	kill -TERM "$launcher"
	finish
	expect 143
	kept
	[[ ! -e $RUNNER_TEMP/result ]] || fail "it was brought out"
	same "$(cat "$(status_of brought_out.where)/result")" x
	has "$work/stderr" "the run was cancelled"
}
failing_runs() {
	outside_tmp
	strictly -- "$work/no-such-command"
	expect 127
	no_litter
	strictly -- bash -c 'exit 9'
	expect 9
	no_litter
	strictly --timeout 0.1 -- sleep 1000
	expect 124
	no_litter
	# A stand-in for what fails late: the set-up is refused by a filter.
	under=("$TOOLS/deny" open_tree=ENOSYS)
	refused --writable "$work/workspace"
	has "$work/stderr" "leave out --writable"
	no_litter
	under=()
	kept
}
decoys_and_masks() {
	outside_tmp
	mkdir "$work/hidden"
	echo secret >"$work/hidden/file"
	local view
	for view in --pin "--writable=$work/workspace"; do
		guard "$view" --hide "$work/hidden" --file-commands decoy --import output:answer -- bash -euc '
			echo answer=42 >>"$GITHUB_OUTPUT"
			echo lane-class=credit-stop >>"$GITHUB_OUTPUT"
			[[ -z $(ls -A ../hidden) ]]'
		expect 0
		kept
		same "$(output answer)" 42
		same "$(output lane-class)" ok
	done
	no_litter
}
temporary_directory() {
	outside_tmp
	TMPDIR=$(mktemp -d /tmp/legguard-runner.XXXXXX)
	export TMPDIR
	: >"$TMPDIR/outside"
	strictly -- bash -euc '[[ ! -e $TMPDIR/outside ]]; t=$(mktemp); [[ $t == "$TMPDIR"/* ]]'
	same "$(ls "$TMPDIR")" outside
	strictly --dry-run
	lacks "$work/stdout" "warning    TMPDIR"
	rm -r "$TMPDIR"
	expect 0
}
dry_run() {
	outside_tmp
	export HOME=$work/home TMPDIR=$work/home
	guard --writable "$work/workspace" --dry-run
	expect 0
	has "$work/stdout" "writable   $work/workspace"
	has "$work/stdout" "private    $RUNNER_TEMP"
	has "$work/stdout" "warning    HOME ($work/home) is read-only"
	has "$work/stdout" "warning    TMPDIR ($TMPDIR) is read-only"
	lacks "$work/stdout" "warning    RUNNER_TEMP"
	lacks "$work/stdout" "warning    the leg's directory"
	guard --writable "$work/home" --dry-run
	has "$work/stdout" "warning    the leg's directory ($work/workspace) is read-only"
	no_litter
}

scenario "with --writable no name above a guarded file changes for an instant, whatever a leg tries" every_name
scenario "with --writable the same holds where everything lies in the private /tmp" every_name_in_tmp
scenario "with --writable nobody gets around the read-only mounts in a namespace of his own" around
scenario "with --writable the mounts can't be undone" mounts_hold
scenario "what a leg does to its private RUNNER_TEMP changes nothing in the real one" own_temp_only
scenario "a mount in a writable directory that leads to the guarded files is read-only" way_in
scenario "--writable refuses what would open a way to guarded files, and what is no directory" refusals
scenario "--writable refuses what is named through a link, or any name, that the leg could change" ways
scenario "with --writable only the named directories, /tmp, /dev/shm, RUNNER_TEMP and devices can be written" only_named
scenario "--writable works with --share-pid" share_pid
scenario "--writable works without a RUNNER_TEMP" without_runner_temp
scenario "what is named and the command itself stay visible in the private /tmp, the rest does not" stays_visible
scenario "git, meson, gcc and mktemp work in a strict view, and a result is brought out" honest_leg
scenario "a nested bubblewrap works in a strict view" bubblewrap
scenario "what a leg leaves in RUNNER_TEMP is brought out as it is, but for names and kinds that are not its own" brought_out
scenario "nothing is brought out onto something, nor through a link" collision
scenario "a hundred thousand entries are brought out up to a bound, and none is lost" bounded
scenario "a cancelled run brings nothing out, and says where it is" cancelled
scenario "a run that fails or is refused leaves no private directory" failing_runs
scenario "decoys and hidden paths are what they are in a pinned and in a strict view" decoys_and_masks
scenario "a TMPDIR below /tmp is private with it, and works" temporary_directory
scenario "--dry-run says what is writable, and warns what is read-only or not there" dry_run
