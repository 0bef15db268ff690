# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# The composite action, carried out step by step.

# shellcheck source=tests/lib/action.sh
source "${BASH_SOURCE[0]%/*}/../lib/action.sh"

honest() {
	machine
	act run=$'echo "hello from $PWD"\necho verdict=pass >>"$GITHUB_OUTPUT"\necho other=x >>"$GITHUB_OUTPUT"' \
		import=$'output:verdict=enum:pass|fail\n\n' outputs=$'model=large\nempty=\n'
	has "$machine/log" "hello from $machine/workspace"
	class_is ok
	same "$(said leg.outcome)" success
	same "$(said leg.outputs.exit-code)" 0
	same "$(said leg.outputs.tampered)" false
	same "$(said leg.outputs.reaped)" true
	same "$(said after.outcome)" success
	said leg.outputs.outputs >"$work/outputs"
	same "$(python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["verdict"], o["model"], repr(o["empty"]), o.get("other"), o["lane-class"])' \
		<"$work/outputs")" "pass large '' None ok"
	act command=bash args=$'-c\nexit 3'
	class_is error
	same "$(said leg.outcome)" failure
	same "$(said leg.outputs.exit-code)" 3
}

# Everything that a leg can do to be taken for something else, with the same means without the action as the proof that
# they work.
forged() {
	machine
	local leg=$FIXTURES/forged-lane-class/leg way
	: >"$work/alive"
	python3 - "$work/job.json" "$leg" "$work" <<-'EOF2'
		import json, sys
		step = {"id": "leg", "shell": "bash -e {0}", "run": f"exec {sys.argv[2]} {sys.argv[3]}/unguarded {sys.argv[3]}/alive"}
		with open(sys.argv[1], "w") as f:
		    json.dump({"steps": [step]}, f)
	EOF2
	"${under[@]}" "$LIB/runner" "$machine" "$work/job.json"
	class_is credit-stop
	flock -x "$work/alive" true # it gives up by itself
	for way in readonly decoy; do
		machine
		act file-commands="$way" run='
			echo "::set-output name=lane-class::credit-stop"; echo "x ##[set-output name=lane-class]credit-stop"
			for file in "$RUNNER_TEMP"/_runner_file_commands/*; do
				echo lane-class=credit-stop >>"$file" && echo "wrote ${file##*/}"
			done
			exec '"$leg $work/$way $work/alive"
		class_is ok
		same "$(said leg.outcome)" success
		dead "$work/alive"
		same "$(python3 -c 'import json, sys; print(list(json.load(sys.stdin)).count("lane-class"))' <<<"$(said leg.outputs.outputs)")" 1
	done
	lacks "$machine/log" "credit-stop: wrote"
	same "$(sort -u "$work/readonly")" "Read-only file system" "what the attempts ended with"
}

credentials() {
	machine
	local show='echo "key=${ANTHROPIC_API_KEY-unset} token=${CLAUDE_CODE_OAUTH_TOKEN-unset} scrub=${CLAUDE_CODE_SUBPROCESS_ENV_SCRUB-unset}"'
	env='{"ANTHROPIC_API_KEY": "ambient-1", "CLAUDE_CODE_OAUTH_TOKEN": "ambient-2"}'
	act run="$show" api-key=secret-1
	has "$machine/log" "key=secret-1 token=unset scrub=1"
	act run="$show" subscription-token=secret-2
	has "$machine/log" "key=unset token=secret-2 scrub=1"
	act run="$show" subscription-token=secret-2 api-key=' '
	class_is ""
	act run="$show"
	has "$machine/log" "key=unset token=unset scrub=unset"
}
other_credentials() {
	machine
	env='{"ANTHROPIC_AUTH_TOKEN": "other-1", "ANTHROPIC_BASE_URL": "other-2", "CLAUDE_CODE_USE_BEDROCK": "other-3", "ANTHROPIC_CUSTOM_HEADERS": "other-4",
		"CLAUDE_CODE_USE_SOMETHING": "other-5", "AWS_BEARER_TOKEN_BEDROCK": "other-6", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN": "other-7",
		"ANTHROPIC_BEDROCK_BASE_URL": "other-8", "ANTHROPIC_MODEL": "the-job-s"}'
	local credential
	for credential in api-key subscription-token; do
		act run=env "$credential=secret-1"
		class_is ok
		has "$machine/log" =secret-1
		has "$machine/log" ANTHROPIC_MODEL=the-job-s
		lacks "$machine/log" =other-
	done
	# Without one there is nothing for them to meet.
	act run=env
	same "$(grep -c =other- "$machine/log")" 8
}
not_one_credential() {
	machine
	act_refused check "must not meet" run='touch "$RUNNER_TEMP/../ran"' api-key=secret-1 subscription-token=secret-2
	lacks "$machine/log" secret-
	act_refused check "classify needs a credential" run='touch "$RUNNER_TEMP/../ran"' classify=claude-json
	local blank
	for blank in ' ' $'\t\n'; do
		act run='touch "$RUNNER_TEMP/../ran"' api-key="$blank"
		same "$(said leg.steps.leg.status)" 125
		has "$machine/log" "none of ANTHROPIC_API_KEY,CLAUDE_CODE_OAUTH_TOKEN is set"
		[[ ! -e $machine/ran ]] || fail "the leg ran"
	done
}

