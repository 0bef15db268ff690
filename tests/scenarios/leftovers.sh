# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# What somebody else holds on a guarded file is no secret.

# holder HOW: somebody who was there before, and is until `let_go`.
holder() {
	mkfifo "$work/holding" "$work/let-go"
	python3 - "$1" "$GITHUB_OUTPUT" "$work/holding" "$work/let-go" <<-'EOF2' &
		import fcntl, sys
		how, path, holding, let_go = sys.argv[1:]
		f = open(path, "r" if how == "flock" else "r+")
		if how == "flock":
		    fcntl.flock(f, fcntl.LOCK_SH)
		elif how == "record":
		    fcntl.lockf(f, fcntl.LOCK_EX)
		open(holding, "w").close()
		open(let_go).close()
	EOF2
	holder=$!
}
let_go() {
	announce "$work/let-go"
	wait "$holder"
}
# The entries of the status, as WHAT WHEN, one to a line.
entries() {
	python3 -c '
import json, sys
for l in json.load(open(sys.argv[1]))["leftovers"]:
    assert l["path"] == sys.argv[2], l
    print(l["what"], l["when"])' "$work/status.json" "$GITHUB_OUTPUT"
}

strict_refuses() {
	refusal_names=--strict-files
	refused --strict-files
	has "$work/stderr" "$GITHUB_OUTPUT"
	kept unpublished
}
# Reported before and after, since it stays; with --strict-files nothing runs.
is_told() { # HOW WHAT...
	holder "$1"
	await "$work/holding"
	shift
	strict_refuses
	guard --status "$work/status.json" -- true
	expect 0
	kept
	same "$(output lane-class)" ok
	same "$(entries)" "$(printf '%s before\n' "$@"; printf '%s after\n' "$@")"
	local what
	for what; do
		has "$work/stderr" "$GITHUB_OUTPUT was $what before the leg started"
		has "$work/stderr" "$GITHUB_OUTPUT was $what after the leg had ended"
	done
	guard -q -- true
	same "$(cat "$work/stderr")" "" "with -q"
	let_go
	guard --strict-files --status "$work/status.json" -- true
	expect 0
	same "$(entries)" ""
}
writer() { is_told writer "open for writing in another process"; }
flock_held() { is_told flock "locked by another process"; }
record_held() { is_told record "open for writing in another process" "locked by another process"; }

# A writer that is gone before the leg's end is no news afterwards.
gone_meanwhile() {
	holder writer
	await "$work/holding"
	mkfifo "$work/started" "$work/go"
	launch --status "$work/status.json" -- bash -c ': >"$1"; : <"$2"' - "$work/started" "$work/go"
	await "$work/started"
	let_go
	announce "$work/go"
	finish
	expect 0
	same "$(entries)" "open for writing in another process before"
}
appearing() { # HOW WHAT...
	local how=$1 try
	shift
	mkfifo "$work/started" "$work/go"
	exec 7<>"$work/go"
	for try in 1 2 3 4 5 6 7 8 9 10; do
		launch --strict-files --status "$work/status.json" -- bash -c ': >"$1"; read -r _ <"$2"' - "$work/started" "$work/go"
		await "$work/started"
		holder "$how"
		await "$work/holding"
		echo >&7
		finish
		let_go
		# Something else was renamed or removed above just now, in /tmp perhaps: then the leg is suspected, and ended.
		grep -q "the leg was ended before that succeeded" "$work/stderr" || break
		exec 7<&-
		rm "$work/go" "$work/holding" "$work/let-go"
		mkfifo "$work/go"
		exec 7<>"$work/go"
	done
	expect 0
	same "$(entries)" "$(printf '%s after\n' "$@")"
	kept
}
writer_appears() { appearing writer "open for writing in another process"; }
flock_appears() { appearing flock "locked by another process"; }
record_appears() { appearing record "open for writing in another process" "locked by another process"; }

second_link() {
	ln "$GITHUB_OUTPUT" "$work/second"
	remember
	refusal_names="$GITHUB_OUTPUT" refused
	refused --strict-files --allow-hard-links
	has "$work/stderr" --strict-files
	guard --allow-hard-links --status "$work/status.json" -- true
	expect 0
	kept
	same "$(entries)" "$(printf 'known by another name as well %s\n' before after)"
}

own_holds() {
	guard --strict-files --status "$work/status.json" -- true
	expect 0
	same "$(entries)" ""
	guard --strict-files --status "$work/status.json" -- bash -c 'exec 9<"$GITHUB_OUTPUT"; flock -x 9; setsid -f sleep 1000; exit 0'
	expect 0
	same "$(entries)" ""
	flock -n -x "$GITHUB_OUTPUT" true || fail "the launcher left a lock"
}

scenario "a writer that was there before is told on stderr and in the status; --strict-files refuses" writer
scenario "a lock by flock(2) is told; --strict-files refuses" flock_held
scenario "a record lock is told; --strict-files refuses" record_held
scenario "a writer that ends with the leg is told for the time before only" gone_meanwhile
scenario "a writer that appears outside while the leg runs is told" writer_appears
scenario "a lock that appears outside while the leg runs is told" flock_appears
scenario "a record lock that appears outside while the leg runs is told" record_appears
scenario "a second link is told where it is allowed; --strict-files refuses" second_link
scenario "what the launcher and its leg hold is no leftover" own_holds
