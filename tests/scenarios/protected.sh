# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2164
# What runs or is trusted after the leg is read-only for it without being asked for: the step's own script, the event,
# actions, the runner, its hooks, the launcher. Tokens and credentials are not for the leg at all.

guid=0d9b7f54-3a5e-4c53-9f10-6d1c3a9be7f2

# The runner's directories as it makes them, with the step in them. The program runs as a descendant of the worker.
make_runner() {
	runner=$work/runner
	mkdir -p "$runner"/{bin,externals/node20/bin,_diag,_work/_tool} "$runner/_work/repo"
	mv "$RUNNER_TEMP" "$runner/_work/_temp"
	mv "$work/workspace" "$runner/_work/repo/repo"
	RUNNER_TEMP=$runner/_work/_temp
	GITHUB_WORKSPACE=$runner/_work/repo/repo
	local v
	for v in GITHUB_PATH GITHUB_ENV GITHUB_STEP_SUMMARY GITHUB_STATE GITHUB_OUTPUT GITHUB_ARTIFACTS \
		GITHUB_ARTIFACTS_LIST; do
		declare -gx "$v=$RUNNER_TEMP/_runner_file_commands/$(basename "${!v}")"
	done
	file_commands=$RUNNER_TEMP/_runner_file_commands
	outer_output=$file_commands/$(basename "$outer_output")
	cp "$(command -v bash)" "$runner/bin/Runner.Worker"
	printf '#!/bin/sh\n' >"$runner/externals/node20/bin/node"
	printf '#!/bin/sh\n' >"$runner/run.sh"
	printf 'LANG=C.UTF-8\n' >"$runner/.env"
	for f in .credentials .credentials_rsaparams; do
		printf 'secret\n' >"$runner/$f"
	done
	export GITHUB_ACTION_PATH=$runner/_work/_actions/them/action/v1
	mkdir -p "$GITHUB_ACTION_PATH" "$RUNNER_TEMP/_github_workflow"
	printf 'main()\n' >"$GITHUB_ACTION_PATH/post.js"
	export GITHUB_EVENT_PATH=$RUNNER_TEMP/_github_workflow/event.json
	printf '{}\n' >"$GITHUB_EVENT_PATH"
	mkdir "$work/hooks"
	export ACTIONS_RUNNER_HOOK_JOB_COMPLETED=$work/hooks/completed.sh
	printf 'exit 0\n' >"$ACTIONS_RUNNER_HOOK_JOB_COMPLETED"
	script=$RUNNER_TEMP/$guid.sh
	printf 'true\n' >"$script"
	under=("$runner/bin/Runner.Worker" -c '"$@"; exit $?' -)
	((EUID != 0)) || chown -hR "$TEST_UID:$TEST_UID" "$runner" "$work/hooks"
	cd "$GITHUB_WORKSPACE"
	remember
}

# The leg tries PATH... in every way that goes by the name; each attempt that gets through says so.
attempts='
for f; do
	echo forged 2>/dev/null >>"$f" && echo "THROUGH append $f"
	: 2>/dev/null >"$f" && echo "THROUGH truncate $f"
	chmod 0777 "$f" 2>/dev/null && echo "THROUGH chmod $f"
	mv "$f" "$f.aside" 2>/dev/null && echo "THROUGH mv $f"
	rm -f "$f" 2>/dev/null && echo "THROUGH rm $f"
	echo forged >"${f%/*}/.new" 2>/dev/null && mv "${f%/*}/.new" "$f" 2>/dev/null && echo "THROUGH replace $f"
	rm -f "${f%/*}/.new" 2>/dev/null
	echo tried
done
exit 0'

# holds PATH...: none of them can be changed.
holds() {
	local f
	for f; do
		[[ -e $f ]] || fail "there is no $f"
		sha256sum "$f" && stat -c '%i %a %h' "$f"
	done >"$work/before"
	guard -- bash -c "$attempts" - "$@"
	expect 0
	lacks "$work/stdout" THROUGH
	same "$(grep -c tried "$work/stdout")" $# "attempts"
	for f; do
		sha256sum "$f" && stat -c '%i %a %h' "$f"
	done >"$work/after"
	cmp "$work/before" "$work/after"
	kept
}

