# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# One credential, one class: what the lane of a paid-for agent is decided by.

result() {
	printf '{"type":"result","subtype":"success","is_error":%s,"api_error_status":%s,"terminal_reason":"api_error","result":"%s","num_turns":2,"duration_ms":10,"total_cost_usd":0.5}\n' "$@"
}

classify() {
	guard --classify claude-json --status "$work/status.json" -- "$@"
}

by_the_result() {
	result true 400 "Credit balance is too low" >message
	classify bash -c 'cat message; exit 1'
	expect 1
	same "$(output lane-class)" credit-stop
	same "$(status_of result)" '{"subtype": "success", "is_error": true, "api_error_status": 400, "num_turns": 2, "duration_ms": 10, "total_cost_usd": 0.5}'
	[[ ! -s $work/stdout ]] || fail "the message was passed on"
	lacks "$work/status.json" "Credit balance"
	result false null "the model says ::set-output name=x::y" >message
	classify cat message
	expect 0
	same "$(output lane-class)" ok
	[[ ! -s $work/stdout ]] || fail "the model's text was passed on"
	classify bash -c 'echo "diagnostics" >&2; cat message'
	has "$work/stderr" diagnostics
}

nothing_else_counts() {
	result false null x >ok
	result true 402 x >stop
	local forged
	for forged in 'cat ok ok' 'cat ok stop; exit 1' 'cat stop; cat ok' 'cat ok; echo x' 'echo x; cat ok' 'cat ok; exit 1' \
		'cat stop' 'true' 'cat ok; kill -9 $$' 'head -c 30 ok' 'cat stop; kill -TERM $$'; do
		: >"$GITHUB_OUTPUT"
		classify bash -c "$forged"
		same "$(output lane-class)" error "$forged"
	done
	: >"$GITHUB_OUTPUT"
	guard --classify claude-json --timeout 1 -- bash -c 'cat ok; sleep 1000'
	same "$(output lane-class)" timeout
}

# A child of the client can neither open its standard output anew, to write a second result or to read the first, nor
# read from what it has inherited.
out_of_a_childs_reach() {
	result true 402 x >stop
	classify python3 -c '
import os, sys
fd = "/proc/%d/fd/1" % os.getpid()
for flags in (os.O_WRONLY, os.O_RDONLY, os.O_RDWR):
    try:
        os.close(os.open(fd, flags))
        print("THROUGH", flags, file=sys.stderr)
    except OSError as e:
        print(e.strerror, file=sys.stderr)
print("read:", os.read(1, 100), file=sys.stderr)
os.write(1, open("stop", "rb").read())
sys.exit(1)'
	expect 1
	lacks "$work/stderr" THROUGH
	same "$(grep -c "No such device or address" "$work/stderr")" 3
	has "$work/stderr" "read: b''"
	same "$(output lane-class)" credit-stop
}

# A descriptor that comes with a message is closed by the one who reads, and the last close of a socket with a full queue
# lasts as long as its sender said. Before Linux 6.16 nothing keeps it from being sent.
older_kernel=(strace -o /dev/null -e inject=setsockopt:error=ENOPROTOOPT)

descriptors_sent() {
	need strace
	local view older
	result false null x >ok
	for view in "" --share-pid --isolation=landlock; do
		for older in "" yes; do
			: >"$GITHUB_OUTPUT"
			under=()
			[[ ! $older ]] || under=("${older_kernel[@]}")
			# shellcheck disable=SC2086
			guard --classify claude-json --status "$work/status.json" $view --timeout 1 --kill-after 0.1 -- python3 -c '
import array, os, socket, struct, time
server, client = socket.socket(), socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
server.bind(("127.0.0.1", 0))
server.listen(1)
client.connect(server.getsockname())
peer, _ = server.accept()
client.setblocking(False)
try:
    while True: client.send(b"x" * 65536)
except BlockingIOError:
    client.setblocking(True)
client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))
out = socket.socket(fileno=os.dup(1))
try:
    for _ in range(3):
        out.sendmsg([open("ok", "rb").read()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [client.fileno()]))])
