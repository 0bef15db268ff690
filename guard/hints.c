/*
 * What programs print when they meet a limit of the leg's view. See hints.h.
 *
 * The patterns are the programs' own words in the C locale, taken from running them; which are worth a
 * pattern is decided by what people run in CI.
 */
#include "guard/hints.h"

#include <errno.h>
#include <string.h>

enum { CONFINED = HINTS_NAMESPACE | HINTS_LANDLOCK };

enum { WINDOW = 12 }; /* lines: a program tells one failure in several */

enum view { ANY_VIEW, ONLY_PINNED, ONLY_STRICT, NOT_ROOT, ONLY_MAPPED, NO_ENGINES, NO_BUSES };

static const char file_commands[] =
    "a file of the runner's file commands can't be written in the "
    "leg: with --file-commands decoy it writes copies, of which --import "
    "carries entries over; or publish with --set-output";
static const char no_new_privileges[] = "sudo, ping and other set-uid programs gain no rights in "
					"the leg: do what needs them in a step before it, or "
					"start legguard as root with --user";
static const char one_user[] =
    "in the leg only its own user and group exist, so it can't give files to others, and files of "
    "root show as "
    "nobody's: do that in a step of its own, or start legguard as root with --user";
static const char ssh_config[] =
    "files of root show as nobody's in the leg, which ssh does not accept for its configuration: "
    "set "
    "GIT_SSH_COMMAND=\"ssh -F none\", or start legguard as root with --user";
static const char docker[] = "the sockets of container engines are closed for the leg, since they "
			     "lead out of it: --allow-socket "
			     "/run/docker.sock opens that one, and gives up what confines the leg";
static const char bus[] = "the system and user buses are closed for the leg, since they lead out "
			  "of it: --allow-socket opens one";
static const char pinned[] = "with --pin directories above a guarded file take no new entries, and "
			     "nothing can be moved between what is "
			     "in them: work below one of these, or leave out --pin";
static const char strict[] = "with --writable all but the named trees is read-only: name the one "
			     "it needs with --writable as well, and "
			     "a HOME, TMPDIR or cache directory in it";
static const char protected_path[] =
    "something the leg tried to write is read-only for it, like the runner's own files and the "
    "files at the top of "
    "RUNNER_TEMP: --dry-run lists them, --unprotect PATH takes one out";
static const char landlock_path[] = "with --isolation landlock nothing new can be made directly in "
				    "a directory above a guarded or protected "
				    "file: --dry-run lists these, TMPDIR is a place to write";
static const char nested[] = "with --isolation landlock or --root-leg a sandbox in the leg can't "
			     "mount anything: use --isolation "
			     "namespace as an ordinary user, or turn the nested sandbox off";

/*
 * Both words have to be in one line; the second may be NULL. What is more particular comes first.
 */
