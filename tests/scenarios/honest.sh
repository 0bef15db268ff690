# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# What the guard costs an honest leg: nothing, for most; and a word of help where its view is in the way.

# succeeds COMMAND: as the leg, in the workspace.
succeeds() {
	guard -- "$@"
	expect 0
	lacks "$work/stderr" "may be why it failed"
	kept
}

a_c_project() {
	need meson ninja
	printf '%s\n' "project('hello', 'c')" "test('runs', executable('hello', 'hello.c'))" >meson.build
	printf '%s\n' '#include <stdio.h>' 'int main(void) { return puts("hello") < 0; }' >hello.c
	succeeds bash -c 'meson setup build && ninja -C build && meson test -C build'
	has "$work/stdout" "Ok:                 1"
}

an_npm_project() {
	need npm node
	mkdir dependency
	echo '{"name": "dependency", "version": "1.0.0", "main": "index.js"}' >dependency/package.json
	echo 'module.exports = 42' >dependency/index.js
	tarball=$(cd dependency && npm pack --silent)
	cat >package.json <<-EOF2
		{"name": "project", "version": "1.0.0", "dependencies": {"dependency": "file:dependency/$tarball"},
		 "scripts": {"test": "node -p 'require(\"dependency\")'"}}
	EOF2
	npm install --silent --package-lock-only --offline --no-audit --no-fund
	succeeds bash -c 'npm ci --offline --no-audit --no-fund && npm test --silent'
	same "$(tail -n 1 "$work/stdout")" 42
}

python_tests() {
	/usr/bin/python3 -c 'import pytest' 2>/dev/null || skip "python3-pytest is not installed"
	printf '%s\n' 'def test_answer(tmp_path):' '    (tmp_path / "x").write_text("42")' \
		'    assert (tmp_path / "x").read_text() == "42"' >answer_test.py
	succeeds /usr/bin/python3 -m pytest -q answer_test.py
	has "$work/stdout" "1 passed"
}

# Debian's, or a toolchain that lies where only root can go.
a_rust_project() {
	local toolchain
	toolchain=$(HOME=~root rustc --print sysroot 2>/dev/null) || skip "rustc is not installed"
	[[ -x $toolchain/bin/cargo ]] || skip "cargo is not installed"
	mkdir -p "$work/rust" src
	under=("$LIB/as-runner" "$toolchain:$work/rust" --)
	printf '%s\n' '[package]' 'name = "hello"' 'version = "0.1.0"' 'edition = "2021"' >Cargo.toml
	printf '%s\n' 'fn main() { println!("hello"); }' '#[test]' 'fn runs() { assert_eq!(2 + 2, 4); }' >src/main.rs
	chown -R "$TEST_UID:$TEST_UID" "$work"
	PATH=$work/rust/bin:$PATH guard -- cargo test --offline --quiet
	expect 0
	has "$work/stdout" "1 passed"
}

signing() {
	need gpg git
	export GNUPGHOME=$work/gnupg
	mkdir -m 0700 "$GNUPGHOME"
	gpg --batch --quiet --passphrase '' --quick-generate-key 'Runner <runner@example.org>' default default never \
		2>"$work/gpg.log" || fail "no key: $(cat "$work/gpg.log")"
	gpgconf --kill gpg-agent
	git init -q .
	git config user.name Runner
	git config user.email runner@example.org
	git config user.signingkey runner@example.org
	# The agent that gpg starts is a process that the leg leaves.
	guard -- git commit -q --allow-empty -S -m signed
	expect 0
	has "$work/stderr" "killed 1 process the leg left running: gpg-agent"
	git verify-commit HEAD 2>"$work/gpg.log" || fail "not signed: $(cat "$work/gpg.log")"
	gpgconf --kill all
}