by_their_names() {
	make_runner
	printf 'true\n' >"$RUNNER_TEMP/of-an-earlier-step"
	holds "$script" "$RUNNER_TEMP/of-an-earlier-step" "$GITHUB_EVENT_PATH" "$GITHUB_ACTION_PATH/post.js" \
		"$runner/bin/Runner.Worker" "$runner/externals/node20/bin/node" "$runner/run.sh" "$runner/.env" \
		"$ACTIONS_RUNNER_HOOK_JOB_COMPLETED"
}

# bash reads a script as it goes: what is appended while a command of it runs would run next, outside of all this.
own_script() {
	make_runner
	cat >"$script" <<-E
		"\$LEGGUARD" run -- bash -c 'echo "touch \$1/injected" >>"\$2"; echo tried' - "$work" "$script"
		echo after
	E
	"$runner/bin/Runner.Worker" -c 'bash -e "$1"; exit $?' - "$script" >"$work/stdout" 2>"$work/stderr" </dev/null
	same "$(cat "$work/stdout")" $'tried\nafter'
	has "$work/stderr" "Read-only file system"
	[[ ! -e $work/injected ]] || fail "the step ran what the leg wrote"
	kept
}

# The root is found by the ancestor's executable, also when an update has replaced it.
after_an_update() {
	make_runner
	mv "$runner/bin" "$runner/bin.2.336.0"
	ln -s bin.2.336.0 "$runner/bin"
	unset RUNNER_TEMP GITHUB_ACTION_PATH GITHUB_EVENT_PATH
	under=("$runner/bin.2.336.0/Runner.Worker" -c 'rm -f "$0"; "$@"; exit $?' "$runner/bin.2.336.0/Runner.Worker")
	printf 'x\n' >"$runner/bin.2.336.0/other"
	holds "$runner/bin.2.336.0/other" "$runner/externals/node20/bin/node" "$script"
}

# In a job's container the worker is no ancestor.
no_ancestor() {
	make_runner
	under=()
	holds "$runner/bin/Runner.Worker" "$runner/externals/node20/bin/node" "$GITHUB_ACTION_PATH/post.js" "$script"
}

credentials() {
	make_runner
	guard -- bash -c 'cat "$@"; exit 0' - "$runner"/.credentials*
	expect 0
	lacks "$work/stdout" secret
	same "$(cat "$runner/.credentials")" secret
}

# uses: ./ has the workspace as its GITHUB_ACTION_PATH.
local_action() {
	make_runner
	GITHUB_ACTION_PATH=$GITHUB_WORKSPACE
	guard -- bash -c 'echo built >result && mkdir -p out && mv result out/'
	expect 0
	same "$(cat out/result)" built
	guard -n
	has "$work/stdout" "unprotected $GITHUB_WORKSPACE (GITHUB_ACTION_PATH; contains the working directory)"
	# A directory of the workspace is one that can be protected.
	GITHUB_ACTION_PATH=$GITHUB_WORKSPACE/action
	mkdir action
	printf 'main()\n' >action/post.js
	holds "$GITHUB_ACTION_PATH/post.js"
	# Not one that the leg works in.
	guard -C action -- touch here
	expect 0
}

shown() {
	make_runner
	guard -n -- true
	expect 0
	has "$work/stdout" "read-only  $script (a step's script)"
	has "$work/stdout" "read-only  $RUNNER_TEMP/_github_workflow (the event)"
	has "$work/stdout" "read-only  $runner/_work/_actions (the runner's actions)"
	has "$work/stdout" "read-only  $runner/bin (the runner's own)"
	has "$work/stdout" "read-only  $ACTIONS_RUNNER_HOOK_JOB_COMPLETED (ACTIONS_RUNNER_HOOK_JOB_COMPLETED)"
	lacks "$work/stdout" "$runner/_work/repo "
	guard --status "$work/status.json" -- true
	expect 0
	(($(status_of protected.count) >= 8)) || fail "it counts $(status_of protected.count)"
	same "$(status_of protected.left_out)" "[]"
}

