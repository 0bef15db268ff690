# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# --isolation landlock: what it holds, with what kernel, where there are no namespaces; and what it costs.

# What a container engine's default filter answers. The program must not need any of it.
container=clone3=ENOSYS,clone-newuser=EPERM,clone-newpid=EPERM,unshare=EPERM,mount=EPERM,open_tree=EPERM,move_mount=EPERM,mount_setattr=EPERM

newest() { python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))'; }

# Nothing can be made in $work itself, which is above the guarded directory.
out=${work-}/workspace

need_landlock() {
	abi=$(newest)
	((abi > 0)) || skip "this kernel has no Landlock, or it is off"
}

landlock() { # like guard
	guard --isolation landlock --status "$work/status.json" "$@"
}

# With each ABI that this kernel can enforce: the function, with $abi set.
each_abi() {
	local most
	need_landlock
	most=$abi
	for ((abi = 1; abi <= most; abi++)); do
		under=("$TOOLS/landlock-abi" "$abi")
		printf 'before=kept\n' >"$GITHUB_OUTPUT"
		"$@"
		same "$(status_of landlock_abi)" "$abi" "ABI"
		same "$(status_of isolation)" landlock
		same "$(status_of confined)" true
	done
}

promised() { # NAME true|false
	same "$(status_of "promises.$1")" "$2" "${abi:+ABI $abi: }$1"
}

names_denied() {
	landlock -- "$LEGS/write-names" "$GITHUB_OUTPUT" "$GITHUB_ENV" "$GITHUB_PATH" "$GITHUB_STATE" \
		"$GITHUB_STEP_SUMMARY" "$outer_output"
	# Modes, times and attributes are no rights of Landlock's: these are put back.
	expect 120
	same "$(grep THROUGH "$work/stdout" | grep -cvE 'THROUGH: (chmod|touch|setxattr|fchmod) ')" 0 "ABI $abi: got through"
	has "$work/stdout" "append to set_output_4f4c0d54-9d2c: Permission denied"
	has "$work/stdout" "create beside add_path_4f4c0d54-9d2c-4: Permission denied"
	has "$work/stdout" "truncate set_env_4f4c0d54-9d2c-4e: Permission denied"
	same "$(grep -c 'legguard: tampered: metadata' "$work/stderr")" 6
	kept
	promised writes_denied true
	promised names_held true
	promised contents_restored true
}
by_name() { each_abi names_denied; }

shortened() {
	landlock -- "$LEGS/shorten" "$GITHUB_OUTPUT" "$GITHUB_ENV"
	expect 0
	lacks "$work/stdout" THROUGH
	kept
	promised writes_denied true
}
shorten() {
	each_abi shortened
	# Unconfined, each of these ways is one.
	under=()
	guard --isolation none -- "$LEGS/shorten" "$GITHUB_ENV"
	expect 120
	has "$work/stdout" "THROUGH: open with mode 3"
	has "$work/stdout" "THROUGH: truncate"
	kept
}

# Without both, shortening goes through, is put back, and nothing else is claimed.
no_filter() {
	need_landlock
	abi=2
	under=("$TOOLS/landlock-abi" 2 "$TOOLS/deny" seccomp=ENOSYS)
	guard -n --isolation landlock -- true
	expect 0
	grep -q '^not held .*writes_denied' "$work/stdout" || fail "-n claims that writes are denied"
	landlock -- "$LEGS/shorten" "$GITHUB_ENV"
	expect 120
	has "$work/stdout" "THROUGH: truncate"
	has "$work/stderr" "could empty guarded files"
	kept
	promised writes_denied false
	promised contents_restored true
}

late() {
	rm -f "$out/result" "$out/alive"
	landlock -- "$LEGS/late-writer" "$out/result" "$out/alive"
	expect 0
	dead "$out/alive"
	kept
	(($(grep -cx EACCES "$out/result") >= 3)) || fail "fewer than three attempts"
	same "$(sort -u "$out/result")" EACCES "what the attempts ended with"
	same "$(output lane-class)" ok
	same "$(output reaped)" true
	promised all_dead true
}
late_writer() { each_abi late; }

fixture() {
	need_landlock
	"$FIXTURES/forged-lane-class/expect" --want ok "$LEGGUARD" run --isolation landlock -- >&2
}

