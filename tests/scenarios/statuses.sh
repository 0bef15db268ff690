# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# Exit statuses, the status object, notes, and the options about them.

own_status() {
	local n
	for n in 0 1 2 77 120 125 126 127 255; do
		guard --status "$work/status.json" -- sh -c "exit $n"
		expect "$n"
		same "$(status_of origin)" leg
		same "$(status_of exit_status)" "$n"
		same "$(status_of leg.exit)" "$n"
		same "$(output exit-code)" "$n"
	done
}
signals() {
	local pair
	for pair in TERM:143 KILL:137 SEGV:139 INT:130 ABRT:134; do
		guard --status "$work/status.json" -- bash -c "ulimit -c 0; kill -${pair%:*} \$\$"
		expect "${pair#*:}"
		same "$(status_of origin)" leg
		same "$(status_of leg.signal)" "SIG${pair%:*}"
		same "$(output lane-class)" error
	done
}
not_found() {
	guard --status "$work/status.json" -- "$work/no-such-command"
	expect 127
	same "$(status_of origin)" guard
	PATH=/usr/bin:/bin guard -- no-such-command-on-the-path
	expect 127
	kept
	same "$(output lane-class)" error
	same "$(output exit-code)" 127
}
not_executable() {
	echo data >"$work/file"
	guard --status "$work/status.json" -- "$work/file"
	expect 126
	same "$(status_of origin)" guard
	guard -- "$work"
	expect 126
	kept
}
path_of_leg() {
	mkdir "$work/bin"
	printf '#!/bin/sh\necho found\n' >"$work/bin/only-there"
	chmod +x "$work/bin/only-there"
	PATH=$work/bin:$PATH guard -- only-there
	expect 0
	same "$(cat "$work/stdout")" found
}

keep_status() {
	guard --on-tamper keep-status --status "$work/status.json" -- bash -c 'mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"; exit 5'
	expect 5
	kept
	same "$(output lane-class)" tampered
	same "$(output exit-code)" 5
	same "$(output tampered)" true
	same "$(status_of origin)" leg
	guard --status "$work/status.json" -- bash -c 'mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"; exit 5'
	expect 120
	same "$(output exit-code)" 120
	same "$(status_of origin)" guard
}

cancelled() { # SIGNAL STATUS
	mkfifo "$work/started"
	"$LEGGUARD" run --status "$work/status.json" -- bash -c '
		trap "" INT TERM HUP
		exec 9<>"$1"; flock -s 9
		: >"$2"
		while :; do sleep 1000; done' - "$work/alive" "$work/started" >"$work/stdout" 2>"$work/stderr" </dev/null &
	local launcher=$!
	await "$work/started"
	kill "-$1" "$launcher"
	status=0
	wait "$launcher" || status=$?
	expect "$2"
	dead "$work/alive"
	kept
	same "$(output lane-class)" cancelled
	same "$(status_of cancelled)" "SIG$1"
	same "$(status_of origin)" guard
}
cancel_int() { cancelled INT 130; }
cancel_term() { cancelled TERM 143; }
cancel_hup() { cancelled HUP 129; }

cancel_and_tamper() {
	mkfifo "$work/started"
	"$LEGGUARD" run -- bash -c 'trap "" TERM
		mv "$RUNNER_TEMP" "$RUNNER_TEMP.aside"; : >"$1"; while :; do sleep 1000; done' \
		- "$work/started" >"$work/stdout" 2>"$work/stderr" </dev/null &
	local launcher=$!
	await "$work/started"
	kill -TERM "$launcher"
	status=0
	wait "$launcher" || status=$?
	expect 120
	kept
	same "$(output lane-class)" tampered
}

status_file() {
	guard --status "$work/status.json" -- bash -c 'echo "{\"class\":\"forged\"}" >"$1"; rm -f "$1"; sleep 1000 & exit 3' - "$work/status.json"
	expect 3
	same "$(wc -l <"$work/status.json")" 1
	same "$(status_of class)" error
	same "$(status_of confined)" true
	same "$(status_of isolation)" namespace
	same "$(status_of proof)" pid-namespace
	same "$(status_of survivors.count)" 1
	same "$(status_of published)" true
	same "$(status_of error)" null
	same "$(status_of leg.exit)" 3
}
status_descriptor() {
	status=0
	"$LEGGUARD" run --status-fd 9 -- "$LEGS/descriptors" 9>"$work/status.json" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(status_of class)" ok
}
status_of_refusal() {
	rm "$GITHUB_ENV"
	guard --status "$work/status.json" -- true
	expect 125
	same "$(status_of origin)" guard
	same "$(status_of exit_status)" 125
	[[ $(status_of error) == *GITHUB_ENV* ]] || fail "the error does not name it"
}
status_unwritable() {
	refused --status /no/such/dir/status.json
	refused --status /dev
	kept unpublished
}

