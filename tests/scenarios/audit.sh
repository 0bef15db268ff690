# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# --audit: what happened in a run is in the record, nothing that is secret is, and it is one chain of hashes.

record=${work-}/audit.jsonl

audited() { # like guard
	need jq
	guard --audit "$record" --audit-otlp "$work/otlp.jsonl" --status "$work/status.json" "$@"
}

# about EVENT FILTER: what the filter makes of the record's events of that kind, one a line.
about() {
	jq -r --arg event "$1" "select(.event == \$event) | $2" "$record"
}

# events_are LIST: those of the last run.
events_are() {
	sound
	same "$("$LIB/verify-audit" "$record" | tail -n 1 | cut -d ' ' -f 3)" "$1" "events"
}

# A chain, complete, its head where it is said to be, and each event an OTLP line as well.
sound() {
	local head
	"$LIB/verify-audit" "$record" >"$work/verified" || fail "the record is broken"
	lacks "$work/verified" " incomplete "
	head=$(tail -n 1 "$work/verified" | cut -d ' ' -f 4)
	same "$(tail -n 1 "$work/stderr")" "legguard: audit-head $head ($record)"
	same "$(status_of audit.head)" "$head"
	same "$(status_of audit.failed)" false
	same "$(status_of audit.path)" "$record"
	same "$(jq -r '"legguard." + .event' "$record")" \
		"$(jq -r '.resourceLogs[].scopeLogs[].logRecords[].eventName' "$work/otlp.jsonl")" "events as OTLP"
	valid
}

# valid [FILE]...: every line fits the schemas. Where npm can't install the validator, the scenario about that says so.
valid() {
	(npm_package ajv@8.17.1) 3>/dev/null || return 0
	npm_package ajv@8.17.1
	"$LIB/validate-json" "$node_modules" "$LIB/audit.schema.json" "$record" >"$work/lines" ||
		fail "a line does not fit the schema"
	[[ ! -e $work/otlp.jsonl ]] ||
		"$LIB/validate-json" "$node_modules" "$LIB/otlp-logs.schema.json" "$work/otlp.jsonl" >"$work/lines" ||
		fail "a line is no request of OTLP"
}

guarded=7
snapshots=$(printf 'snapshot,%.0s' $(seq $((guarded + 1)))) # and the status file

