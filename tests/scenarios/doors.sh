# shellcheck shell=bash disable=SC2016,SC2030,SC2031,SC2034,SC2094,SC2154,SC2164
# Ways out through somebody outside who takes orders by a socket: closed, unless --allow-socket opens one.
# Every scenario has a real listener outside, which answers before the leg and after it.

knock=${LIB-}/knock

# outside PATH...: a listener of the user's own.
outside() {
	[[ -p $work/ready ]] || mkfifo "$work/ready"
	"$knock" listen "$work/ready" "$@" 7>&- 8>&- &
	trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
	await "$work/ready"
}
# answers PATH...: it can be reached from here.
answers() {
	"$knock" at "$@" >"$work/answers"
	same "$(grep -c '^THROUGH' "$work/answers")" $# "answers outside"
}
# closed [OPTION]... PATH: the leg gets none; opened: it does.
closed() {
	guard "${@:1:$#-1}" -- "$knock" at "${!#}"
	expect 0
	has "$work/stdout" "stopped: ${!#}"
}
opened() {
	guard "${@:1:$#-1}" -- "$knock" at "${!#}"
	expect 0
	has "$work/stdout" "THROUGH: ${!#}"
}

every_type() {
	local path all=("$work/s" "seqpacket:$work/q" "dgram:$work/d" "$work/two words" "$work/new"$'\n'"line")
	outside "${all[@]}" "relative:$work/home/near"
	all+=("$work/home/near")
	answers "${all[@]}"
	for path in "${all[@]}"; do
		closed "$path"
	done
	guard -n -- true
	has "$work/stdout" "hide       $work/s (somebody of the same user listens on it; the leg could move it to get around that)"
	answers "${all[@]}"
	kept
}
allowed() {
	mkdir "$work/dir"
	outside "$work/s" "$work/dir/a" "$work/dir/b"
	opened --allow-socket "$work/s" "$work/s"
	closed --allow-socket "$work/dir/a" "$work/dir/b"
	opened --allow-socket "$work/dir" "$work/dir/b"
	opened --allow-socket /no/such/socket --allow-socket "$work/s" "$work/s"
	cd "$work"
	opened --allow-socket ./dir/../s "$work/s"
	answers "$work/s" "$work/dir/a" "$work/dir/b"
}
through_hidden_directory() {
	mkdir "$work/dir"
	outside "$work/dir/a" "$work/dir/b"
	closed --hide "$work/dir" "$work/dir/a"
	opened --hide "$work/dir" --allow-socket "$work/dir/a" "$work/dir/a"
	closed --hide "$work/dir" --allow-socket "$work/dir/a" "$work/dir/b"
	guard --hide "$work/dir" --allow-socket "$work/dir/a" -- bash -c 'ls "$1"; rm -f "$1/a"; : >"$1/c" || true' - "$work/dir"
	same "$(cat "$work/stdout")" a
	has "$work/stderr" "Read-only file system"
	answers "$work/dir/a"
}
no_listener() {
	outside "deaf:$work/stream"
	guard -n -- true
	lacks "$work/stdout" "$work/stream"
	guard -- stat -c %F "$work/stream"
	same "$(cat "$work/stdout")" socket
}
link_and_alias() {
	mkdir "$work/dir" "$work/alias"
	outside "$work/dir/s"
	ln -s "$work/dir" "$work/link"
	closed "$work/link/s"
	under=("$TOOLS/oddly" "bind=$work/dir:$work/alias" --)
	closed "$work/alias/s"
	closed "$work/dir/s"
}
tiers() {
	outside "$work/s"
	closed --share-pid "$work/s"
	opened --isolation none "$work/s"
}
in_namespaces() {
	need bwrap
	outside "$work/s"
	guard -- unshare -Urm bash -c 'umount -l "$1"; chmod 777 "$1"; mount --rbind / /mnt && "$2" at "$1" "/mnt$1"' - "$work/s" "$knock"
	expect 0
	same "$(grep -c '^stopped' "$work/stdout")" 2
	guard -- bwrap --dev-bind / / --unshare-pid --proc /proc "$knock" at "$work/s"
	expect 0
	has "$work/stdout" "stopped: $work/s"
	guard -- env GITHUB_OUTPUT="$work/s" "$LEGS/undo-mounts" "$work/s"
	expect 0
	answers "$work/s"
}
movable() {
	mkdir -p "$work/a/d" "$work/b"
	outside "$work/a/d/s"
	local attack='mount --bind "$1/b" /mnt; mv "$1/a/d" "$1/b/d"; "$2" at "$1/b/d/s" /mnt/d/s'
	# Where the directory can be moved the dry run says so, and the strict view shuts it.
	guard -n -- true
	has "$work/stdout" "$work/a/d/s (somebody of the same user listens on it; the leg could move it"
	guard -n --writable "$work/b" -- true
	has "$work/stdout" "$work/a/d/s (somebody of the same user listens on it)"
	guard --writable "$work/b" -- unshare -Urm bash -c "$attack" - "$work" "$knock"
	lacks "$work/stdout" THROUGH
	answers "$work/a/d/s"
}
classic_calls() {
	outside "$work/s"
	under=("$TOOLS/deny" "open_tree=EPERM,move_mount=EPERM,mount_setattr=EPERM")
	closed "$work/s"
	mkdir "$work/dir"
	outside "$work/dir/a"
	opened --hide "$work/dir" --allow-socket "$work/dir/a" "$work/dir/a"
}
status_lists() {
	outside "$work/s"
	guard --status "$work/status.json" -- true
	python3 - "$work/status.json" "$work/s" <<-'EOF2' || fail "the status says otherwise"
		import json, sys
		doors = json.load(open(sys.argv[1]))["doors"]
		sys.exit(sys.argv[2] not in doors["hidden"] or not isinstance(doors["abstract"], bool))
	EOF2
	same "$(status_of doors.abstract)" "$(status_of landlock_scopes)"
	guard --status "$work/status.json" --isolation none -- true
	same "$(status_of doors.hidden)" "[]"
}
variables() {
	outside "$work/s" "$work/open"
	ln -s "$work/s" "$work/link"
	export DOCKER_HOST=unix://$work/s CONTAINER_HOST=unix://$work/link BUILDKIT_HOST=unix://$work/open CONTAINERD_ADDRESS=$work/s
	export DBUS_SESSION_BUS_ADDRESS="unix:guid=1,path=${work//-/%2d}/s;unix:path=/nowhere" NOTIFY_SOCKET=$work/s
	export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/open TMUX=$work/s,1,0 PULSE_SERVER=tcp:localhost SSH_AUTH_SOCK=$work/open
	guard --allow-socket "$work/open" -- bash -c 'echo "left: ${DOCKER_HOST-} ${CONTAINER_HOST-} ${CONTAINERD_ADDRESS-} ${DBUS_SESSION_BUS_ADDRESS-} ${NOTIFY_SOCKET-} ${TMUX-}"
		printf "%s\n" "$BUILDKIT_HOST" "$DBUS_SYSTEM_BUS_ADDRESS" "$PULSE_SERVER" "$SSH_AUTH_SOCK"'
	same "$(cat "$work/stdout")" "left:      "$'\n'"unix://$work/open"$'\n'"unix:path=$work/open"$'\n'"tcp:localhost"$'\n'"$work/open"
	guard --allow-socket "$work/open" --setenv DOCKER_HOST=mine -n -- true
	has "$work/stdout" "unset      DOCKER_HOST"
	lacks "$work/stdout" "unset      BUILDKIT_HOST"
	guard --setenv DOCKER_HOST=mine -- bash -c 'echo "$DOCKER_HOST"'
	same "$(cat "$work/stdout")" mine
}

