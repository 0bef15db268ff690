# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# What `legguard doctor` says of a machine is what `legguard run` finds on it.

# doctor [ARG]...: sets $status; the table in $work/table.
doctor() {
	status=0
	"${under[@]}" "$LEGGUARD" doctor "$@" >"$work/table" 2>"$work/stderr" </dev/null || status=$?
}

# line WORD NAME: the table has that word for that name.
line() {
	grep -qE "^  $1 +$2 " "$work/table" || fail "no '$1 $2': $(<"$work/table")"
}

# What the object says of it: said PATH [ARG]..., a path of keys with dots between them.
said() {
	"${under[@]}" "$LEGGUARD" doctor --json 2>"$work/stderr" </dev/null >"$work/doctor.json" || true
	python3 -c '
import json, sys
v = json.load(open(sys.argv[1], "rb"))
for k in sys.argv[2].split("."):
    v = v[int(k)] if isinstance(v, list) else v[k]
print(v if isinstance(v, str) else json.dumps(v))' "$work/doctor.json" "$1" || fail "no $1 in the object"
}

# agrees EXPECTED: doctor and a run say the same, 0 or not. $work/table is doctor's.
agrees() {
	guard --no-outputs -- true
	local run=$status
	[[ $run == 0 || $run == 125 ]] || fail "exit status $run of a run"
	kept unpublished
	[[ $(((run != 0))) == "$1" ]] || fail "a run ended with $run"
	doctor
	[[ $status == "$1" ]] || fail "a run ended with $run, doctor with $status: $(grep MISSING "$work/table")"
	[[ ! -s $work/stderr ]] || fail "it wrote to stderr"
	same "$(grep -c '^  MISSING' "$work/table" | sed 's/^[1-9].*/some/')" "$([[ $1 == 0 ]] && echo 0 || echo some)" "red lines"
	same "$(said default_works)" "$([[ $1 == 0 ]] && echo true || echo false)"
	json_is_table
	guard --isolation landlock --no-outputs -- true
	[[ $status == 0 || $status == 125 ]] || fail "exit status $status of a run in the landlock tier"
	kept unpublished
	same "$(said tiers.landlock.works)" "$([[ $status == 0 ]] && echo true || echo false)" "the landlock tier"
}

# Each line of the table is in the object and the other way round, with the same word.
json_is_table() {
	python3 - "$work/doctor.json" "$work/table" <<-'EOF2'
		import json, re, sys
		d = json.load(open(sys.argv[1], "rb"))
		table, section = {}, ""
		for line in open(sys.argv[2]):
		    if not line.startswith(" "):
		        section = line.split()[0]
		    m = re.match(r"  (ok|MISSING|missing|yes|no|unknown) +([^\s,]+(?:, \S+)?) ", line)
		    if m:
		        table[section, m[2]] = m[1]
		want = {}
		for name, c in d["checks"].items():
		    assert set(c) == {"state", "needed", "value", "errno", "detail", "fix"}, c
		    want["legguard", name] = "MISSING" if c["needed"] and c["state"] == "missing" else c["state"]
		    assert (c["state"] == "missing") or c["fix"] is None, c
		    assert c["detail"], name
		for name, t in d["tiers"].items():
		    assert t["works"] == (t["error"] is None), t
		    now = table["Tiers,", name]
		    assert now in (["ok"] if t["works"] else ["MISSING"] if name == "namespace" else ["missing", "unknown"]), name
		    want["Tiers,", name] = now
		if d["other_user"]:
		    want["Tiers,", "namespace, " + ("sudo" if d["other_user"]["sudo"] else "--user")] = \
		        "ok" if d["other_user"]["works"] else "missing"
		assert table == want, sorted(table.items() ^ want.items())
		assert d["strongest_tier"] == next(n for n in ("namespace", "landlock", "none") if d["tiers"][n]["works"])
		assert d["default_works"] == d["tiers"]["namespace"]["works"]
		# What is needed and missing is what fails, and the other way round there is something to do.
		needed = [n for n, c in d["checks"].items() if c["needed"] and c["state"] == "missing"]
		assert not (d["default_works"] and needed), needed
		assert d["default_works"] or d["fixes"], d
		assert not (d["default_works"] and d["fixes"]), d
	EOF2
}

# The cure that a run names is the one that doctor names.
same_cure() {
	guard --no-outputs -- true
	local refusal text
	refusal=$(<"$work/stderr")
	text=$(said fixes.0.text)
	[[ $refusal == *": $text" ]] || fail "'$refusal' does not end in '$text'"
}

