# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# The command-line client of an agent as the leg, as it is published, against a server here that answers as its API does.

key=sk-ant-dummy-0123456789

# A mount point that the client makes for its sandbox, outside of the directories that it is given.
stray=/tmp/inline-comments-buffer.jsonl

start_api() {
	agent_client
	mkdir "$work/tmp"
	"$LIB/api-server" "$work/port" tool-command >"$work/requests" 2>"$work/api.log" &
	api=$!
	[[ ! -e $stray ]] || stray=""
	trap end_api EXIT
	until_true test -s "$work/port"
	base=http://127.0.0.1:$(<"$work/port")
	unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy
	export ANTHROPIC_API_KEY=$key CLAUDE_CODE_MAX_RETRIES=0 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
	export DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1 DISABLE_AUTOUPDATER=1 TMPDIR=$work/tmp SHELL=/bin/bash
}

end_api() {
	kill "$api"
	wait "$api" || true
	[[ ! $stray || -s $stray ]] || rm -f "$stray"
}

options=()
# agent ANSWER [ARG]...: the client, answered so; it publishes into files as the runner made them.
agent() {
	export ANTHROPIC_BASE_URL=$base/$1
	shift
	cp "$work/remembered/${GITHUB_OUTPUT##*/}" "$GITHUB_OUTPUT"
	guard --classify claude-json --exactly-one-env ANTHROPIC_API_KEY,CLAUDE_CODE_OAUTH_TOKEN --status "$work/status.json" \
		"${options[@]}" -- "$claude" -p "$@" hi
	kept
	[[ ! -s $work/stdout ]] || fail "the client's output was passed on"
	lacks "$work/status.json" "$key"
	lacks "$work/stderr" "$key"
}

# row CLASS ANSWER [ARG]...
row() {
	local class=$1
	shift
	agent "$@"
	same "$(output lane-class)" "$class" "$*"
	expect "$([[ $class == ok ]] && echo 0 || echo 1)"
	same "$(status_of result.is_error)" "$([[ $class == ok ]] && echo false || echo true)" "$*"
	lacks "$work/status.json" wants
}

# Nothing but messages was asked for, and nowhere else.
only_messages() {
	[[ -s $work/requests ]] || fail "the server was not asked"
	! grep -v "^POST /[^/]*/v1/messages?beta=true $key\$" "$work/requests" >&2 || fail "it was asked for something else"
}

limits="You-have-reached-your-specified-API-usage-limits.-You-will-regain-access-later."

errors_of_the_account() {
	start_api
	row ok hello --output-format json
	row credit-stop 400-Your-credit-balance-is-too-low-to-access-the-API. --output-format json
	same "$(status_of result.api_error_status)" 400
	row credit-stop 402 --output-format json
	row credit-stop "400-$limits" --output-format json
	row error 400 --output-format json
	row error 404 --output-format json
	row error 413 --output-format json
	row error "400-prompt-is-too-long:-200001-tokens->-200000-maximum" --output-format json
	row auth 401 --output-format json
	row auth 403 --output-format json
	row rate-limit 429 --output-format json
	only_messages
	unset ANTHROPIC_API_KEY
	export ANTHROPIC_BASE_URL=$base/hello
	guard --classify claude-json -- "$claude" -p --output-format json hi
	expect 1
	same "$(output lane-class)" auth "without a credential"
	same "$(grep -c /hello/ "$work/requests")" 1
}

errors_of_the_service() {
	start_api
	local status
	for status in 408 500 529; do
		row overloaded "$status" --output-format json
	done
	for status in reset nonsense broken refusal max-tokens; do
		row error "$status" --output-format json
		same "$(status_of result.api_error_status)" null
	done
	echo 'echo hi' >tool-command
	row max-turns tool --output-format json --max-turns 1 --allowedTools=Bash
	same "$(status_of result.subtype)" error_max_turns
	row budget tool --output-format json --max-budget-usd 0.0001 --allowedTools=Bash
	only_messages
}

other_formats() {
	start_api
	echo 'echo hi' >tool-command
	local format
	for format in "json --verbose" "stream-json --verbose"; do
		# shellcheck disable=SC2086
		{
			row ok tool --allowedTools=Bash --output-format $format
			same "$(status_of result.num_turns)" 2
			row credit-stop 400-Your-credit-balance-is-too-low-to-access-the-API. --output-format $format
			row max-turns tool --max-turns 1 --allowedTools=Bash --output-format $format
		}
	done
	row auth 401 --output-format stream-json --verbose
	row rate-limit 429 --output-format stream-json --verbose
	row overloaded 529 --output-format json --verbose
	# What leaves no result.
	for format in "--output-format stream-json" "--output-format json --no-such-option"; do
		# shellcheck disable=SC2086
		agent hello $format
		expect 1
		same "$(output lane-class)" error "$format"
		same "$(status_of result)" null
	done
	only_messages
}

# What the tool is told to do; the file is its log.
forge='{ echo lane-class=credit-stop >>"$GITHUB_OUTPUT"; } 2>>'

