# shellcheck shell=bash
# What the steps of action.yml before the leg share. An earlier step may have set any variable for them, so they look
# programs up along a PATH of their own.

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset CDPATH GLOBIGNORE TMPDIR
umask 022

# annotate KIND TEXT: an annotation, error or warning, in one line whatever is in TEXT.
annotate() {
	local text=$2
	text=${text//'%'/%25}
	text=${text//$'\r'/%0D}
	text=${text//$'\n'/%0A}
	printf '::%s title=legguard::%s\n' "$1" "$text"
}

# The statuses are legguard's own: refused, and nothing of the leg has run.
die() {
	annotate error "$*"
	exit 125
}

# publish NAME VALUE: an output of this step.
publish() {
	[[ $2 != *$'\n'* ]] || die "$1 can't hold a line feed: ${2@Q}"
	printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# Whether as_root works without asking anybody.
can_be_root() {
	((EUID == 0)) || sudo -n true 2>/dev/null
}

as_root() {
	if ((EUID == 0)); then
		"$@"
	else
		sudo -n -- "$@"
	fi
}

# Where what is root's goes: the first of these whose directories only root can change. Images of runners have everybody
# write in some, such as /opt.
places_of_root=(/usr/local/lib/legguard /var/lib/legguard /usr/lib/legguard)

# is_roots PATH: it is there, and nobody but root can change it or any name in it: it and the directories above are no links,
# belong to root, and others can't write them.
is_roots() {
	local path=$1 mode
	while [[ $path ]]; do
		[[ -e $path && ! -L $path ]] || return 1
		mode=$(stat -c '%u %a' -- "$path")
		[[ ${mode%% *} == 0 ]] && (((8#${mode##* } & 8#22) == 0)) || return 1
		path=${path%/*}
	done
}

# choose_place: sets $place, the directory for what a leg must not change, and in_place, what to put in front of a
# command that writes there: one that is root's, or else one of the user's, which legguard makes read-only for
# the leg. It is neither in the workspace nor in RUNNER_TEMP, which earlier steps and legs write.
choose_place() {
	local taken
	if can_be_root; then
		in_place=as_root
		for place in "${places_of_root[@]}"; do
			is_roots "${place%/*}" || continue
			as_root mkdir -p -m 0755 -- "$place"
			! is_roots "$place" || return 0
		done
		die "others than root can write in each of ${places_of_root[*]}: let only root do so in one of them"
	fi
	# The account's own first: HOME is what an earlier step says.
	place=$(getent passwd "$EUID" | cut -d : -f 6 || true) in_place=''
	place=${place:-${HOME-}}
	[[ $place == /?* ]] || die "this user has neither a home directory nor root's rights to install legguard with"
	place=$place/.local/lib/legguard
	mkdir -p -- "$place" || die "can't make $place to install legguard in"
	place=$(realpath -- "$place")
	for taken in "$GITHUB_WORKSPACE" "$RUNNER_TEMP"; do
		[[ $place/ != "$(realpath -- "$taken")"/* ]] ||
			die "$place, where legguard would be installed, is in $taken, which a leg writes: let the user have sudo, or another home"
	done
}

# keep_in_place STAGED NAME: give what is in the directory STAGED its name in $place; sets $kept. What has the name is
# replaced unless it is root's: then it is the same, made before in this job or by another one.
keep_in_place() {
	kept=$place/$2
	if [[ -e $kept ]] && ! is_roots "$kept"; then
		$in_place rm -rf -- "$kept"
	fi
	$in_place chmod 0755 -- "$1"
	if ! $in_place mv -T -- "$1" "$kept" 2>/dev/null; then
		$in_place rm -rf -- "$1"
		is_roots "$kept" || die "can't install in $kept"
	fi
}
