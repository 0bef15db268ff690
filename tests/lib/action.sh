# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# For scenarios of the composite action, which is carried out step by step by a stand-in for the runner (tests/lib/runner).

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

# before_sets LINE...: an earlier step writes them to GITHUB_ENV.
before_sets() {
	printf '%s\n' "$@" >"$work/lines"
	before="[{\"id\": \"poison\", \"shell\": \"/bin/bash {0}\", \"run\": \"/bin/cat $work/lines >>\\\"\$GITHUB_ENV\\\"\"}]"
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
