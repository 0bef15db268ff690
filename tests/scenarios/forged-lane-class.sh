# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# The forged lane class: the attack this program was written against.

late_writer() {
	guard -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect 0
	dead "$work/alive"
	kept
	(($(grep -cx EROFS "$work/result") >= 3)) || fail "fewer than three attempts"
	same "$(sort -u "$work/result")" EROFS "what the attempts ended with"
	same "$(output lane-class)" ok
	same "$(output tampered)" false
	same "$(output reaped)" true
}

# Held up by a tracer after it has reaped the leg, PID 1 gives the writers 0.2 s that they would never get.
late_writer_with_time() {
	need strace
	under=(strace -f -o /dev/null -e "trace=wait4,waitid" -e "inject=wait4,waitid:delay_exit=200000")
	guard -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect 0
	dead "$work/alive"
	kept
	same "$(sort -u "$work/result")" EROFS "what the attempts ended with"
	same "$(output lane-class)" ok
}

fixture() {
	"$FIXTURES/forged-lane-class/expect" --want ok --hard-link \
		"$LEGGUARD" run -q --allow-hard-links -- >&2
}

fixture_default() {
	"$FIXTURES/forged-lane-class/expect" --want ok "$LEGGUARD" run -- >&2
}

fixture_bites() {
	local status=0
	"$FIXTURES/forged-lane-class/expect" env 2>"$work/complaints" || status=$?
	same "$status" 1
	has "$work/complaints" "late: the wrapper has returned and the writer is alive"
	has "$work/complaints" "late: attempts to write ended with: wrote"
	has "$work/complaints" "late: the forged class is in the file"
	has "$work/complaints" "outside: what the file held before was not put back"
}

scenario "a late writer gets EROFS and the file holds the launcher's class" late_writer
scenario "a late writer gets EROFS also in the time between the leg's end and its own" late_writer_with_time
scenario "the forged-lane-class fixture passes, as it comes" fixture_default
scenario "the forged-lane-class fixture passes, a rewrite through a hard link included" fixture
scenario "the forged-lane-class fixture fails without a guard, for every reason it knows" fixture_bites
