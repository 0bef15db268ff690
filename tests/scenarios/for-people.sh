# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# What the launcher tells people in a step: the table in the summary, and annotations in the log.

# It is called by its own name before the leg ends.
survivor='sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; exit 0'

nothing_to_tell() {
	guard -- bash -c 'echo "::group::x"; echo "##[endgroup]"'
	expect 0
	kept
	same "$(summary)" ""
	lacks "$work/stderr" "title=legguard"
	guard --summary -- true
	kept
	summary >"$work/summary"
	has "$work/summary" '| Class | `ok` |'
	has "$work/summary" '| All dead | proven by pid-namespace |'
}

found() {
	guard -- bash -c "echo '::set-output name=a::b' >&2; $survivor"
	expect 0
	kept
	summary >"$work/summary"
	has "$work/summary" '| Left running, and killed | 1: <code>sleep</code> |'
	has "$work/summary" '| Workflow commands made inert | set-output (1) |'
	has "$work/stderr" '::notice title=legguard::legguard: killed 1 process'
}

no_summary() {
	guard --no-summary -- bash -c "$survivor"
	same "$(summary)" ""
	kept
}

# The leg's own time-out is the event that is waited for.
limits() {
	guard -t 0.1 -- sleep 1000
	expect 124
	summary >"$work/summary"
	has "$work/summary" '| Class | `timeout` |'
	has "$work/summary" 'ended at --timeout 0.1s |'
	has "$work/stderr" '::error title=legguard::legguard: the leg was ended after 0.1s (--timeout)'
	remember
	guard --max-output 1000 -- bash -c 'head -c 2000 /dev/zero'
	expect 123
	summary >"$work/summary"
	has "$work/summary" '| Output | more than --max-output 1000 |'
	has "$work/stderr" '::error title=legguard::legguard: the leg was ended after 1000 of output'
}

# The text of a finding's path is whatever the directory is called.
tampered() {
	local odd=$work/'100%0A ]|[x](y) `<b>_*@who'$'\n''::error::'
	mkdir "$odd"
	echo kept >"$odd/file"
	mkfifo "$work/started" "$work/go"
	{
		await "$work/started"
		echo FORG >"$odd/file"
		announce "$work/go"
	} &
	guard --guard "$odd/file" -- bash -c ": >'$work/started'; : <'$work/go'"
	wait $!
	expect 120
	same "$(cat "$odd/file")" kept
	kept
	summary >"$work/summary"
	has "$work/summary" '| Tampering | rewritten <code>'
	has "$work/summary" '</code> (restored) |'
	same "$(grep -c '^::' "$work/stderr")" 1 "annotations"
	has "$work/stderr" '::error title=legguard::legguard: tampered: rewritten '
	has "$work/stderr" '100%250A'
}

# As GitHub renders it: cmark-gfm is what it renders with.
inert() {
	need cmark-gfm
	guard --summary -- python3 -c '
import ctypes, os
libc = ctypes.CDLL(None)
for name in (b"<script>x", b"`|a|`", b"[x](//y)", b"**b**_c_", b"@who #1", b"\x1b[31m\n::", b"\xff\xfe&lt;",
             b"![i](//j)"):
    if os.fork() == 0:
        os.setsid()
        libc.prctl(15, name, 0, 0, 0)
        os.write(1, b"1")
        libc.pause()
while True:
    names = [open("/proc/" + p + "/comm", "rb").read() for p in os.listdir("/proc") if p.isdigit()]
    if sum(n.startswith(b"python3") for n in names) == 1: break
'
	expect 0
	kept
	summary >"$work/summary"
	same "$(LC_ALL=C grep -c '[^ -~]' "$work/summary")" 0 "lines that are not printable ASCII"
	cmark-gfm --unsafe -e table -e autolink -e strikethrough "$work/summary" >"$work/html"
	python3 - "$work/html" <<-'END'
		import html.parser, sys
		class Reader(html.parser.HTMLParser):
		    cells, code, text = [], [], ""
		    def handle_starttag(self, tag, attributes):
		        assert tag in ("h3", "table", "thead", "tbody", "tr", "th", "td", "code"), tag
		        assert not attributes, attributes
		        if tag in ("td", "code"): self.text = ""
		        if tag == "tr": self.cells.append(0)
		    def handle_data(self, data): self.text += data
		    def handle_endtag(self, tag):
		        if tag == "code": self.code.append(self.text)
		        if tag in ("td", "th"): self.cells[-1] += 1
		r = Reader()
		r.feed(open(sys.argv[1]).read())
		assert set(r.cells) == {2}, r.cells
		for name in "<script>x", "`|a|`", "[x](//y)", "**b**_c_", "@who #1", "![i](//j)":
		    assert name in r.code, (name, r.code)
	END
}

