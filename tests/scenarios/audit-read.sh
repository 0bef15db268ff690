# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# legguard audit: reading a record, and telling what was done to it.

# audit STATUS ARGUMENT...: into $work/stdout and $work/stderr.
audit() {
	local expected=$1
	shift
	status=0
	"$LEGGUARD" audit "$@" >"$work/stdout" 2>"$work/stderr" || status=$?
	expect "$expected"
}

# The hash of a file's last line, or of line $2.
head_of() {
	if [[ ${2-} ]]; then sed -n "${2}p" "$1"; else tail -n 1 "$1"; fi | tr -d '\n' | sha256sum | cut -d ' ' -f 1
}

records=${FIXTURES-}/audit

the_samples() {
	local kind
	for kind in plain interleaved incomplete hostile; do
		"$LIB/audit-record" make "$kind" | cmp - "$records/$kind.jsonl" || fail "$kind is made anew as something else"
		[[ $kind == incomplete ]] || "$LIB/audit-record" check "$records/$kind.jsonl" >"$work/stdout" ||
			fail "the independent check refuses $kind"
	done
}

damaged() {
	local kind
	for kind in plain interleaved incomplete; do
		"$LIB/audit-damage" "$LEGGUARD" "$records/$kind.jsonl" >"$work/stdout" || fail "$kind"
	done
}

anchored() {
	local f=$records/plain.jsonl last middle
	last=$(head_of "$f") middle=$(head_of "$f" 6)
	audit 2 verify "$f"
	has "$work/stdout" 'not anchored: without --head'
	audit 0 verify "$f" --head "$last"
	has "$work/stdout" 'sound: nothing was changed, added or removed (29 lines, 3 runs)'
	audit 0 verify --head="$middle" "$f" --head "$last"
	audit 2 verify "$f" --head "$middle"
	has "$work/stdout" 'behind line 6 something may have been cut off'
	# A line that is no run's end is no head, nor is one that never was there.
	audit 1 verify "$f" --head "$(head_of "$f" 5)"
	has "$work/stdout" 'is the end of no run here'
	sed '$d' "$f" >shorter
	audit 1 verify shorter --head "$last"
	has "$work/stdout" "head $last is the end of no run here"
	# A whole run, from the middle and from the end.
	sed 7,23d "$f" | audit 1 verify -
	has "$work/stdout" 'line 6 was changed, or what stood between it and line 7 is missing'
	sed '24,$d' "$f" >shorter
	audit 2 verify shorter
	audit 1 verify shorter --head "$last"
	: >empty
	audit 2 verify empty
	audit 1 verify empty --head "$last"
}

incomplete() {
	local f=$records/incomplete.jsonl
	audit 2 verify "$f"
	same "$(head -n 1 "$work/stdout")" "run 795b929e has no end: it begins in line 7, and line 9 is its last; it is going on, or legguard was killed, or the rest was cut off"
	# What came later was chained to its last line: nothing of it can be missing.
	audit 0 verify "$f" --head "$(head_of "$f")"
	has "$work/stdout" 'line 9 is its last; it is going on, or legguard was killed'
	lacks "$work/stdout" 'cut off'
	# As if killed behind each line of the last run.
	local n
	for n in 10 11 12 13 14; do
		head -n "$n" "$f" | audit 2 verify -
		has "$work/stdout" "it begins in line 10, and line $n is its last"
	done
}