unprotected() {
	make_runner
	guard --unprotect "$script" --unprotect "$runner/_work/_actions" --unprotect "$work/nowhere" \
		--status "$work/status.json" -- bash -c 'echo more >>"$1" && echo more >>"$2"' - "$script" "$GITHUB_ACTION_PATH/post.js"
	expect 0
	same "$(cat "$script")" $'true\nmore'
	same "$(tail -n 1 "$GITHUB_ACTION_PATH/post.js")" more
	has "$work/status.json" '"why":"--unprotect"'
	guard --unprotect "$script" -n
	has "$work/stdout" "unprotected $script (a step's script; --unprotect)"
	# With all that is below.
	guard --unprotect "$RUNNER_TEMP" -- bash -c 'echo more >>"$1" && echo more >>"$2"' - "$script" "$GITHUB_EVENT_PATH"
	expect 0
	# What is mounted as a whole can't be taken out in part.
	refusal_names="lies in $runner/_work/_actions" refused --unprotect "$GITHUB_ACTION_PATH"
	kept
}

too_many() {
	make_runner
	(cd "$RUNNER_TEMP" && seq -f 'f%g' 1000 | xargs touch)
	refusal_names="holds more than 1000 files" refused
	guard --unprotect "$RUNNER_TEMP" -- true
	expect 0
	rm "$RUNNER_TEMP"/f?
	guard -- bash -c 'echo >>"$RUNNER_TEMP/f1000"; rm -f "$RUNNER_TEMP/f999"; exit 0'
	expect 0
	[[ ! -s $RUNNER_TEMP/f1000 && -e $RUNNER_TEMP/f999 ]] || fail "not all were protected"
}

# An honest leg's own use of RUNNER_TEMP, and its clean-up: what was there before stays, the rest goes.
own_files() {
	make_runner
	guard -- bash -c 'cd "$RUNNER_TEMP" && mkdir d && echo 1 >a && mv a b && ln b c && ln -s b l && echo 2 >>b && rm c l && mv b d/'
	expect 0
	same "$(cat "$RUNNER_TEMP/d/b")" $'1\n2'
	guard -- bash -c 'rm -rf "$RUNNER_TEMP"/*'
	expect 1
	has "$work/stderr" "cannot remove '$script'"
	[[ ! -e $RUNNER_TEMP/d && -e $script && -e $GITHUB_EVENT_PATH ]] || fail "$(ls -R "$RUNNER_TEMP")"
	kept
}

# Files that were there and are another's business: a log that somebody writes, a status file, redirected output.
others_files() {
	make_runner
	guard --status "$RUNNER_TEMP/status.json" -- true
	expect 0
	has "$RUNNER_TEMP/status.json" '"class":"ok"'
	guard --status "$RUNNER_TEMP/status.json" -- true
	expect 0
	"${under[@]}" "$LEGGUARD" run -- echo said >"$RUNNER_TEMP/out" 2>&1
	same "$(cat "$RUNNER_TEMP/out")" said
	mkfifo "$RUNNER_TEMP/fifo" && ln -s nowhere "$RUNNER_TEMP/dangling" && ln "$RUNNER_TEMP/out" "$work/other-name"
	chmod 0 "$RUNNER_TEMP/out"
	guard -- true
	expect 0
	kept
}

# The program in a directory that the leg can write, as a workflow installs it.
itself() {
	make_runner
	mkdir "$work/tools"
	cp "$LEGGUARD" "$work/tools/legguard"
	printf '#!/bin/sh\n' >"$work/tools/helper"
	LEGGUARD=$work/tools/legguard
	holds "$LEGGUARD" "$work/tools/helper"
	guard -- bash -c ': >"$1/tools/new"' - "$work"
	expect 1
	# In the workspace the leg may work beside it.
	mkdir build
	cp "$LEGGUARD" build/legguard
	LEGGUARD=$PWD/build/legguard
	holds "$LEGGUARD"
	guard -- touch build/new
	expect 0
}