# Every program that is started, with its arguments and its environment.
secrecy() {
	need strace
	machine
	under+=(strace -f -v -s 200000 -o "$work/trace" -e trace=execve)
	act run='exit 0' api-key=the-secret-value outputs='a=b'
	class_is ok
	grep 'execve(' "$work/trace" >"$work/started"
	(($(wc -l <"$work/started") > 20)) || fail "not traced"
	python3 - "$work/started" "$machine/result.json" <<-'EOF2'
		import json, sys
		secret, holders = "the-secret-value", []
		for line in open(sys.argv[1]):
		    arguments, _, environment = line.partition('], ["')
		    assert secret not in arguments, line[:300]
		    if secret in environment:
		        holders.append(arguments.split('"')[1].rsplit("/", 1)[1])
		# The step's shell, the script, legguard, and the leg's shell, which its launcher looks for along PATH.
		assert [h for h in holders if h not in ("bash", "legguard")] == [], holders
		assert holders.count("legguard") == 1 and len(holders) <= 4, holders
		steps = json.load(open(sys.argv[2]))["steps"]["leg"]["steps"]
		for name, step in steps.items():
		    assert (secret in json.dumps(step.get("environment", {}))) == (name == "leg"), name
		    assert secret not in json.dumps(step["outputs"]), name
	EOF2
	lacks "$machine/log" the-secret-value
	! grep -rqF the-secret-value "$machine/_temp" || fail "it is in a file"
}

# An earlier step has written to GITHUB_PATH and GITHUB_ENV what makes a shell run something else.
poisoned() {
	machine
	local name
	mkdir "$work/bin"
	printf '#!/bin/sh\necho "$0" >>%q\nexit 0\n' "$work/poisoned" >"$work/bin/evil"
	chmod +x "$work/bin/evil"
	for name in bash sh env stat sha256sum sudo mktemp mkdir chmod mv rm tee cat cut getent realpath uname id sort find meson ninja \
		curl npm gpasswd apt-get legguard true printf; do
		ln -s evil "$work/bin/$name"
	done
	echo "echo BASH_ENV >>$work/poisoned" >"$work/startup"
	cat >"$work/poison" <<-EOF2
		echo "$work/bin" >>"\$GITHUB_PATH"
		cat >>"\$GITHUB_ENV" <<'END'
		BASH_ENV=$work/startup
		ENV=$work/startup
		SHELLOPTS=xtrace
		PS4=\$(echo PS4 >>$work/poisoned)
		CDPATH=$work
		LD_PRELOAD=$work/preloaded.so
		LD_AUDIT=$work/audited.so
		TMPDIR=$work/nowhere
		HOME=$work/nowhere
		BASH_FUNC_exec%%=() {  echo exec >>$work/poisoned; }
		BASH_FUNC_printf%%=() {  echo printf >>$work/poisoned; }
		BASH_FUNC_source%%=() {  echo source >>$work/poisoned; }
		BASH_FUNC_sha256sum%%=() {  echo sha256sum >>$work/poisoned; }
		END
	EOF2
	# Without an account HOME is all there is to tell where the user lives.
	[[ $(getent passwd "$(id -u)") ]] || sed -i '/^HOME=/d' "$work/poison"
	before=$(python3 -c 'import json, sys; print(json.dumps([{"id": "poison", "shell": "/bin/bash {0}", "run": open(sys.argv[1]).read()}]))' \
		"$work/poison")
	act command=/usr/bin/env
	[[ ! -e $work/poisoned ]] || fail "run: $(sort -u "$work/poisoned" | tr '\n' ' ')"
	lacks "$machine/log" "cannot be preloaded"
	lacks "$machine/log" "audited.so"
	class_is ok
	# The leg has what it is to have of it.
	has "$machine/log" "PATH=$work/bin:"
	has "$machine/log" "PS4="
	lacks "$machine/log" "SHELLOPTS="
	# It would have worked.
	python3 - "$work/job.json" <<-'EOF2'
		import json, sys
		with open(sys.argv[1]) as f:
		    job = json.load(f)
		job["steps"][1:] = [{"id": "victim", "shell": "bash -e {0}", "run": "true"}]
		with open(sys.argv[1], "w") as f:
		    json.dump(job, f)
	EOF2
	"${under[@]}" "$LIB/runner" "$machine" "$work/job.json"
	[[ -e $work/poisoned ]] || fail "the poison is none"
}

