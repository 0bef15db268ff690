# shellcheck shell=bash
# What the steps of action.yml before the leg share. Their environment is what guard/action/clean left, and all the same each
# variable is set before it is used, so that none can come from an earlier step.

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset CDPATH GLOBIGNORE TMPDIR
place='' in_place='' staged='' kept=''
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

# is_taken PATH: it is in the workspace or RUNNER_TEMP, which earlier steps and legs write; by whatever name, since in a
# container /github/home is a directory of RUNNER_TEMP.
is_taken() {
	local path=$1 taken
	while :; do
		for taken in "$GITHUB_WORKSPACE" "$RUNNER_TEMP" "$RUNNER_TEMP/_github_home"; do
			[[ ! $path -ef $taken ]] || return 0
		done
		[[ $path == */* && $path != / ]] || return 1
		path=${path%/*}
		path=${path:-/}
	done
}

# choose_place: sets $place, the directory for what a leg must not change, and in_place, what to put in front of a
# command that writes there: one that is root's, or else one of the user's, which legguard makes read-only for the leg.
choose_place() {
	local home
	if can_be_root; then
		in_place=as_root
		for place in "${places_of_root[@]}"; do
			is_roots "${place%/*}" || continue
			as_root mkdir -p -m 0755 -- "$place"
			! is_roots "$place" || return 0
		done
		die "others than root can write in each of ${places_of_root[*]}: let only root do so in one of them"
	fi
	in_place=''
	# The account's home first: HOME is what an earlier step says.
	home=$(getent passwd "$EUID" | cut -d : -f 6 || true)
	for place in "$home" "${HOME-}" "/var/tmp/legguard-$EUID"; do
		[[ $place == /?* ]] || continue
		[[ $place == /var/tmp/* ]] || place=$place/.local/lib/legguard
		place=$(realpath -m -- "$place")
		! is_taken "$place" && mkdir -p -- "$place" 2>/dev/null && [[ -O $place && -w $place ]] || continue
		return 0
	done
	die "there is no directory to install legguard in, out of the workspace and RUNNER_TEMP: let the user have sudo or a home"
}

# stage: sets $staged, a directory in $place for a file that is not to have its name there yet.
stage() {
	staged=$($in_place mktemp -d "$place/.new.XXXXXX")
	$in_place chmod 0755 -- "$staged"
}

# keep_in_place FILE NAME: move the staged FILE to the directory NAME in $place; sets $kept, that directory. What was
# there by its name is replaced at once: another job may be using it.
keep_in_place() {
	kept=$place/$2
	[[ -d $kept && ! -L $kept ]] || $in_place rm -rf -- "$kept"
	$in_place mkdir -p -- "$kept"
	$in_place chmod 0755 -- "$kept" "$1"
	$in_place mv -fT -- "$1" "$kept/${1##*/}" || die "can't install in $kept"
	$in_place rmdir -- "${1%/*}"
}
