# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# The file that --audit names: out of the leg's reach, shared with other runs, whole whatever happens to who writes it.

record=${work-}/audit.jsonl

audited() { # like guard
	need jq
	guard --audit "$record" --status "$work/status.json" "$@"
}

# runs WORD: how many runs of the record are "complete" or "incomplete".
runs() {
	"$LIB/verify-audit" "$record" >"$work/verified" || fail "the record is broken"
	grep -c " $1 " "$work/verified" || true
}

# A leg that tries all it can by the name, and tells what worked.
attack='
	f=$1
	[[ -z $(cat "$f" 2>/dev/null) ]] || echo read
	{ echo "{\"forged\":1}" >>"$f"; } 2>/dev/null && echo append
	{ : >"$f"; } 2>/dev/null && echo truncate
	ln "$f" "$f.link" 2>/dev/null && [[ -s $f.link ]] && echo link
	mv "$f" "$f.moved" 2>/dev/null && echo move
	rm -f "$f" 2>/dev/null && echo remove
	echo x >"$f.new" && mv -T "$f.new" "$f" 2>/dev/null && echo replace
	[[ $2 == landlock ]] || chmod 666 "$f" 2>/dev/null
	python3 -c "import os, sys; os.truncate(sys.argv[1], 0)" "$f" 2>/dev/null && echo truncate
	python3 -c "
