# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# Honest legs: sandboxes of their own, and the usual clients of the runner.

bubblewrap() {
	need bwrap
	bwrap --dev-bind / / --unshare-pid --unshare-net --proc /proc --dev /dev true 2>"$work/probe" ||
		skip "bubblewrap does not work here: $(head -n 1 "$work/probe")"
	guard -- bwrap --dev-bind / / --unshare-pid --unshare-net --proc /proc --dev /dev \
		bash -c 'echo "inside $$"; ls /proc | grep -c "^[0-9]"; echo x >>"$GITHUB_OUTPUT" && echo THROUGH; exit 6'
	expect 6
	has "$work/stdout" inside
	lacks "$work/stdout" THROUGH
	kept
	same "$(output lane-class)" error
	guard -- bwrap --ro-bind / / --unshare-all --die-with-parent --new-session --proc /proc --dev /dev --tmpfs /tmp \
		true
	expect 0
}
unshare_all() {
	guard -- unshare -Urmpf --mount-proc true
	expect 0
	kept
}

actions_core() {
	npm_package @actions/core@1.11.1
	cat >"$work/client.js" <<-'EOF2'
		const core = require(process.argv[2] + '/@actions/core');
		const attempts = {
		  setOutput: () => core.setOutput('lane-class', 'credit-stop'),
		  exportVariable: () => core.exportVariable('FORGED', '1'),
		  addPath: () => core.addPath('/tmp/forged'),
		  saveState: () => core.saveState('forged', '1'),
		};
		for (const [name, attempt] of Object.entries(attempts)) {
		  try {
		    attempt();
		    console.log(name + ' THROUGH');
		  } catch (e) {
		    console.log(name + ' ' + e.code);
		  }
		}
		core.summary.addRaw('forged').write().then(
		  () => console.log('summary THROUGH'),
		  (e) => console.log('summary ' + (e.code || e.message)));
	EOF2
	guard -- node "$work/client.js" "$node_modules"
	expect 0
	lacks "$work/stdout" THROUGH
	local name
	for name in setOutput exportVariable addPath saveState; do
		has "$work/stdout" "$name EROFS"
	done
	kept
	same "$(output lane-class)" ok
}

actions_core_reads_back() {
	npm_package @actions/core@1.11.1
	# What it writes unguarded is read by read-outputs: the reader used in all scenarios is sound.
	node -e 'const core = require(process.argv[1] + "/@actions/core");
		core.setOutput("text", "a\nb=c\n<<\n"); core.setOutput("empty", ""); core.setOutput("last", {x: 1});' "$node_modules"
	same "$("$LIB/read-outputs" "$GITHUB_OUTPUT" | tail -n 3)" $'text\t"a\\nb=c\\n<<\\n"\nempty\t""\nlast\t"{\\"x\\":1}"'
}

sandbox_runtime() {
	need bwrap socat rg
	npm_package @anthropic-ai/sandbox-runtime
	(($(node -p 'process.versions.node.split(".")[0]') >= 18)) || skip "node is too old for it"
	mkdir -p "$work/home"
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["."],"denyWrite":[]}}' \
		>"$work/home/.srt-settings.json"
	local srt=("$node_modules/.bin/srt" --settings "$work/home/.srt-settings.json")
	"${srt[@]}" -c 'echo probe' >"$work/probe" 2>&1 </dev/null || skip "it does not work here without a guard either: $(tail -n 1 "$work/probe")"
	guard -- "${srt[@]}" -c 'echo "in the sandbox: $(id -u)"; echo x >>"$GITHUB_OUTPUT" && echo THROUGH; exit 0'
	expect 0
	has "$work/stdout" "in the sandbox: $(id -u)"
	lacks "$work/stdout" THROUGH
	kept
	same "$(output lane-class)" ok
}

everyday_tools() {
	need git gcc
	guard -- bash -euc '
		git init -q repo && cd repo
		git config user.email a@b && git config user.name n
		echo "int main(void) { return 0; }" >a.c
		git add a.c && git commit -qm one
		gcc -o a a.c && ./a
		tar cf ../a.tar . && mkdir ../b && tar xf ../a.tar -C ../b
		timeout 10 true
		python3 -c "import subprocess; subprocess.run([\"true\"], check=True)"'
	expect 0
	kept
}
guard_in_guard() {
	guard -- "$LEGGUARD" run --no-outputs -u X -- true
	# The inner one can't write the files: it has to say so, not to pretend.
	[[ $status == 0 || $status == 125 ]] || fail "exit status $status"
	kept
}

scenario "a nested bubblewrap works, and can't write either" bubblewrap
scenario "a nested unshare with its own /proc works" unshare_all
scenario "the runner's client library gets EROFS, and the outputs are unaffected" actions_core
scenario "what the runner's client library writes is what the scenarios' reader reads" actions_core_reads_back
scenario "a sandbox runtime for agents runs a command inside a leg" sandbox_runtime
scenario "git, gcc, tar and python work in a leg" everyday_tools
scenario "a guard inside a guard works or refuses" guard_in_guard
