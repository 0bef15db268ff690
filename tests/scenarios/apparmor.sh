# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2154,SC2164
# AppArmor: a profile that denies what the view needs, and the one that comes with the program.

# confine PROFILE: load it, from then on for $LEGGUARD, a copy at a path of its own, which it names. It is
# taken out again at the end.
confine() {
	local parser
	[[ $(cat /sys/module/apparmor/parameters/enabled 2>/dev/null) == Y && -d /sys/kernel/security/apparmor ]] ||
		skip "AppArmor is not on here"
	parser=$(command -v apparmor_parser) || skip "apparmor_parser is not installed"
	[[ $VARIANT != asan ]] || skip "the sanitizers' own run time needs more than the profile gives"
	mkdir -m 0755 "$work/bin"
	cp "$LEGGUARD" "$work/bin/legguard"
	LEGGUARD=$work/bin/legguard
	"$1" >"$work/profile"
	"$parser" -r -K "$work/profile" 2>"$work/parser" || fail "$(<"$work/parser")"
	trap '"$(command -v apparmor_parser)" -R "$work/profile" 2>/dev/null' EXIT
	chown -R "$TEST_UID:$TEST_UID" "$work"
	remember
	under=(setpriv --reuid "$TEST_UID" --regid "$TEST_UID" --clear-groups --)
}

# All but capabilities and mounts: a user namespace can be made, and is of no use.
powerless() {
	echo "profile legguard-scenario-$$ $LEGGUARD {"
	printf '  %s\n' "file," "network," "unix," "signal," "ptrace," "umount,"
	echo "}"
}
no_capabilities() {
	confine powerless
	refused
	has "$work/stderr" "can't make the leg's namespaces: Operation not permitted"
	has "$work/stderr" "AppArmor profile confines this program"
	has "$work/stderr" "--isolation none"
	kept unpublished
	guard --isolation none -- bash -c 'echo "confined by: $(</proc/self/attr/current)"'
	expect 0
	# So it was the profile, and not the scenario.
	has "$work/stdout" "confined by: legguard-scenario-$$ (enforce)"
	same "$(output lane-class)" ok
}
# Capabilities, but no mounts.
no_mounts_in_it() {
	powerless | sed 's/^  file,/&\n  capability,/'
}
no_mounts() {
	confine no_mounts_in_it
	refused
	has "$work/stderr" "Permission denied"
	has "$work/stderr" "AppArmor profile confines this program"
	kept unpublished
}

shipped() {
	"$LEGGUARD" doctor --apparmor-profile "$LEGGUARD" |
		if [[ -e /etc/apparmor.d/abi/4.0 ]]; then cat; else sed '/^abi /d; /^  userns,/d'; fi
}
with_shipped() {
	confine shipped
	guard --status "$work/status.json" -- "$LEGS/late-writer" "$work/result" "$work/alive"
	expect 0
	dead "$work/alive"
	same "$(sort -u "$work/result")" EROFS
	kept
	same "$(status_of proof)" pid-namespace
	guard -- "$LEGS/undo-mounts" "$file_commands"
	expect 0
	lacks "$work/stdout" THROUGH
	guard -- cat /proc/self/attr/current
	has "$work/stdout" "legguard (unconfined)"
	guard -- unshare -Urmpf --mount-proc true
	expect 0
	kept
}

scenario_as_root "an AppArmor profile that denies capabilities: refused before the leg, with the cure" no_capabilities
scenario_as_root "an AppArmor profile that denies mounts: refused before the leg, with the cure" no_mounts
# AppArmor before 4.0 knows neither the profile's abi nor its rule for user namespaces, nor restricts these: the rest
# is loaded.
if [[ -e /etc/apparmor.d/abi/4.0 ]]; then
	scenario_as_root "with the shipped AppArmor profile loaded, runs and nested sandboxes work and hold" with_shipped
else
	scenario_as_root "with what an AppArmor before 4.0 knows of the shipped profile loaded, runs and nested sandboxes work and hold" with_shipped
fi