environment() {
	make_runner
	export ACTIONS_RUNTIME_TOKEN=tok1 ACTIONS_ID_TOKEN_REQUEST_TOKEN=tok2 ACTIONS_ID_TOKEN_REQUEST_URL=url1 \
		ACTIONS_CACHE_URL=url2 ACTIONS_RESULTS_URL=url3
	guard --status "$work/status.json" -- env
	lacks "$work/stdout" ACTIONS_RUNTIME_TOKEN
	lacks "$work/stdout" ACTIONS_ID_TOKEN
	lacks "$work/stdout" ACTIONS_CACHE_URL
	lacks "$work/stdout" ACTIONS_RESULTS_URL
	has "$work/stdout" "RUNNER_TEMP=$RUNNER_TEMP"
	has "$work/status.json" '"removed_env":["ACTIONS_RUNTIME_TOKEN","ACTIONS_ID_TOKEN_REQUEST_TOKEN"'
	guard --isolation none -- env
	lacks "$work/stdout" ACTIONS_RUNTIME_TOKEN
	guard --keep-env ACTIONS_CACHE_URL --setenv ACTIONS_RUNTIME_TOKEN=mine -- env
	has "$work/stdout" ACTIONS_CACHE_URL=url2
	has "$work/stdout" ACTIONS_RUNTIME_TOKEN=mine
	lacks "$work/stdout" ACTIONS_RESULTS_URL
	guard -n --keep-env ACTIONS_CACHE_URL
	has "$work/stdout" "unset      ACTIONS_RUNTIME_TOKEN"
	lacks "$work/stdout" ACTIONS_CACHE_URL
	lacks "$work/stdout" tok1
}

# around COMMAND: the leg's own namespace, where $bare is the runner's directory of work with nothing mounted in it.
# $back puts everything back.
around() {
	mkdir -p "$work/beside" "$work/bare"
	guard --status "$work/status.json" -- unshare -rm bash -c '
		mount --bind "$1/beside" "$1/bare" || exit 9
		mv "$1/runner/_work" "$1/beside/w" || exit 9
		exec 7<"$1/bare/w"
		bare=$1/bare/w
		back() { mv "$1/beside/w" "$1/runner/_work"; bare=/proc/self/fd/7; }
		eval "$2"' - "$work" "$1"
}

# settled PATH: what is below it was changed some ticks of the clock ago, as far as times can tell.
settled() {
	local last
	last=$(find "$1" -printf '%C@\n' | sort -n | tail -n 1)
	is_past() {
		touch "$work/probe"
		[[ $(stat -c %.9Z "$work/probe") > $last ]]
	}
	until_true is_past
	until_true is_past # as the clock of the times may be ahead of that of the ticks
}

around_to_the_script() {
	make_runner
	cat >"$script" <<-E
		"\$LEGGUARD" run -- unshare -rm bash -c 'mount --bind "\$1/beside" "\$1/bare" && mv "\$1/runner/_work" "\$1/beside/w" &&
			echo "touch \$1/injected" >>"\$1/bare/w/_temp/$guid.sh" && touch "\$1/wrote"' - "$work"
		echo "after \$?"
	E
	cp "$script" "$work/script"
	mkdir "$work/beside" "$work/bare"
	"${under[@]}" bash "$script" >"$work/stdout" 2>"$work/stderr" </dev/null
	same "$(cat "$work/stdout")" "after 120"
	has "$work/stderr" "tampered: opened $script"
	[[ ! -e $work/injected && ! -e $work/wrote ]] || fail "the leg could write"
	cmp "$work/script" "$script"
	kept
}

around_and_back() {
	make_runner
	around 'back "$1"; echo forged >>"$bare/_temp/_github_workflow/event.json" && : >"$1/wrote"'
	expect 120
	[[ ! -e $work/wrote ]] || fail "the leg could write"
	has "$work/stderr" "tampered: opened $GITHUB_EVENT_PATH"
	same "$(cat "$GITHUB_EVENT_PATH")" "{}"
	kept
}

