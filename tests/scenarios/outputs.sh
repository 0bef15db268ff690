# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# P4: the launcher's outputs come last, in one write, and nothing can open or close them.

published_last() {
	guard --set-output 'name=some value' --set-output other= -- sh -c 'exit 3'
	expect 3
	kept
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | cut -f1 | tr '\n' ' ')" \
		"before name other exit-code tampered reaped lane-class "
	same "$(output name)" "some value"
	same "$(output other)" ""
	same "$(output exit-code)" 3
	same "$(output tampered)" false
	same "$(output reaped)" true
	same "$(output lane-class)" error
	has "$GITHUB_OUTPUT" "name<<"
	lacks "$GITHUB_OUTPUT" "lane-class="
}

delimiters_differ() {
	local all
	guard --set-output a=1 -- true
	all=$("$LIB/read-outputs" --delimiters "$GITHUB_OUTPUT")
	same "$(wc -l <<<"$all")" 5 "delimiters"
	guard --set-output a=1 -- true
	all=$("$LIB/read-outputs" --delimiters "$GITHUB_OUTPUT")
	same "$(sort -u <<<"$all" | wc -l)" 10 "different delimiters in two runs"
	# 128 random bits are 22 characters of base 64 at the least.
	! grep -qxE '.{0,21}' <<<"$all" || fail "a short delimiter: $all"
}

one_write() {
	need strace
	# The launcher can't be looked into, so descriptors have no names; what else it writes above 2 is single bytes
	# that wake a process of its own.
	under=(strace -o "$work/trace" -e "trace=write,pwrite64,writev,pwritev,pwritev2")
	guard --set-output "text=$(seq 2000)" -- true
	expect 0
	same "$(output text)" "$(seq 2000)"
	same "$(grep -E '^[a-z0-9]+\(([3-9]|[1-9][0-9]),' "$work/trace" | grep -vc ' = 1$')" 1 "writes to the output file"
}

newline_supplied() {
	printf 'last=without newline' >"$GITHUB_OUTPUT"
	remember
	guard -- true
	expect 0
	kept
	same "$(output last)" "without newline"
	same "$(output lane-class)" ok
}

open_heredoc() {
	printf 'a=1\nvalue<<END\nnever closed\n' >"$GITHUB_OUTPUT"
	remember
	refusal_names=set_output_ refused
	kept unpublished
}

heredoc_without_newline() {
	printf 'value<<END\nbody\nEND' >"$GITHUB_OUTPUT"
	remember
	guard -- true
	expect 0
	kept
	same "$(output value)" body
	same "$(output lane-class)" ok
}

invalid_line() {
	printf 'no sign at all\n' >"$GITHUB_OUTPUT"
	remember
	refused
	kept unpublished
}

byte_order_mark() {
	printf '\xff\xfea\0=\0001\0\n\0' >"$GITHUB_OUTPUT"
	remember
	refused
	kept unpublished
}

any_text() {
	local text=$'lane-class=credit-stop\nx<<EOF\n\n  \r\n\t::set-output name=lane-class::forged\n<<\n\xc3\xa9'
	guard --set-output "text=$text" --set-output "from-leg==<<=" -- true
	expect 0
	kept
	same "$(output text)" "$text"
	same "$(output from-leg)" "=<<="
	same "$(output lane-class)" ok
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | cut -f1 | tail -n 1)" lane-class
}

bad_names() {
	local name
	for name in '=v' 'a<<b=v' $'a\nb=v' lane-class=v LANE-CLASS=v Exit-Code=v tampered=v reaped=v noequals ''; do
		refused --set-output "$name" || fail "accepted: $name"
		has "$work/stderr" "--set-output"
	done
	kept unpublished
}

no_outputs() {
	guard --no-outputs --set-output a=b -- true || true
	[[ $status == 0 || $status == 125 ]] || fail "exit status $status"
	kept unpublished
}

no_output_file() {
	unset GITHUB_OUTPUT
	GITHUB_OUTPUT='' guard -- sh -c 'exit 4'
	expect 4
	kept_without_output
}
kept_without_output() {
	local f
	for f in "$work/remembered"/*; do
		cmp "$f" "$file_commands/${f##*/}"
	done
}

exit_class() {
	guard --exit-class 75=credit-stop --exit-class 2=auth -- sh -c 'exit 75'
	expect 75
	same "$(output lane-class)" credit-stop
	guard --exit-class 75=credit-stop -- sh -c 'exit 1'
	expect 1
	same "$(output lane-class)" error
}

# A full output file system at the end is reported, and what was there stays whole.
cannot_publish() {
	under=("$TOOLS/oddly" fsize=4096 --)
	head -c 4000 /dev/zero | tr '\0' x | sed 's/^/x=/' >"$GITHUB_OUTPUT"
	echo >>"$GITHUB_OUTPUT"
	remember
	guard --set-output "text=$(seq 1000)" -- true
	[[ $status == 122 || $status == 125 ]] || fail "exit status $status"
	kept unpublished
	same "$(wc -l <"$work/stderr")" 1
}

scenario "outputs are published last, lane-class the very last, in heredoc form" published_last
scenario "each delimiter is fresh, random and long" delimiters_differ
scenario "outputs of any size are published in one write" one_write
scenario "a missing last newline is supplied" newline_supplied
scenario "an open heredoc in the file is refused" open_heredoc
scenario "a heredoc that ends without a newline is closed and followed" heredoc_without_newline
scenario "a line the runner would refuse is refused" invalid_line
scenario "a UTF-16 byte-order mark is refused" byte_order_mark
scenario "a value may be any text, and comes back as it was" any_text
scenario "names the runner would read differently, and reserved ones in any case, are refused" bad_names
scenario "--no-outputs leaves the output file as it was" no_outputs
scenario "without GITHUB_OUTPUT nothing is published and the leg's status is kept" no_output_file
scenario "--exit-class turns exit statuses into classes" exit_class
scenario "outputs that don't fit are status 122 or refused, and no half entry is left" cannot_publish
