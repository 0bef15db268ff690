# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# P7: the leg's stdout and stderr can't act as workflow commands.

forged_output() {
	guard --status "$work/status.json" -- bash -c 'echo "::set-output name=lane-class::credit-stop"
		echo "text ##[add-mask]ok" >&2; printf "\r  ::stop-commands::x"'
	expect 0
	same "$(cat "$work/stdout")" '::\set-output name=lane-class::credit-stop'$'\n\r  ::\\stop-commands::x'
	has "$work/stderr" 'text ##[\add-mask]ok'
	has "$work/stderr" "legguard: made 3 workflow commands in the leg's output inert: set-output (1), add-mask (1), stop-commands (1)"
	same "$(status_of neutralized)" '{"set-output": 1, "add-mask": 1, "stop-commands": 1}'
}

passed_on() {
	guard --workflow-commands pass --status "$work/status.json" -- echo "::notice::x"
	same "$(cat "$work/stdout")" "::notice::x"
	same "$(status_of neutralized)" null
	unset GITHUB_ACTIONS
	guard -- echo "::notice::x"
	same "$(cat "$work/stdout")" "::notice::x"
	guard --workflow-commands neutralize -- echo "::notice::x"
	same "$(cat "$work/stdout")" '::\notice::x'
}

# Two legs in one step, each harmless, must not make a command together.
completed_by_another() {
	local i part
	for part in : :: '##' '  ::'; do
		"$LEGGUARD" run -q -- printf '%s' "$part" >"$work/log" </dev/null
		"$LEGGUARD" run -q -- echo 'set-output name=x::y' >>"$work/log" </dev/null
		"$LEGGUARD" run -q -- echo ':set-output name=x::y' >>"$work/log" </dev/null
		"$LEGGUARD" run -q -- echo '[set-output name=x]y' >>"$work/log" </dev/null
		! grep -qE '^[[:space:]]*::set-output|##\[set-output' "$work/log" || fail "a command: $(cat "$work/log")"
	done
}

completed_code_point() {
	local first second
	while read -r first second; do
		"$LEGGUARD" run -q -- printf "$first" >"$work/log" </dev/null
		"$LEGGUARD" run -q -- printf "$second::set-output name=x::y\n" >>"$work/log" </dev/null
		python3 - "$work/log" <<-'EOF2' || fail "a command after $first: $(cat -v "$work/log")"
			import sys
			data = open(sys.argv[1], 'rb').read()
			assert not data.startswith((b'\xff\xfe', b'\xfe\xff', b'\x00\x00\xfe\xff'))
			for line in data.decode('utf-8', 'replace').replace('\r', '\n').split('\n'):
			    assert not line.strip().lstrip('\ufeff').startswith('::set-output'), line
		EOF2
	done <<-'EOF2'
		\302 \240
		\343\200 \200
		\343 \200\200
		\357\273 \277
		\377 \376
		\357\273\277\302 \240
	EOF2
}

# The launcher tells of names that are the leg's choice.
in_our_own_words() {
	local name='##[set-output name=x]y'
	cp "$BASH" "$work/##[add-mask]x"
	mkfifo "$work/started"
	# Not before it has that name.
	guard --status "$work/status.json" -- bash -c '
		setsid -f "$2/##[add-mask]x" -c ": >\"\$0\"; read -r <>\"\$1\"" "$2/started" "$2/never" </dev/null
		: <"$2/started"; mv "$RUNNER_TEMP" "$2/$1"; mkdir "$RUNNER_TEMP"' - "$name" "$work"
	has "$work/stderr" "add-mask"
	has "$work/stderr" "set-output name=x"
	lacks "$work/stderr" '##['
	lacks "$work/status.json" '##['
	printf 'a=##[add-mask]b\n' >file
	"$LEGGUARD" parse output file >"$work/parsed"
	lacks "$work/parsed" '##['
	"$LEGGUARD" parse output file --json >"$work/parsed"
	lacks "$work/parsed" '##['
	same "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["entries"][0]["value"])' <"$work/parsed")" '##[add-mask]b'
	: >"$RUNNER_TEMP/##[group]x"
	"$LEGGUARD" run -n --guard "$RUNNER_TEMP/##[group]x" -- true >"$work/plan"
	has "$work/plan" "[group]x"
	lacks "$work/plan" '##['
}