import fcntl, os, sys
f = open(sys.argv[1])
fcntl.flock(f, fcntl.LOCK_EX)
if os.fstat(f.fileno()).st_ino == int(sys.argv[2]): print(\"lock\")" "$f" "$3" 2>/dev/null
	for d in /proc/[0-9]*/fd/*; do [[ $(readlink "$d") != "$f" ]] || echo descriptor; done
	true'

out_of_reach() { # OPTION...
	local inode
	guard --audit "$record" --audit-otlp "$work/otlp.jsonl" "$@" -- true
	inode=$(stat -c %i "$record")
	for f in "$record" "$work/otlp.jsonl"; do
		audited --audit-otlp "$work/otlp.jsonl" "$@" -- bash -c "$attack" - "$f" "${*: -1}" "$inode"
		expect 0
		# What is made by that name in a private /tmp is another file.
		[[ $* == *--writable* ]] || same "$(cat "$work/stdout")" "" "what worked with $*"
		! grep -E 'read|descriptor' "$work/stdout" || fail "it was read"
		same "$(stat -c '%i %a %h' "$record")" "$inode 600 1"
		kept
	done
	same "$(runs complete)" 3
	lacks "$work/otlp.jsonl" forged
	same "$(status_of audit.failed)" false
}
default_view() { out_of_reach; }
pinned() { out_of_reach --pin; }
shared_pid() { out_of_reach --share-pid; }
strict() {
	out_of_reach --writable "$work/workspace"
	# Also where it lies in the directory that gets a private one in its place.
	record=$RUNNER_TEMP/audit.jsonl
	audited --writable "$work/workspace" -- bash -c '! cat "$1"' - "$record"
	expect 0
	same "$(runs complete)" 1
	same "$(status_of audit.head)" "$(cut -d ' ' -f 4 "$work/verified")"
}
# Whether it lies there directly or not, and is there already or not: the leg could move it away from its mask.
below_writable() {
	local name option
	mkdir "$work/workspace/own" "$work/other"
	for name in workspace/audit.jsonl workspace/own/audit.jsonl; do
		for option in --audit --audit-otlp; do
			refusal_names="--writable: $work/workspace holds $work/$name, which the leg must not write"
			refused --writable "$work/workspace" "$option" "$work/$name"
			[[ ! -e $work/$name ]] || fail "an empty file is left"
			: >"$work/$name"
			refused --writable "$work/workspace" "$option" "$work/$name"
			rm "$work/$name" # which was there before
		done
	done
	# By another mount of the directory.
	record=$work/workspace/own/audit.jsonl
	: >"$record"
	under=("$TOOLS/oddly" "bind=$work/workspace/own:$work/other" --)
	refusal_names="which the leg must not write" refused --writable "$work/other" --audit "$record"
	under=()
	[[ ! -s $record ]] || fail "something was recorded"
	kept unpublished
}
landlocked() {
	python3 -c 'import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(444, None, 0, 1) <= 0)' ||
		skip "this kernel has no Landlock, or it is off"
	out_of_reach --isolation landlock
}
as_another_user() {
	umask 000
	chown "$TEST_UID:$TEST_UID" "$work" "$work/workspace" "$work/home"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"
	remember
	out_of_reach --user "$TEST_UID"
	same "$(stat -c %u "$record")" "$TEST_UID"
	# All of whose path is root's.
	roots=$(mktemp -d /tmp/legguard-roots.XXXXXX)
	trap 'rm -r "$roots"' EXIT
	chmod 0755 "$roots"
	record=$roots/audit.jsonl
	audited --user "$TEST_UID" -- bash -c "$attack" - "$record" "" 0
	expect 0
	same "$(cat "$work/stdout")" ""
	same "$(stat -c '%u %a' "$record")" "0 600"
	same "$(runs complete)" 1
	# Nobody's link leads root anywhere.
	: >"$work/precious"
	chown root:root "$work/precious"
	ln -s "$work/precious" "$work/link"
	chown -h "$TEST_UID:$TEST_UID" "$work/link"
	refusal_names="link" refused --user "$TEST_UID" --audit "$work/link"
	mkdir "$work/dir"
	ln -s "$roots" "$work/dir/sub"
	chown -hR "$TEST_UID:$TEST_UID" "$work/dir"
	refused --user "$TEST_UID" --audit "$work/dir/sub/other.jsonl"
	[[ ! -e $roots/other.jsonl && ! -s $work/precious ]] || fail "root was led astray"
}
as_root() {
	umask 000
	out_of_reach --root-leg
}

unconfined() {
	audited --isolation none -- bash -c 'echo "{\"forged\":1}" >>"$1"' - "$record"
	expect 0
	has "$record" forged
	! "$LIB/verify-audit" "$record" >"$work/verified" 2>&1 || fail "that goes unnoticed"
	guard --isolation none --audit "$record" -n -- true
	has "$work/stdout" "audit      $record, which the leg can write"
}

# Around the mask, with a directory above moved: what was done is found, told, and put right as far as it can be.
around() { # COMMAND
	mkdir -p "$work/in/side" "$work/in/bare" "$work/in/own"
	record=$work/in/own/audit.jsonl
	audited -- true
	audited -- unshare -rm bash -c '
		cd "$1/in"
		mount --bind side bare || exit 9
		mv own side/own || exit 9
		f=bare/own/audit.jsonl
		eval "$2"' - "$work" "$1"
}
appended_around() {
	around 'echo "{\"forged\":1}" >>"$f" && : >"$1/wrote"'
	[[ -e $work/wrote ]] || skip "the leg could not get around here"
	expect 120
	kept
	has "$work/stderr" "tampered: path-moved $work/in/own"
	# What others append is not told from what the leg did; who verifies it sees that.
	! "$LIB/verify-audit" "$record" >"$work/verified" 2>&1 || fail "that goes unnoticed"
	has "$work/verified" "line"
}
rewritten_around() {
	around 'python3 -c "
import sys
f = open(sys.argv[1], \"r+b\"); b = f.read(); f.seek(b.rindex(b\"leg-start\")); f.write(b\"leg-pause\")" "$f" && : >"$1/wrote"'
	[[ -e $work/wrote ]] || skip "the leg could not get around here"
	expect 122
	kept
	has "$work/stderr" "tampered: rewritten $record (what this run had written is not there), NOT restored"
	same "$(output lane-class)" tampered
	same "$(status_of audit.failed)" true
	same "$(jq -r 'select(.event == "tamper") | .kind' "$record" | sort | tr '\n' ' ')" "path-moved rewritten "
}
# Also where it is the only file, and where all is back in its place at the end.
otlp_emptied_around() {
	local options
	mkdir -p "$work/in/side" "$work/in/bare" "$work/in/own"
	for options in "--audit $record" ""; do
		rm -f "$work/wrote"
		# shellcheck disable=SC2086
		guard $options --audit-otlp "$work/in/own/otlp.jsonl" --status "$work/status.json" -- unshare -rm bash -c '
			cd "$1/in"
			mount --bind side bare || exit 9
			mv own side/own || exit 9
			: >bare/own/otlp.jsonl && : >"$1/wrote"
			mv side/own own' - "$work"
		[[ -e $work/wrote ]] || skip "the leg could not get around here"
		expect 122
		kept
		has "$work/stderr" "tampered: rewritten $work/in/own/otlp.jsonl (what this run had written is not there), NOT restored"
		same "$(status_of audit.failed)" true
	done
	same "$(runs complete)" 1
}
removed_around() {
	mkdir "$work/own"
	record=$work/own/audit.jsonl
	audited -- true
	audited -- "$LEGS/dirfd-rename" unlink "$work/own" audit.jsonl
	expect 120
	kept
	has "$work/stderr" "tampered: removed $record"
	same "$(runs complete)" 2
	same "$(stat -c '%a %h' "$record")" "600 1"
}
pin_shuts_the_way() {
	mkdir -p "$work/in/side" "$work/in/bare" "$work/in/own"
	record=$work/in/own/audit.jsonl
	audited --pin -- unshare -rm bash -c 'cd "$1/in"; mount --bind side bare || exit 9; mv own side/own || exit 8' - "$work"
	expect 8
	kept
	same "$(runs complete)" 1
}

at_once() {
	local i j pids=()
	for ((i = 0; i < 6; i++)); do
		for ((j = 0; j < 3; j++)); do
			"$LEGGUARD" run --no-outputs --audit "$record" -- bash -c 'sleep 0.0$((RANDOM % 10)) & wait' || true
		done >"$work/out$i" 2>&1 </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	# One may be refused, for a socket that goes away just then; its end is in the record as well, if it had begun.
	(($(runs complete) >= 12)) || fail "$(cat "$work"/out*)"
	same "$(runs incomplete)" 0
	# They did meet.
	jq -e -s 'any(.seq > 0 and has("file_prev"))' "$record" >"$work/met" || fail "no two runs wrote at the same time"
	sort -u "$work"/out* | sed -n 's/^legguard: audit-head \([0-9a-f]*\) .*/\1/p' | sort >"$work/heads"
	diff "$work/heads" <(cut -d ' ' -f 4 "$work/verified" | sort) >&2 || fail "the heads are not those that were told"
}