quiet() {
	guard -q -- bash -c 'sleep 1000 & exit 0'
	expect 0
	[[ ! -s $work/stderr ]] || fail "it is not quiet"
	guard -- true
	[[ ! -s $work/stderr ]] || fail "it has something to say about nothing"
}
unconfined() {
	guard --isolation none --status "$work/status.json" -- bash -c 'printf FORGED >"$GITHUB_OUTPUT"; rm "$GITHUB_ENV"; exit 0'
	expect 120
	same "$(output before)" kept
	same "$(output lane-class)" tampered
	same "$(cat "$GITHUB_ENV")" MODE=fast
	has "$work/stderr" "unconfined (--isolation none)"
	same "$(status_of confined)" false
	same "$(status_of isolation)" none
}
dry_run() {
	guard -n -- touch "$work/ran"
	expect 0
	[[ ! -e $work/ran ]] || fail "it ran"
	kept unpublished
	has "$work/stdout" "$GITHUB_OUTPUT"
	has "$work/stdout" "$GITHUB_STEP_SUMMARY"
	has "$work/stdout" namespace
	rm "$GITHUB_ENV"
	guard -n -- true
	expect 125
}
unsafe_text() {
	local name=$'\e[31m::error::x\n##[error]y'
	guard -- bash -c 'cp "$(command -v sleep)" "./$0" && "./$0" 1000 & sleep 0.2; exit 0' "$name"
	printf x >"$work/out$name"
	guard --guard "$work/out$name" -- true
	expect 0
	! grep -q $'\e' "$work/stderr" || fail "an escape sequence on stderr"
	refused --guard "$work/missing$name"
	! grep -q $'\e' "$work/stderr" || fail "an escape sequence on stderr"
}

environment() {
	A=1 B=2 guard -u A --setenv 'C=x y' -- env
	lacks "$work/stdout" A=1
	has "$work/stdout" B=2
	has "$work/stdout" "C=x y"
	guard -i --setenv ONLY=1 -- /usr/bin/env
	same "$(cat "$work/stdout")" ONLY=1
	guard -u GITHUB_OUTPUT -- sh -c 'echo "${GITHUB_OUTPUT-unset}"'
	same "$(cat "$work/stdout")" unset
	same "$(output lane-class)" ok
}
directory() {
	mkdir "$work/there"
	guard -C "$work/there" -- pwd
	same "$(cat "$work/stdout")" "$work/there"
	guard -C ../there -- pwd
	same "$(cat "$work/stdout")" "$work/there"
	guard -- pwd
	same "$(cat "$work/stdout")" "$work/workspace"
}
help() {
	guard --help
	expect 0
	local option
	for option in --guard --allow-hard-links --read-only --isolation --set-output --no-outputs -C --setenv -u -i \
		--on-tamper --on-survivors --status --status-fd -n -q --exit-class --version; do
		has "$work/stdout" "$option"
	done
	"$LEGGUARD" --version >"$work/stdout"
	has "$work/stdout" "legguard "
	kept unpublished
}
options_stop() {
	guard echo --help -n
	expect 0
	same "$(cat "$work/stdout")" "--help -n"
}
as_shell() {
	printf 'echo one\nfalse\necho two\n' >"$work/script.sh"
	guard -- bash --noprofile --norc -e -o pipefail "$work/script.sh"
	expect 1
	same "$(cat "$work/stdout")" one
}

scenario "the leg's own exit status passes through, whatever its number" own_status
scenario "a leg ended by signal n is 128+n" signals
scenario "a command that is not there is 127, the guard's word" not_found
scenario "a command that can't be executed is 126, the guard's word" not_executable
scenario "the command is looked up on PATH" path_of_leg
scenario "--on-tamper keep-status keeps the leg's status, not its class" keep_status
scenario "SIGINT ends the leg and still restores, publishes and reports" cancel_int
scenario "SIGTERM ends the leg and still restores, publishes and reports" cancel_term
scenario "SIGHUP ends the leg and still restores, publishes and reports" cancel_hup
scenario "tampering wins over cancellation" cancel_and_tamper
scenario "the status file is the guard's, whatever the leg does to it" status_file
scenario "--status-fd writes to a descriptor the leg does not get" status_descriptor
scenario "a refusal has a status object as well" status_of_refusal
scenario "a status file that can't be written is refused" status_unwritable
scenario "-q says nothing about a run that went as it should" quiet
scenario "--isolation none restores, and says on stderr and in the status that it is unconfined" unconfined
scenario "a dry run names what it would do, and does nothing" dry_run
scenario "untrusted text reaches stderr encoded" unsafe_text
scenario "--setenv, -u and -i make the leg's environment" environment
scenario "-C is the leg's working directory" directory
scenario "--help names every option" help
scenario "options stop at the first operand" options_stop
scenario "it works as a step's shell" as_shell