sound() {
	agrees 0
	local name
	for name in kernel user user_namespaces mounts pid_namespace nested_namespaces nested_bubblewrap open_tree \
		move_mount mount_setattr clone3 pidfd_open pidfd_send_signal namespace none; do
		line ok "$name"
	done
	has "$work/table" "The strongest tier that works here: namespace"
	same "$(said strongest_tier)" namespace
	same "$(said checks.user.value)" "$(id -u)"
	has "$work/table" "$(uname -r)"
	if [[ $(said checks.landlock.state) == ok ]]; then
		(($(said checks.landlock.value) >= 1)) || fail "Landlock without an ABI"
	fi
}

bubblewrap() {
	need bwrap
	doctor
	has "$work/table" "ran in a leg"
	mkdir "$work/bin"
	under=(env PATH="$work/bin")
	doctor
	line ok nested_bubblewrap
	has "$work/table" "bubblewrap is not installed"
	# One that fails is quoted.
	printf '#!/bin/sh\necho "no way in" >&2\nexit 1\n' >"$work/bin/bwrap"
	chmod +x "$work/bin/bwrap"
	doctor
	line missing nested_bubblewrap
	has "$work/table" "no way in"
	expect 0
	# What it does without: the same steps are refused where a filter refuses them.
	rm "$work/bin/bwrap"
	under=("$TOOLS/deny" "clone3=ENOSYS,clone-newpid=EPERM" env PATH="$work/bin")
	doctor
	line missing nested_bubblewrap
}

# filtered EXPECTED RULES NAME...: under that filter these lines are red.
filtered() {
	local expected=$1 rules=$2 name
	shift 2
	under=("$TOOLS/deny" "$rules")
	agrees "$expected"
	for name; do
		line "$([[ $expected == 0 ]] && echo missing || echo MISSING)" "$name"
	done
}
no_user_namespaces() {
	filtered 1 clone3=ENOSYS,clone-newuser=EPERM user_namespaces mounts pid_namespace nested_namespaces
	line missing clone3
	has "$work/table" "unprivileged user namespaces"
	has "$work/table" "--security-opt seccomp=unconfined"
	same "$(said checks.user_namespaces.errno)" EPERM
	same_cure
	if [[ $(said tiers.landlock.works) == true ]]; then
		same "$(said strongest_tier)" landlock
		has "$work/table" "The strongest tier that works here: landlock"
	fi
	filtered 1 clone3=ENOSYS,clone-newuser=EPERM,landlock_create_ruleset=EPERM user_namespaces
	line missing landlock
	same "$(said strongest_tier)" none
	filtered 1 clone3=EPERM,clone-newuser=EPERM user_namespaces
	filtered 1 clone-newuser=EPERM nested_namespaces
	filtered 1 clone3=ENOSYS,clone-newpid=EPERM pid_namespace
}
no_mounts() {
	filtered 1 mount=EPERM mounts pid_namespace
	same_cure
	filtered 1 mount=EACCES mounts pid_namespace
	same "$(said checks.mounts.errno)" EACCES
	same_cure
	line ok user_namespaces
	filtered 1 open_tree=EACCES mounts
	filtered 1 mount_setattr=EINVAL mounts
}
no_newer_calls() {
	filtered 0 clone3=ENOSYS clone3
	filtered 0 open_tree=ENOSYS open_tree
	filtered 0 move_mount=EPERM move_mount
	filtered 0 mount_setattr=ENOSYS mount_setattr
	filtered 0 landlock_create_ruleset=ENOSYS landlock landlock_scopes
	filtered 0 landlock_create_ruleset=EPERM landlock landlock_scopes
	filtered 0 pidfd_send_signal=ENOSYS pidfd_send_signal
	filtered 0 close_range=ENOSYS
	line yes seccomp
	line yes no_new_privs
}
no_pidfd() {
	filtered 1 pidfd_open=ENOSYS pidfd_open
	line ok mounts
}
like_docker() {
	filtered 1 clone3=ENOSYS,clone-newuser=EPERM,clone-newpid=EPERM,unshare=EPERM,mount=EPERM,open_tree=EPERM,move_mount=EPERM,mount_setattr=EPERM \
		user_namespaces mounts pid_namespace nested_namespaces
	same_cure
}