# Whole lines of all up to then, and the next run goes on behind them.
killed() {
	local j round n=0 fifo=$work/started
	grown() { [[ $(stat -c %s "$record" 2>/dev/null || echo 0) != "$n" ]]; }
	mkfifo "$fifo"
	for ((round = 0; round < ${rounds:-16}; round++)); do
		launch --audit "$record" --no-outputs -- bash -c 'for i in 1 2 3; do sleep 1000 & done; : >"$1"' - "$fifo"
		case $((round % 4)) in
		0) # while it starts
			for ((j = 0; j < round * 20; j++)); do :; done ;;
		1) # while the leg runs
			await "$fifo" ;;
		2) # from then on, at the end
			await "$fifo"
			for ((j = 0; j < round * 20; j++)); do :; done ;;
		3) # as soon as something is written
			until_true grown ;;
		esac
		kill -KILL "$launcher" 2>/dev/null || true
		finish
		n=$(stat -c %s "$record" 2>/dev/null || echo 0)
	done
	guard --audit "$record" -- true
	expect 0
	"$LIB/verify-audit" "$record" >"$work/verified" || fail "the record is broken"
	grep -q " incomplete " "$work/verified" || fail "no run was killed in the middle"
	same "$(tail -n 1 "$work/verified" | cut -d ' ' -f 2)" complete
}
killed_often() { rounds=80 killed; }

# Somebody died in the middle of a line. It is ended, and stays as it is.
torn() {
	local n
	audited -- true
	n=$(wc -l <"$record")
	head -c 100 <(tail -n 1 "$record") >"$work/part"
	cat "$work/part" >>"$record"
	audited -- true
	expect 0
	same "$("$LIB/verify-audit" "$record" --torn | grep -c " complete ")" 2
	same "$(sed -n "$((n + 1))p" "$record")" "$(cat "$work/part")"
}

# An outsider has the lock for good: the leg does not start; or while the leg runs: all is written afterwards, in order.
locked_before() {
	: >"$record"
	exec 8<"$record"
	flock 8
	refusal_names="keeps it locked" refused --audit "$record"
	same "$(stat -c %s "$record")" 0
	kept unpublished
}
locked_meanwhile() {
	mkfifo "$work/started" "$work/go"
	launch --audit "$record" --status "$work/status.json" --max-output 1K -- bash -c ': >"$1"; : <"$2"; yes' - "$work/started" "$work/go"
	await "$work/started"
	until_true grep -q leg-start "$record"
	exec 8<"$record"
	flock 8
	announce "$work/go"
	# It asks, and asks again; the end waits for the lock.
	until_true grep -qE "^[0-9]+: -> FLOCK .* $launcher " /proc/locks
	lacks "$record" overflow
	exec 8>&-
	finish
	expect 123
	same "$(runs complete)" 1
	same "$(cut -d ' ' -f 3 "$work/verified" | grep -c leg-start,overflow,leg-end)" 1
	same "$(status_of audit.failed)" false
}
locked_to_the_end() {
	mkfifo "$work/started"
	launch --audit "$record" --status "$work/status.json" "$@" -- bash -c ': >"$1"; exec sleep 1000' - "$work/started"
	await "$work/started"
	until_true grep -q leg-start "$record"
	exec 8<"$record"
	flock 8
	kill -TERM "$launcher"
	finish
	exec 8>&-
	kept
	has "$work/stderr" "the audit record is not whole: can't write the audit record $record"
	has "$work/stderr" "keeps it locked"
	lacks "$work/stderr" audit-head
	same "$(output lane-class)" cancelled
	same "$(status_of audit.failed) $(status_of audit.head)" "true null"
	same "$(runs incomplete)" 1
	! "$LIB/read-outputs" "$GITHUB_OUTPUT" audit-head >"$work/head" || fail "a head was published"
}
locked_warning() {
	locked_to_the_end
	expect 143
}
locked_required() {
	locked_to_the_end --audit-required
	expect 122
	same "$(output exit-code)" 122
	same "$(status_of origin)" guard
}

