# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# The battery of attacks: what it finds under legguard, under bubblewrap, and under nothing at all.

# battery [WORD]...: sets $status; the table is in $work/table. The step of the scenario itself is none of its business.
battery() {
	status=0
	env -u GITHUB_OUTPUT -u GITHUB_ENV TMPDIR="$work" "$LEGGUARD" attack "$@" >"$work/table" 2>"$work/stderr" </dev/null ||
		status=$?
	[[ -z $(find "$work" -maxdepth 1 -name 'legguard-attack.*') ]] || fail "decoys are left"
}

# attacks VERDICT: the names of those that ended so, in the order of the table.
attacks() {
	awk -v want="$1" 'NF > 3 && /^  / { v = $3; if (v == "not") v = "not tried"; if (v == "through,") v = "documented"
		if (v == want) printf "%s%s", sep, $1; if (v == want) sep = " " }' "$work/table"
}

# none VERDICT: fails with the table if there are any.
none() {
	[[ -z $(attacks "$1") ]] || fail "$1: $(attacks "$1")
$(cat "$work/table")"
}

only_documented() {
	same "$(attacks documented | tr ' ' '\n' | grep -vxF -e "$(tr -s ' \t' '\n' <<<"$1")" || true)" "" "documented, beside those known
$(cat "$work/table")"
}

# verdict WANT NAME...: each of them ended so.
verdict() {
	local want=$1 name
	shift
	for name; do
		[[ " $(attacks "$want") " == *" $name "* ]] || fail "not $want: $(grep -E "^  $name " "$work/table")"
	done
}

by_kernel="proc-1-root file-handle uid-map mknod ptrace-pid1 vm-pid1 mem-pid1 kill-pid1 fanotify userfaultfd kernel-settings
	system-files"
always="session-keyring"
outsiders="nice-outsider ioprio-outsider affinity-outsider oom-outsider"
documented="$always around-other-step around-action around-docker around-service"

default_tier() {
	battery
	[[ -s $work/table ]] || fail "no table"
	none "not tried"
	none THROUGH
	expect 0
	only_documented "$documented"
	verdict blocked append rewrite umount ptrace-pid1 tiocsti late-writer set-uid script executable-replace \
		docker-socket session-bus user-manager other-socket descriptor abstract-socket
	verdict repaired rename-parent around-append
	grep -q '^  rename-parent .*(reported)' "$work/table" || fail "a repair is not reported"
}

# Names hold as well.
pinned() {
	battery --pin
	none "not tried"
	none THROUGH
	expect 0
	only_documented "$always"
	verdict blocked rename-parent symlink-grandparent chmod-ancestors dirfd-rename around-append around-script late-rename
}

# The strict view; the decoys' workspace is all that it may write.
strict() {
	battery --writable '{workspace}'
	none "not tried"
	none THROUGH
	expect 0
	only_documented "$always"
	verdict blocked append hard-link around-append script late-rename
}

landlock() {
	"$LEGGUARD" run --isolation landlock -- true 2>"$work/stderr" || skip "no Landlock: $(head -n 1 "$work/stderr")"
	battery --isolation landlock
	none "not tried"
	none THROUGH
	expect 0
	only_documented "$always $outsiders utimes inode-flags user-keyring docker-socket podman-socket session-bus user-manager
		tmux-socket other-socket descriptor"
	verdict blocked append truncate rename-parent exchange-parent dirfd-rename around-append signal-all late-writer script
	verdict repaired chmod chmod-ancestors
}

# Started as root, the decoys are the user's.
as_other_user() {
	battery --only append,hard-link,around-append,rename-parent,ptrace-outsider,ptrace-pid1,signal-all,set-uid \
		--user "$TEST_UID:$TEST_UID"
	expect 0
	none "not tried"
	verdict blocked append hard-link ptrace-outsider ptrace-pid1 signal-all set-uid
	verdict repaired rename-parent around-append
}

share_pid() {
	battery --share-pid
	none "not tried"
	none THROUGH
	expect 0
	only_documented "$documented $outsiders"
	verdict blocked ptrace-outsider signal-outsider signal-all stop-launcher late-daemon
}

# An attack that does not get through here is none.
without_a_wrapper() {
	battery -- {}
	same "$status" 1 "exit status"
	none repaired
	none "not tried"
	none documented
	# shellcheck disable=SC2086
	same "$(attacks blocked)" "$(echo $by_kernel)" "stopped by nobody but the kernel
$(cat "$work/table")"
}