static const struct {
	unsigned int tiers;
	enum view view;
	const char *first, *second;
	const char *hint;
} patterns[] = {
    {CONFINED, ANY_VIEW, "_runner_file_commands", "ead-only file system", file_commands},
    {CONFINED, ANY_VIEW, "file_commands", "ead-only file system", file_commands},
    {CONFINED, ANY_VIEW, "EROFS", "_runner_file_commands", file_commands},
    {CONFINED, ANY_VIEW, "EROFS", "file_commands", file_commands},
    {HINTS_LANDLOCK, ANY_VIEW, "_runner_file_commands", "ermission denied", file_commands},
    {CONFINED, NOT_ROOT, "sudo: The \"no new privileges\" flag is set", NULL, no_new_privileges},
    {CONFINED, NOT_ROOT, "sudo: effective uid is not 0", NULL, no_new_privileges},
    {CONFINED, NOT_ROOT, "must be owned by uid 0 and have the setuid bit set", NULL,
	no_new_privileges},
    {CONFINED, NOT_ROOT, "su: ", "ailure", no_new_privileges},
    {CONFINED, NOT_ROOT, "su: cannot set groups", NULL, no_new_privileges},
    {CONFINED, NOT_ROOT, "ping: ", "peration not permitted", no_new_privileges},
    {CONFINED, NOT_ROOT, "newuidmap: ", NULL, no_new_privileges},
    {CONFINED, NOT_ROOT, "newgidmap: ", NULL, no_new_privileges},
    {CONFINED, NOT_ROOT, "fusermount", "peration not permitted", no_new_privileges},
    {HINTS_NAMESPACE, ONLY_MAPPED, "changing ownership of", "nvalid argument", one_user},
    {HINTS_NAMESPACE, ONLY_MAPPED, "changing group of", "nvalid argument", one_user},
    {HINTS_NAMESPACE, ONLY_MAPPED, "Cannot change ownership to uid", "nvalid argument", one_user},
    {HINTS_NAMESPACE, ONLY_MAPPED, "hown", "EINVAL", one_user},
    {HINTS_NAMESPACE, ONLY_MAPPED, "Bad owner or permissions on ", NULL, ssh_config},
    {HINTS_NAMESPACE, NO_ENGINES, "Cannot connect to the Docker daemon", NULL, docker},
    {HINTS_NAMESPACE, NO_ENGINES, "docker.sock", "ermission denied", docker},
    {HINTS_NAMESPACE, NO_ENGINES, "docker.sock", "onnection refused", docker},
    {HINTS_NAMESPACE, NO_ENGINES, "docker.sock", "EACCES", docker},
    {HINTS_NAMESPACE, NO_ENGINES, "podman.sock", NULL, docker},
    {HINTS_NAMESPACE, NO_ENGINES, "containerd.sock", NULL, docker},
    {HINTS_NAMESPACE, NO_BUSES, "Failed to connect to", "bus", bus},
    {HINTS_NAMESPACE, NO_BUSES, "Failed to open connection to", "bus", bus},
    {HINTS_NAMESPACE, ONLY_PINNED, "nvalid cross-device link", NULL, pinned},
    {HINTS_NAMESPACE, ONLY_PINNED, "EXDEV", NULL, pinned},
    {HINTS_NAMESPACE, ONLY_PINNED, "ead-only file system", NULL, pinned},
    {HINTS_NAMESPACE, ONLY_PINNED, "EROFS", NULL, pinned},
    {HINTS_NAMESPACE, ONLY_STRICT, "ead-only file system", NULL, strict},
    {HINTS_NAMESPACE, ONLY_STRICT, "EROFS", NULL, strict},
    {HINTS_NAMESPACE, ANY_VIEW, "ead-only file system", NULL, protected_path},
    {HINTS_NAMESPACE, ANY_VIEW, "EROFS", NULL, protected_path},
    {HINTS_LANDLOCK, ANY_VIEW, "bwrap: ", "peration not permitted", nested},
    {HINTS_LANDLOCK, ANY_VIEW, "bwrap: ", "ermission denied", nested},
    {HINTS_LANDLOCK, ANY_VIEW, "nvalid cross-device link", NULL, landlock_path},
    {HINTS_LANDLOCK, ANY_VIEW, "ermission denied", NULL, landlock_path},
    {HINTS_LANDLOCK, ANY_VIEW, "EACCES", NULL, landlock_path},
};

enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static bool
holds(const char *line, size_t size, const char *pattern)
{
	return memmem(line, size, pattern, strlen(pattern)) != NULL;
}

static bool
fits(enum view view, const struct hints_facts *facts)
{
	switch (view) {
	case ONLY_PINNED:
		return facts->pinned;
	case ONLY_STRICT:
		return facts->strict;
	case NOT_ROOT:
		return !facts->root;
	case ONLY_MAPPED:
		return !facts->root && !facts->user;
	case NO_ENGINES:
		return facts->engines_closed;
	case NO_BUSES:
		return facts->buses_closed;
	case ANY_VIEW:
		break;
	}
	return true;
}

/* Index of the first pattern that is in the line, or PATTERNS. */
static size_t
find_in_line(const char *line, size_t size, const struct hints_facts *facts)
{
	size_t i;

	for (i = 0; i < PATTERNS; i++)
		if ((patterns[i].tiers & facts->tier) != 0 && fits(patterns[i].view, facts) &&
		    holds(line, size, patterns[i].first) &&
		    (patterns[i].second == NULL || holds(line, size, patterns[i].second)))
			break;
	return i;
}

const char *
hints_find(const char *text, size_t size, const struct hints_facts *facts)
{
	size_t best = PATTERNS;

	/* From the last line to the first. */
	for (int left = WINDOW; size > 0 && left > 0;) {
		const char *newline = memrchr(text, '\n', size - 1);
		size_t start = newline != NULL ? (size_t)(newline - text) + 1 : 0;
		size_t found = find_in_line(text + start, size - start, facts);

		if (found < best)
			best = found;
		if (best < PATTERNS)
			left--;
		size = start;
	}
	return best < PATTERNS ? patterns[best].hint : NULL;
}

const char *
hints_exec(int exec_errno, const struct hints_facts *facts)
{
	/* execve(2): a file with capabilities that can't be had. */
	if (exec_errno == EPERM && (facts->tier & CONFINED) != 0 && !facts->root)
		return no_new_privileges;
	return NULL;
}