# No more can be written than what is there already, and a little.
limited() { # BYTES OPTION...
	local blocks=$((($(stat -c %s "$record") + $1 + 1023) / 1024))
	shift
	status=0
	(ulimit -f "$blocks" && exec "$LEGGUARD" run --audit "$record" "$@") >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
}
no_room() {
	audited -- true
	limited 1 -- echo ran
	expect 0
	same "$(cat "$work/stdout")" ran
	has "$work/stderr" "the audit record is not whole"
	kept
	same "$(runs complete)" 1
	# Room for the beginning, so the leg runs; none for the end.
	limited 8192 --audit-required -- bash -c 'echo ran; for i in {1..64}; do sleep 1000 & done; until [[ $(pgrep -c sleep) -ge 64 ]]; do :; done'
	expect 122
	same "$(cat "$work/stdout")" ran
	kept
	same "$(output lane-class)" ok
	"$LIB/verify-audit" "$record" >"$work/verified" || fail "the record is broken"
	same "$(grep -c incomplete "$work/verified")" 1
	limited 1 --audit-required -- touch "$work/ran"
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
	same "$(wc -l <"$work/stderr")" 1
	"$LIB/verify-audit" "$record" >"$work/verified" || fail "the record is broken"
}

full_disk() {
	# shellcheck source=tests/scenarios/full-disk.sh
	source "${BASH_SOURCE[0]%/*}/full-disk.sh"
	fill_and_audit() {
		record=$mnt/audit.jsonl
		status=0
		guard --audit "$record" -- bash -c "$fill; exit 3"
		expect 3
		kept
		same "$(runs complete)" 1
		same "$(output audit-head)" "$(cut -d ' ' -f 4 "$work/verified")"
		guard --audit "$mnt/another.jsonl" --isolation none -- bash -c "$fill; exit 3"
	}
	on_image ext4 16M fill_and_audit
}

# What is named by mistake stays as it is.
refusals() {
	local f=$work/other refusal_names=
	refusal_names=GITHUB_OUTPUT refused --audit "$GITHUB_OUTPUT"
	refusal_names="is a file in" refused --audit "$outer_output"
	refusal_names="is a file in" refused --audit "$file_commands/another"
	[[ ! -e $file_commands/another ]] || fail "it is left"
	: >"$work/own"
	refusal_names="--guard" refused --guard "$work/own" --audit "$work/own"
	refusal_names="--audit" refused --audit "$f" --status "$f"
	refusal_names="--audit" refused --audit "$f" --audit-otlp "$f"
	ln -s "$f" "$work/link"
	refusal_names="a symbolic link" refused --audit "$work/link"
	ln "$f" "$work/second"
	refusal_names="hard links" refused --allow-hard-links --audit "$f"
	rm "$work/second"
	mkfifo "$work/fifo"
	refusal_names="a FIFO" refused --audit "$work/fifo"
	refusal_names="a directory" refused --audit "$work"
	refusal_names="a device" refused --audit /dev/null
	refusal_names="can't open" refused --audit /no/such/file
	printf 'export A=1\n' >"$work/.profile"
	refusal_names="something else than records" refused --audit "$work/.profile"
	same "$(cat "$work/.profile")" "export A=1"
	refusal_names="has no argument" refused --audit
	refusal_names="no such descriptor" refused --audit fd:1
	refusal_names="no such descriptor" refused --audit fd:x
	refusal_names="is not open for writing" refused --audit fd:77
	refusal_names="says nothing without --audit" refused --audit-required
	refusal_names="says nothing without --audit" refused --audit-argv
	refusal_names="reserved" refused --set-output Audit-Head=x
	status=0
	"$LEGGUARD" run --audit "$f" -- touch "$work/ran" >>"$f" 2>"$work/stderr" </dev/null || status=$?
	expect 125
	has "$work/stderr" "descriptor 1 is open on that file"
	[[ ! -e $work/ran && ! -s $f ]] || fail "it is used"
	kept unpublished
}