# Each of three that have detached themselves writes when the tool has ended, and only then does the server go on.
detach='late() {
	until [[ -e tool-command.returned ]]; do sleep 0.01; done
	'$forge'"$1"
	: >"$1.done"
	[[ ! -e setsid.done || ! -e nohup.done || ! -e fork.done ]] || : >tool-command.go-on
}
export -f late
setsid bash -c "late setsid" </dev/null >/dev/null 2>&1 &
nohup bash -c "late nohup" </dev/null >/dev/null 2>&1 &
( ( exec setsid bash -c "late fork" </dev/null >/dev/null 2>&1 & ) & )
'

file_commands_of_a_tool() {
	start_api
	local view log
	for view in "" --pin --isolation=landlock; do
		rm -f tool-command.* setsid* nohup* fork* at-once
		printf '%s\n' "${forge}at-once" "$detach" >tool-command
		# shellcheck disable=SC2206
		options=($view)
		agent tool-late --output-format json --allowedTools=Bash
		expect 0
		same "$(output lane-class)" ok "$view"
		for log in at-once setsid nohup fork; do
			same "$(grep -c "$([[ $view == *landlock ]] && echo Permission denied || echo Read-only file system)" $log)" 1 \
				"$view $log"
		done
		same "$(status_of tampered)" false
	done
	agent 402 --output-format json
	same "$(output lane-class)" credit-stop
}

# The client's nested sandbox, by the variable and by its settings: the same, and the tool can't see the client.
nested_sandbox() {
	need bwrap socat
	start_api
	local log sandbox
	{
		echo "${forge}at-once"
		echo "setsid bash -c '${forge}detached; : >begun; sleep 1000' </dev/null >/dev/null 2>&1 &"
		echo 'until [[ -e begun ]]; do sleep 0.01; done'
		echo '"$LIB/reach-client" open seize write credential >reached 2>&1'
	} >tool-command
	for sandbox in variable settings; do
		rm -f at-once detached begun reached
		if [[ $sandbox == variable ]]; then
			CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=1 agent tool --output-format json --allowedTools=Bash
		else
			agent tool --output-format json --allowedTools=Bash \
				--settings '{"sandbox":{"enabled":true,"failIfUnavailable":true,"autoAllowBashIfSandboxed":true}}'
		fi
		expect 0
		same "$(output lane-class)" ok "$sandbox"
		for log in at-once detached; do
			same "$(grep -c "Read-only file system" $log)" 1 "$sandbox $log"
		done
		has reached "client: out of sight"
		has reached "credential: looked for"
		[[ $sandbox == settings ]] || same "$(grep -c credential: reached)" 1 "$(cat reached)"
	done
}

# Without that sandbox, the tool sees the client, and the key; yet no class is forged. Where Yama lets nobody but a parent
# trace, nor does the kernel let it have the client's descriptor.
results_of_a_tool() {
	start_api
	local what
	for what in "open credential" "seize read" "seize write" "seize write shutdown"; do
		rm -f reached
		printf '"$LIB/reach-client" %s >reached 2>&1\n' "$what" >tool-command
		agent tool --output-format json --allowedTools=Bash
		has reached "client: in sight"
		case $what in
		open*)
			same "$(grep -c "open: No such device or address" reached)" 3
			same "$(output lane-class)" ok
			has reached "credential: environ of its own"
			has reached "credential: environ of claude"
			lacks reached "credential: cmdline"
			;;
		*)
			if grep -q "seize: through" reached && [[ $what == *write* ]]; then
				has "$work/stderr" "could have printed in its place"
				same "$(output lane-class)" error "$what"
			else
				same "$(output lane-class)" ok "$what"
			fi
			! grep "read:" reached || has reached "read: b''"
			;;
		esac
	done
}

# The server does not answer any more: an interrupted client still prints a result.
what_the_guard_knows() {
	start_api
	echo 'true' >tool-command
	export ANTHROPIC_BASE_URL=$base/tool-late
	launch --classify claude-json --status "$work/status.json" -- "$claude" -p --output-format json --allowedTools=Bash hi
	until_true test -e tool-command.returned
	kill -INT "$launcher"
	finish
	expect 130
	same "$(output lane-class)" cancelled
	guard --classify claude-json --timeout 3 -- "$claude" -p --output-format json --allowedTools=Bash hi
	expect 124
	same "$(output lane-class)" timeout
}

scenario_slow "an agent's client gets the class of its account's state" errors_of_the_account
scenario_slow "an agent's client gets the class of the service's state" errors_of_the_service
scenario_slow "the class is the same in each of an agent client's formats" other_formats
scenario_slow "what an agent's tool appends to the file commands, at once or later, is refused" file_commands_of_a_tool
scenario_slow "cancel and time-out win over what an agent's client says" what_the_guard_knows
scenario_slow "an agent client's nested sandbox works, and hides client and key from the tool" nested_sandbox
scenario_slow "an agent's tool can neither add a result to the client's nor take it" results_of_a_tool