not_lines() {
	local f=$records/plain.jsonl name
	# Each in the place of line 4, with what makes it wrong.
	python3 - "$f" <<-'EOF'
		import sys
		lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
		line = lines[3][:-1]
		wrong = {
		    "duplicate-key": line[:-1] + b',"seq":3}',
		    "duplicate-key-escaped": line[:-1] + b',"s\\u0065q":3}',
		    "duplicate-inside": line[:-1] + b',"x":{"a":1,"a":1}}',
		    "trailing": line + b"{}",
		    "trailing-blank": line + b" ",
		    "leading-blank": b" " + line,
		    "carriage-return": line + b"\r",
		    "no-utf8": line[:-1] + b',"x":"\xff"}',
		    "overlong": line[:-1] + b',"x":"\xc0\xaf"}',
		    "surrogate": line[:-1] + b',"x":"\xed\xa0\x80"}',
		    "lone-surrogate": line[:-1] + b',"x":"\\ud800"}',
		    "nul": line[:-1] + b',"x":"\x00"}',
		    "nul-escaped": line[:-1] + b',"x":"\\u0000"}',
		    "nul-behind": line + b"\0",
		    "tab": line[:-1] + b',"x":"\t"}',
		    "deep": line[:-1] + b',"x":' + b"[" * 5000 + b"]" * 5000 + b"}",
		    "long": line[:-1] + b',"x":"' + b"n" * 65536 + b'"}',
		    "very-long": b'{"x":"' + b"n" * 3000000 + b'"}',
		    "array": b"[" + line + b"]",
		    "empty": b"",
		    "no-object": b"{",
		    "nan": line[:-1] + b',"x":NaN}',
		    "comma": line[:-1] + b",}",
		    "zeros": line[:-1] + b',"x":01}',
		    "large": line[:-1] + b',"x":99999999999999999999}',
		    "version": line.replace(b'"v":1', b'"v":2'),
		    "version-text": line.replace(b'"v":1', b'"v":"1"'),
		    "event": line.replace(b"leg-end", b"leg-over"),
		    "upper-case": line.replace(line[14:46], line[14:46].upper()),
		    "negative": line.replace(b'"seq":3', b'"seq":-3'),
		    "fraction": line.replace(b'"seq":3', b'"seq":3.0'),
		    "time": line.replace(b'Z","mono', b'+","mono'),
		    "final-false": line[:-1] + b',"final":false}',
		    "final-early": line[:-1] + b',"final":true}',
		    "wrong-type": line.replace(b'"out_bytes":2048', b'"out_bytes":"2048"'),
		}
		for name, text in wrong.items():
		    assert text != line, name
		    open(name + ".bad", "wb").write(b"".join(lines[:3]) + text + b"\n" + b"".join(lines[4:]))
		# As long as can be, and a byte longer, with the LF.
		for size in (65535, 65536):
		    text = line[:-1] + b',"x":"' + b"n" * (size - len(line) - 7) + b'"}'
		    assert len(text) == size
		    open(f"{size}.length", "wb").write(b"".join(lines[:3]) + text + b"\n")
	EOF
	for name in *.bad; do
		audit 1 verify "$name"
		case $name in
		version.bad) has "$work/stdout" "line 4 can't be checked: version 2 of the format is not known" ;;
		*) has "$work/stdout" 'line 4 is no line of a record: ' ;;
		esac
		# One line about it: what comes next is not wrong because of it.
		same "$(wc -l <"$work/stdout")" 2 "lines about $name"
	done
	audit 2 verify 65535.length
	audit 1 verify 65536.length
	has "$work/stdout" 'line 4 is no line of a record: it is longer than 65536 bytes'
}

# All that is in it comes from somebody who wants to be more than text.
hostile_terminal() {
	local f=$records/hostile.jsonl
	audit 0 show "$f"
	LC_ALL=C grep -q '[^ -~]' "$work/stdout" && fail "there is more than printable ASCII"
	LC_ALL=C grep -q '##\[' "$work/stdout" && fail "there is a workflow command"
	grep -q '^::' "$work/stdout" && fail "there is a workflow command"
	has "$work/stdout" '</script><script>alert(1)</script>'
	has "$work/stdout" 'a^[[31mred^[]0;title\a'
	audit 0 show --json "$f"
	LC_ALL=C grep -q '[^ -~]' "$work/stdout" && fail "there is more than printable ASCII in the JSON"
	grep -q '##\[' "$work/stdout" && fail "there is a workflow command in the JSON"
	python3 - "$work/stdout" <<-'EOF'
		import json, sys
		runs = [json.loads(line) for line in open(sys.argv[1])]
		assert len(runs) == 11
		for run in runs:
		    assert run["complete"] and run["tampered"] and run["end"]["exit_status"] == 1
		    assert len(run["events"]) == 16 and run["counts"]["survivor"] == 2, run["counts"]
	EOF
	# Names of lines and options, as well.
	cp "$f" $'x\e[31m\n::y'
	audit 2 verify $'x\e[31m\n::y'
	LC_ALL=C grep -q '[^ -~]' "$work/stdout" && fail "the file's name is printed as it is"
	audit 125 show --run $'\e[31m' "$f"
	LC_ALL=C grep -q '[^ -~]' "$work/stderr" && fail "an option's value is printed as it is"
	return 0
}