an_agent_outside() {
	need ssh-agent ssh-add ssh-keygen
	chown -R "$TEST_UID:$TEST_UID" "$work"
	under=("$LIB/as-runner" --)
	eval "$("${under[@]}" ssh-agent -s)" >/dev/null
	trap 'kill "$SSH_AGENT_PID"' EXIT
	"${under[@]}" ssh-keygen -q -t ed25519 -N '' -f "$work/key"
	"${under[@]}" ssh-add -q "$work/key"
	guard -- ssh-add -l
	expect 0
	has "$work/stdout" ED25519
}

# A package from a repository on this machine, as an ordinary user does it.
a_package() {
	need apt-get dpkg-deb
	local p=$work/package
	mkdir -p "$p/DEBIAN" "$work/repository" "$work/apt"/{lists,cache,etc/preferences.d,etc/trusted.gpg.d}
	printf '%s\n' 'Package: legguard-test' 'Version: 1' 'Architecture: all' 'Maintainer: none <none@example.org>' \
		'Description: nothing' >"$p/DEBIAN/control"
	dpkg-deb -b "$p" "$work/repository/legguard-test_1_all.deb" >/dev/null
	{
		cat "$p/DEBIAN/control"
		printf '%s\n' 'Filename: ./legguard-test_1_all.deb' \
			"Size: $(stat -c %s "$work/repository/legguard-test_1_all.deb")" \
			"SHA256: $(sha256sum <"$work/repository/legguard-test_1_all.deb" | cut -d' ' -f1)"
	} >"$work/repository/Packages"
	echo "deb [trusted=yes] file:$work/repository ./" >"$work/apt/sources.list"
	cat >"$work/apt/conf" <<-EOF2
		Dir::Etc "$work/apt/etc"; Dir::Etc::SourceList "$work/apt/sources.list"; Dir::Etc::SourceParts "-";
		Dir::State::Lists "$work/apt/lists"; Dir::Cache "$work/apt/cache"; Debug::NoLocking "true";
	EOF2
	export APT_CONFIG=$work/apt/conf
	guard -- bash -c 'apt-get -q update && apt-get -q download legguard-test'
	expect 0
	[[ -s legguard-test_1_all.deb ]] || fail "nothing was downloaded"
}

# sshd of the machine, run by the user himself, and a client whose system configuration belongs to root.
start_sshd() {
	need sshd ssh git
	export HOME=$work/home
	mkdir -p "$HOME/.ssh" "$work/ssh/ssh_config.d"
	ssh-keygen -q -t ed25519 -N '' -f "$work/host_key"
	ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
	cp "$HOME/.ssh/id_ed25519.pub" "$HOME/.ssh/authorized_keys"
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $work/host_key" 'UsePAM no' 'StrictModes no' \
		"PidFile $work/sshd.pid" "AuthorizedKeysFile $HOME/.ssh/authorized_keys" >"$work/sshd_config"
	echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$work/host_key.pub")" >"$HOME/.ssh/known_hosts"
	git init -q --bare "$work/repository.git"
	chown -R "$TEST_UID:$TEST_UID" "$work"
	echo 'Include /etc/ssh/ssh_config.d/*.conf' >"$work/ssh/ssh_config"
	echo 'Host *' >"$work/ssh/ssh_config.d/company.conf"
	chown -R 0:0 "$work/ssh"
	under=("$LIB/as-runner" "$work/ssh:/etc/ssh" --)
	"${under[@]}" /usr/sbin/sshd -D -e -f "$work/sshd_config" 2>"$work/sshd.log" &
	sshd=$!
	until_true [ -s "$work/sshd.pid" ]
	url=ssh://runner@127.0.0.1:$port$work/repository.git
}

stop_sshd() {
	kill "$(cat "$work/sshd.pid")"
	wait "$sshd" || true
}

