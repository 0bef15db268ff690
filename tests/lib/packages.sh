# shellcheck shell=bash
# What has to be installed, and how: shared by guard/try, guard/action and tests/run.
#
# Debian 12 and Ubuntu 22.04/24.04. Nothing is touched when nothing is missing; otherwise apt-get is run
# as root or through sudo. A required package that can't be had ends the script; an optional one is
# only missed by the scenarios that need it, and they say so.

packages_missing=()

# packages_want COMMAND PACKAGE: PACKAGE brings COMMAND.
packages_want() {
	command -v "$1" >/dev/null 2>&1 || [[ -x /usr/sbin/$1 || -x /sbin/$1 ]] ||
		packages_missing+=("$2")
}

# packages_want_library MODULE PACKAGE: PACKAGE brings what pkg-config calls MODULE.
packages_want_library() {
	pkg-config --exists "$1" 2>/dev/null || packages_missing+=("$2")
}

packages_want_program() {
	packages_want gcc gcc
	[[ -e /usr/include/stdlib.h ]] || packages_missing+=(libc6-dev)
	packages_want meson meson
	packages_want ninja ninja-build
	packages_want pkg-config pkg-config
	packages_want_library libbsd libbsd-dev
	packages_want_library libxxhash libxxhash-dev
	packages_want_library jansson libjansson-dev
	packages_want_library nettle nettle-dev
}

packages_want_build() {
	packages_want_program
	packages_want_library cmocka libcmocka-dev
}

# libFuzzer comes with the run time of the clang that is there, or will be.
packages_want_fuzzer() {
	local version
	version=$(clang -dumpversion 2>/dev/null) || version=$(apt-cache show clang 2>/dev/null |
		sed -n 's/^Depends:.*clang-\([0-9]*\).*/\1/p' | head -n 1)
	version=${version%%.*}
	[[ -z $version || -e $(clang -print-file-name=libclang_rt.fuzzer-x86_64.a 2>/dev/null) ]] ||
		packages_missing+=("libclang-rt-$version-dev")
}

packages_want_tests() {
	packages_want clang clang
	packages_want_fuzzer
	packages_want_library icu-i18n libicu-dev
	packages_want setpriv util-linux
	packages_want unshare util-linux
	packages_want python3 python3
	packages_want setfattr attr
	packages_want strace strace
	packages_want bwrap bubblewrap
	packages_want socat socat
	packages_want rg ripgrep
	packages_want git git
	packages_want shellcheck shellcheck
	packages_want jq jq
	packages_want npm npm
	packages_want node nodejs
	packages_want qemu-system-x86_64 qemu-system-x86
	packages_want mke2fs e2fsprogs
	packages_want apparmor_parser apparmor
	packages_want sudo sudo
	packages_want ping iputils-ping
	packages_want getcap libcap2-bin
	packages_want gpg gnupg
	packages_want sshd openssh-server
	packages_want ssh openssh-client
	/usr/bin/python3 -c 'import pytest' 2>/dev/null || packages_missing+=(python3-pytest)
	/usr/bin/python3 -c 'import yaml' 2>/dev/null || packages_missing+=(python3-yaml)
	packages_want curl curl
	packages_want openssl openssl
	packages_want dbus-daemon dbus
	packages_want dbus-send dbus
	packages_want tmux tmux
	packages_want cmark-gfm cmark-gfm
	packages_want chromium chromium
	packages_want chromedriver chromium-driver
	if ((EUID == 0)); then
		packages_want losetup mount
		packages_want nscd nscd
		packages_want atd at
		packages_want sudo sudo
		packages_want mkfs.btrfs btrfs-progs
		packages_want mkfs.xfs xfsprogs
	fi
}

packages_as_root() {
	if ((EUID == 0)); then
		"$@"
	else
		sudo -- "$@"
	fi
}

packages_apt() {
	packages_as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" \
		</dev/null >&2
}

# packages_install required|program|optional: install what is missing, all at once; program: required by it alone.
packages_install() {
	local package

	((${#packages_missing[@]})) || return 0
	if ! command -v apt-get >/dev/null; then
		echo "missing: ${packages_missing[*]} (there is no apt-get here to install them with)" >&2
	elif ((EUID != 0)) && ! sudo -n true 2>/dev/null && ! [[ -t 0 ]]; then
		echo "missing: ${packages_missing[*]} (neither root nor sudo to install them with)" >&2
	else
		echo "installing: ${packages_missing[*]}" >&2
		packages_apt update || true
		if ! packages_apt install -y --no-install-recommends ca-certificates \
			"${packages_missing[@]}"; then
			# One that does not exist here must not keep the others away.
			for package in "${packages_missing[@]}"; do
				packages_apt install -y --no-install-recommends "$package" || true
			done
		fi
	fi
	packages_missing=()
	case $1 in
	optional) return 0 ;;
	program) packages_want_program ;;
	*) packages_want_build ;;
	esac
	if ((${#packages_missing[@]})); then
		echo "can't build without: ${packages_missing[*]}" >&2
		exit 1
	fi
}

# Ubuntu 24.04 keeps unprivileged user namespaces from mounting anything unless an AppArmor profile allows
# it. The executables of a fresh build have none, so while they are tried the switch is turned
# off, where we may, and packages_restore_userns turns it on again.
packages_userns_switch=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
packages_userns_changed=

packages_allow_userns() {
	[[ -r $packages_userns_switch && $(<"$packages_userns_switch") == 1 ]] || return 0
	((EUID == 0)) || sudo -n true 2>/dev/null || return 0
	if packages_as_root sh -c "echo 0 >$packages_userns_switch" >&2; then
		packages_userns_changed=yes
		echo "kernel.apparmor_restrict_unprivileged_userns is 0 until this script ends" >&2
	fi
}

packages_restore_userns() {
	[[ $packages_userns_changed ]] || return 0
	packages_as_root sh -c "echo 1 >$packages_userns_switch" >&2
	packages_userns_changed=
}