ordinary() {
	local count
	export GITHUB_RUN_ID=4711 GITHUB_RUN_ATTEMPT=2 GITHUB_JOB=review GITHUB_ACTION=leg GITHUB_REPOSITORY=some/where
	export GITHUB_WORKFLOW=Review GITHUB_SHA=0123abcd GITHUB_REF=refs/heads/main GITHUB_ACTOR=somebody
	audited -q --set-output model=x -- bash -c 'printf abc; echo d >&2; exit 3' - two
	expect 3
	kept
	events_are "start,${snapshots}leg-start,leg-end,publish,end"
	same "$(output audit-head)" "$(tail -n 1 "$record" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)"
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | cut -f 1 | tail -n 2 | tr '\n' ' ')" "audit-head lane-class "
	same "$(wc -l <"$work/stderr")" 2
	same "$(stat -c %a "$record")" 600
	same "$(about start .tool)" "$("$LEGGUARD" --version)"
	same "$(about start .kernel)" "$(uname -r)"
	same "$(about start .boot_id)" "$(cat /proc/sys/kernel/random/boot_id)"
	same "$(about start '.isolation, .view, .proof_expected' | tr '\n' ' ')" "namespace default pid-namespace "
	same "$(about start '.promises | tojson' | jq -c .)" "$(status_of promises | jq -c .)"
	same "$(about start '.executable.path, .executable.sha256')" \
		"$(command -v bash)"$'\n'"$(sha256sum "$(command -v bash)" | cut -d ' ' -f 1)"
	same "$(about start .argc)" 5
	same "$(about start .argv_sha256)" \
		"$(printf '%s\0' bash -c 'printf abc; echo d >&2; exit 3' - two | sha256sum | cut -d ' ' -f 1)"
	same "$(about start .argv)" null
	same "$(about start '.workflow | tojson')" '{"run_id":"4711","run_attempt":"2","job":"review","step":"leg","repository":"some/where","workflow":"Review","sha":"0123abcd","ref":"refs/heads/main","actor":"somebody"}'
	same "$(about start '.options.set_output[]')" model
	same "$(about start '.env == (.env | sort)')" true
	same "$(about start '.env | index("GITHUB_OUTPUT") != null')" true
	same "$(about start '.parents[1].pid')" "$$"
	same "$(jq -r 'select(.event == "snapshot" and .path == env.GITHUB_ENV) | "\(.size) \(.sha256) \(.ino) \(.mode)"' "$record")" \
		"$(stat -c %s "$GITHUB_ENV") $(sha256sum <"$GITHUB_ENV" | cut -d ' ' -f 1) $(stat -c %i "$GITHUB_ENV") 0644"
	same "$(about leg-end '.exit_code, .out_bytes, .err_bytes' | tr '\n' ' ')" "3 3 2 "
	same "$(about leg-end '.rusage.maxrss_kib > 0')" true
	same "$(about publish '[.outputs[].name] | tojson')" '["model","exit-code","tampered","reaped","lane-class"]'
	same "$(about publish '.outputs[0].sha256')" "$(printf x | sha256sum | cut -d ' ' -f 1)"
	same "$(about end '.class, .exit_status, .origin, .published, .restored, .proof' | tr '\n' ' ')" \
		"error 3 leg true true pid-namespace "
	same "$(jq -r '.resourceLogs[].resource.attributes[] | select(.key == "cicd.pipeline.run.id") | .value.stringValue' "$work/otlp.jsonl" | sort -u)" 4711
	same "$(jq -r '.resourceLogs[].scopeLogs[].logRecords[] | select(.eventName == "legguard.end") | .attributes[] | select(.key == "process.exit.code") | .value.intValue' "$work/otlp.jsonl")" 3
	same "$(jq -r '.resourceLogs[].scopeLogs[].logRecords[].traceId' "$work/otlp.jsonl" | sort -u)" "$(jq -r .run "$record" | sort -u)"
	audited --audit-argv -- echo '--audit-argv' 'tells it'
	expect 0
	same "$(about start '.argv // empty | tojson')" '["echo","--audit-argv","tells it"]'
	sound
}

# Its own scenario, since what has no validator must say so.
schemas() {
	npm_package ajv@8.17.1
	audited --file-commands decoy --import output:a -- bash -c 'echo a=1 >>"$GITHUB_OUTPUT"; echo ::notice::x'
	expect 0
	valid
	same "$(wc -l <"$record")" "$(wc -l <"$work/otlp.jsonl")"
	# And it can fail.
	jq -c 'if .event == "end" then .class = "fine" else . end' "$record" >"$work/wrong"
	! "$LIB/validate-json" "$node_modules" "$LIB/audit.schema.json" "$work/wrong" >"$work/lines" 2>&1 ||
		fail "the schema takes anything"
}

timed_out() {
	audited --timeout 2 --max-output 1M -- sleep 1000
	expect 124
	events_are "start,${snapshots}leg-start,timeout,leg-end,publish,end"
	same "$(about timeout .limit_ms)" 2000
	same "$(about leg-end .signal)" SIGTERM
	same "$(about start '.options.timeout_ms, .options.max_output' | tr '\n' ' ')" "2000 1048576 "
	same "$(about end .class)" timeout
}

cancelled() {
	mkfifo "$work/started"
	launch --audit "$record" --audit-otlp "$work/otlp.jsonl" --status "$work/status.json" -- \
		bash -c ': >"$1"; exec sleep 1000' - "$work/started"
	await "$work/started"
	until_true grep -q leg-start "$record"
	kill -INT "$launcher"
	finish
	expect 130
	events_are "start,${snapshots}leg-start,cancel,leg-end,publish,end"
	same "$(about cancel .signal)" SIGINT
	same "$(about end '.class, .exit_status, .origin' | tr '\n' ' ')" "cancelled 130 guard "
}

