# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# The composite action and the machine: what it installs, with sudo and without, and what it changes.

# shellcheck source=tests/lib/action.sh
source "${BASH_SOURCE[0]%/*}/../lib/action.sh"

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
	# Nor does the step that finds it there take anything to do from an earlier step.
	printf '#!/bin/sh\necho "$*" >>%q\n' "$work/done" >"$work/do"
	chmod 0755 "$work/do"
	touch "$work/done"
	chmod 0666 "$work/done"
	before_sets "in_place=$work/do" staged=x "place=$work" kept=x work=x built=x missing=x
	act run=true
	class_is ok
	same "$(<"$work/done")" "" "run for an earlier step"
	before='[]'
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
	# For one program, and after all that is included.
	echo 'runner ALL=(ALL) NOPASSWD: /usr/bin/id, /usr/bin/tee' >"$work/etc/sudoers.d/zzzz-tools"
	chmod 0440 "$work/etc/sudoers.d/zzzz-tools"
	echo 'runner ALL=(ALL:ALL) NOPASSWD: ALL' >>"$work/etc/sudoers"
	act run='true' drop-sudo=true
	class_is ok
	"${under[@]}" sudo -n -l >"$work/stdout" || fail "no list"
	has "$work/stdout" "/usr/bin/tee"
	! "${under[@]}" sudo -n id || fail "sudo for one program"
	# A rule that sudo has from elsewhere: said, and no leg.
	cp "$work/etc/sudoers" "$work/etc/sudoers.other"
	echo 'runner ALL=(ALL:ALL) NOPASSWD: /usr/bin/id' >>"$work/etc/sudoers.other"
	echo 'Plugin sudoers_policy sudoers.so sudoers_file=/etc/sudoers.other' >"$work/etc/sudo.conf"
	act_refused drop-sudo "sudo still works for runner" run='touch "$RUNNER_TEMP/../ran"' drop-sudo=true
	echo 'runner ALL=(ALL:ALL) NOPASSWD: ALL' >>"$work/etc/sudoers.other"
	act_refused drop-sudo "sudo still works for runner" run='touch "$RUNNER_TEMP/../ran"' drop-sudo=true
	rm "$work/etc/sudo.conf"
	act_refused check "drop-sudo takes away" run=true user=runner drop-sudo=true
}

# Where the dynamic linker ends each step with success before it has done anything.
nothing_done() {
	hosted
	before_sets LD_TRACE_LOADED_OBJECTS=1
	local drop
	for drop in false true; do
		act run='exit 9' drop-sudo="$drop"
		same "$(said leg.steps.check.outcome)" success
		same "$(said leg.steps.leg.outcome)" skipped
		class_is ""
		same "$(said leg.outcome)" failure
		has "$machine/log" "executable file: /dev/null/legguard-has-not-run"
	done
	# One step alone: what follows does not take it for done.
	before='[]'
	cp -r "$ACTION" "$work/action"
	chmod -R a+rX "$work/action"
	local step
	for step in check install ready drop-sudo run; do
		cp "$ACTION/guard/action/$step" "$work/kept"
		echo 'exit 0' >"$work/action/guard/action/$step"
		ACTION=$work/action act run='touch "$RUNNER_TEMP/../ran"' drop-sudo=true
		cp "$work/kept" "$work/action/guard/action/$step"
		same "$(said leg.outcome)" failure "without $step"
		same "$(said leg.steps.ended.outcome)" failure "without $step"
		[[ ! -e $machine/ran ]] || fail "the leg ran without $step"
	done
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
	# What an earlier step says of compilers and packages has no say.
	env='{"PKG_CONFIG_LIBDIR": "/nowhere", "APT_CONFIG": "/nowhere", "CC": "false", "CFLAGS": "-x", "MESON_PACKAGE_CACHE_DIR": "/nowhere"}'
	act run=true binary= sha256=
	class_is ok
	[[ ! $(find /var/tmp -maxdepth 1 -name 'legguard-build.*' -user "$(id -u)") ]] || fail "it left something in /var/tmp"
	[[ $(find "$work/home" -path '*/source-*/legguard' -type f) ]] || fail "not installed by its source"
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

scenario_slow "the action takes a binary with the right sha256 only, and looks at what it installs" binaries
scenario_slow "the action installs nothing in RUNNER_TEMP, under another name either" home_in_temp
scenario_slow "the action gets its binary by https, and follows nowhere else" by_https
scenario_again_as_root "where sudo works the action installs legguard as root's" installed_by_root
scenario_again_as_root "drop-sudo takes sudo and docker away, checks it, and does not go on otherwise" sudo_dropped
scenario_again_as_root "a step of the action that did nothing, and said so to nobody, is no success and no leg" nothing_done
scenario_again_as_root "with a user the action starts legguard by sudo, and a cancel still publishes" as_user_by_sudo
scenario_again_as_root "prepare raises a limit that keeps a leg from running" prepared
scenario_again_as_root "prepare loads the AppArmor profile where AppArmor restricts namespaces" profile_loaded
scenario_again_as_root "the client is installed from npm, at one version and as root's, only if that is asked for" client_installed
scenario_again_as_root "in a job of root's the action wants a user for the leg" as_root_itself
scenario_slow "without a binary the action builds legguard from its own source" from_source