no_more_namespaces() {
	unshare -U --map-current-user --keep-caps true 2>"$work/probe" || skip "$(head -n 1 "$work/probe")"
	under=(unshare -U --map-current-user --keep-caps
		sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh)
	agrees 1
	line MISSING user_namespaces
	same "$(said checks.user_namespaces.errno)" ENOSPC
	has "$work/table" "user.max_user_namespaces"
	has "$work/table" "sudo sysctl -w user.max_user_namespaces="
	line yes container
	same_cure
}

masked_proc() {
	need bwrap
	under=(bwrap --dev-bind / / --tmpfs /proc/sys)
	agrees 1
	line MISSING pid_namespace
	line ok mounts
	line yes container
	has "$work/table" "a masked /proc"
	has "$work/table" "systempaths=unconfined"
	same_cure
}

# As root, with the sysctl of a kernel that has it, and a machine that refuses the first mount.
apparmor() {
	unshare -m true 2>"$work/probe" || skip "$(head -n 1 "$work/probe")"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP" "$work/workspace"
	remember
	mkdir -m 0755 "$work/a b" "$work/bin" "$work/apparmor.d"
	cp "$LEGGUARD" "$work/a b/legguard"
	LEGGUARD="$work/a b/legguard"
	under=(unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel
		echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns; exec "$@"' sh
		setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups -- "$TOOLS/deny" mount=EACCES)
	agrees 1
	line yes apparmor
	line MISSING mounts
	same "$(said checks.apparmor.value)" 1
	same_cure
	# The two commands do what they say. Here sudo puts what is for /etc elsewhere.
	cat >"$work/bin/sudo" <<-'EOF2'
		#!/bin/sh
		case $1 in
		tee) cat >"$INSTEAD/$(basename "$2")" ;;
		*) echo "$@" >"$INSTEAD/command" ;;
		esac
	EOF2
	chmod +x "$work/bin/sudo"
	said fixes.0.commands.0 >"$work/first"
	said fixes.0.commands.1 >"$work/second"
	has "$work/table" "$(<"$work/first")"
	has "$work/table" "$(<"$work/second")"
	INSTEAD=$work/apparmor.d PATH=$work/bin:$PATH sh -eu "$work/first"
	INSTEAD=$work/apparmor.d PATH=$work/bin:$PATH sh -eu "$work/second"
	has "$work/apparmor.d/legguard" "profile legguard \"$work/a b/legguard\" flags=(unconfined) {"
	has "$work/apparmor.d/legguard" "  userns,"
	same "$(<"$work/apparmor.d/command")" "apparmor_parser -r /etc/apparmor.d/legguard"
}
profile_parses() {
	local parser
	parser=$(command -v apparmor_parser) || parser=/sbin/apparmor_parser
	[[ -x $parser ]] || skip "apparmor_parser is not installed"
	"$LEGGUARD" doctor --apparmor-profile "/opt/a b/{x}/legguard" >"$work/profile"
	# An older parser knows neither this abi nor the rule; all else it has to understand.
	[[ -e /etc/apparmor.d/abi/4.0 ]] || sed -i '/^abi /d; /^  userns,/d' "$work/profile"
	same "$("$parser" -Q -K -N "$work/profile" 2>&1 | tail -n 1)" legguard
	"$parser" -Q -K --dump=rule-exprs "$work/profile" >"$work/rules" 2>&1 || fail "$(<"$work/rules")"
}

as_root() {
	doctor
	expect 1
	line MISSING user
	line MISSING namespace
	same "$(said default_works)" false
	same_cure
	# The way around that it has tried is one.
	same "$(said other_user.works)" true
	said fixes.1.commands.0 >"$work/command"
	has "$work/table" "$(<"$work/command")"
	sed -i 's/COMMAND$/true/; s/ run / run --no-outputs -C \/ /' "$work/command"
	chmod -R o+rwX "$RUNNER_TEMP"
	sh -eu "$work/command"
	# Whoever called sudo is the one.
	under=(env SUDO_UID=1001 SUDO_GID=1002)
	same "$(said other_user.user)" 1001:1002
}