# What has no line's end yet appears at once, as a prompt has to.
a_prompt() {
	mkfifo "$work/in" "$work/out"
	"$LEGGUARD" run -q -- bash -c 'printf "Name: "; read -r name; echo "hello $name"' <"$work/in" >"$work/out" &
	exec 5>"$work/in" 6<"$work/out"
	local prompt
	read -r -N 6 -u 6 prompt
	same "$prompt" "Name: "
	echo you >&5
	exec 5>&-
	same "$(cat <&6)" "hello you"
	wait $!
}

# Through every kind of reader: a file, a file opened for appending, a pipe, a socket, a terminal.
every_reader() {
	local text
	text=$'::error::x\n'$(head -c 300000 /dev/zero | tr '\0' x)$'\n##[group]y'
	printf '%s' "$text" >"$work/text"
	sed 's/^::e/::\\e/; s/##\[/&\\/' "$work/text" >"$work/expected"
	"$LEGGUARD" run -q -- cat "$work/text" >"$work/file" </dev/null
	cmp "$work/file" "$work/expected"
	: >"$work/appended"
	"$LEGGUARD" run -q -- cat "$work/text" >>"$work/appended" </dev/null
	cmp "$work/appended" "$work/expected"
	"$LEGGUARD" run -q -- cat "$work/text" </dev/null | cat >"$work/piped"
	cmp "$work/piped" "$work/expected"
	python3 -c '
import socket, subprocess, sys
ours, theirs = socket.socketpair()
p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=theirs)
theirs.close()
with open(sys.argv[1], "wb") as out:
    while data := ours.recv(65536):
        out.write(data)
p.wait()' "$work/socket" "$LEGGUARD" run -q -- cat "$work/text"
	cmp "$work/socket" "$work/expected"
	python3 -c '
import os, pty, subprocess, sys, termios
ours, theirs = pty.openpty()
modes = termios.tcgetattr(theirs)
modes[1] &= ~termios.OPOST
termios.tcsetattr(theirs, termios.TCSANOW, modes)
p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=theirs)
os.close(theirs)
with open(sys.argv[1], "wb") as out:
    try:
        while data := os.read(ours, 65536):
            out.write(data)
    except OSError:
        pass
p.wait()' "$work/terminal" "$LEGGUARD" run -q -- cat "$work/text"
	cmp "$work/terminal" "$work/expected"
}

# What the leg is ended over is the leg's output, not what became of it.
limit() {
	guard --max-output 10 -- printf '##[##[##[x'
	expect 0
	same "$(cat "$work/stdout")" '##[\##[\##[\x'
	guard --max-output 10 -- printf '##[##[##[xy'
	expect 123
}

harmless_logs() {
	local log
	for log in "$FIXTURES"/logs/*.txt; do
		guard --status "$work/status.json" -- cat "$log"
		expect 0
		cmp "$work/stdout" "$log"
		same "$(status_of neutralized)" "{}"
	done
}

scenario "workflow commands in the leg's output are made inert, counted and told" forged_output
scenario "they pass where that is asked for, or outside of Actions" passed_on
scenario "what one leg begins, another can't complete" completed_by_another
scenario "nor can it complete a code point or a byte-order mark" completed_code_point
scenario "nor is what the launcher itself says of the leg a command" in_our_own_words
scenario "a prompt appears at once" a_prompt
scenario "the rest of the output arrives as it was, whatever reads it" every_reader
scenario "--max-output counts what the leg has written" limit
scenario "logs of npm, cargo, git and pytest arrive byte for byte" harmless_logs
