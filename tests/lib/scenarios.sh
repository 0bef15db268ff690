# shellcheck shell=bash disable=SC2154
# Listing the scenarios and carrying out one of them, for those who run them: tests/run, and tests/lib/guest
# on another kernel. They set:
#
# $scratch    holds VARIANT/legguard, VARIANT/legs, VARIANT/tools, lib, scenarios, fixtures, action (but for tests/kernel), work, results and npm
# $run_id     goes into the environment of every process of a scenario
# $TEST_UID   the ordinary user, if we are root
# $quick      not empty: the scenarios may do less
# $names      an array; if not empty, only files whose name contains one of them
# $allowed    seconds that a scenario may take, if not 120

# One line for each: KIND (user, root, again: as root, with gcc alone, or slow: with gcc alone), FILE, FUNCTION, NAME.
list_scenarios() {
	local file
	for file in "$scratch"/scenarios/*.sh; do
		if ((${#names[@]})); then
			local name wanted=
			for name in "${names[@]}"; do
				[[ ${file##*/} != *"${name##*/}"* ]] || wanted=yes
			done
			[[ $wanted ]] || continue
		fi
		(
			# shellcheck disable=SC2317
			scenario() { printf '%s\t%s\t%s\t%s\n' user "$file" "$2" "$1"; }
			# shellcheck disable=SC2317
			scenario_as_root() { printf '%s\t%s\t%s\t%s\n' root "$file" "$2" "$1"; }
			# shellcheck disable=SC2317
			scenario_slow() { printf '%s\t%s\t%s\t%s\n' slow "$file" "$2" "$1"; }
			# shellcheck disable=SC2317
			scenario_again_as_root() { printf '%s\t%s\t%s\t%s\n' again "$file" "$2" "$1"; }
			# shellcheck source=/dev/null
			source "$file"
		)
	done
}

# Runs in a subshell of its own; leaves its verdict in $4.
run_scenario() { # VARIANT KIND FILE FUNCTION RESULT
	local variant=$1 kind=$2 file=$3 function=$4 result=$5 seconds=${allowed:-120} code=0 as=() work
	work=$scratch/work/$(basename "$result")
	mkdir -m 0755 "$work"
	[[ $kind != slow ]] || seconds=300
	if ((EUID == 0)) && [[ $kind != root && $kind != again ]]; then
		chown "$TEST_UID:$TEST_UID" "$work"
		as=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
	fi
	"$scratch/$variant/tools/supervise" "$seconds" "${as[@]}" env -i \
		PATH="$PATH:/usr/sbin:/sbin" HOME="$work/home" LC_ALL=C.UTF-8 \
		LEGGUARD_TESTS="$run_id" TEST_UID="$TEST_UID" VARIANT="$variant" QUICK="$quick" \
		LEGGUARD="$scratch/$variant/legguard" LEGS="$scratch/$variant/legs" \
		TOOLS="$scratch/$variant/tools" LIB="$scratch/lib" FIXTURES="$scratch/fixtures" ACTION="$scratch/action" \
		NPM_DIR="$scratch/npm" AGENT_DIR="$scratch/agent" \
		ASAN_OPTIONS=exitcode=99:detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		"$scratch/lib/one-scenario" "$file" "$function" "$work" \
		>"$result.log" 2>&1 3>"$result.reason" </dev/null || code=$?
	case $code in
	0) echo ok ;;
	77) echo skip ;;
	124) echo "FAIL took longer than $seconds seconds" ;;
	99) echo "FAIL left processes behind" ;;
	*) echo FAIL ;;
	esac >"$result"
	chmod -R u+rwX "$work" 2>/dev/null || true
	rm -rf --one-file-system "$work" || echo "can't remove $work" >>"$result.log"
}
