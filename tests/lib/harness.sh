# shellcheck shell=bash disable=SC2034,SC2154
# What a scenario can use. Sourced by one-scenario, in a fresh directory, as the user who runs the program.
#
# $work           the scenario's own directory
# $file_commands  its _runner_file_commands, with files named as the runner names them
# $LEGGUARD $LEGS $TOOLS $LIB $FIXTURES   the program, the hostile legs, the tools, this directory, fixtures/
# $ACTION         the action's directory
#
# A scenario is a function; it passes by returning. fail, or any command that fails under `set -e`, fails
# it; skip says why it can't be carried out here.

fail() {
	printf '%s\n' "$*" >&2
	local i
	for ((i = 1; i < ${#FUNCNAME[@]} - 1; i++)); do
		printf '    in %s, line %s\n' "${FUNCNAME[i]}" "${BASH_LINENO[i - 1]}" >&2
	done
	local f
	for f in "$work/stdout" "$work/stderr"; do
		[[ -s $f ]] && head -n 30 "$f" | cut -c -400 | sed "s|^|    ${f##*/}: |" >&2
	done
	exit 1
}

skip() {
	printf '%s\n' "$*" >&3
	exit 77
}

need() {
	local c
	for c; do
		command -v "$c" >/dev/null || skip "$c is not installed"
	done
}

# The step's files, as the runner makes them, with something in each to lose.
make_step() {
	local guid=4f4c0d54-9d2c-4e65-8c2a-3a1f2f7b9c10 outer=b1946ac9-2490-4a4b-9a6e-0c1d5d6e7f80 f

	export RUNNER_TEMP=$work/_temp GITHUB_ACTIONS=true
	file_commands=$RUNNER_TEMP/_runner_file_commands
	mkdir -p "$file_commands" "$work/workspace" "$work/home"
	mkfifo "$work/never"
	for f in add_path set_env step_summary save_state set_output artifacts artifacts_list; do
		: >"$file_commands/${f}_$guid"
		: >"$file_commands/${f}_$outer"
	done
	export GITHUB_PATH=$file_commands/add_path_$guid
	export GITHUB_ENV=$file_commands/set_env_$guid
	export GITHUB_STEP_SUMMARY=$file_commands/step_summary_$guid
	export GITHUB_STATE=$file_commands/save_state_$guid
	export GITHUB_OUTPUT=$file_commands/set_output_$guid
	export GITHUB_ARTIFACTS=$file_commands/artifacts_$guid
	export GITHUB_ARTIFACTS_LIST=$file_commands/artifacts_list_$guid
	export GITHUB_WORKSPACE=$work/workspace
	outer_output=$file_commands/set_output_$outer
	printf '/opt/tool/bin\n' >"$GITHUB_PATH"
	printf 'MODE=fast\n' >"$GITHUB_ENV"
	printf '# Summary\n' >"$GITHUB_STEP_SUMMARY"
	printf 'started=1\n' >"$GITHUB_STATE"
	printf 'before=kept\n' >"$GITHUB_OUTPUT"
	printf 'outer=kept\n' >"$outer_output"
	chmod 0644 "$file_commands"/*
	remember
}

# Note what everything looks like now; kept and refused compare with it.
remember() {
	rm -rf "$work/remembered"
	mkdir "$work/remembered"
	cp -a "$file_commands/." "$work/remembered/"
	inventory "$file_commands" >"$work/remembered.inodes"
	inventory_metadata "$file_commands" >"$work/remembered.metadata"
}

inventory() {
	find "$1" -printf '%P %y %i %n\n' | LC_ALL=C sort
}

inventory_metadata() {
	find "$1" -printf '%P %y %m %U %G\n' | LC_ALL=C sort
}

# guard [OPTION]... -- COMMAND: run the program; sets $status; output in $work/stdout and $work/stderr.
# $under, an array, is put in front of it: a tool or a wrapper.
under=()
guard() {
	status=0
	"${under[@]}" "$LEGGUARD" run "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
}

# launch [OPTION]... -- COMMAND: likewise, but don't wait: sets $launcher. finish waits, and sets $status.
# $launch_to, if set, is where its stdout goes. It does not inherit 7 and 8, which are the scenario's own.
launch() {
	"${under[@]}" "$LEGGUARD" run "$@" >"${launch_to-$work/stdout}" 2>"$work/stderr" </dev/null 7>&- 8>&- &
	launcher=$!
}

finish() {
	status=0
	wait "$launcher" || status=$?
}

# expect STATUS: what the last guard or finish ended with.
expect() {
	[[ $status == "$1" ]] || fail "exit status $status, expected $1"
}

same() {
	[[ $1 == "$2" ]] || fail "${3:-}: got '$1', expected '$2'"
}

has() {
	grep -qF -e "$2" -- "$1" || fail "'$2' is not in ${1##*/}: $(head -c 2000 "$1")"
}

lacks() {
	! grep -qF -e "$2" -- "$1" || fail "'$2' is in ${1##*/}"
}

# output NAME: the value the runner would give the step's output.
output() {
	"$LIB/read-outputs" "$GITHUB_OUTPUT" "$1" || fail "no output $1: $("$LIB/read-outputs" "$GITHUB_OUTPUT")"
}

# status_of KEY: a value of the status object in $work/status.json, as JSON (strings without quotes).
status_of() {
	python3 -c '
import json, sys
v = json.load(open(sys.argv[1], "rb"))
for k in sys.argv[2].split("."):
    v = v[k]
print(v if isinstance(v, str) else json.dumps(v))' "$work/status.json" "$1" ||
		fail "no $1 in the status: $(cat "$work/status.json")"
}

# What the launcher has added to the step's summary: all of it, and nothing else.
summary() {
	tail -c "+$(($(stat -c %s "$work/remembered/${GITHUB_STEP_SUMMARY##*/}") + 1))" "$GITHUB_STEP_SUMMARY"
}

# Every file of the step reads as before, has its inode, link count, mode and owner; GITHUB_OUTPUT may
# hold more, but only whole entries after what was there, and the summary a table. $1 = unpublished: not even that.
kept() {
	local f rest
	for f in "$work/remembered"/*; do
		local now=$file_commands/${f##*/}
		[[ -f $now && ! -L $now ]] || fail "${f##*/} is no regular file any more"
		if [[ $now == "$GITHUB_OUTPUT" && ${1-} != unpublished ]]; then
			if ! cmp -s -n "$(stat -c %s "$f")" "$f" "$now" ||
				(($(stat -c %s "$now") < $(stat -c %s "$f"))); then
				fail "the output file does not begin with what it held"
			fi
			rest=$("$LIB/read-outputs" "$now") || fail "the runner would refuse it: $rest"
		elif [[ $now == "${GITHUB_STEP_SUMMARY-}" && ${1-} != unpublished ]] && (($(stat -c %s "$now") > $(stat -c %s "$f"))); then
			cmp -s -n "$(stat -c %s "$f")" "$f" "$now" || fail "the summary does not begin with what it held"
			! summary | grep -vxE '|### legguard|\| .* \||\|---\|---\|' || fail "there is more in the summary"
		else
			cmp "$f" "$now" >&2 || fail "${f##*/} has changed"
		fi
	done
	diff "$work/remembered.inodes" <(inventory "$file_commands") >&2 || fail "names or inodes differ"
	diff "$work/remembered.metadata" <(inventory_metadata "$file_commands") >&2 ||
		fail "modes or owners differ"
}

# refused [OPTION]... : the program says no, with one line, before anything happens.
# $refusal_names, if set, is what the line has to name.
refused() {
	rm -f "$work/ran"
	guard "$@" -- touch "$work/ran"
	expect 125
	[[ ! -e $work/ran ]] || fail "the leg ran"
	same "$(wc -l <"$work/stderr")" 1 "lines on stderr"
	[[ -s $work/stdout ]] && fail "it wrote to stdout"
	[[ -z ${refusal_names-} ]] || has "$work/stderr" "$refusal_names"
}

# Nothing that locked $1 is alive.
dead() {
	[[ -e $1 ]] || fail "the leg did not even begin"
	flock -n -x "$1" true || fail "something the leg started is alive"
}

# Likewise, but it may take a moment (the launcher itself was killed).
dies() {
	[[ -e $1 ]] || return 0
	flock -w 20 -x "$1" true || fail "something the leg started lives on"
}

# as_user COMMAND: in a scenario that runs as root, run it as the ordinary user.
as_user() {
	if ((EUID == 0)); then
		setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups -- "$@"
	else
		"$@"
	fi
}

# Two sides meet on a named pipe: each blocks until the other one is there. Legs written in shell do
# the same with ": >FIFO" and ": <FIFO".
announce() {
	: >"$1"
}

await() {
	: <"$1"
}

# until_true COMMAND: for what no event tells. The scenario's time-out is its end.
until_true() {
	until "$@"; do
		read -r -t 0.01 <>"$work/never" || true
	done
}

# child_of PID NAME: the pid of its child that calls itself NAME; fails if there is none. The kernel's list may lack a child
# while another one ends (proc(5)), so it is looked at more than once.
child_of() {
	local tries
	for ((tries = 0; tries < 50; tries++)); do
		child_in_list "$@" && return
		read -r -t 0.01 <>"$work/never" || true
	done
	return 1
}

child_in_list() {
	local pid children comm
	{ read -r children <"/proc/$1/task/$1/children"; } 2>/dev/null || [[ ${children-} ]] || return 1
	for pid in $children; do
		{ read -r comm <"/proc/$pid/comm"; } 2>/dev/null || continue
		[[ $comm != "$2" ]] || { echo "$pid"; return; }
	done
	return 1
}

# observed COMMAND...: run it while somebody outside looks at the guarded files all the time; sets $seen to 0 if
# they were the same each time.
observed() {
	mkfifo "$work/ready"
	"$TOOLS/observe" "$work/ready" "$GITHUB_OUTPUT" "$GITHUB_ENV" "$outer_output" >"$work/seen" &
	local observer=$!
	await "$work/ready"
	"$@"
	kill "$observer"
	seen=0
	wait "$observer" || seen=$?
	rm "$work/ready"
}
unchanged() {
	[[ $seen == 0 ]] || fail "somebody outside saw a change: $(cat "$work/seen")"
}

# npm_package NAME@VERSION: installed once for all scenarios; offline is a reason to skip.
npm_package() {
	need node npm
	local dir=$NPM_DIR/${1//[@\/]/_}
	exec 8>"$NPM_DIR/lock"
	flock 8
	if [[ ! -e $dir/done ]]; then
		mkdir -p "$dir"
		if ! (cd "$dir" && HOME=$NPM_DIR npm install --no-audit --no-fund --silent --cache "$NPM_DIR/cache" \
			--fetch-retries 1 --fetch-timeout 30000 "$1") >"$work/npm.log" 2>&1; then
			flock -u 8
			skip "npm can't install $1 here"
		fi
		: >"$dir/done"
	fi
	flock -u 8
	exec 8>&-
	node_modules=$dir/node_modules
}

# agent_client: sets $claude, the agent's command-line client, which is fetched beside the tests; offline is a reason to skip.
agent_client() {
	flock "$AGENT_DIR.lock" true
	[[ ! -s $AGENT_DIR/missing ]] || skip "$(<"$AGENT_DIR/missing")"
	claude=$AGENT_DIR/claude
	[[ -x $claude ]] || fail "the client was not fetched: $(cat "$AGENT_DIR.out")"
}