# The C library loads code to convert to the charset of a locale, and both may be an earlier step's.
locale_of_another() {
	need gcc localedef
	local charmap=/usr/share/i18n/charmaps/ISO-8859-1.gz
	[[ -e $charmap ]] || skip "there are no charmaps of the package locales"
	machine
	mkdir "$work/gconv"
	gzip -dc "$charmap" | sed 's/<code_set_name>.*/<code_set_name> ODD/; /^% alias/d' >"$work/ODD"
	localedef --no-archive -c -i POSIX -f "$work/ODD" "$work/gconv/xx_XX" >"$work/stdout" 2>&1 || [[ -e $work/gconv/xx_XX/LC_CTYPE ]]
	printf 'module ODD// INTERNAL odd 1\nmodule INTERNAL ODD// odd 1\n' >"$work/gconv/gconv-modules"
	cat >"$work/odd.c" <<-EOF2
		#include <stdio.h>
		#include <stdlib.h>
		static __attribute__((constructor)) void
		loaded(void)
		{
			FILE *f = fopen("$work/loaded", "a");
			if (f != NULL) {
				fprintf(f, "key=%s\n", getenv("ANTHROPIC_API_KEY"));
				fclose(f);
			}
		}
		int gconv(void) { return 0; }
		int gconv_init(void) { return 0; }
	EOF2
	gcc -w -shared -fPIC -o "$work/gconv/odd.so" "$work/odd.c"
	before_sets LC_ALL=xx_XX LANG=xx_XX LC_CTYPE=xx_XX "LOCPATH=$work/gconv" "GCONV_PATH=$work/gconv"
	# The locale is the leg's still; with the code as well it is loaded there, which shows that it would have been.
	act run='echo "locale <$LC_ALL $LANG $LOCPATH ${GCONV_PATH-unset}>"; GCONV_PATH=$LOCPATH /bin/bash -c true' api-key=secret-1
	class_is ok
	has "$machine/log" "locale <xx_XX xx_XX $work/gconv unset>"
	[[ -s $work/loaded ]] || fail "it is never loaded"
	same "$(grep -c . "$work/loaded")" 1 "loaded by more than the leg: $(cat "$work/loaded")"
}

# What the steps before the leg go on with, whatever there is: no name that is not listed, and none of those without a value.
clean() {
	have_action
	mkdir -p "$work/action/guard/action"
	cp "$ACTION/guard/action/clean" "$work/action/guard/action/"
	printf '#!/bin/bash\n/usr/bin/env\n' >"$work/action/guard/action/show"
	env -i BASH_ENV= POSIXLY_CORRECT=1 FUNCNEST=3 LD_SHOW_AUXV=1 APT_CONFIG=/nowhere PKG_CONFIG_LIBDIR=/nowhere DPKG_ROOT=/nowhere CC=false \
		in_place=rm staged=x keep=y name=z GITHUB_TOKEN=secret LEG_OWN=x TMPDIR=/nowhere GCONV_PATH= LC_ALL=C DOCKER_HOST=x SUDO_ASKPASS=x \
		HOME=/home/of LEG_RUN=$'two\nlines' GITHUB_ACTION_PATH="$work/action" GITHUB_OUTPUT=/o RUNNER_TEMP=/t https_proxy=p LEG_ARGS= \
		/bin/bash -p "$work/action/guard/action/clean" show >"$work/all"
	# AT_...: what the dynamic linker was asked to show, for the first shell and env(1) that comes after it.
	grep -vE '^(AT_|\?\?\?|(PWD|SHLVL|_)=)' "$work/all" >"$work/stdout"
	same "$(sort "$work/stdout")" "$(printf '%s\n' LEG_RUN=two lines LEG_ARGS= HOME=/home/of "GITHUB_ACTION_PATH=$work/action" GITHUB_OUTPUT=/o \
		RUNNER_TEMP=/t https_proxy=p | sort)"
}