# What somebody may well think is enough.
bubblewrap() {
	need bwrap
	battery -- bwrap --die-with-parent --unshare-pid --dev-bind / / --ro-bind '{file}' '{file}' --proc /proc '{}'
	same "$status" 1 "exit status"
	none "not tried"
	verdict blocked append rewrite unlink replace umount remount signal-outsider signal-all set-uid
	verdict THROUGH append-each append-other-step rename-dir rename-parent symlink-dir dirfd-unlink dirfd-rename \
		around-append around-truncate inherited-write ptrace-pid1 docker-socket abstract-socket script action-code \
		fill-disk
}

list_and_only() {
	battery --list
	expect 0
	(($(awk '{ print $1 }' "$work/table" | sort -u | wc -l) >= 60)) || fail "fewer than 60 attacks"
	battery --only append,late-writer
	expect 0
	same "$(attacks blocked)" "append late-writer"
	same "$(tail -n 1 "$work/table")" "2 blocked, 0 repaired, 0 THROUGH, 0 n/a, 0 not tried"
	battery --only=append -- {}
	expect 1
}

json() {
	battery --list --json
	python3 -c 'import json, sys; assert len(json.load(sys.stdin)) >= 60' <"$work/table" || fail "no JSON"
	battery --json --only rename-parent,append --share-pid
	expect 0
	python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["under"] == ["legguard", "run", "--no-summary", "--share-pid", "--", "{}"], r
assert r["tier"] == "namespace"
a = {x["attack"]: x for x in r["attacks"]}
assert a["append"]["verdict"] == "blocked" and a["append"]["status"] == 0, a
assert a["rename-parent"]["verdict"] == "repaired" and a["rename-parent"]["reported"], a
assert a["rename-parent"]["status"] == 120
assert r["summary"]["blocked"] == r["summary"]["repaired"] == 1 and r["summary"]["through"] == 0' \
		<"$work/table" >&2 || fail "$(cat "$work/table")"
}

bad_use() {
	local words
	for words in "--only" "--only nothing" "--only append,,x" "--list x" "--" "-- bwrap" "--share-pid -- bwrap {}" \
		"--no-such-option" "--isolation nothing" "-- /nonexistent {}" "-- false {}" "-- true"; do
		# shellcheck disable=SC2086
		battery $words
		same "$status" 125 "exit status of attack $words"
		same "$(wc -l <"$work/stderr")" 1 "lines on stderr for $words"
		[[ ! -s $work/table ]] || fail "it printed something for $words"
	done
	status=0
	TMPDIR=$work/nowhere "$LEGGUARD" attack 2>"$work/stderr" || status=$?
	expect 125
}

# Its own executable may be where the leg can't see it, or in a directory that nobody may write.
hidden_program() {
	mkdir "$work/own"
	cp "$LEGGUARD" "$work/own/legguard"
	chmod 0555 "$work/own"
	LEGGUARD=$work/own/legguard battery --only append --hide "$work/own"
	chmod 0755 "$work/own"
	expect 0
	same "$(attacks blocked)" append
}

# Ended in the middle, it leaves nothing.
ended() {
	mkfifo "$work/started"
	TMPDIR=$work "$LEGGUARD" attack -- bash -c ': >"$0"; exec sleep 1000' "$work/started" {} 2>"$work/stderr" &
	await "$work/started"
	kill -TERM $!
	status=0
	wait $! || status=$?
	expect 125
	[[ -z $(find "$work" -maxdepth 1 -name 'legguard-attack.*') ]] || fail "decoys are left"
}

scenario_slow "no attack gets through the default view but those that the README names" default_tier
scenario_slow "nor with --share-pid" share_pid
scenario_slow "nor with --pin, under which names hold as well" pinned
scenario_slow "nor with --writable" strict
scenario_slow "nor with --isolation landlock" landlock
scenario_as_root "nor with --user, started as root" as_other_user
scenario_slow "without a wrapper every attack gets through but those that the kernel stops" without_a_wrapper
scenario_slow "the battery finds the ways around a plain bubblewrap" bubblewrap
scenario "attack lists at least 60 attacks, and runs those that --only names" list_and_only
scenario "the results as JSON" json
scenario "what the battery can't be run with is refused in one line" bad_use
scenario "the battery needs nothing of where the program lies" hidden_program
scenario "a battery that is ended leaves nothing behind" ended