overflowed() {
	audited --max-output 1K -- yes
	expect 123
	events_are "start,${snapshots}leg-start,overflow,leg-end,publish,end"
	same "$(about overflow .limit)" 1024
}

not_executable() {
	printf '#!/bin/sh\n' >"$work/script"
	audited -- "$work/script"
	expect 126
	events_are "start,${snapshots}leg-end,publish,end"
	same "$(about leg-end .exec_errno)" EACCES
	chmod +x "$work/script"
	audited -- "$work/script"
	expect 0
	same "$(about start '.executable | tojson' | tail -n 1)" "{\"path\":\"$work/script\",\"sha256\":null}"
	audited -- /no/such/command
	expect 127
	same "$(about leg-end .exec_errno | tail -n 1)" ENOENT
	same "$(about end .origin | tail -n 1)" guard
	sound
}

survivors() {
	audited -- bash -c 'for i in 1 2; do sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; done'
	expect 0
	events_are "start,${snapshots}leg-start,leg-end,survivor,survivor,publish,end"
	same "$(about survivor '"\(.name) \(.how)"' | sort -u)" "sleep namespace-ended"
	same "$(about end .survivors)" 2
	audited --share-pid -- bash -c 'sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done'
	same "$(about survivor .how | tail -n 1)" killed
	same "$(about start .proof_expected | tail -n 1 | grep -cE '^(subreaper|cgroup)$')" 1
	sound
}

swept() {
	# shellcheck source=tests/scenarios/sweep.sh
	source "${BASH_SOURCE[0]%/*}/sweep.sh"
	machine systemd
	audited --isolation none --sweep kill -- bash -c "$leg"
	expect 3
	events_are "start,${snapshots}leg-start,leg-end,sweep,publish,end"
	same "$(about sweep '.mode, .clean, .total, .found[0].name' | tr '\n' ' ')" "kill true 1 sleep "
}

# An outsider, who has every right to write. Before and after are told, and which names came, not what they were set to.
tampered_by_an_outsider() {
	mkfifo "$work/started" "$work/go"
	launch --audit "$record" --audit-otlp "$work/otlp.jsonl" --status "$work/status.json" -- \
		bash -c ': >"$1"; : <"$2"' - "$work/started" "$work/go"
	await "$work/started"
	printf 'NODE_OPTIONS=--require=secret-value\nMODE=other\nMODE=more' >>"$GITHUB_ENV"
	sha256sum <"$GITHUB_ENV" | cut -d ' ' -f 1 >"$work/after"
	announce "$work/go"
	finish
	expect 120
	kept
	events_are "start,${snapshots}leg-start,leg-end,tamper,attempted,publish,end"
	same "$(about tamper '"\(.kind) \(.path) \(.restored)"')" "appended $GITHUB_ENV true"
	same "$(about tamper '"\(.before.size) \(.before.sha256)"')" \
		"$(stat -c %s "$GITHUB_ENV") $(sha256sum <"$GITHUB_ENV" | cut -d ' ' -f 1)"
	same "$(about tamper .after.sha256)" "$(cat "$work/after")"
	same "$(about attempted 'del(.v, .run, .seq, .prev, .file_prev, .time, .mono_us, .event) | tojson')" \
		'{"file":"env","names":["NODE_OPTIONS","MODE"],"total":3}'
	lacks "$record" secret-value
	same "$(about end '.class, .tampered' | tr '\n' ' ')" "tampered true "
}

