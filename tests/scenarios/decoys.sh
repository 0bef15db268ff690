# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# Decoys: the leg writes copies of the file commands; what the command line names of that is carried over.

decoy() {
	guard --file-commands decoy --status "$work/status.json" "$@"
}

# lines FILE: what was appended to one of the step's files.
appended() {
	tail -c "+$(($(stat -c %s "$work/remembered/${1##*/}") + 1))" "$1"
}

dropped() {
	decoy -- bash -euc '
		for file in "$GITHUB_OUTPUT" "$GITHUB_ENV" "$GITHUB_STATE" "$GITHUB_PATH" "$GITHUB_STEP_SUMMARY"; do
			echo "forged=1" >>"$file"
			[[ $(tail -n 1 "$file") == forged=1 ]]
		done
		echo x | tee -a "$GITHUB_OUTPUT" >/dev/null
		[[ $(head -n 1 "$GITHUB_OUTPUT") == before=kept ]]
		: >"$GITHUB_ENV"; rm "$GITHUB_STATE"; mv "$GITHUB_PATH" "$GITHUB_PATH.x"; echo own >"${GITHUB_OUTPUT%/*}/new"'
	expect 0
	kept
	same "$(output lane-class)" ok
	lacks "$GITHUB_OUTPUT" forged
}

# All of what an honest client does works, and exactly what was named arrives.
the_toolkit() {
	npm_package @actions/core@1.11.1
	cat >"$work/client.js" <<-'EOF2'
		const core = require(process.argv[2] + '/@actions/core');
		core.setOutput('verdict', 'pass');
		core.setOutput('Summary', 'line 1\nline 2 <<x\n');
		core.setOutput('other', 'not asked for');
		core.setOutput('lane-class', 'credit-stop');
		core.exportVariable('REVIEW_COUNT', 3);
		core.exportVariable('LD_PRELOAD', '/tmp/x.so');
		core.saveState('cursor', 'abc');
		core.addPath(process.argv[3]);
		core.addPath('/usr/bin');
		core.summary.addHeading('Review').addRaw('<img src=x> ``` **fine**\n').write().then(() => console.log('done'));
	EOF2
	mkdir -p "$work/tools/bin"
	decoy --import 'output:verdict=enum:pass|fail' --import output:summary --import 'env:REVIEW_COUNT=regex:[0-9]{1,3}' \
		--import state:cursor --import "path=under:$work/tools" --import-unsafe --import summary=max:64K \
		--set-output model=x -- node "$work/client.js" "$node_modules" "$work/tools/bin"
	expect 0
	has "$work/stdout" "done"
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT")" 'before	"kept"
verdict	"pass"
summary	"line 1\nline 2 <<x\n"
model	"x"
exit-code	"0"
tampered	"false"
reaped	"true"
lane-class	"ok"'
	same "$("$LIB/read-outputs" "$GITHUB_ENV")" 'MODE	"fast"
REVIEW_COUNT	"3"'
	same "$("$LIB/read-outputs" "$GITHUB_STATE")" 'started	"1"
cursor	"abc"'
	same "$(appended "$GITHUB_PATH")" "$work/tools/bin"
	same "$(head -n 1 "$GITHUB_STEP_SUMMARY")" "# Summary"
	same "$(appended "$GITHUB_STEP_SUMMARY" | sed -n '2,6p')" '---

From the leg, as it wrote it:

````text'
	has "$GITHUB_STEP_SUMMARY" '<img src=x> ``` **fine**'
	# What follows is the launcher's own.
	same "$(sed '/^### legguard$/,$d; /^$/d' "$GITHUB_STEP_SUMMARY" | tail -n 1)" '````'
	has "$work/stderr" "imported output:verdict"
	has "$work/stderr" "not imported: path: it is no directory below the one that is allowed"
	same "$(status_of tampered)" false
}

# The forms a script uses, and the last one of a name counts.
from_a_shell() {
	decoy --import output:a --import output:b --import output:c -- bash -c '
		echo "a=1" >>"$GITHUB_OUTPUT"; printf "b<<E\nx\ny\nE\n" | tee -a "$GITHUB_OUTPUT" >/dev/null
		echo "A=2" >>"$GITHUB_OUTPUT"; printf "c=no newline" >>"$GITHUB_OUTPUT"'
	expect 0
	same "$(output a) $(output b | tr '\n' '+') $(output c)" "2 x+y+ no newline"
}

# It was there before the leg, so it is not the leg's to import, nor does it stop the leg from replacing it.
what_was_there() {
	printf 'no-newline=here' >>"$GITHUB_OUTPUT"
	remember
	decoy --import output:before --import output:no-newline -- bash -c 'echo "x=1" >>"$GITHUB_OUTPUT"'
	expect 0
	same "$(status_of imports)" "[]"
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | grep -c before)" 1
	decoy --import output:before -- bash -c 'echo "before=leg" >>"$GITHUB_OUTPUT"'
	same "$(output before)" leg
}