hostile_page() {
	local f=$records/hostile.jsonl
	audit 0 report "$f" -o page.html
	[[ ! -s $work/stdout ]] || fail "it printed something"
	"$LIB/audit-page" page.html >text || fail "the page holds what it should not"
	has text '</script><script>alert(1)</script>'
	has text "\" onmouseover=\"alert(1)\" x='"
	has text '<img src=x onerror=alert(1)>&amp;&#60;'
	audit 0 report "$f" -o -
	cmp "$work/stdout" page.html
	sed 3d "$f" >$'"><script>.jsonl'
	audit 1 report $'"><script>.jsonl' -o page.html
	"$LIB/audit-page" page.html >text || fail "the file's name became markup"
	has text 'The record is broken'
	has text '1 line of run '
	has "$work/stderr" 'broken: 1 line of run '
}

colours() {
	local f=$records/plain.jsonl esc=$'\e'
	audit 0 show "$f"
	lacks "$work/stdout" "$esc"
	TERM=xterm "$LIB/on-terminal" "$LEGGUARD" audit show "$f" >"$work/stdout"
	has "$work/stdout" "${esc}[31mtampered${esc}[0m"
	NO_COLOR=1 TERM=xterm "$LIB/on-terminal" "$LEGGUARD" audit show "$f" >"$work/stdout"
	lacks "$work/stdout" "$esc"
	TERM=dumb "$LIB/on-terminal" "$LEGGUARD" audit show "$f" >"$work/stdout"
	lacks "$work/stdout" "$esc"
	TERM=xterm "$LIB/on-terminal" "$LEGGUARD" audit show "$records/hostile.jsonl" | sed "s/$esc\[[0-9]*m//g" | tr -d '\r' >"$work/stdout"
	LC_ALL=C grep -q '[^ -~]' "$work/stdout" && fail "there is more than colours"
	return 0
}

chosen() {
	local f=$records/plain.jsonl
	audit 0 show "$f"
	same "$(grep -c '^run ' "$work/stdout")" 3
	audit 0 show "$f" --tampered
	same "$(grep -o '^run [0-9a-f]\{8\}' "$work/stdout")" 'run 1e2feb89'
	has "$work/stdout" 'rewritten: /home/runner/work/_temp/_runner_file_commands/set_output_1, 12 bytes before, 40 after; put back'
	audit 0 show "$f" --run 78e5
	same "$(grep -c '^run ' "$work/stdout")" 1
	has "$work/stdout" "exit status 3, the leg's own"
	audit 0 show "$f" --since 2026-11-29T00:00:01Z
	same "$(grep -c '^run ' "$work/stdout")" 2
	audit 0 show "$f" --since 2026-11-29
	same "$(grep -c '^run ' "$work/stdout")" 3
	audit 0 show "$f" --since 2026-11-30
	same "$(grep -c '^run ' "$work/stdout")" 0
	audit 0 show "$f" --since 36500d
	same "$(grep -c '^run ' "$work/stdout")" 3
	audit 0 show "$f" --json --run 1e2f
	python3 - "$work/stdout" "$(head_of "$f" 23)" <<-'EOF'
		import json, sys
		run, = [json.loads(line) for line in open(sys.argv[1])]
		assert (run["first_line"], run["last_line"], run["head"]) == (7, 23, sys.argv[2])
		assert [e["kind"] for e in run["events"] if e["event"] == "tamper"] == ["rewritten", "path-moved"]
		assert run["start"]["workflow"]["job"] == "review" and run["end"]["class"] == "tampered"
	EOF
	audit 0 show "$records/interleaved.jsonl"
	same "$(grep -c '^  audit-head ' "$work/stdout")" 2
	audit 0 show "$records/incomplete.jsonl"
	has "$work/stdout" 'no end'
	sed 3d "$f" >shorter
	audit 1 show shorter
	same "$(cat "$work/stderr")" "legguard: shorter: broken: 1 line of run cd613e30 is missing between line 2 and line 3; see legguard audit verify"
}

report_file() {
	local f=$records/plain.jsonl
	echo precious >kept
	ln -s kept link
	mkfifo fifo
	mkdir directory
	local name
	for name in link fifo directory . .. directory/ /dev/null nowhere/page.html; do
		audit 125 report "$f" -o "$name"
		same "$(wc -l <"$work/stderr")" 1 "lines on stderr for $name"
	done
	same "$(cat kept)" precious
	[[ -L link && -p fifo && -c /dev/null ]] || fail "something was replaced"
	# The record by this name and by others.
	cp "$f" record.jsonl
	ln record.jsonl hard.jsonl
	ln -s record.jsonl soft.jsonl
	for name in record.jsonl hard.jsonl soft.jsonl -; do
		audit 125 report "$name" -o ./record.jsonl <record.jsonl
		has "$work/stderr" "-o ./record.jsonl is the record itself"
		same "$(wc -l <"$work/stderr")" 1 "lines on stderr for $name"
		cmp record.jsonl "$f"
	done
	(umask 027 && audit 0 report "$f" -o page.html)
	same "$(stat -c %a page.html)" 640
	audit 0 report "$f" -o page.html
	audit 125 report nothing-there -o page.html
	"$LIB/audit-page" page.html >text
	same "$(find . -name '.legguard-report-*' | wc -l)" 0 "files left"
	need prlimit
	cp page.html before.html
	status=0
	prlimit --fsize=4096 "$LEGGUARD" audit report "$f" -o page.html >"$work/stdout" 2>"$work/stderr" || status=$?
	expect 125
	cmp page.html before.html
	same "$(find . -name '.legguard-report-*' | wc -l)" 0 "files left"
}