# All ways to set something, without anything that keeps the leg from it.
tampered_by_the_leg() {
	audited --isolation none -- bash -c '
		printf "other-name=x\n" >"$GITHUB_OUTPUT.new"; mv "$GITHUB_OUTPUT.new" "$GITHUB_OUTPUT"
		printf "started<<E\n" >"$GITHUB_STATE"
		printf "/tmp/evil\n/tmp/evil2\n" >>"$GITHUB_PATH"
		: >"$GITHUB_STEP_SUMMARY"
		rm "$GITHUB_ENV"'
	expect 120
	sound
	same "$(about tamper '"\(.kind) \(.path | sub(".*/"; "") | sub("_4f4c.*"; ""))"' | sort | tr '\n' ' ')" \
		"appended add_path removed set_env replaced set_output rewritten save_state truncated step_summary "
	same "$(about attempted '"\(.file) \(.names | join("+")) \(.total) \(.error)"' | sort)" 'output other-name 1 null
path  2 null
state  0 not-closed'
	same "$(about tamper 'select(.kind == "removed") | .after')" null
	lacks "$record" /tmp/evil
}

decoys() {
	audited --file-commands decoy --import 'output:verdict=enum:pass|fail' --import env:COUNT -- bash -c '
		printf "verdict=maybe\nsecret-name=secret-value\nlane-class<<E\nx\nE\n" >>"$GITHUB_OUTPUT"
		echo COUNT=3 >>"$GITHUB_ENV"; echo LD_PRELOAD=/x.so >>"$GITHUB_ENV"; echo x >>"$GITHUB_STEP_SUMMARY"; echo broken >>"$GITHUB_STATE"'
	expect 0
	events_are "start,${snapshots}leg-start,leg-end,attempted,attempted,attempted,attempted,import,import,publish,end"
	same "$(about attempted '"\(.file) \(.names | join("+")) \(.total) \(.error)"')" 'output verdict+secret-name+lane-class 3 null
env COUNT+LD_PRELOAD 2 null
state  0 no-sign
summary  1 null'
	same "$(about import '"\(.kind):\(.name) \(.result)"')" $'output:verdict refused\nenv:COUNT carried'
	same "$(about import .reason | head -n 1)" "$(status_of imports | jq -r '.[0].refused')"
	lacks "$record" secret-value
	lacks "$record" /x.so
}

commands() {
	audited -- bash -c 'echo ::set-output name=a::b; echo ::set-output name=c::d; echo "::error::x" >&2; echo "##[group]y"'
	expect 0
	sound
	same "$(about command '"\(.stream) \(.name) \(.count) \(.action)"')" 'stdout set-output 2 neutralized
stdout group 1 neutralized
stderr error 1 neutralized'
	audited --workflow-commands pass -- bash -c 'echo ::set-output name=a::b; printf "::debug::no newline"'
	expect 0
	same "$(cat "$work/stdout")" $'::set-output name=a::b\n::debug::no newline'
	lacks "$work/stderr" "made"
	same "$(about command 'select(.action == "passed") | "\(.stream) \(.name) \(.count)"')" $'stdout set-output 1\nstdout debug 1'
	sound
}

# A leg on its way around the mount is ended before it can open the file.
contended() {
	mkdir "$work/beside" "$work/bare"
	audited -- unshare -rm bash -c '
		mount --bind "$1/beside" "$1/bare" || exit 9
		mv "$RUNNER_TEMP" "$1/beside/t" || exit 9
		echo lane-class=credit-stop >>"$1/bare/t/_runner_file_commands/${GITHUB_OUTPUT##*/}"' - "$work"
	expect 120
	kept
	sound
	same "$(jq -r .event "$record" | grep -c contended)" 1
	same "$(about tamper .kind | sort | tr '\n' ' ')" "opened path-moved "
}