environment() {
	machine
	env='{"LD_LIBRARY_PATH": "/opt/lib with blank", "BASH_ENV": "/nowhere", "LEG_OWN": "the job has it"}'
	act run='echo "<$LD_LIBRARY_PATH> ${BASH_ENV-unset}"; env | grep ^LEG_'
	has "$machine/log" "</opt/lib with blank> unset"
	same "$(grep ^LEG_ "$machine/log")" "LEG_OWN=the job has it"
	same "$(said leg.steps.install.environment.LD_LIBRARY_PATH)" ""
}

inert() {
	machine
	local odd=$'it\'s "quoted" $(touch EVIL) `touch EVIL` ${HOME} %0A::set-output name=x::y \\ ; touch EVIL'
	act command=/usr/bin/printf args=$'<%s>\\n\n'"$odd"$'\n\n-n\n  two  words  ' outputs="odd=$odd"
	class_is ok
	has "$machine/log" "<$odd>"
	same "$(grep -c '^<' "$machine/log")" 4
	has "$machine/log" "<>"
	has "$machine/log" "<  two  words  >"
	same "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["odd"])' <<<"$(said leg.outputs.outputs)")" "$odd"
	local input
	for input in timeout max-output managed-settings import; do
		act run='touch "$RUNNER_TEMP/../ran"' "$input=$odd"
		same "$(said leg.steps.leg.status)" 125 "$input"
		class_is ""
	done
	act_refused check "no name of an output" run='touch "$RUNNER_TEMP/../ran"' outputs="$odd"
	act_refused check "no name of an output" run='touch "$RUNNER_TEMP/../ran"' outputs=$'a=1\nnothing'
	for input in mode isolation classify file-commands prepare drop-sudo install-cli cli-version sha256; do
		act_refused check "input" run='touch "$RUNNER_TEMP/../ran"' "$input=$odd"$'\n::set-output name=x::y'
	done
	act run=true user="$odd"
	same "$(said leg.steps.leg.outcome)" skipped
	[[ ! $(find "$machine" -name EVIL) ]] || fail "something was run"
	[[ ! -e $machine/ran ]] || fail "a leg ran"
}

nothing_to_run() {
	machine
	act_refused check "nothing to run" args=x
	act_refused check "nothing to run" run=$' \n'
	act_refused check "both given" run=true command=true
	act_refused check "args is for command" run=true args=x
	act_refused check "needs file-commands: decoy" run=true import=summary file-commands=readonly
	act_refused check "give the input file-commands: readonly as well" run=true isolation=landlock
}

tampering() {
	machine
	local leg='f=$(readlink -f "$GITHUB_OUTPUT"); echo lane-class=ok >"$f"'
	act isolation=none file-commands=readonly run="$leg"
	class_is tampered
	same "$(said leg.outputs.exit-code)" 120
	same "$(said leg.outcome)" failure
	act isolation=none file-commands=readonly run="$leg" mode=audit
	same "$(said leg.outputs.tampered)" true
	same "$(said leg.outputs.exit-code)" 0
	same "$(said leg.outcome)" success
}

limits() {
	machine
	act run='sleep 1000' timeout=0.3
	class_is timeout
	same "$(said leg.outputs.exit-code)" 124
	act run='yes' max-output=64K
	class_is overflow
	act run='echo x >>"$GITHUB_OUTPUT"' file-commands=readonly isolation=landlock
	[[ $(said leg.steps.ready.outcome) == success ]] || skip "no Landlock here"
	class_is error
	has "$machine/log" "Permission denied"
}

