# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# legguard parse: what the runner makes of a file.

# parse STATUS ARGUMENT...: into $work/stdout and $work/stderr.
parse() {
	local expected=$1
	shift
	status=0
	"$LEGGUARD" parse "$@" >"$work/stdout" 2>"$work/stderr" || status=$?
	expect "$expected"
}

outputs() {
	printf 'a=1\nb<<E\nx\ny\nE\nA=2\n' >file
	parse 0 output file
	same "$(cat "$work/stdout")" 'line 1: a = 1    (line 6 counts)
line 2: b = x\ny
line 6: A = 2'
	parse 0 env file
	has "$work/stdout" 'line 1: a = 1'
	lacks "$work/stdout" counts
	parse 0 output - <file
	same "$(wc -l <"$work/stdout")" 3
}

errors() {
	printf 'a=1\nhello\nb=2\n' >file
	parse 1 output file
	same "$(cat "$work/stdout")" "line 1: a = 1
error in line 2: Invalid format 'hello'"
	printf 'a<<E\nx\n' >file
	parse 1 state file
	same "$(cat "$work/stdout")" "error in line 1: Invalid value. Matching delimiter not found 'E'"
	printf 'a=1\nNODE_OPTIONS=--require x\nb=2\n' >file
	parse 1 env file
	same "$(cat "$work/stdout")" "line 1: a = 1
line 2: NODE_OPTIONS = --require x    (refused)
line 3: b = 2
error in line 2: Can't store NODE_OPTIONS output parameter using '\$GITHUB_ENV' command."
	printf '\xff\xfea\0=\0' >file
	parse 1 output file
	has "$work/stdout" "UTF-16"
	printf '=v\n' >file
	parse 1 output file
	has "$work/stdout" "error in line 1: the name is empty"
}

paths_and_summaries() {
	printf '/a\r\n/b\r/a\n' >file
	parse 0 path file
	same "$(cat "$work/stdout")" 'line 1: /a    (line 3 counts)
line 2: /b
line 3: /a'
	parse 0 summary file
	same "$(cat "$work/stdout")" "10 bytes of Markdown"
	head -c 1048577 /dev/zero >file
	parse 1 summary file
	has "$work/stdout" 'supports content up to a size of 1024k, got 1024k'
	: >file
	parse 0 summary file
	same "$(cat "$work/stdout")" "nothing: it is empty"
}

json() {
	printf 'a\0=\xff"\nb<<E\nx\nE\nrest' >file
	parse 1 output file --json
	python3 -c '
import json, sys
o = json.load(sys.stdin)
assert o == {"kind": "output", "size": 19, "entries": [
    {"name": "a\0", "value": "\ufffd\"", "line": 1, "heredoc": False, "counts": True},
    {"name": "b", "value": "x", "line": 2, "heredoc": True, "counts": True}],
    "error": {"message": "Invalid format \u0027rest\u0027", "line": 5}}, o' <"$work/stdout"
}

# A file as the guard leaves it, and one that nobody should trust.
of_a_step() {
	guard --set-output "model=x" -- true
	parse 0 output "$GITHUB_OUTPUT"
	same "$(sed 's/line [0-9]*: //' "$work/stdout")" 'before = kept
model = x
exit-code = 0
tampered = false
reaped = true
lane-class = ok'
	printf 'a=\033[31m\x01\n' >file
	parse 0 output file
	same "$(cat "$work/stdout")" 'line 1: a = \x1b[31m\x01'
}

usage() {
	local words
	for words in "" output "output a b" "color file" "output /nonexistent" "output file --xml" "output $work"; do
		# shellcheck disable=SC2086
		parse 125 $words
		same "$(wc -l <"$work/stderr")" 1 "lines on stderr for '$words'"
	done
}

# What a leg has left in a file's place may be anything.
no_file() {
	mkfifo fifo
	parse 125 output fifo
	has "$work/stderr" "no regular file"
	status=0
	"$LEGGUARD" classify fifo >"$work/stdout" 2>"$work/stderr" || status=$?
	expect 125
}

# Not a search that starts anew: 40 MB.
a_large_file() {
	python3 -c '
import sys
sys.stdout.write("name<<E\n" + "E \n" * 5000000 + "E\n" + "a=b\n" * 100000)' >file
	parse 0 env file --json
	same "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["entries"]))' <"$work/stdout")" 100001
}

scenario "parse shows the outputs that the runner would take" outputs
scenario "parse shows what the runner would report" errors
scenario "parse reads path files and summaries as well" paths_and_summaries
scenario "parse --json says the same" json
scenario "parse reads what the guard has published, and prints no control character" of_a_step
scenario "parse refuses what it can't use, in one line" usage
scenario "a FIFO in the place of a file is refused" no_file
scenario "parse reads a large file" a_large_file