# named FUNCTION: some services want their user to have a name, which root can give it. Runs the function as that user.
named() {
	chown -R "$TEST_UID:$TEST_UID" "$work"
	{ cat /etc/passwd && echo "leg:x:$TEST_UID:$TEST_UID::$work/home:/bin/sh"; } >"$work/passwd"
	export work file_commands
	unshare -m --propagation private bash -euc 'mount --bind "$work/passwd" /etc/passwd
		exec setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups -- bash -eEuo pipefail -c "
			source \"\$LIB/harness.sh\"; scenario() { :; }; scenario_as_root() { :; }; under=()
			source \"\$0\"; \"\$1\"" "$@"' - "${BASH_SOURCE[0]}" "$1"
}

# Real services.
session_bus_as_user() {
	need dbus-daemon dbus-send
	dbus-daemon --session --fork --print-pid=3 --address="unix:path=$work/bus" 3>"$work/pid" 7>&- 8>&-
	trap 'kill "$(cat "$work/pid")"' EXIT
	export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus
	local call=(dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames)
	"${call[@]}" >/dev/null
	guard -- "${call[@]}"
	expect 1
	guard --setenv DBUS_SESSION_BUS_ADDRESS="unix:path=$work/bus" -- "${call[@]}"
	expect 1
	has "$work/stderr" "$work/bus"
	guard --allow-socket "$work/bus" -- "${call[@]}"
	expect 0
	has "$work/stdout" org.freedesktop.DBus
}
terminal() {
	need tmux
	export TMUX_TMPDIR=$work
	tmux -f /dev/null new-session -d 'read x' 7>&- 8>&-
	trap 'tmux kill-server' EXIT
	local socket
	socket=$(tmux display-message -p '#{socket_path}')
	tmux new-window "touch $work/before; read x"
	until_true test -e "$work/before"
	export TMUX=$socket,$$,0
	guard -- bash -c '[[ ! ${TMUX-} ]] && tmux -S "$1" run-shell "touch $2"' - "$socket" "$work/forged"
	expect 1
	guard -- tmux new-window "touch $work/forged"
	expect 1
	[[ ! -e $work/forged ]] || fail "the leg got a command run outside"
	guard -- tmux -L other -f /dev/null new-session -d true
	expect 0
	guard --allow-socket "$socket" -- tmux -S "$socket" run-shell "touch $work/allowed"
	expect 0
	[[ -e $work/allowed ]] || fail "--allow-socket did not open it"
}
session_bus() { named session_bus_as_user; }
ssh_agent_as_user() {
	need ssh-agent ssh-keygen
	eval "$(ssh-agent -a "$work/agent" 7>&- 8>&-)" >/dev/null
	trap 'kill "$SSH_AGENT_PID"' EXIT
	ssh-keygen -q -t ed25519 -N "" -C its-key -f "$work/key"
	ssh-add -q "$work/key"
	rm "$work/key"
	guard -- ssh-add -l
	expect 0
	has "$work/stdout" its-key
	guard -- bash -c 'ssh-keygen -q -Y sign -f "$1/key.pub" -n file <<<text' - "$work"
	expect 0
	has "$work/stdout" "BEGIN SSH SIGNATURE"
	# Another one that nobody names is no agent of this step's.
	guard --unset SSH_AUTH_SOCK -- env SSH_AUTH_SOCK="$work/agent" ssh-add -l
	expect 0
	(unset SSH_AUTH_SOCK && guard -- env SSH_AUTH_SOCK="$work/agent" ssh-add -l && expect 2)
}
ssh_agent() { named ssh_agent_as_user; }
gpg_agent() {
	need gpg gpgconf gpg-agent
	export GNUPGHOME=$work/home/gnupg
	mkdir -m 700 "$GNUPGHOME"
	gpg --batch -q --passphrase '' --quick-gen-key its@key default sign never 2>"$work/gpg.log" 7>&- 8>&- ||
		skip "gpg makes no key here: $(tail -n 1 "$work/gpg.log")"
	trap 'gpgconf --kill all' EXIT
	[[ -S $(gpgconf --list-dirs agent-socket) ]] || fail "no agent"
	guard -- gpg --batch --no-autostart --clear-sign <<<text
	expect 0
	has "$work/stdout" "BEGIN PGP SIGNATURE"
	# The configuration may name a program: nobody outside is made to read it.
	guard -- bash -c 'printf "#!/bin/sh\nreadlink /proc/self/ns/pid >\"$1\"\n" >"$1.sh"; chmod 755 "$1.sh"
		echo "pinentry-program $1.sh" >"$GNUPGHOME/gpg-agent.conf"
		gpg-connect-agent --no-autostart reloadagent "GET_PASSPHRASE a b c d" killagent /bye' - "$work/pinentry"
	same "$(grep -c "^ERR.*Forbidden" "$work/stdout")" 3
	[[ ! -e $work/pinentry ]] || fail "the agent outside started a program"
	gpg-connect-agent --no-autostart /bye
	guard --allow-socket "$GNUPGHOME/S.gpg-agent" -- gpg-connect-agent --no-autostart reloadagent /bye
	has "$work/stdout" OK
}
gpg_of_its_own() {
	need gpg gpgconf gpg-agent
	machine 'run=/run/user/$TEST_UID
		place "$run"; chown -R "$TEST_UID" "$run"; chmod 700 "$run"
		export HOME=$work/home XDG_RUNTIME_DIR=$run
		"${user[@]}" gpg --batch -q --passphrase "" --quick-gen-key its@key default sign never >&2
		[[ -S $run/gnupg/S.gpg-agent ]]
		trap "\"\${user[@]}\" gpgconf --kill all" EXIT'
	guard -- gpg --batch --clear-sign <<<text
	expect 0
	has "$work/stdout" "BEGIN PGP SIGNATURE"
	has "$work/stderr" "left running: gpg-agent"
}