git_over_ssh() {
	start_sshd
	guard -- git clone -q "$url" clone
	expect 128
	has "$work/stderr" "Bad owner or permissions on /etc/ssh/ssh_config.d/company.conf"
	has "$work/stderr" 'this may be why it failed: files of root show as nobody'
	has "$work/stderr" 'GIT_SSH_COMMAND="ssh -F none"'
	guard --setenv "GIT_SSH_COMMAND=ssh -F none" -- bash -c '
		git clone -q "$1" clone && cd clone && git -c user.name=r -c user.email=r@example.org \
			commit -q --allow-empty -m first && git push -q origin HEAD:refs/heads/main' - "$url"
	stop_sshd
	expect 0
	git -c safe.directory='*' --git-dir "$work/repository.git" rev-parse -q --verify main >/dev/null ||
		fail "nothing was pushed"
}

# hint OF COMMAND...: it fails, and the note that explains it has OF in it.
hint() {
	local of=$1
	shift
	guard --status "$work/status.json" -- "$@"
	[[ $status != 0 && $status != 12[0-5] ]] || fail "exit status $status"
	same "$(grep -c 'may be why it failed' "$work/stderr")" 1 "notes"
	has "$work/stderr" "$of"
	[[ $(status_of hint) == *"$of"* ]] || fail "the status says $(status_of hint)"
}

set_user_id() {
	need sudo
	hint "set-uid programs gain no rights" sudo true
	hint "set-uid programs gain no rights" bash -c 'sudo -n true'
}

file_capabilities() {
	need ping
	ping -c 1 -w 5 127.0.0.1 >/dev/null 2>&1 || skip "ping does not work here without a guard either"
	[[ $(getcap "$(command -v ping)" 2>/dev/null) ]] || skip "ping has no file capabilities here"
	hint "set-uid programs gain no rights" ping -c 1 127.0.0.1
	same "$status" 126
	hint "set-uid programs gain no rights" bash -c 'ping -c 1 127.0.0.1'
}

others_files() {
	hint "its own user" bash -c ': >file; chown 12345 file'
	hint "its own user" bash -c ': >file; tar cf a.tar --owner=12345 --group=12345 file; tar xf a.tar --same-owner'
}

file_commands_fail() {
	hint "--set-output" bash -c 'echo result=1 >>"$GITHUB_OUTPUT"'
	hint "--set-output" python3 -c 'import os; open(os.environ["GITHUB_OUTPUT"], "a")'
	hint "--set-output" bash -c 'rm -rf "$RUNNER_TEMP"/*'
	kept
}

file_commands_fail_in_node() {
	need node
	hint "--set-output" node -e 'require("fs").appendFileSync(process.env.GITHUB_OUTPUT, "result=1\n")'
}

no_hint() {
	guard -- bash -c 'echo "make: *** [all] Error 2" >&2; exit 2'
	expect 2
	same "$(cat "$work/stderr")" "make: *** [all] Error 2"
	guard -- bash -c 'echo "x: Read-only file system" >&2'
	expect 0
	same "$(cat "$work/stderr")" "x: Read-only file system"
	guard --quiet -- bash -c 'echo "x: Read-only file system" >&2; exit 1'
	same "$(cat "$work/stderr")" "x: Read-only file system"
	guard --isolation none -- bash -c 'echo "x: Read-only file system" >&2; exit 1'
	lacks "$work/stderr" "why it failed"
}

scenario "a C project builds and passes its tests in the leg" a_c_project
scenario "npm ci and npm test work in the leg" an_npm_project
scenario "pytest works in the leg" python_tests
scenario_as_root "cargo builds and tests in the leg" a_rust_project
scenario "git signs a commit with gpg in the leg, and the agent that gpg started ends with it" signing
scenario_as_root "a leg can use the ssh agent of its step" an_agent_outside
scenario "apt-get fetches a package in the leg" a_package
scenario_as_root "git works over ssh in the leg, after the note on ssh's configuration has been followed" git_over_ssh
scenario "a leg that fails on sudo is told why" set_user_id
scenario "a leg that fails on a program with capabilities is told why" file_capabilities
scenario "a leg that fails on giving files away is told why" others_files
scenario "a leg that fails on writing a file command is told why" file_commands_fail
scenario "so is one in Node.js, whose message is long" file_commands_fail_in_node
scenario "a leg that fails on something else, or does not fail, is told nothing" no_hint