# Where a container's filter answers: refused by default, with the cure, and this tier holds.
in_container() {
	need_landlock
	local way
	for way in "$TOOLS/deny $container" "$TOOLS/deny docker-default" "$TOOLS/oddly no-user-namespaces --"; do
		read -r -a under <<<"$way"
		refusal_names="--isolation landlock" refused
		printf 'before=kept\n' >"$GITHUB_OUTPUT"
		late
		landlock -- "$LEGS/write-names" "$GITHUB_OUTPUT"
		expect 120
		kept
		landlock -- "$LEGS/detach" forking "$out/alive"
		expect 0
		dead "$out/alive"
		kept
	done
}

# Every name on the way: the directory, its parents, a symbolic link among them.
moves() {
	need_landlock
	ln -s _temp "$work/linked"
	GITHUB_OUTPUT=$work/linked/_runner_file_commands/${GITHUB_OUTPUT##*/}
	landlock -- bash -c '
		cd "$1"
		for d in "$2" "${2%/*}" "$1" "$1/linked"; do
			mv "$d" "$d.aside" && echo "THROUGH: move $d"
			mv "$d" "$1/workspace/aside" && echo "THROUGH: move $d into what is writable"
			mv -T "$1/workspace" "$d/x" && echo "THROUGH: move into $d"
		done
		rm -rf "$2" && echo "THROUGH: remove"
		ln -sfn /tmp "$1/linked" && echo "THROUGH: the link"
		mkdir "$1/new" && echo "THROUGH: make a directory in an ancestor"
		python3 -c "
import ctypes, sys
c = ctypes.CDLL(None, use_errno=True)
for d in sys.argv[2:]:
    if c.renameat2(-100, sys.argv[1].encode(), -100, d.encode(), 2) == 0:
        print(\"THROUGH: exchange\", d)" "$1/workspace" "$2" "${2%/*}" "$1/linked"
		exit 0' - "$work" "$file_commands" 2>"$work/moves"
	expect 0
	lacks "$work/stdout" THROUGH
	GITHUB_OUTPUT=$file_commands/${GITHUB_OUTPUT##*/}
	kept
	promised names_held true
}

ancestor_modes() {
	need_landlock
	landlock -- bash -c 'chmod 000 "${1%/*}" "$1"' - "$file_commands"
	expect 120
	kept
	same "$(stat -c %a "$RUNNER_TEMP")" 755
}

# Namespaces of the leg's own: with capabilities in them, nothing more is possible.
nested() {
	need_landlock
	unshare -Ur true 2>/dev/null || skip "no user namespaces here"
	landlock -- unshare -Urm bash -c '
		for way in "mount -t tmpfs none $1" "mount --bind $2 $1" "mount --bind $1 $2" "mount -o remount,rw /" "umount -l $1" \
			"mount --make-rprivate /"; do
			$way && echo "THROUGH: $way"
		done
		echo x >>"$GITHUB_OUTPUT" && echo "THROUGH: write"
		mv "$1" "$1.aside" && echo "THROUGH: move"
		exit 0' - "$file_commands" "$work/workspace"
	[[ $status == 0 || $status == 1 ]] || fail "exit status $status"
	lacks "$work/stdout" THROUGH
	kept
	landlock -- "$LEGS/dirfd-rename" rename "$RUNNER_TEMP" _runner_file_commands
	lacks "$work/stdout" THROUGH
	kept
}

alias_mounts() {
	need_landlock
	local what
	mkdir "$work/alias"
	: >"$work/alias-file"
	for what in "$RUNNER_TEMP:$work/alias" "$file_commands:$work/alias" "$work:$work/alias" "$GITHUB_OUTPUT:$work/alias-file"; do
		under=("$TOOLS/oddly" "bind=$what" --)
		landlock -- bash -c 'for f in "$1/$3" "$1/_runner_file_commands/$3" "$1/_temp/_runner_file_commands/$3" "$2"; do
			[[ ! -e $f ]] || echo lane-class=credit-stop >>"$f" && echo "THROUGH: $f"; done; exit 0' - \
			"$work/alias" "$work/alias-file" "${GITHUB_OUTPUT##*/}"
		[[ $status != 77 ]] || skip "$(<"$work/stdout")"
		expect 0
		same "$(grep -c "Permission denied" "$work/stderr")" 1 "$what: refusals"
		kept
		cat "$work/remembered/${GITHUB_OUTPUT##*/}" >"$GITHUB_OUTPUT"
	done
}

# A rule is on an inode, so a second name beside must not get one.
second_name() {
	need_landlock
	ln "$GITHUB_OUTPUT" "$RUNNER_TEMP/second"
	remember
	landlock --allow-hard-links -- bash -c 'for f; do echo lane-class=credit-stop >>"$f" && echo "THROUGH: $f"; done; exit 0' - \
		"$RUNNER_TEMP/second" "$GITHUB_OUTPUT"
	expect 0
	lacks "$work/stdout" THROUGH
	kept
}

outsiders() {
	need_landlock
	landlock -- bash -c 'exec "$1" "$PPID" "$GITHUB_OUTPUT"' - "$LEGS/outsider"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" "stopped: trace it: Operation not permitted"
	kept
}
signals() {
	need_landlock
	((abi >= 6)) || skip "this kernel's Landlock has no scopes (ABI $abi)"
	sleep 1000 &
	local outside=$!
	landlock -- bash -c '"$1" "$PPID" "$GITHUB_OUTPUT" signals && "$1" "$2" "$GITHUB_OUTPUT" signals; kill -KILL -1; echo here' - \
		"$LEGS/outsider" "$outside"
	# kill -1 is for everybody in the leg, itself included.
	lacks "$work/stdout" THROUGH
	kill -0 "$outside" || fail "a process outside was killed"
	kill "$outside"
	kept
	promised signals_confined true
	promised dies_with_launcher true
}
reaper_killed() {
	need_landlock
	abi=$((abi < 5 ? abi : 5))
	under=("$TOOLS/landlock-abi" "$abi")
	landlock --sweep off -- bash -c 'exec 9<>"$1"; flock -s 9; kill -KILL "$PPID"; echo x >>"$GITHUB_OUTPUT"; exit 0' - "$out/alive"
	expect 121
	dies "$out/alive"
	kept
	same "$(output lane-class)" survivors
	same "$(output reaped)" false
	promised signals_confined false
	promised dies_with_launcher false
	promised all_dead false
	promised writes_denied true
}

# The leg's own temporary directories, and what becomes of what it leaves.
temporary() {
	need_landlock
	echo old >"$RUNNER_TEMP/there"
	TMPDIR=/tmp landlock -- bash -euc '
		[[ $RUNNER_TEMP != "$1" ]]
		[[ $TMPDIR == */_legguard-tmp-* ]]
		f=$(mktemp)
		echo x >"$f"
		python3 -c "import tempfile; tempfile.TemporaryFile().write(b\"x\"); tempfile.NamedTemporaryFile()"
		echo report >"$RUNNER_TEMP/report"
		mkdir -p "$RUNNER_TEMP/tree/deep"
		echo leaf >"$RUNNER_TEMP/tree/deep/leaf"
		ln -s /etc/passwd "$RUNNER_TEMP/link"
		echo new >"$RUNNER_TEMP/there"
		echo forged >"$RUNNER_TEMP/_new"
		cat "$1/there"
		mkdir "$TMPDIR/closed" && : >"$TMPDIR/closed/file" && chmod 000 "$TMPDIR/closed"
		ln -s "$1" "$TMPDIR/out"' - "$RUNNER_TEMP"
	expect 0
	same "$(cat "$work/stdout")" old
	same "$(cat "$RUNNER_TEMP/report")" report
	same "$(cat "$RUNNER_TEMP/tree/deep/leaf")" leaf
	same "$(readlink "$RUNNER_TEMP/link")" /etc/passwd
	same "$(cat "$RUNNER_TEMP/there")" old
	# What can't be brought out stays where it is, and a note says where.
	same "$(find "$RUNNER_TEMP" -mindepth 1 -maxdepth 1 ! -name '_legguard-*' -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ')" \
		"_runner_file_commands link report there tree "
	same "$(cd "$RUNNER_TEMP" && LC_ALL=C ls -A _legguard-* | tr '\n' ' ')" "_new there "
	has "$work/stderr" "2 of what the leg left in RUNNER_TEMP are not brought out but in $RUNNER_TEMP/_legguard-"
	same "$(status_of brought_out.moved)" 3
	kept
}
temporary_as_asked() {
	need_landlock
	mkdir "$work/workspace/own"
	landlock --setenv "RUNNER_TEMP=$RUNNER_TEMP" --setenv "TMPDIR=$work/workspace/own" -- \
		bash -c 'echo "$RUNNER_TEMP $TMPDIR"; mktemp >/dev/null'
	expect 0
	same "$(cat "$work/stdout")" "$RUNNER_TEMP $work/workspace/own"
	landlock -i --setenv "PATH=$PATH" -- env
	expect 0
	same "$(grep -cE '^(RUNNER_TEMP|TMPDIR)=' "$work/stdout")" 0
	same "$(ls -A "$RUNNER_TEMP")" _runner_file_commands
}
refused_leaves_nothing() {
	need_landlock
	refused --isolation landlock -C "$work/nowhere"
	printf 'x<<EOF\nopen\n' >"$GITHUB_OUTPUT"
	refused --isolation landlock
	same "$(ls -A "$RUNNER_TEMP")" _runner_file_commands
}

# Names as they come, many of them, and some that go away.
many_beside() {
	need_landlock
	mkdir "$work/$(printf 'odd\nname \\ "\x01')" "$work/-rf"
	ln -s "$file_commands" "$work/to-the-guarded"
	ln -s nowhere "$work/dangling"
	mkfifo "$work/fifo"
	seq -f "$work/file-%g" 10000 | xargs touch
	landlock -- bash -c '
		odd=("$1"/odd*)
		echo x >"${odd[0]}/file" && echo y >"$1/-rf/file" && echo z >"$1/file-777" || exit 3
		echo x >>"$1/to-the-guarded/$2" && echo "THROUGH: the link"
		rm -f "$1/file-1" && echo "THROUGH: remove in an ancestor"
		exit 0' - "$work" "${GITHUB_OUTPUT##*/}"
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(cat "$work/file-777")" z
	kept
}
single_files() {
	need_landlock
	mkdir "$work/elsewhere" "$work/elsewhere/dir"
	printf 'important\n' >"$work/elsewhere/file"
	printf 'mine\n' >"$work/elsewhere/beside"
	landlock --guard "$work/elsewhere/file" --read-only "$work/elsewhere/dir" -- bash -c '
		cd "$1"
		echo x >>file && echo "THROUGH: append"
		rm -f file && echo "THROUGH: remove"
		mv beside file && echo "THROUGH: replace"
		: >dir/new && echo "THROUGH: create in what is read-only"
		echo yours >beside' - "$work/elsewhere"
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(cat "$work/elsewhere/file")" important
	same "$(cat "$work/elsewhere/beside")" yours
	kept
}

# Files that are hidden can't be read, and everything beside them can, what is made meanwhile as well.
hidden() {
	need_landlock
	mkdir -p "$work/secrets/deep" "$work/beside"
	echo secret >"$work/secrets/deep/token"
	echo secret >"$work/key"
	echo public >"$work/beside/file"
	ln "$work/beside/file" "$work/linked"
	ln -s "$work/key" "$work/workspace/to-the-key"
	landlock --hide "$work/secrets" --hide "$work/key" -- bash -c '
		cat "$1/key" to-the-key "$1/secrets/deep/token" && echo "THROUGH: read"
		echo x >"$1/key" && echo "THROUGH: write"
		rm -rf "$1/secrets" && echo "THROUGH: remove"
		mv "$1/key" key && echo "THROUGH: move"
		ln "$1/key" key2 && echo "THROUGH: link"
		cat "$1/beside/file" "$1/linked" && echo mine >own && cat own && cat /etc/passwd >/dev/null && git --version >/dev/null
		cat "$GITHUB_OUTPUT" && echo x >>"$GITHUB_OUTPUT" && echo "THROUGH: a guarded file"
		exit 0' - "$work"
	expect 0
	lacks "$work/stdout" THROUGH
	lacks "$work/stdout" secret
	same "$(cat "$work/stdout")" $'public\npublic\nmine\nbefore=kept'
	same "$(cat "$work/key" "$work/secrets/deep/token")" $'secret\nsecret'
	kept
}
# What is opened can be hidden, whatever it is; a socket is connected to, and refused.
hidden_kinds() {
	need_landlock
	mkfifo "$work/fifo" "$work/other"
	python3 -c 'import socket, os, sys
os.chdir(sys.argv[1])
socket.socket(socket.AF_UNIX).bind("socket")' "$work"
	landlock --hide "$work/fifo" --hide /dev/zero -- python3 -c '
import os, sys
for path in sys.argv[1], "/dev/zero":
    for how in os.O_RDONLY | os.O_NONBLOCK, os.O_RDWR:
        try:
            os.open(path, how)
            print("THROUGH:", path)
        except PermissionError:
            print("stopped:", path)
for path in sys.argv[2], "/dev/null", "/dev/urandom":
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))' "$work/fifo" "$work/other"
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(grep -c stopped "$work/stdout")" 4
	refusal_names="$work/socket is a socket" refused --isolation landlock --hide "$work/socket"
	guard --hide "$work/socket" -- true
	expect 0
}
as_user_of_root() {
	need_landlock
	chown -R "$TEST_UID:$TEST_UID" "$work"
	remember
	under=("$TOOLS/deny" "$container")
	landlock --user "$TEST_UID" -- bash -euc 'id -u; id -G; grep CapEff /proc/self/status
		mktemp >/dev/null; echo report >"$RUNNER_TEMP/report"; ! echo x >>"$GITHUB_OUTPUT"; exit 7'
	expect 7
	same "$(head -n 2 "$work/stdout" | tr '\n' ' ')" "$TEST_UID $TEST_UID "
	has "$work/stdout" 0000000000000000
	has "$work/stderr" "Permission denied"
	same "$(stat -c '%u %s' "$RUNNER_TEMP/report")" "$TEST_UID 7"
	kept
	printf 'before=kept\n' >"$GITHUB_OUTPUT"
	landlock --user "$TEST_UID" -- "$LEGS/late-writer" "$out/result" "$out/alive"
	expect 0
	same "$(sort -u "$out/result")" EACCES
	dead "$out/alive"
	refused --isolation landlock
	has "$work/stderr" "--user"
}

# What root could change of root's processes by a mere write.
root_processes() {
	need_landlock
	sleep 1000 &
	local outside=$! was
	was=$(</proc/$outside/oom_score_adj)
	landlock --root-leg -- bash -c '
		for f in oom_score_adj oom_adj coredump_filter comm clear_refs timerslack_ns; do
			for p in "$1" "$1/task/$1" self; do
				[[ -e /proc/$p/$f ]] || continue
				(echo 500 >"/proc/$p/$f") && echo "THROUGH: $p/$f"
				echo "tried"
			done
		done 2>/dev/null
		cat "/proc/$1/comm"' - "$outside"
	same "$(</proc/$outside/oom_score_adj)" "$was"
	kill "$outside"
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stdout" tried
	same "$(tail -n 1 "$work/stdout")" sleep
}
root_leg() {
	need_landlock
	under=("$TOOLS/deny" "$container")
	landlock --root-leg -- "$LEGS/late-writer" "$out/result" "$out/alive"
	expect 0
	same "$(sort -u "$out/result")" EACCES
	dead "$out/alive"
	same "$(output lane-class)" ok
	printf 'before=kept\n' >"$GITHUB_OUTPUT"
	local core
	core=$(</proc/sys/kernel/core_pattern)
	landlock --root-leg -- bash -c '
		grep -E "^Cap(Prm|Eff|Bnd)" /proc/self/status
		for f in /proc/sys/kernel/core_pattern /sys/kernel/uevent_helper /proc/sysrq-trigger /dev/mem "$2" "$GITHUB_OUTPUT"; do
			[[ ! -e $f ]] || (: >>"$f") 2>/dev/null && [[ -e $f ]] && echo "THROUGH: $f"
		done
		mknod disk b 8 0 && echo "THROUGH: a block device"
		mknod null c 1 3 && echo "THROUGH: a character device"
		chown 1 "$GITHUB_OUTPUT" && echo "THROUGH: chown"
		mount -t tmpfs none "$1" && echo "THROUGH: mount"
		echo own >own && rm own && echo fine >/dev/null && id -u' - "$file_commands" "$(find /dev -maxdepth 1 -type b | head -n 1)" 2>/dev/null
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(grep -c 0000000000000000 "$work/stdout")" 3 "empty capability sets"
	same "$(tail -n 1 "$work/stdout")" 0
	same "$(</proc/sys/kernel/core_pattern)" "$core"
	kept
	printf 'before=kept\n' >"$GITHUB_OUTPUT"
	landlock --root-leg -- "$LEGS/write-names" "$GITHUB_OUTPUT" "$GITHUB_ENV"
	expect 120
	same "$(grep THROUGH "$work/stdout" | grep -cvE 'THROUGH: (chmod|touch|setxattr|fchmod) ')" 0 "got through"
	kept
}

everyday() {
	need git gcc
	landlock -- bash -euc '
		git init -q repo && cd repo
		git config user.email a@b && git config user.name n
		echo "int main(void) { return 0; }" >a.c
		git add a.c && git commit -qm one
		git checkout -qb other && git mv a.c b.c && git commit -qm two && git checkout -q master 2>/dev/null || git checkout -q main
		gcc -o a a.c && ./a
		tar cf ../a.tar . && mkdir ../b && tar xf ../a.tar -C ../b
		mv a.c ../b/ && mv ../b/a.c sub-a.c
		git clone -q . ../clone
		echo x >/dev/null && echo y | tee /dev/stderr | cat >/dev/stdout
		timeout 10 true
		: >"/proc/self/comm" || true
		python3 -c "import subprocess; subprocess.run([\"true\"], check=True)"' 2>"$work/errors"
	expect 0
	kept
}
honest() {
	need_landlock
	under=("$TOOLS/deny" "$container")
	everyday
}
honest_oldest() {
	need_landlock
	under=("$TOOLS/landlock-abi" 1)
	everyday
}
npm_install() {
	need node npm
	need_landlock
	mkdir -p "$work/workspace/dep" "$work/workspace/app"
	echo '{"name": "dep", "version": "1.0.0", "bin": {"dep": "cli.js"}, "scripts": {"install": "echo built >built"}}' \
		>"$work/workspace/dep/package.json"
	printf '#!/usr/bin/env node\nconsole.log("dep runs")\n' >"$work/workspace/dep/cli.js"
	chmod +x "$work/workspace/dep/cli.js"
	echo '{"name": "app", "version": "1.0.0"}' >"$work/workspace/app/package.json"
	landlock -- bash -euc 'cd app; npm install --offline --no-audit --no-fund --install-links ../dep >/dev/null; npx --no-install dep'
	expect 0
	has "$work/stdout" "dep runs"
	kept
}

launcher_killed() {
	need_landlock
	mkfifo "$work/started"
	launch --isolation landlock -- bash -c '
		trap "" INT TERM HUP
		exec 9<>"$1"; flock -s 9
		setsid -f sleep 1000
		: >"$2"
		while :; do echo lane-class=credit-stop >>"$GITHUB_OUTPUT"; done 2>/dev/null' - "$out/alive" "$work/started"
	await "$work/started"
	kill -KILL "$launcher"
	finish
	dies "$out/alive"
	kept unpublished
}
reaped() {
	need_landlock
	local style
	for style in stopped forking traced leaderless; do
		landlock -- "$LEGS/detach" "$style" "$out/alive"
		expect 0
		dead "$out/alive"
		kept
		promised all_dead true
		same "$(output reaped)" true
		[[ $style == forking ]] || (($(status_of survivors.count) >= 1)) || fail "$style: no survivors counted"
	done
}
timed_out() {
	need_landlock
	local t
	for t in 0.5 3 10; do
		rm -f "$out/ready"
		landlock -t "$t" -- bash -c 'exec 9<>"$1"; flock -s 9; setsid -f sleep 1000; trap "" TERM; : >"$2"; exec sleep 1000' - \
			"$out/alive" "$out/ready"
		[[ ! -e $out/ready ]] || break
	done
	expect 124
	dead "$out/alive"
	kept
	same "$(output lane-class)" timeout
}
cancelled() {
	need_landlock
	mkfifo "$work/started"
	launch --isolation landlock --status "$work/status.json" -- bash -c 'exec 9<>"$1"; flock -s 9; : >"$2"; exec sleep 1000' - \
		"$out/alive" "$work/started"
	await "$work/started"
	kill -TERM "$launcher"
	finish
	expect 143
	dead "$out/alive"
	kept
	same "$(output lane-class)" cancelled
	same "$(ls -A "$RUNNER_TEMP")" _runner_file_commands
}

powerless() {
	need_landlock
	landlock -- bash -c 'grep -E "^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs)" /proc/self/status; ls /proc/self/fd | tr "\n" " "'
	expect 0
	same "$(grep -c 0000000000000000 "$work/stdout")" 4 "empty capability sets"
	has "$work/stdout" $'NoNewPrivs:\t1'
}
no_landlock() {
	under=("$TOOLS/deny" landlock_create_ruleset=ENOSYS)
	refusal_names="has no Landlock" refused --isolation landlock
	under=("$TOOLS/deny" landlock_create_ruleset=EOPNOTSUPP)
	refusal_names="has no Landlock" refused --isolation landlock
	kept unpublished
}
said_beforehand() {
	need_landlock
	HOME=$work guard -n --isolation landlock -- true
	expect 0
	has "$work/stdout" "isolation  landlock, ABI $abi"
	has "$work/stdout" "read-only  $file_commands"
	has "$work/stdout" "warning    HOME $work: nothing can be made or removed directly in it"
	has "$work/stdout" "private    RUNNER_TEMP, in $RUNNER_TEMP"
	has "$work/stdout" "private    TMPDIR, in $RUNNER_TEMP"
	has "$work/stdout" "promises   contents_restored, writes_denied, names_held, all_dead"
	same "$(ls -A "$RUNNER_TEMP")" _runner_file_commands
}
other_tiers() {
	guard --isolation none --status "$work/status.json" -- true
	expect 0
	promised writes_denied false
	promised contents_restored false
	promised all_dead false
	promised dies_with_launcher false
	guard --status "$work/status.json" -- true
	expect 0
	promised writes_denied "$(status_of held)"
	promised all_dead true
	promised dies_with_launcher true
	promised signals_confined true
	promised names_held false
	guard --status "$work/status.json" -C "$work/nowhere" -- true
	expect 125
	same "$(status_of promises)" null
}

scenario "with every ABI, a leg can change no guarded file by its name; modes and attributes come back" by_name
scenario "with every ABI, no guarded file can be made shorter, though old ones have no right for that" shorten
scenario "where nothing can deny that, it is put back, and the status does not claim it" no_filter
scenario "with every ABI, a late writer gets EACCES and the file holds the launcher's class" late_writer
scenario "with Landlock the forged-lane-class fixture passes" fixture
scenario "where a container refuses namespaces the default is refused, with the cure, and Landlock holds" in_container
scenario "with Landlock no name above a guarded file can be moved, not even a symbolic link" moves
scenario "with Landlock modes of ancestors are put back" ancestor_modes
scenario "with Landlock namespaces of the leg's own, with capabilities, open nothing" nested
scenario "with Landlock a write through another mount fails" alias_mounts
scenario "with Landlock a second name beside gives no right on the first" second_name
scenario "with Landlock the processes around the leg are out of its reach" outsiders
scenario "with Landlock's scopes the leg can't signal anybody outside" signals
scenario "without scopes a leg that kills its reaper gets 121, and the files hold" reaper_killed
scenario "with Landlock the leg has a RUNNER_TEMP and a TMPDIR, and what it leaves is brought out" temporary
scenario "with Landlock --setenv and --clear-env have the last word on them" temporary_as_asked
scenario "with Landlock a refused run leaves no directory behind" refused_leaves_nothing
scenario "with Landlock ten thousand files, odd names and links beside a guarded directory stay as they are" many_beside
scenario "with Landlock single files and --read-only directories hold, and what is beside them can be written" single_files
scenario "with Landlock a hidden file can't be read or changed, and what is beside it can" hidden
scenario "with Landlock FIFOs and devices can be hidden, and hiding a socket is refused" hidden_kinds
scenario_as_root "with Landlock root runs the leg as another user, in a container too" as_user_of_root
scenario_as_root "with Landlock a root leg has no capabilities, and neither settings of the kernel nor disks to write" root_leg
scenario_as_root "with Landlock a root leg can write below no process in /proc" root_processes
scenario "with Landlock git, gcc, tar and python work where a container refuses namespaces" honest
scenario "with Landlock of the oldest ABI git, gcc, tar and python work" honest_oldest
scenario "with Landlock npm installs a local package that builds" npm_install
scenario "with Landlock a leg dies with its launcher, however that is killed" launcher_killed
scenario "with Landlock everything the leg left is killed and proven dead" reaped
scenario "with Landlock a leg that takes too long is ended" timed_out
scenario "with Landlock a cancelled run restores, publishes and cleans up" cancelled
scenario "with Landlock a leg has no capabilities and can't gain any" powerless
scenario "without Landlock the tier is refused" no_landlock
scenario "--dry-run says what Landlock will hold and what it costs" said_beforehand
scenario "in the other tiers the status claims what they hold" other_tiers
