/* Who the leg is. See identity.h. */
#include "guard/identity.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char cure_name[] =
    "name a user of /etc/passwd, and a group of /etc/group, or give their numbers";

/* True if text is a number, which then is *id; one that is none or too large is an error. */
static bool
is_number(const char *text, unsigned int *id)
{
	unsigned long long value = 0;

	if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
		return false;
	for (; *text != '\0' && value <= UINT32_MAX; text++)
		value = value * 10 + (unsigned long long)(*text - '0');
	/* The last number means "no change" to setresuid(2): it is nobody's. */
	*id = value < UINT32_MAX ? (unsigned int)value : UINT32_MAX;
	return true;
}

/* The entry of that name, or without one of that uid. It lives until the next call. */
static const struct passwd *
find_user(const char *name, uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *entry = NULL;

	if (file == NULL)
		return NULL;
	while ((entry = fgetpwent(file)) != NULL)
		if (name != NULL ? strcmp(entry->pw_name, name) == 0 : entry->pw_uid == uid)
			break;
	fclose(file);
	return entry;
}

static const struct group *
find_group(const char *name, gid_t gid)
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *entry = NULL;

	if (file == NULL)
		return NULL;
	while ((entry = fgetgrent(file)) != NULL)
		if (name != NULL ? strcmp(entry->gr_name, name) == 0 : entry->gr_gid == gid)
			break;
	fclose(file);
	return entry;
}

static int
take_entry(struct identity *id, const struct passwd *entry, struct error *e)
{
	id->uid = entry->pw_uid;
	id->gid = entry->pw_gid;
	id->name = strdup(entry->pw_name);
	id->home = strdup(entry->pw_dir);
	id->shell = strdup(entry->pw_shell[0] != '\0' ? entry->pw_shell : "/bin/sh");
	if (id->name == NULL || id->home == NULL || id->shell == NULL)
		return error_set(e, errno, NULL, "--user");
	return 0;
}

static int
take_user(struct identity *id, const char *user, bool has_group, struct error *e)
{
	unsigned int number = 0;
	bool numeric = is_number(user, &number);
	const struct passwd *entry;

	if (numeric && number == UINT32_MAX)
		return error_set(e, 0, cure_name, "--user: %s is no user id", user);
	entry = find_user(numeric ? NULL : user, number);
	if (entry != NULL)
		return take_entry(id, entry, e);
	if (!numeric)
		return error_set(e, 0, cure_name, "--user: /etc/passwd has no user %s", user);
	id->uid = id->gid = number;
	if (!has_group && find_group(NULL, number) != NULL)
		return error_set(e, 0, "name the group as well, as in --user USER:GROUP",
		    "--user: user %u is not in /etc/passwd, and group %u is not known to be its "
		    "own",
		    number, number);
	return 0;
}

static int
take_group(struct identity *id, const char *group, struct error *e)
{
	unsigned int number = 0;
	const struct group *entry;

	if (is_number(group, &number)) {
		if (number == UINT32_MAX)
			return error_set(e, 0, cure_name, "--user: %s is no group id", group);
		id->gid = number;
		return 0;
	}
	entry = find_group(group, 0);
	if (entry == NULL)
		return error_set(e, 0, cure_name, "--user: /etc/group has no group %s", group);
	id->gid = entry->gr_gid;
	return 0;
}

static int
find_named(struct identity *id, const char *words, struct error *e)
{
	AUTO_FREE char *user = strdup(words);
	char *group = user != NULL ? strchr(user, ':') : NULL;

	if (user == NULL)
		return error_set(e, errno, NULL, "--user");
	if (group != NULL)
		*group++ = '\0';
	if (user[0] == '\0' || (group != NULL && group[0] == '\0'))
		return error_set(e, 0, "write --user USER or --user USER:GROUP",
		    "--user: %s names no user, or no group", words);
	if (take_user(id, user, group != NULL, e) != 0 ||
	    (group != NULL && take_group(id, group, e) != 0))
		return -1;
	if (id->uid == 0)
		return error_set(e, 0, "name another user, or say --root-leg instead",
		    "--user: the leg would be root");
	if (id->gid == 0)
		return error_set(e, 0, "name another group, as in --user USER:GROUP",
		    "--user: the leg would be of root's group");
	return 0;
}

static int
refuse_root(struct error *e)
{
	return error_set(e, 0,
	    "name whom to run the leg as with --user USER; --root-leg runs it as a root without "
	    "most "
	    "of its powers, --isolation none unconfined",
	    "started as root: nothing confines a leg that is root well enough");
}

int
identity_find(struct identity *id, const struct options *o, struct error *e)
{
	bool confined = o->isolation != ISOLATION_NONE;

	*id = (struct identity){.kind = IDENTITY_CALLER, .uid = getuid(), .gid = getgid()};
	if ((o->user != NULL || o->root_leg) && id->uid != 0)
		return error_set(e, 0,
		    "start it as root, as in sudo -E legguard run --user USER, or leave it out",
		    "%s: only root can choose whom the leg runs as",
		    o->user != NULL ? "--user" : "--root-leg");
	if (o->root_leg && !confined)
		return error_set(e, 0, "leave it out",
		    "--root-leg: --isolation none makes no difference to a root leg");
	if (confined && o->share_pid && (o->user != NULL || o->root_leg))
		return error_set(e, 0, "leave out one of the two",
		    "--share-pid: /proc/PID/root of a process outside would lead a leg of the same "
		    "user "
		    "around its view");
	if (o->user != NULL) {
		id->kind = IDENTITY_USER;
		return find_named(id, o->user, e);
	}
	if (o->root_leg)
		id->kind = IDENTITY_ROOT;
	else if (id->uid == 0 && confined)
		return refuse_root(e);
	return 0;
}

void
identity_free(struct identity *id)
{
	free(id->name);
	free(id->home);
	free(id->shell);
	*id = (struct identity){0};
}

static bool
is_owned(const char *path, uid_t uid)
{
	struct stat st;

	return path != NULL && stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid;
}

size_t
identity_changes(
    const struct identity *id, char *const *env, struct env_change changes[IDENTITY_CHANGES])
{
	static char *const left_by_sudo[] = {"SUDO_COMMAND", "SUDO_USER", "SUDO_UID", "SUDO_GID",
	    "SUDO_HOME", "SUDO_ASKPASS", "SUDO_PROMPT", "SUDO_PS1", "SUDO_EDITOR"};
	bool through_sudo = environment_get(env, "SUDO_UID") != NULL;
	size_t n = 0;

	if (id->kind != IDENTITY_USER)
		return 0;
	for (size_t i = 0; i < sizeof left_by_sudo / sizeof left_by_sudo[0]; i++)
		changes[n++] = (struct env_change){.name = left_by_sudo[i]};
	changes[n++] = (struct env_change){.name = (char *)"USER", .value = id->name};
	changes[n++] = (struct env_change){.name = (char *)"LOGNAME", .value = id->name};
	changes[n++] = (struct env_change){.name = (char *)"SHELL", .value = id->shell};
	if (through_sudo) /* root's */
		changes[n++] = (struct env_change){.name = (char *)"MAIL"};
	if (!is_owned(environment_get(env, "HOME"), id->uid))
		changes[n++] = (struct env_change){.name = (char *)"HOME", .value = id->home};
	return n;
}