descriptors() {
	local n
	for n in 1 2; do
		status=0
		"$LEGGUARD" run --audit fd:9 -- bash -c '[[ ! -e /proc/self/fd/9 ]] && ! cat "$1"' - "$record" \
			9>>"$record" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
		expect 0
		same "$(tail -n 1 "$work/stderr" | sed 's/.* //')" "($record)"
	done
	same "$(runs complete)" 2
	: >"$work/gone"
	exec 8>>"$work/gone" 7<"$record"
	rm "$work/gone"
	refused_with 8 "can't be found by its name"
	refused_with 7 "is not open for writing"
	refused_with 6 "is a FIFO" 6<>"$work/never"
	refused_with 6 "that is the file that GITHUB_ENV names" 6>>"$GITHUB_ENV"
	kept
}
refused_with() { # N TEXT
	status=0
	"$LEGGUARD" run --audit "fd:$1" -- touch "$work/ran" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	expect 125
	has "$work/stderr" "$2"
	[[ ! -e $work/ran ]] || fail "the leg ran"
}

told_beforehand() {
	guard -n --audit "$record" --audit-otlp "$work/otlp.jsonl" -- true
	expect 0
	[[ ! -e $record ]] || fail "a dry run made it"
	has "$work/stdout" "audit      $record"
	has "$work/stdout" "audit      $work/otlp.jsonl, as OTLP"
	has "$work/stdout" "publish    exit-code, tampered, reaped, audit-head, lane-class"
	audited -- true
	guard -n --audit "$record" -- true
	has "$work/stdout" "hide       $record (the audit record"
	same "$(runs complete)" 1
}

# What is refused after the record has begun has its verdict there, and its head is told.
refused_later() {
	umask 000
	chown "$TEST_UID:$TEST_UID" "$work" "$work/home"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP"
	mkdir -m 0700 "$work/closed"
	chown root:root "$work/closed"
	guard --audit "$record" --status "$work/status.json" --user "$TEST_UID" -C "$work/closed" -- true
	expect 125
	same "$(runs complete)" 1
	same "$(cut -d ' ' -f 3 "$work/verified" | sed 's/snapshot,//g')" start,end
	same "$(tail -n 1 "$work/stderr")" "legguard: audit-head $(cut -d ' ' -f 4 "$work/verified") ($record)"
	same "$(jq -r 'select(.event == "end") | "\(.class) \(.exit_status) \(.origin) \(.published)"' "$record")" "error 125 guard false"
}

scenario "in the default view the leg can't read, write, lock or replace the audit file" default_view
scenario "nor with --pin" pinned
scenario "nor with --share-pid" shared_pid
scenario "nor with --writable, wherever else the file lies" strict
scenario "--writable refuses a record that lies below it, by whatever mount" below_writable
scenario "nor with --isolation landlock" landlocked
scenario_as_root "nor with --user, whosever the file is, and no link leads root elsewhere" as_another_user
scenario_as_root "nor with --root-leg" as_root
scenario "with --isolation none it can, which is said, and who verifies the record sees it" unconfined
scenario "a leg that appends to the record around the mask is found out" appended_around
scenario "a leg that rewrites the record around the mask has tampered with it" rewritten_around
scenario "so is an OTLP file that was emptied there, with all names in their places at the end" otlp_emptied_around
scenario "a record that the leg removes around the mask is put back with all that was in it" removed_around
scenario "--pin shuts the way around the mask" pin_shuts_the_way
scenario "runs at the same time append to one record, and every chain is whole" at_once
scenario "a launcher killed at any moment leaves whole lines" killed
scenario_slow "a launcher killed at any moment leaves whole lines, eighty times" killed_often
scenario "a torn line is ended before the next one" torn
scenario_slow "a record that somebody keeps locked is a refusal after a while" locked_before
scenario "what can't be written while somebody has the lock is written afterwards, in order" locked_meanwhile
scenario "a record that stays locked is a warning, and the run ends as it would" locked_warning
scenario "with --audit-required that is 122, also in the outputs" locked_required
scenario "without room the record is not whole: a warning, or 122, or 125 before the leg" no_room
scenario_as_root "a leg that fills the disk leaves room for its record" full_disk
scenario "what --audit must not name is refused, and left as it is" refusals
scenario "--audit fd:N takes a descriptor that the leg does not get" descriptors
scenario "a dry run tells of the record and makes none" told_beforehand
scenario_as_root "a run that is refused after it has begun has its end in the record" refused_later