# A summary with more than 1 MiB is dropped by the runner, all of it.
too_large() {
	head -c 1048500 /dev/zero | tr '\0' x >"$GITHUB_STEP_SUMMARY"
	remember
	guard --summary -- true
	expect 0
	kept
	same "$(summary)" ""
}

one_file() {
	export GITHUB_STEP_SUMMARY=$GITHUB_OUTPUT
	guard --summary -- true
	expect 0
	unset GITHUB_STEP_SUMMARY
	kept
	same "$(output lane-class)" ok
}

# A second launcher in the step guards the same file, and would take the table for tampering.
beside_another() {
	local other=$file_commands/set_output_beside first
	: >"$other"
	: >"$other-2"
	remember
	mkfifo "$work/started" "$work/go"
	GITHUB_OUTPUT=$other "$LEGGUARD" run -- bash -c ': >"$1"; : <"$2"' - "$work/started" "$work/go" >"$work/first" 2>&1 </dev/null &
	first=$!
	await "$work/started"
	GITHUB_OUTPUT=$other-2 guard -- bash -c "$survivor"
	expect 0
	same "$(summary)" ""
	announce "$work/go"
	wait "$first" || fail "the first one ended with $?: $(cat "$work/first")"
}

no_outputs() {
	guard --no-outputs -- bash -c "$survivor"
	same "$(summary)" ""
	guard --no-outputs --summary -- bash -c "$survivor"
	kept
	summary >"$work/summary"
	has "$work/summary" '<code>sleep</code>'
}

# No command of ours may become the end of a line of the leg's, nor the other way round.
within_a_line() {
	local both
	guard -t 0.1 -- bash -c 'printf "no end" >&2; exec sleep 1000'
	has <(head -n 1 "$work/stderr") 'no end'
	lacks <(head -n 1 "$work/stderr") legguard
	same "$(grep -c '^::error title=legguard::' "$work/stderr")" 1
	guard --isolation none -t 1 -- bash -c 'printf "no end" >&2; exec sleep 1000'
	same "$(grep -c '^::error title=legguard::' "$work/stderr")" 1
	guard -q --audit "$work/audit" -- bash -c 'printf "no end" >&2'
	same "$(grep -c '^legguard: audit-head ' "$work/stderr")" 1
	both=$("$LEGGUARD" run -t 0.1 -- bash -c 'printf "no end"; exec sleep 1000' 2>&1 </dev/null) || true
	same "$(grep -c '^::error title=legguard::' <<<"$both")" 1
	same "$(grep -c '^no end$' <<<"$both")" 1
}

elsewhere() {
	unset GITHUB_ACTIONS
	guard -t 0.1 -- sleep 1000
	expect 124
	lacks "$work/stderr" "::"
	has "$work/stderr" "legguard: the leg was ended after 0.1s"
}

refusals() {
	refusal_names="--summary and --no-summary" refused --summary --no-summary
	unset GITHUB_STEP_SUMMARY
	refusal_names="GITHUB_STEP_SUMMARY names no file" refused --summary
}

scenario "a run with nothing to tell leaves the summary alone, unless it is asked for" nothing_to_tell
scenario "what the leg left and tried is in the summary and in the log" found
scenario "--no-summary appends nothing to it" no_summary
scenario "time-out and output limit are in the summary, and errors in the log" limits
scenario "tampering is in the summary, and one error in the log, whatever the path is called" tampered
scenario "no name of a process is Markdown, HTML or a terminal's command in the summary" inert
scenario "a summary that the runner would drop for its size is left alone" too_large
scenario "no table gets among the outputs where two variables name one file" one_file
scenario "a launcher leaves the summary alone that another one guards" beside_another
scenario "--no-outputs appends none but if it is asked for" no_outputs
scenario "annotations begin a line, though the leg has not ended its own" within_a_line
scenario "outside of a step there are no annotations" elsewhere
scenario "--summary without a summary, or with --no-summary, is refused" refusals