# Values are nowhere, whoever gave them.
secrets() {
	export CREDENTIAL=value-of-a-credential GITHUB_TOKEN=ghs_valueofatoken ACTIONS_RUNTIME_TOKEN=value-of-a-runtime-token
	audited --setenv KEY=value-of-setenv --set-output out=value-of-an-output --import 'output:x=regex:value-of-a-rule' \
		--file-commands decoy -- bash -c 'echo x=value-of-the-leg >>"$GITHUB_OUTPUT"; echo value-of-the-log; echo value-of-stderr >&2' \
		- value-of-an-argument
	expect 0
	sound
	! grep -aE 'value-of|valueof' "$record" "$work/otlp.jsonl" || fail "a value is in the record"
	same "$(about start '.options.setenv[0], .options.import[0]' | tr '\n' ' ')" "KEY output:x "
	same "$(about start '.env | index("CREDENTIAL") != null')" true
	same "$(about start .env_malformed)" null
	# What has no name is a value, for all that anybody knows.
	rm "$record" "$work/otlp.jsonl"
	under=(python3 -c '
import ctypes, os, sys
words = [os.fsencode(w) for w in sys.argv[1:]]
env = [b"%s=%s" % item for item in os.environb.items()] + [b"value-of-no-name", b"valueofnothing"]
array = lambda a: (ctypes.c_char_p * (len(a) + 1))(*a)
ctypes.CDLL(None).execve(words[0], array(words), array(env))')
	audited -- true
	under=()
	expect 0
	sound
	! grep -aE 'value-of|valueof' "$record" "$work/otlp.jsonl" || fail "an entry without a name is in the record"
	same "$(about start .env_malformed)" 2
}

# Names are the leg's choice of bytes, and a line has its limits whatever they are.
hostile() {
	local long name=$'a\nb\e[31m\xff</script>|`$(x)`"\\\r##[error]' i args=()
	long=$(printf '%04096d' 0)
	mkdir "$work/$name" 2>/dev/null || mkdir "$work/${name//\//}"
	for ((i = 0; i < 300; i++)); do args+=(--guard "$work/guarded" --setenv "${long:0:900}\"\\$i=x" --set-output "out$i=x"); done
	: >"$work/guarded"
	export GITHUB_REF="$long$name" GITHUB_ACTOR=$name GITHUB_JOB=$name
	audited --audit-argv "${args[@]}" --file-commands decoy -- bash -c '
		printf "%s=x\n" "$2" >>"$GITHUB_OUTPUT"; for i in {1..200}; do printf "%s\"-$i=x\n" "$1" >>"$GITHUB_ENV"; done
		exec -a "$2" sleep 1000 & until [[ $(tr "\0" "\n" </proc/$!/cmdline | tail -n 1) == 1000 ]]; do :; done' \
		- "$long" "$name" "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long"
	expect 0
	sound
	! LC_ALL=C grep -nP '[^ -~]' "$record" "$work/otlp.jsonl" || fail "there is more than printable ASCII"
	lacks "$record" '##['
	same "$(awk '{ if (length($0) > 65535) print length($0) }' "$record")" ""
	same "$(about attempted 'select(.file == "env") | .total')" 200
	same "$(about publish .total)" 304
}

scenario "an ordinary run is in the record from its start to the verdict, whose hash is printed, published and in the status" ordinary
scenario "every line of a record fits its schema, and OTLP's, by a validator of others" schemas
scenario "a time-out is in the record" timed_out
scenario "so is a cancel" cancelled
scenario "so is too much output" overflowed
scenario "so is a command that can't be executed, and a script has no hash" not_executable
scenario "so is each survivor, and how it ended" survivors
scenario "so is what a sweep has found" swept
scenario "what an outsider changes is in the record with the hashes of before and after, and names without values" tampered_by_an_outsider
scenario "so is whatever else becomes of the files, and what the leg tried to set in them" tampered_by_the_leg
scenario "with decoys, what the leg tried to set is in the record by name, and which imports were accepted" decoys
scenario "so are workflow commands by name and number, made inert or passed" commands
scenario "so is a leg that was ended on its way around the mount" contended
scenario "no value of a variable, an output or an argument, and nothing of the leg's output, is in the record" secrets
scenario "hostile and endless names are inert in it, and no line is too long" hostile