# What there is no copy of can't be put back, but it can't be hidden either.
around_to_an_action() {
	make_runner
	touch -d '2020-01-01' "$GITHUB_ACTION_PATH/post.js"
	settled "$runner"
	around 'back "$1"; f=$bare/_actions/them/action/v1/post.js
		sed s/main/evil/ "$f" | dd of="$f" conv=notrunc status=none && touch -d 2020-01-01 "$f" && : >"$1/wrote"; exit 0'
	[[ -e $work/wrote ]] || fail "the attack did not work: $(cat "$work/stderr")"
	expect 122
	has "$work/stderr" "tampered: rewritten $GITHUB_ACTION_PATH/post.js"
	same "$(status_of class)" tampered
	kept
}

# With the directories above pinned there is no way around.
pinned() {
	need python3
	make_runner
	mkdir "$work/beside" "$work/bare"
	guard --pin -- unshare -rm bash -c 'mount --bind "$1/beside" "$1/bare" &&
		python3 -c "import os, sys; os.rename(*sys.argv[1:])" "$1/runner/_work" "$1/beside/w"' - "$work"
	expect 1
	[[ -e $script && ! -e $work/beside/w ]] || fail "it was moved"
	guard --pin -- "$LEGS/dirfd-rename" rename "$runner" bin
	lacks "$work/stdout" moved
	expect 0
	kept
}

# Where nothing but the workspace is writable, the default makes no difference.
strict() {
	make_runner
	guard --writable "$GITHUB_WORKSPACE" -- bash -c 'echo 1 >result && cat "$1" "$GITHUB_ACTION_PATH/post.js" && echo >"$RUNNER_TEMP/new"' - "$script"
	expect 0
	same "$(cat "$work/stdout")" $'true\nmain()'
	[[ -e $RUNNER_TEMP/new ]] || fail "what the leg made did not come out"
	holds "$script" "$GITHUB_ACTION_PATH/post.js"
}

# The launcher is killed: the janitor knows the same names and bytes.
launcher_killed() {
	make_runner
	mkfifo "$work/moved"
	launch -- bash -c '"$1" rename "$RUNNER_TEMP" "$2.sh"; "$1" rename "$3" bin; echo >"$4/moved"; sleep 100' - \
		"$LEGS/dirfd-rename" "$guid" "$runner" "$work"
	await "$work/moved"
	local program
	until_true program_of
	kill -KILL "$program"
	wait "$launcher" || true
	put_back() { [[ -f $script && -e $runner/bin/Runner.Worker ]] && grep -q true "$script"; }
	until_true put_back
}
program_of() {
	program=$(child_of "$launcher" legguard)
}

around_to_an_earlier_file() {
	make_runner
	echo 1 >"$RUNNER_TEMP/version"
	around 'back "$1"; echo 2 >"$bare/_temp/version"; exit 0'
	expect 122
	has "$work/stderr" "tampered: rewritten $RUNNER_TEMP/version"
}

# Without a directory being moved the leg could not get there, so it may have been somebody else.
replaced_earlier_file() {
	make_runner
	echo 1 >"$RUNNER_TEMP/version"
	guard --status "$work/status.json" -- "$LEGS/dirfd-rename" replace "$RUNNER_TEMP" version
	expect 0
	has "$work/stdout" moved
	has "$work/stderr" "$RUNNER_TEMP/version was changed by the leg or by somebody else while the leg ran"
	has "$work/status.json" '"when":"during"'
}