refused_values() {
	decoy --import 'output:verdict=enum:pass|fail' --import output:binary --import output:long=max:10 -- bash -c '
		echo "verdict=$(printf "pass\r")" >>"$GITHUB_OUTPUT"
		printf "binary=\xff\n" >>"$GITHUB_OUTPUT"; echo "long=12345678901" >>"$GITHUB_OUTPUT"'
	expect 0
	has "$work/stderr" "not imported: output:verdict: the value holds a carriage return"
	has "$work/stderr" "not imported: output:binary: the value is not valid UTF-8"
	has "$work/stderr" "not imported: output:long: the value is too long"
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | cut -f1 | tr '\n' ' ')" "before exit-code tampered reaped lane-class "
	decoy --import 'output:verdict=enum:pass|fail' --import-strict -- bash -c 'echo "verdict=maybe" >>"$GITHUB_OUTPUT"'
	expect 120
	same "$(output lane-class)" tampered
	same "$(output tampered)" true
}

# What the launcher reads as a file may be anything.
something_else_in_its_place() {
	local what
	for what in 'ln -s /etc/passwd "$GITHUB_OUTPUT"' 'mkfifo "$GITHUB_OUTPUT"' 'mkdir "$GITHUB_OUTPUT"' \
		'cd "${GITHUB_OUTPUT%/*}"; python3 -c "import os, socket; socket.socket(socket.AF_UNIX).bind(os.path.basename(os.environ[\"GITHUB_OUTPUT\"]))"'; do
		decoy --import output:a -- bash -euc 'rm "$GITHUB_OUTPUT"; eval "$1"' - "$what"
		expect 0
		has "$work/stderr" "not imported: output:a: the leg has put something else in the file's place"
	done
	decoy --import output:a -- bash -c 'rm "$GITHUB_OUTPUT"'
	has "$work/stderr" "not imported: output:a: the leg has removed the file"
	decoy --import output:a -- bash -c 'head -c 30000000 /dev/zero >>"$GITHUB_OUTPUT"; echo $?'
	expect 0
	has "$work/stderr" "No space left on device"
	decoy --import output:a -- bash -c 'truncate -s 20M "$GITHUB_OUTPUT"'
	has "$work/stderr" "not imported: output:a: the leg has made the file too large"
	decoy --import output:a -- bash -c 'echo "a<<E" >>"$GITHUB_OUTPUT"'
	has "$work/stderr" "not imported: output:a: the runner could not read the file"
	same "$(output lane-class)" ok
}

# Behind the copies the files are read-only as ever.
behind() {
	decoy -- "$LEGS/undo-mounts" "$file_commands"
	kept
	decoy -- bash -c 'bwrap --unshare-user --unshare-pid --dev-bind / / --proc /proc --dev /dev bash -c "echo x=1 >>\"\$GITHUB_OUTPUT\"" && echo written'
	expect 0
	has "$work/stdout" written
	kept
	mkdir "$work/beside" "$work/bare"
	decoy -- unshare -rm bash -c 'mount --bind "$1/beside" "$1/bare" && mv "$RUNNER_TEMP" "$1/beside/t" &&
		echo forged=1 >>"$1/bare/t/_runner_file_commands/${GITHUB_OUTPUT##*/}"' - "$work"
	expect 120
	kept
}