# The machine's own places, in a mount namespace where they are made up. SETUP runs in it as root, then the program
# as the user. $socket_of_root listens for root, $socket_of_user for the user.
machine() { # SETUP
	mkfifo "$work/ready.root" "$work/ready.user"
	chmod 666 "$work/ready".*
	chown -R "$TEST_UID:$TEST_UID" "$RUNNER_TEMP" "$work/workspace" "$work/home"
	chown "$TEST_UID:$TEST_UID" "$work"
	export knock LIB work TEST_UID
	user=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	under=(unshare -m --propagation private bash -euc '
		for_root() { "$knock" listen "$work/ready.root" "$@" & : <"$work/ready.root"; }
		for_user() { "${user[@]}" "$knock" listen "$work/ready.user" "$@" & : <"$work/ready.user"; }
		user=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
		place() { mkdir -p "$@"; }
		umask 022
		mount -t tmpfs -o mode=755 tmpfs /run
		'"$1"'
		status=0
		"${user[@]}" "$@" || status=$?
		kill $(jobs -p) 2>/dev/null || true
		wait
		exit "$status"' -)
}
engines() {
	machine 'place /run/containerd /run/podman /run/snap /run/dbus /run/systemd/private-not
		for_root /run/{docker.sock,snapd.socket,containerd/containerd.sock,podman/podman.sock,dbus/system_bus_socket,other.sock}
		chmod 666 /run/{docker.sock,snapd.socket,*/*.sock,dbus/system_bus_socket,other.sock}
		ln -s /run /run/symlink
		"${user[@]}" "$knock" at /run/docker.sock >&2'
	export DOCKER_HOST=unix:///var/run/docker.sock CONTAINER_HOST=unix:///run/podman/podman.sock
	guard -- bash -c '"$knock" at /run/{docker.sock,snapd.socket,containerd/containerd.sock,podman/podman.sock} \
		/run/{dbus/system_bus_socket,other.sock,symlink/docker.sock}; echo "left: ${DOCKER_HOST-}${CONTAINER_HOST-}"; ls -A /run/dbus'
	expect 0
	lacks "$work/stdout" THROUGH
	has "$work/stderr" "THROUGH: /run/docker.sock"
	same "$(grep -c ^stopped "$work/stdout")" 7
	same "$(tail -n 1 "$work/stdout")" "left: "
}
one_engine() {
	machine 'for_root /run/docker.sock; chmod 666 /run/docker.sock'
	export DOCKER_HOST=unix:///run/docker.sock
	guard --allow-socket /run/docker.sock -- bash -c '"$knock" at "${DOCKER_HOST#unix://}"'
	expect 0
	has "$work/stdout" "THROUGH: /run/docker.sock"
}
runtime_directory() {
	machine 'run=/run/user/$TEST_UID
		place "$run"/{gnupg,keyring,systemd,gcr}; chown -R "$TEST_UID" /run/user/*; chmod 700 "$run"
		for_user "$run"/{bus,systemd/private,gnupg/S.gpg-agent,gnupg/S.dirmngr,keyring/ssh,keyring/control,gcr/ssh,my-agent}'
	local run=/run/user/$TEST_UID all
	all=("$run"/{bus,systemd/private,gnupg/S.gpg-agent,gnupg/S.dirmngr,keyring/ssh,keyring/control,gcr/ssh,my-agent})
	export XDG_RUNTIME_DIR=$run DBUS_SESSION_BUS_ADDRESS=unix:path=$run/bus SSH_AUTH_SOCK=$run/my-agent WAYLAND_DISPLAY=wayland-0
	guard -- bash -c 'echo "left: ${XDG_RUNTIME_DIR-}${DBUS_SESSION_BUS_ADDRESS-}${WAYLAND_DISPLAY-} $SSH_AUTH_SOCK"
		: >"${SSH_AUTH_SOCK%/*}/new" || echo stopped; "$knock" at "$@"' - "${all[@]}"
	expect 0
	same "$(head -n 2 "$work/stdout")" "left:  $run/my-agent"$'\n'stopped
	same "$(grep THROUGH "$work/stdout")" "$(printf 'THROUGH: %s\n' "$run"/{keyring/ssh,gcr/ssh,my-agent})"
	guard --allow-socket "$run/bus" -- bash -c 'echo "$DBUS_SESSION_BUS_ADDRESS"; "$knock" at "$@"' - "$run/bus" "$run/systemd/private"
	same "$(cut -d: -f1,2 "$work/stdout")" "unix:path=$run/bus"$'\n'"THROUGH: $run/bus"$'\n'"stopped: $run/systemd/private"
	guard --allow-socket "$run" -- "$knock" at "${all[@]}"
	same "$(grep -c THROUGH "$work/stdout")" 8
	cd /
	refusal_names=--allow-socket refused -C "$run"
	has "$work/stderr" "$run"
}
answers_stay() {
	machine 'place /run/{nscd,avahi-daemon} /run/systemd/{resolve,userdb,journal,notify-not}
		for_root /run/nscd/socket /run/avahi-daemon/socket /run/systemd/resolve/io.systemd.Resolve \
			/run/systemd/userdb/io.systemd.Multiplexer dgram:/run/systemd/journal/dev-log dgram:/run/systemd/notify
		chmod 666 /run/*/socket /run/systemd/*/* /run/systemd/notify'
	export NOTIFY_SOCKET=/run/systemd/notify
	guard -- bash -c '"$knock" at /run/nscd/socket /run/avahi-daemon/socket /run/systemd/resolve/io.systemd.Resolve \
			/run/systemd/userdb/io.systemd.Multiplexer dgram:/run/systemd/journal/dev-log dgram:/run/systemd/notify
		echo "left: ${NOTIFY_SOCKET-}"
		getent passwd root; getent hosts localhost
		logger -u /run/systemd/journal/dev-log text && echo logged'
	expect 0
	same "$(grep -c ^THROUGH "$work/stdout")" 5
	has "$work/stdout" "stopped: dgram:/run/systemd/notify"
	has "$work/stdout" root:x:0:0
	has "$work/stdout" localhost
	has "$work/stdout" logged
	same "$(grep ^left "$work/stdout")" "left: "
}
name_service() {
	need nscd
	machine 'place /run/nscd
		printf "enable-cache passwd yes\n" >"$work/nscd.conf"
		nscd -F -f "$work/nscd.conf" >/dev/null 2>&1 &
		until [[ -S /run/nscd/socket ]]; do read -r -t 0.01 <>"$work/never" || true; done'
	guard -- bash -c 'getent passwd root && python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.connect(\"/run/nscd/socket\"); print(\"reached\")"'
	expect 0
	has "$work/stdout" reached
}
others() {
	machine 'place /run/{mine,theirs}; chown 12345 /run/theirs; chown "$TEST_UID" /run/mine
		setpriv --reuid 12345 --regid 12345 --clear-groups -- bash -c "umask 0; exec \"\$0\" listen \"$work/ready.root\" /run/theirs/db" "$knock" &
		: <"$work/ready.root"
		for_user /run/mine/server'
	guard -- "$knock" at /run/theirs/db /run/mine/server
	has "$work/stdout" "THROUGH: /run/theirs/db"
	has "$work/stdout" "stopped: /run/mine/server"
}
# A root leg can be any user.
others_of_root() {
	machine 'rm -f "$work/home/near"; place /run/theirs /run/user/{0/keyring,"$TEST_UID"}; chmod 700 /run/theirs /run/user/*
		chown -R "$TEST_UID" /run/theirs /run/user/"$TEST_UID"
		for_user /run/theirs/db /run/user/"$TEST_UID"/{bus,relay} relative:"$work/home/near"
		for_root /run/user/0/{bus,keyring/ssh}
		user=()'
	local run=/run/user/$TEST_UID all
	all=(/run/theirs/db "$run/bus" "$run/relay" "$work/home/near" /run/user/0/bus)
	guard --root-leg -- bash -c '"$knock" at "$@"; ls -A /run/user /run/user/0' - "${all[@]}" /run/user/0/keyring/ssh
	expect 0
	same "$(grep THROUGH "$work/stdout")" "THROUGH: /run/user/0/keyring/ssh"
	same "$(grep -c ^stopped "$work/stdout")" ${#all[@]}
	same "$(tail -n 5 "$work/stdout")" $'/run/user:\n0\n\n/run/user/0:\nkeyring'
	guard --root-leg --allow-socket "$run/bus" --allow-socket /run/theirs/db -- "$knock" at "${all[@]}"
	same "$(grep THROUGH "$work/stdout")" $'THROUGH: /run/theirs/db\n'"THROUGH: $run/bus"
	guard --root-leg -n -- true
	has "$work/stdout" "/run/theirs/db (another user listens on it, and a root leg can be any user"
}
spools() {
	machine 'for d in /var/spool/cron /var/spool/at /var/spool/anacron; do [[ ! -d $d ]] || { mount -t tmpfs tmpfs "$d"; mkdir -m 777 "$d/crontabs"; echo job >"$d/crontabs/job"; }; done'
	[[ -d /var/spool/cron ]] || skip "there is no /var/spool/cron here"
	guard -- bash -c 'for d in /var/spool/cron /var/spool/at /var/spool/anacron; do
		[[ -d $d ]] || continue
		cat "$d/crontabs/job" && echo THROUGH
		echo "* * * * * x" >"$d/crontabs/leg" && echo THROUGH
		mkdir "$d/crontabs" && echo THROUGH
		ls -A "$d"
	done; exit 0'
	expect 0
	[[ ! -s $work/stdout ]] || fail "the leg reached a spool"
}
display() {
	machine 'mkdir -p "$work/x"; mkdir -p /tmp/.X11-unix; mount --bind "$work/x" /tmp/.X11-unix; chmod 1777 /tmp/.X11-unix
		for_root /tmp/.X11-unix/X7; chmod 777 /tmp/.X11-unix/X7
		for_user /tmp/.X11-unix/X8'
	export DISPLAY=:7.0
	guard -- bash -c '"$knock" at /tmp/.X11-unix/X{7,8}; echo "left: ${DISPLAY-}"; : >/tmp/.X11-unix/X9 && echo own'
	same "$(grep -c ^stopped "$work/stdout")" 2
	has "$work/stdout" "left: "$'\n'own
}

# Somebody who listens for a moment, and again, as fast as he can.
busy_sockets() {
	need python3
	mkdir "$work/sockets"
	: >"$work/go-on"
	python3 -c '
import os, socket, sys
os.chdir(sys.argv[1])
n = 0
while os.path.exists("../go-on"):
    n += 1
    s = socket.socket(socket.AF_UNIX)
    s.bind("socket%d" % (n % 20))
    s.listen()
    os.rename("socket%d" % (n % 20), "again") if n % 2 else os.unlink("socket%d" % (n % 20))
    s.close()' "$work/sockets" &
	local i
	for i in {1..40}; do
		guard -- true
		expect 0
	done
	rm "$work/go-on"
	wait $!
	kept
}

scenario "sockets that the same user listens on are closed: stream, packet, datagram, bound by a relative path" every_type
scenario "--allow-socket opens a socket, or all below a directory, and may name what is not there" allowed
scenario "--allow-socket keeps a socket in a hidden directory, and nothing else of it" through_hidden_directory
scenario "a socket that nobody listens on is left alone" no_listener
scenario "a closed socket is closed by its other names, too" link_and_alias
scenario "doors are closed with --share-pid, and left alone without confinement" tiers
scenario "in nested namespaces and in bubblewrap a door stays closed" in_namespaces
scenario "--dry-run says which doors the leg could move, and --writable keeps it from that" movable
scenario "without the newer mount calls doors are closed, and kept open, all the same" classic_calls
scenario "the status lists what is hidden" status_lists
scenario "variables that point to a closed door are removed, others stay, --setenv wins" variables
scenario_as_root "a session bus can't be reached" session_bus
scenario "a tmux server can't be told to run anything" terminal
scenario_as_root "an ssh-agent that SSH_AUTH_SOCK names can be used" ssh_agent
scenario "a gpg-agent can be used to sign, and can't be told to run anything" gpg_agent
scenario_as_root "where the gpg-agent is closed with /run/user/UID, gpg signs with one of the leg's own" gpg_of_its_own
scenario_as_root "docker, containerd, podman, snapd, the system bus and other sockets of root are closed" engines
scenario_as_root "--allow-socket opens docker.sock" one_engine
scenario_as_root "/run/user/UID is closed but for its agents" runtime_directory
scenario_as_root "name service and the system's log stay reachable" answers_stay
scenario_as_root "a real nscd stays reachable" name_service
scenario_as_root "a socket of another user's stays as it is" others
scenario_as_root "--root-leg: sockets of every user are closed, and all of /run/user" others_of_root
scenario_as_root "the spools of cron and at are closed" spools
scenario_as_root "X displays are closed, and the leg can have one of its own" display
scenario "sockets that come and go meanwhile are no reason to refuse" busy_sockets