names_put_back() {
	make_runner
	local f how
	for how in rename unlink replace; do
		guard -- "$LEGS/dirfd-rename" "$how" "$RUNNER_TEMP" "$guid.sh"
		expect 120
		has "$work/stdout" moved
		same "$(cat "$script")" true
		rm -rf "$RUNNER_TEMP/moved-aside" # the leg's
	done
	for f in "$runner/bin" "$runner/externals" "$runner/_work/_actions" "$RUNNER_TEMP/_github_workflow" "$runner/_diag"; do
		stat -c '%i %n' "$f" >"$work/before"
		guard -- "$LEGS/dirfd-rename" rename "${f%/*}" "${f##*/}"
		expect 120
		has "$work/stdout" moved
		has "$work/stderr" "tampered: path-moved $f"
		stat -c '%i %n' "$f" | cmp - "$work/before"
		rm -rf "${f%/*}/moved-aside" # the leg's
	done
	kept
}

# In a directory of its own the program's name holds; in the workspace the directory is the leg's.
program_put_back() {
	make_runner
	local how
	mkdir build
	cp "$LEGGUARD" build/legguard
	local program=$PWD/build/legguard
	sha256sum "$program" >"$work/sum"
	for how in rename replace unlink; do
		LEGGUARD=$program guard -- "$LEGS/dirfd-rename" "$how" "$PWD/build" legguard
		expect 120
		sha256sum -c --quiet "$work/sum"
		same "$(stat -c %a "$program")" 755
		rm -rf build/moved-aside
	done
	kept
}

link_put_back() {
	make_runner
	mv "$runner/externals" "$runner/externals.2.336.0"
	ln -s externals.2.336.0 "$runner/externals"
	guard -- bash -c 'rm "$1/externals" && mkdir -p "$1/externals/node20/bin"' - "$runner"
	expect 120
	same "$(readlink "$runner/externals")" externals.2.336.0
}

# Others may write what is theirs, whatever the leg renames; what the leg can't have done is not held against it.
others_write() {
	make_runner
	local names=("$RUNNER_TEMP/closed" "$RUNNER_TEMP/open" "$RUNNER_TEMP/removed" "$work/asked")
	touch "${names[@]}"
	mkfifo "$work/started" "$work/go"
	exec 8>>"$RUNNER_TEMP/open"
	{
		await "$work/started"
		echo more >>"$RUNNER_TEMP/closed"
		echo more >>"$work/asked"
		echo more >&8
		rm "$RUNNER_TEMP/removed"
		echo log >>"$runner/_diag/Worker.log"
		announce "$work/go"
	} &
	guard --read-only "$work/asked" -- bash -c 'cd "$RUNNER_TEMP" && touch a && : >"$1/started"; : <"$1/go"; mv a b' - "$work"
	wait $!
	expect 0
	same "$(cat "$RUNNER_TEMP/closed" "$RUNNER_TEMP/open" "$work/asked")" $'more\nmore\nmore'
	[[ ! -e $RUNNER_TEMP/removed ]] || fail "it was put back"
	has "$work/stderr" "$RUNNER_TEMP/closed was changed"
	lacks "$work/stderr" "$RUNNER_TEMP/open"
	kept
}

# Somebody replaces and removes files of his as fast as he can.
busy_files() {
	need python3
	make_runner
	touch "$RUNNER_TEMP/state"
	touch "$runner/go-on"
	python3 -c '
import os, sys
os.chdir(sys.argv[1])
n = 0
while os.path.exists("../../go-on"):
    n += 1
    with open("temporary%d" % (n % 20), "w") as f:
        f.write("state")
    os.rename("temporary%d" % (n % 20), "state")
    open("short%d" % (n % 7), "w").close()
    os.unlink("short%d" % (n % 7))' "$RUNNER_TEMP" &
	local i
	for i in {1..25}; do
		guard --status "$work/status.json" -- true
		expect 0
	done
	for i in {1..5}; do
		guard --pin -- true
		expect 0
		guard --writable "$GITHUB_WORKSPACE" -- true
		expect 0
	done
	rm "$runner/go-on"
	wait $!
	kept
}