# A user who may call sudo, on a machine that refuses to show a fresh /proc to anybody but root.
with_sudo() {
	cat >"$work/inside" <<-'EOF2'
		mount -t tmpfs none /proc/tty
		mount --bind "$1/passwd" /etc/passwd
		mount --bind "$1/sudoers" /etc/sudoers
		shift
		exec "$@"
	EOF2
	grep -v "^[^:]*:[^:]*:$TEST_UID:" /etc/passwd >"$work/passwd"
	echo "legguard-test:*:$TEST_UID:$TEST_UID::/:/bin/sh" >>"$work/passwd"
	echo "legguard-test ALL=(ALL) NOPASSWD: SETENV: ALL" >"$work/sudoers"
	chmod 0644 "$work/passwd"
	chmod 0440 "$work/sudoers"
	under=(unshare -m sh "$work/inside" "$work"
		setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups -- env HOME=/)
}
through_sudo() {
	need sudo
	[[ $VARIANT != asan ]] || skip "sudo does not hand on what the sanitizers need"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP" "$work/workspace"
	remember
	with_sudo
	agrees 1
	line yes sudo
	line MISSING pid_namespace
	same "$(said other_user.works)" true
	same "$(said other_user.sudo)" true
	same "$(said other_user.user)" "$TEST_UID:$TEST_UID"
	has "$work/table" "sudo -E $LEGGUARD run --user $TEST_UID:$TEST_UID -- COMMAND"
	"${under[@]}" sudo -E "$LEGGUARD" run --no-outputs --user "$TEST_UID:$TEST_UID" -- id -u >"$work/stdout"
	same "$(<"$work/stdout")" "$TEST_UID"
	# It is tried, not guessed.
	echo "legguard-test ALL=(ALL) NOPASSWD: $(type -P true)" >"$work/sudoers"
	doctor
	line yes sudo
	line missing "namespace, sudo"
	lacks "$work/table" "sudo -E"
}

# An executable in the place of sudo: the answers that it can give.
sudo_answers() {
	mkdir "$work/bin"
	under=(env PATH="$work/bin:$PATH")
	printf '#!/bin/sh\n[ "$*" = "-n true" ]\n' >"$work/bin/sudo"
	chmod +x "$work/bin/sudo"
	doctor
	line yes sudo
	printf '#!/bin/sh\necho "a password is required" >&2\nexit 1\n' >"$work/bin/sudo"
	doctor
	line no sudo
	has "$work/table" "a password is required"
	# It waits for something that does not come.
	printf '#!/bin/sh\nread -r x <"%s"\n' "$work/never" >"$work/bin/sudo"
	doctor
	line unknown sudo
	expect 0
	# None at all.
	rm "$work/bin/sudo"
	under=(env PATH="$work/bin")
	doctor
	line no sudo
}