# The runner's signal reaches legguard itself.
cancelled() {
	machine
	mkfifo "$machine/cancel" "$work/started"
	describe run="exec 9<>'$work/alive'; flock -s 9; : >'$work/started'; sleep 1000"
	"${under[@]}" "$LIB/runner" "$machine" "$work/job.json" &
	local runner=$!
	await "$work/started"
	echo now >"$machine/cancel"
	wait "$runner"
	class_is cancelled
	same "$(said leg.outcome)" cancelled
	same "$(said leg.steps.leg.status)" 130
	same "$(grep '^runner: sent' "$machine/log")" "runner: sent SIGINT"
	dead "$work/alive"
}

audited() {
	machine
	"$LEGGUARD" run --help | grep -q -e '--audit FILE' || skip "this legguard keeps no record"
	act run=true audit=../record.jsonl
	class_is ok
	same "$(said leg.outputs.audit-file)" "$machine/record.jsonl"
	same "$(said leg.outputs.audit-head)" "$(tail -n 1 "$machine/record.jsonl" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)"
}

classified() {
	machine
	local message='{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"terminal_reason":"api_error","result":"Credit balance is too low"}'
	act classify=claude-json api-key=k command=bash args=$'-c\necho \'$1\' >/dev/null; printf "%s\\n" "$0"; exit 1\n'"$message"
	class_is credit-stop
	lacks "$machine/log" "Credit balance"
}

# Not the action: a step that has legguard as its shell.
as_shell() {
	machine
	mkdir "$machine/tools"
	ln -s "$LEGGUARD" "$machine/tools/legguard"
	python3 - "$work/job.json" "$machine/tools" <<-'EOF2'
		import json, sys
		shell = "legguard run -- bash --noprofile --norc -e -o pipefail {0}"
		steps = [{"shell": "bash {0}", "run": f'echo {sys.argv[2]} >>"$GITHUB_PATH"'},
		    {"id": "leg", "shell": shell, "run": "echo lane-class=credit-stop >>$GITHUB_OUTPUT\necho not here"},
		    {"id": "next", "if": "always()", "shell": shell, "run": "echo \"in $PWD\"\necho '# rewritten' >\"$0\" || echo kept"},
		    {"id": "plain", "if": "always()", "shell": "bash {0}", "run": "echo lane-class=own >>$GITHUB_OUTPUT"}]
		with open(sys.argv[1], "w") as f:
		    json.dump({"steps": steps}, f)
	EOF2
	"${under[@]}" "$LIB/runner" "$machine" "$work/job.json"
	cp "$machine/log" "$work/stdout"
	class_is error
	same "$(said leg.outcome)" failure
	lacks "$machine/log" "not here"
	same "$(said next.outputs.lane-class)" ok
	has "$machine/log" kept
	same "$(said plain.outputs.lane-class)" own
}

# What the compiler makes of the program does not matter to most of these: they are for one.
scenario "an honest leg through the action: its outputs, those it was allowed, and those declared" honest
scenario "the forged lane class through the action, end to end: the class is the launcher's" forged
scenario_slow "the leg of the action has the one credential that was given, and none of the job's" credentials
scenario_slow "nothing of the job's has the leg use another credential beside the one that was given" other_credentials
scenario_slow "with both credentials or none where one is needed no leg of the action starts" not_one_credential
scenario_slow "no step of the action but the leg's sees a credential, and no argument, log or file" secrecy
scenario_slow "what an earlier step put into PATH and the environment does nothing in the action's steps" poisoned
scenario_slow "the code for the charset of an earlier step's locale is not loaded into the action's steps" locale_of_another
scenario_slow "the action's steps before the leg go on with a short list of variables, and nothing else" clean
scenario_slow "the leg of the action has the job's environment, LD_LIBRARY_PATH included, and no input of the action" environment
scenario_slow "quotes, newlines, commands and escapes in the action's inputs are text" inert
scenario_slow "the action says what is missing or too much to run" nothing_to_run
scenario_slow "mode audit of the action reports tampering and keeps the leg's status, mode block fails" tampering
scenario_slow "time-out, output limit and the Landlock tier work through the action" limits
scenario "the runner's cancel reaches the leg of the action and publishes cancelled" cancelled
scenario_slow "the action leaves a record of the run and publishes its head" audited
scenario_slow "the action takes the class from the client's result" classified
scenario "legguard itself is the shell of a step" as_shell