asked_file() {
	mkdir "$work/dir" "$work/beside" "$work/bare"
	echo precious >"$work/dir/file"
	guard --read-only "$work/dir/file" -- unshare -rm bash -c '
		mount --bind "$1/beside" "$1/bare" && mv "$1/dir" "$1/beside/d" && exec 7<"$1/bare/d" && mv "$1/beside/d" "$1/dir" &&
			echo forged >/proc/self/fd/7/file && : >"$1/wrote"' - "$work"
	expect 120
	[[ ! -e $work/wrote ]] || fail "the leg could write"
	has "$work/stderr" "tampered: opened $work/dir/file"
	same "$(cat "$work/dir/file")" precious
}

asked_directory() {
	mkdir -p "$work/dir/tree/a/b" "$work/beside" "$work/bare"
	echo precious >"$work/dir/tree/a/b/file"
	settled "$work/dir/tree"
	guard --read-only "$work/dir/tree" -- unshare -rm bash -c '
		mount --bind "$1/beside" "$1/bare" && mv "$1/dir" "$1/beside/d" && exec 7<"$1/bare/d" && mv "$1/beside/d" "$1/dir" &&
			echo forged >/proc/self/fd/7/tree/a/b/file; exit 0' - "$work"
	expect 122
	has "$work/stderr" "tampered: rewritten $work/dir/tree/a/b/file"
	# An honest leg works beside it, and changes modes above it.
	guard --read-only "$work/dir/tree" -- bash -c 'cd "$1/dir" && touch a && mv a b && chmod 0700 . && ! touch tree/c' - "$work"
	expect 0
	same "$(stat -c %a "$work/dir")" 700
}

# Standard input was opened where nothing is mounted over it.
by_standard_input() {
	make_runner
	printf 'first\nprompt\n' >"$GITHUB_ACTION_PATH/prompt"
	local status=0
	{
		read -r line
		"${under[@]}" "$LEGGUARD" run -- bash -c 'cat; echo forged >/proc/self/fd/0' >"$work/stdout" 2>"$work/stderr" || status=$?
	} <"$GITHUB_ACTION_PATH/prompt"
	same "$status" 1
	has "$work/stderr" "Read-only file system"
	same "$(cat "$work/stdout")" prompt
	same "$(cat "$GITHUB_ACTION_PATH/prompt")" $'first\nprompt'
}

scenario "script, event, action, runner, hook and earlier files can't be changed by their names" by_their_names
scenario "a step's script that its leg appends to runs as it was written" own_script
scenario "the runner is found by its worker's executable, also after an update" after_an_update
scenario "the runner is found by the environment where its worker is no ancestor" no_ancestor
scenario "the runner's credentials can't be read" credentials
scenario "an action in the workspace is left alone, as is what the leg works in" local_action
scenario "dry-run and the status show what is protected, and why" shown
scenario "--unprotect takes out a path and what is below it" unprotected
scenario "too many files in RUNNER_TEMP are refused, and as many as allowed are held" too_many
scenario "what the leg makes in RUNNER_TEMP is its own, and its clean-up removes just that" own_files
scenario "files in RUNNER_TEMP that are no plain files of the step are no reason to refuse" others_files
scenario "the program and its directory can't be replaced" itself
scenario "tokens of the job are not in the leg's environment, unless they are asked for" environment
scenario "a write to the step's script around its mount is stopped before it happens" around_to_the_script
scenario "so is one to the event, after the directories were moved back" around_and_back
scenario "a change to an action around its mount is found, whatever its times say" around_to_an_action
scenario "as is one to an earlier step's file" around_to_an_earlier_file
scenario "an earlier step's file that anybody may have replaced is noted" replaced_earlier_file
scenario "names of protected files and directories are put back" names_put_back
scenario "the program is put back" program_put_back
scenario "a link of the runner's is put back" link_put_back
scenario "what others write meanwhile stays, and is not held against the leg" others_write
scenario "files that come and go meanwhile are no reason to refuse" busy_files
scenario "a write to a --read-only file around its mount is stopped" asked_file
scenario "a change below a --read-only directory is found, and an honest leg works beside it" asked_directory
scenario "standard input that is a protected file can't be written through its descriptor" by_standard_input
scenario "with --pin there is no way around" pinned
scenario "the strict view holds the same" strict
scenario "protected names are put back when the launcher is killed" launcher_killed