groups() {
	local gid
	gid=$(sed -n 's/^docker:[^:]*:\([0-9]*\):.*/\1/p' /etc/group)
	cat >"$work/inside" <<-'EOF2'
		mount --bind "$1/group" /etc/group
		shift
		exec "$@"
	EOF2
	{
		cat /etc/group
		[[ $gid ]] || echo "docker:x:54321:"
	} >"$work/group"
	gid=${gid:-54321}
	chmod 0644 "$work/group"
	under=(unshare -m sh "$work/inside" "$work" setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --groups "$gid" --)
	doctor
	line yes docker_group
	under=(unshare -m sh "$work/inside" "$work" setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	doctor
	line no docker_group
}

# A cgroup that is delegated to the user, as systemd's Delegate=yes does it.
delegated() {
	local mount group
	mount=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[[ $mount ]] || skip "there is no cgroup v2 here"
	group=$mount/legguard-doctor-$BASHPID
	mkdir "$group" 2>/dev/null || skip "$mount can't be written here"
	# shellcheck disable=SC2064
	trap "echo 0 >'$mount/cgroup.procs'; rmdir '$group'" EXIT
	chown "$TEST_UID:$TEST_UID" "$group" "$group/cgroup.procs"
	echo 0 >"$group/cgroup.procs"
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP" "$work/workspace"
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	doctor
	line ok cgroup
	expect 0
	same "$(find "$group" -mindepth 1 -type d)" "" "left in the cgroup"
}

# A daemon of the same user: its socket is a door, and open to whoever may write it.
doors() {
	need socat
	local pid
	socat UNIX-LISTEN:"$work/door",fork /dev/null 2>"$work/socat" &
	pid=$!
	until_true test -S "$work/door"
	doctor
	expect 0
	door_is open true
	grep -qE "^  open +$work/door " "$work/table" || fail "the table has no open door"
	guard --no-outputs -- python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$work/door"
	[[ $status != 0 ]] || fail "a leg gets through"
	chmod 0 "$work/door"
	doctor
	door_is open false
	grep -qE "^  shut +$work/door " "$work/table" || fail "the table has no shut door"
	kill "$pid"
	wait "$pid" || true
	rm -f "$work/door"
	doctor
	lacks "$work/table" "$work/door"
}
door_is() { # KEY VALUE
	said doors >"$work/doors.json"
	python3 -c '
import json, sys
d = [d for d in json.load(open(sys.argv[1])) if d["path"] == sys.argv[2]]
assert len(d) == 1 and d[0]["why"] and json.dumps(d[0][sys.argv[3]]) == sys.argv[4], d' \
		"$work/doors.json" "$work/door" "$@" || fail "the door is not said to be so"
}

# Killed while a probe waits: what stands in for bubblewrap or sudo holds a lock, and ends with it.
killed() {
	local program pid
	mkdir "$work/bin"
	under=(env PATH="$work/bin:$PATH")
	for program in bwrap sudo; do
		mkfifo "$work/here-$program"
		: >"$work/alive-$program"
		cat >"$work/bin/$program" <<-EOF2
			#!/bin/bash
			exec 9>>"$work/alive-$program"
			flock 9
			: >"$work/here-$program"
			read -r x <"$work/never"
		EOF2
		chmod +x "$work/bin/$program"
		"${under[@]}" "$LEGGUARD" doctor >"$work/stdout" 2>"$work/stderr" </dev/null &
		pid=$!
		await "$work/here-$program"
		kill -KILL "$pid"
		wait "$pid" || true
		dies "$work/alive-$program"
		[[ ! -s $work/stdout ]] || fail "it had already ended"
		rm "$work/bin/$program"
	done
}
interrupted() {
	mkdir "$work/bin"
	mkfifo "$work/here"
	printf '#!/bin/sh\n: >"%s"\nread -r x <"%s"\n' "$work/here" "$work/never" >"$work/bin/bwrap"
	chmod +x "$work/bin/bwrap"
	env PATH="$work/bin:$PATH" "$LEGGUARD" doctor >"$work/stdout" 2>"$work/stderr" </dev/null &
	local pid=$! code=0
	await "$work/here"
	kill -TERM "$pid"
	wait "$pid" || code=$?
	same "$code" 143 "exit status"
}

# The step's own files are no part of it.
untouched() {
	local before after
	before=$(stat -c '%n %Y %Z %X' "$file_commands"/* "$file_commands")
	doctor
	expect 0
	after=$(stat -c '%n %Y %Z %X' "$file_commands"/* "$file_commands")
	same "$after" "$before"
	kept unpublished
	# Into one of them, as somebody will do it.
	"$LEGGUARD" doctor >>"$GITHUB_STEP_SUMMARY"
	has "$GITHUB_STEP_SUMMARY" "strongest tier"
	rm -r "$file_commands"
	doctor
	expect 0
}

words() {
	local words
	while read -r words; do
		# shellcheck disable=SC2086
		doctor $words
		expect 125
		same "$(wc -l <"$work/stderr")" 1 "lines on stderr"
		[[ ! -s $work/table ]] || fail "it wrote to stdout"
	done <<-'EOF2'
		--jso
		--json=yes
		extra
		--
		--json extra
		--apparmor-profile
		--apparmor-profile relative
	EOF2
	doctor --help
	expect 0
	has "$work/table" --json
	status=0
	"$LEGGUARD" doctor >/dev/full 2>"$work/stderr" || status=$?
	expect 125
}

scenario "where all is there, doctor says so, and a run works" sound
scenario "a bubblewrap in a leg is tried, or its steps" bubblewrap
scenario "without user namespaces doctor names them and the cure that a run names" no_user_namespaces
scenario "without mounts likewise" no_mounts
scenario "a missing newer call is named, and the default tier works" no_newer_calls
scenario "without pidfds the default tier does not work, and doctor knows" no_pidfd
scenario "under a container's filter doctor and a run agree" like_docker
scenario "where no more user namespaces may be made doctor and a run agree" no_more_namespaces
scenario "with a masked /proc doctor and a run agree" masked_proc
scenario_as_root "where AppArmor restricts user namespaces two commands install a profile" apparmor
scenario "the AppArmor profile is one" profile_parses
scenario_as_root "for root doctor names what a run names" as_root
scenario_as_root "the way through sudo is tried, and is one" through_sudo
scenario "sudo is asked, but not waited for for ever" sudo_answers
scenario_as_root "the group docker is noticed" groups
scenario_as_root "a delegated cgroup is noticed, and left as it was" delegated
scenario "a door is named, and whether it is open" doors
scenario "killed midway doctor leaves nothing" killed
scenario "a signal ends doctor" interrupted
scenario "doctor leaves the step's files alone" untouched
scenario "odd words after doctor are refused" words