# A file that is in no directory of the runner's has a copy of its own.
elsewhere() {
	printf 'x=1\n' >"$work/outputs"
	GITHUB_OUTPUT=$work/outputs decoy --import output:a -- bash -euc 'echo "a=2" >>"$GITHUB_OUTPUT"; cat "$GITHUB_OUTPUT"'
	expect 0
	same "$(cat "$work/stdout")" $'x=1\na=2'
	same "$("$LIB/read-outputs" "$work/outputs" a)" 2
}

in_other_views() {
	local options
	for options in --share-pid --pin "--writable $work/workspace"; do
		# shellcheck disable=SC2086
		decoy $options --import output:a -- bash -c 'echo "a=1" >>"$GITHUB_OUTPUT"'
		expect 0
		same "$(output a)" 1 "$options"
	done
}

wrong_use() {
	local refusal_names
	refusal_names="--file-commands decoy" refused --import output:a
	refusal_names="--import-unsafe" refused --file-commands decoy --import env:LD_PRELOAD
	refusal_names="--import-unsafe" refused --file-commands decoy --import path=under:/x
	refusal_names="reserved" refused --file-commands decoy --import output:lane-class
	refusal_names="given twice" refused --file-commands decoy --import output:a --import output:A
	refusal_names="--set-output publishes" refused --file-commands decoy --import output:a --set-output A=1
	refusal_names="needs --isolation namespace" refused --file-commands decoy --isolation none
	unset GITHUB_ENV
	refusal_names="GITHUB_ENV names no file" refused --file-commands decoy --import env:A
}

# Every hostile shape of a value, through the one channel that is open.
payloads() {
	local -a shapes=('a\nlane-class=credit-stop' 'a\r\nlane-class=credit-stop' 'a\rlane-class=credit-stop' 'a%%0Alane-class=x'
		'a%%250Alane-class=x' 'a\0b' 'a\xe2\x80\xa8lane-class=x' 'a\xe2\x80\xa9b' 'a\xc2\x85b' 'a\vb' 'a\fb'
		'ghadelimiter_0\nlane-class=x' '\xef\xbb\xbfa' '\xff\xfea' '::set-output name=lane-class::x')
	local shape i=0 expected
	for shape in "${shapes[@]}"; do
		i=$((i + 1))
		: >"$GITHUB_OUTPUT"
		decoy --import output:x -- bash -c 'printf "x<<END\n$1\nEND\n" >>"$GITHUB_OUTPUT"; printf "$1\n"; printf "$1\n" >&2' - "$shape"
		expect 0
		"$LIB/read-outputs" "$GITHUB_OUTPUT" >"$work/read" || fail "shape $i: the runner would refuse it"
		same "$(grep -c '^lane-class' "$work/read")" 1 "shape $i: entries named lane-class"
		same "$(output lane-class)" ok "shape $i"
		expected=$(cut -f1 "$work/read" | tr '\n' ' ')
		[[ $expected == "exit-code tampered reaped lane-class " || $expected == "x exit-code tampered reaped lane-class " ]] ||
			fail "shape $i: $expected"
		! grep -qP '^\s*::(?!\\)\S' "$work/stdout" || fail "shape $i: a command in the output"
	done
	decoy --import output:x=max:1M -- bash -c '{ printf "x="; head -c 1000000 /dev/zero | tr "\0" y; echo; } >>"$GITHUB_OUTPUT"'
	expect 0
	same "$(output x | wc -c)" 1000001
	decoy --import output:x -- bash -c 'printf "x<<END\nlane-class=credit-stop\n" >>"$GITHUB_OUTPUT"'
	has "$work/stderr" "not imported: output:x: the runner could not read the file"
	same "$(output lane-class)" ok
}

scenario "with decoys the leg can write the file commands, and nothing of it arrives" dropped
scenario "what the toolkit sets arrives if it is named and fits, and nothing else" the_toolkit
scenario "imports work from a shell, and the last value counts" from_a_shell
scenario "what was in a file before the leg is not imported" what_was_there
scenario "a value that does not fit is refused and told, or is tampering if that is asked for" refused_values
scenario "whatever the leg puts in the place of a copy does no harm" something_else_in_its_place
scenario "behind the copies the files can't be written" behind
scenario "a file command outside of the runner's directory has a copy, too" elsewhere
scenario "decoys work in the other views" in_other_views
scenario "imports that make no sense are refused beforehand" wrong_use
scenario "no shape of a value makes another entry or a command" payloads