usage() {
	local words
	for words in "" "look file" "verify" "verify a b" "verify file --xml" "verify /nonexistent" "verify $work" "verify file --head" \
		"verify file --head abc" "verify file --tampered" "show file --head x" "show file --run xyz" "show file --since soon" \
		"report file" "show file --json=yes" "report file -o"; do
		# shellcheck disable=SC2086
		audit 125 $words
		same "$(wc -l <"$work/stderr")" 1 "lines on stderr for '$words'"
	done
	mkfifo fifo
	audit 125 verify fifo
	audit 0 verify --help
	has "$work/stdout" 'usage: legguard audit verify'
	local code=0
	"$LEGGUARD" audit show "$records/plain.jsonl" >/dev/full 2>"$work/stderr" || code=$?
	same "$code" 125
	code=0
	"$LEGGUARD" audit report "$records/plain.jsonl" -o - >/dev/full 2>"$work/stderr" || code=$?
	same "$code" 125
}

# 40 MB, and again with every run left open.
constant_memory() {
	"$LIB/audit-record" make large 40000000 >large
	python3 - "$LEGGUARD" "$records/plain.jsonl" <<-'EOF'
		import os, sys
		def peak(*words):
		    out = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
		    pid = os.posix_spawn(sys.argv[1], [sys.argv[1], "audit", *words], os.environ,
		                         file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
		    status, usage = os.wait4(pid, 0)[1:]
		    os.close(out)
		    assert os.waitstatus_to_exitcode(status) in (0, 2), (words, status)
		    return usage.ru_maxrss
		os.system("grep -v '\"final\":true' large | grep '\"seq\":0' >starts")
		for words in (["verify"], ["show"], ["report", "-o", "page.html"]):
		    small, large = peak(words[0], sys.argv[2], *words[1:]), peak(words[0], "large", *words[1:])
		    print(words, small, large)
		    assert large < small + 2048, (words, small, large)
	EOF
	rm large page.html out starts
}

in_a_browser() {
	need chromium chromedriver
	local kind
	for kind in plain hostile incomplete; do
		"$LEGGUARD" audit report "$records/$kind.jsonl" -o page.html
		"$LIB/browse" page.html >"$work/stdout" || fail "$kind"
	done
	# It can tell.
	sed 's|</main>|<div style="width:2000px">x</div><script>1</script><img src="http://127.0.0.1:9/x.png"></main>|' page.html >bad.html
	sed -i '/Content-Security-Policy/d' bad.html
	"$LIB/browse" bad.html >"$work/stdout" && fail "a bad page is not found"
	has "$work/stdout" 'pixels wide'
	has "$work/stdout" 'a request: http://127.0.0.1:9/x.png'
	has "$work/stdout" 'an element: SCRIPT'
}

scenario "the sample records are what the independent generator makes, and its check takes them" the_samples
scenario_slow "verify names each line of a record that was flipped, deleted, repeated, swapped or cut" damaged
scenario "a head vouches for what comes before it, and shows when the end is gone" anchored
scenario "a run without an end is named, and all before it is sound" incomplete
scenario "what is no line of a record is named: keys twice, bytes behind, no UTF-8, too long, too deep" not_lines
scenario "hostile names stay text on a terminal and in JSON" hostile_terminal
scenario "hostile names stay text in the report" hostile_page
scenario "show has colours on a terminal only, and none with NO_COLOR" colours
scenario "show picks runs by id, by time and by tampering" chosen
scenario "a report takes the place of a file when it is whole, and of nothing but a file" report_file
scenario "audit refuses what it does not understand, with one line" usage
scenario_slow "a record is read in memory that does not depend on its size" constant_memory
scenario_slow "the report looks right in a browser, wide and narrow, light, dark and printed" in_a_browser