except OSError:
    pass
client.close()
time.sleep(1000)'
			expect 124
			same "$(output lane-class)" timeout
			same "$(status_of leg.signal)" SIGTERM
		done
	done
}

# Nor does it have a class then, though the result is there.
result_with_descriptor() {
	need strace
	result false null x >ok
	local send='
import array, os, socket, sys
out = socket.socket(fileno=os.dup(1))
try:
    out.sendmsg([open("ok", "rb").read()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
    print("sent", file=sys.stderr)
except PermissionError:
    out.send(open("ok", "rb").read())'
	under=("${older_kernel[@]}")
	classify python3 -c "$send"
	expect 0
	has "$work/stderr" sent
	same "$(output lane-class)" error
	under=()
	: >"$GITHUB_OUTPUT"
	classify python3 -c "$send"
	expect 0
	if grep -qx sent "$work/stderr"; then
		same "$(output lane-class)" error
	else
		same "$(output lane-class)" ok
	fi
}

for_scripts() {
	result true 429 x >message
	same "$("$LEGGUARD" classify message)" rate-limit
	same "$("$LEGGUARD" classify - --exit-status 1 <message)" rate-limit
	same "$("$LEGGUARD" classify message --exit-status 0)" error
	same "$("$LEGGUARD" classify message --json)" '{"class":"rate-limit","subtype":"success","is_error":true,"api_error_status":429,"num_turns":2,"duration_ms":10,"total_cost_usd":0.5}'
	echo "nothing" >message
	same "$("$LEGGUARD" classify message --json)" '{"class":"error"}'
	! "$LEGGUARD" classify 2>/dev/null || fail "no file was accepted"
}

one_credential() {
	local refusal_names
	export KEY_A KEY_B
	refusal_names="none of KEY_A,KEY_B is set" refused --exactly-one-env KEY_A,KEY_B
	KEY_A='' KEY_B=$' \t\n' refusal_names="none of KEY_A,KEY_B is set" refused --exactly-one-env KEY_A,KEY_B
	KEY_A=secret-1 KEY_B=secret-2 refusal_names="KEY_A and KEY_B are both set" refused --exactly-one-env KEY_A,KEY_B
	lacks "$work/stderr" secret
	KEY_A=secret-1 KEY_B=secret-2 refusal_names="a name is empty, or has a blank" refused --exactly-one-env "KEY_A, KEY_B"
	refusal_names="--setenv KEY_B puts a credential on the command line" refused --setenv KEY_B=secret-2 \
		--exactly-one-env KEY_A,KEY_B
	lacks "$work/stderr" secret
	KEY_A=secret-1 KEY_B=' ' guard --exactly-one-env KEY_A,KEY_B --status "$work/status.json" -- bash -c \
		'echo "${KEY_A-unset} ${KEY_B-unset}"'
	expect 0
	same "$(cat "$work/stdout")" "secret-1 unset"
	lacks "$work/status.json" secret
	KEY_A=secret-1 KEY_B=b guard --exactly-one-env KEY_A,KEY_B -u KEY_A -- bash -c 'echo "${KEY_A-unset} $KEY_B"'
	same "$(cat "$work/stdout")" "unset b"
}

# Whatever of this program, or of the step, the leg can see: nobody's environment can be read but its own.
credential_of_others() {
	local view
	export KEY_A=secret-1 KEY_B=' '
	for view in "" --share-pid --pin --isolation=landlock; do
		# shellcheck disable=SC2086
		KEY_B=b guard $view --exactly-one-env KEY_A,KEY_B -u KEY_A -- bash -c 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline |
			tr "\0" "\n" | grep -e "secret-[1]"; echo "looked for"'
		same "$(cat "$work/stdout")" "looked for" "$view"
	done
}

credential_of_others_of_the_user() {
	local view
	export KEY_A=secret-1 KEY_B=' '
	setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups -- sleep 1000 &
	other=$!
	trap 'kill "$other"; wait "$other" || true' EXIT
	for view in "" --pin --isolation=landlock; do
		# shellcheck disable=SC2086
		guard --user "$TEST_UID" $view -u KEY_A -- bash -c 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline |
			tr "\0" "\n" | grep -e "secret-[1]"; echo "looked for"'
		same "$(cat "$work/stdout")" "looked for" "$view"
	done
}

managed() {
	local settings=$work/etc/settings.json refusal_names
	under=("$LIB/as-runner" --)
	chown -R "$TEST_UID:$TEST_UID" "$work"
	chown 0:0 "$work"
	mkdir -m 0755 "$work/etc"
	echo '{"allowManagedHooksOnly": true}' >"$settings"
	# The directories above a test's own belong to root, but everybody can write /tmp.
	refusal_names="others than root can write a directory above" refused --managed-settings "$settings"
	under=("$LIB/as-runner" "$work/etc:/etc/alternatives" --)
	guard --managed-settings /etc/alternatives/settings.json -- bash -c 'echo x >/etc/alternatives/settings.json; exit 0'
	expect 0
	local content
	for content in '{}' '{"allowManagedHooksOnly": false}' '{"allowManagedHooksOnly": 1}' '{"disableAllHooks": "true"}' '[]' '' \
		'{"disableAllHooks": true, "disableAllHooks": true}' '{"disableAllHooks": true} x'; do
		echo "$content" >"$settings"
		refused --managed-settings /etc/alternatives/settings.json
	done
	echo '{"disableAllHooks": true}' >"$settings"
	guard --managed-settings /etc/alternatives/settings.json -- true
	expect 0
	chmod 0666 "$settings"
	refusal_names="others than root can write it" refused --managed-settings /etc/alternatives/settings.json
	chmod 0644 "$settings"
	chown "$TEST_UID" "$settings"
	refusal_names="does not belong to root" refused --managed-settings /etc/alternatives/settings.json
	chown 0 "$settings"
	ln -s settings.json "$work/etc/link"
	refused --managed-settings /etc/alternatives/link
	refused --managed-settings /etc/alternatives
	refusal_names="no absolute path" refused --managed-settings settings.json
}

managed_for_root() {
	local settings=/etc/alternatives/settings.json refusal_names="a root leg can replace directories above it"
	mkdir -m 0755 "$work/etc"
	echo '{"disableAllHooks": true}' >"$work/etc/settings.json"
	under=(unshare -m --propagation private bash -c 'mount --bind "$1" /etc/alternatives && shift && exec "$@"' - "$work/etc")
	refused --root-leg --managed-settings "$settings"
	guard --root-leg --pin --managed-settings "$settings" -- bash -c 'mv /etc/alternatives /etc/x; rm -f "$1"; echo x >"$1"; exit 0' - \
		"$settings"
	expect 0
	same "$(cat "$work/etc/settings.json")" '{"disableAllHooks": true}'
	[[ ! -e /etc/x ]] || fail "a directory above was moved"
}

scenario "the class is that of the result, and the leg's text goes nowhere" by_the_result
scenario "without exactly one result that agrees with the exit status the class is error" nothing_else_counts
scenario "a child of the client can't take or add a result" out_of_a_childs_reach
scenario "no descriptor sent through standard output holds the launcher up" descriptors_sent
scenario "a result that came with a descriptor is none" result_with_descriptor
scenario "classify does the same for scripts" for_scripts
scenario "exactly one credential is there, or nothing runs" one_credential
scenario "no environment of the launcher's can be read" credential_of_others
scenario_as_root "nor can the environment of other processes of the leg's user" credential_of_others_of_the_user
scenario_as_root "managed settings are root's, shut hooks out, and can't be written" managed
scenario_as_root "a root leg can't replace managed settings" managed_for_root
