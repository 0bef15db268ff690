/* Which doors there are, and closing them. See doors.h. */
#include "guard/doors.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "guard/environment.h"
#include "guard/hide.h"
#include "guard/listeners.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char engine[] = "a container engine starts containers for whoever can reach it";
static const char bus[] = "the system's bus leads to services that start processes";
static const char user_bus[] = "the user's service manager and bus start processes";
static const char manager[] = "the service manager starts units, and believes what it is told";
static const char machines[] = "it starts virtual machines or containers";
static const char jobs[] = "jobs in it are started by cron or at";
static const char terminal[] = "screen types into the terminals it holds";
static const char packages[] = "snapd installs and starts packages";

/* In the order in which they are shown. What has no socket of its own here is found as a listener. */
static const struct {
	const char *path;
	const char *reason;
} places[] = {
    {"/run/docker.sock", engine},
    {"/var/run/docker.sock", engine},
    {"/run/containerd", engine},
    {"/run/k3s/containerd", engine},
    {"/run/podman", engine},
    {"/run/crio", engine},
    {"/run/buildkit", engine},
    {"/run/cri-dockerd.sock", engine},
    {"/run/snapd.socket", packages},
    {"/run/snapd-snap.socket", packages},
    {"/run/dbus", bus},
    {"/var/run/dbus", bus},
    {"/run/systemd/private", manager},
    {"/run/systemd/notify", manager},
    {"/run/libvirt", machines},
    {"/var/lib/lxd/unix.socket", machines},
    {"/var/snap/lxd/common/lxd/unix.socket", machines},
    {"/var/snap/lxd/common/lxd-user/unix.socket", machines},
    {"/var/lib/incus/unix.socket", machines},
    {"/var/lib/incus/unix.socket.user", machines},
    {"/run/incus", machines},
    {"/var/spool/cron", jobs},
    {"/var/spool/at", jobs},
    {"/var/spool/anacron", jobs},
    {"/run/screen", terminal},
};

static const char users[] = "/run/user";

/*
 * Agents in the user's directory that hold keys and start nothing. That of gpg is none of them: the service manager
 * starts it when somebody connects, with what its configuration then says. Without it gpg(1) starts one of the
 * leg's own.
 */
static const char *const agents[] = {
    "keyring/ssh", "gcr/ssh", "openssh_agent", "ssh-agent", "ssh-agent.socket"};

/* They answer questions, or take lines for the log. */
static const char *const open_places[] = {"/run/systemd/resolve", "/run/systemd/userdb",
    "/run/systemd/journal", "/run/nscd", "/var/run/nscd", "/run/nslcd", "/var/run/nslcd",
    "/run/avahi-daemon", "/var/lib/sss/pipes", "/run/samba/winbindd", "/dev/log"};
static const char *const open_names[] = {
    "S.gpg-agent.ssh", "S.gpg-agent.extra", "S.gpg-agent.browser", "S.keyboxd"};

/*
 * Whoever speaks to this socket can have gpg-agent read its configuration again, which names a program to run. The
 * agent's socket for use from other machines signs and decrypts as well, and refuses that.
 */
static const char gpg_agent[] = "S.gpg-agent", gpg_restricted[] = ".extra";
static const char gpg[] = "the agent's restricted socket stands in for it, if there is one";

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const char roots[] = "root listens on it";
static const char callers[] = "somebody of the same user listens on it";
static const char others[] = "another user listens on it, and a root leg can be any user";

struct closing {
	struct plan *plan;
	uid_t uid;
	bool root;                 /* a root leg, which can do whatever any user can */
	struct view_paths allowed; /* canonical */
	struct stat agent;         /* what SSH_AUTH_SOCK names; all zero if nothing */
};

bool
doors_stays_open(const char *path)
{
	const char *name = strrchr(path, '/');

	for (size_t i = 0; i < COUNT(open_places); i++)
		if (mountinfo_below(path, open_places[i]))
			return true;
	for (size_t i = 0; name != NULL && i < COUNT(open_names); i++)
		if (strcmp(name + 1, open_names[i]) == 0)
			return true;
	return false;
}

bool
doors_closed(const struct plan *p, enum doors_kind kind)
{
	for (size_t i = 0; i < p->hidden_for.count; i++) {
		const char *reason = p->hidden_for.list[i];

		if (kind == DOORS_ENGINE ? reason == engine : reason == bus || reason == user_bus)
			return true;
	}
	return false;
}

static int
no_memory(struct error *e)
{
	return error_set(e, ENOMEM, NULL, "can't note the doors");
}

/* A name that leads nowhere opens nothing, and a workflow may run where that service is not. */
static int
find_allowed(struct closing *c, struct error *e)
{
	const struct words *paths = &c->plan->options->allow_socket;

	for (size_t i = 0; i < paths->count; i++) {
		AUTO_FREE char *real = realpath(paths->list[i], NULL);

		if (real == NULL && errno == ENOMEM)
			return no_memory(e);
		if (real != NULL && view_paths_add(&c->allowed, real, 0, 0) != 0)
			return no_memory(e);
	}
	return 0;
}

static bool
is_allowed(const struct closing *c, const char *path)
{
	for (size_t i = 0; i < c->allowed.count; i++)
		if (mountinfo_below(path, c->allowed.list[i].path))
			return true;
	return false;
}

/* Leave path open, if it is there, in what is hidden above it. */
static int
keep(struct closing *c, const char *path, struct error *e)
{
	struct stat st;

	if (lstat(path, &st) != 0 || S_ISLNK(st.st_mode))
		return 0;
	return view_paths_add(&c->plan->view.kept, path, st.st_dev, st.st_ino) == 0 ? 0
	                                                                            : no_memory(e);
}

static int
keep_allowed(struct closing *c, const char *dir, struct error *e)
{
	for (size_t i = 0; i < c->allowed.count; i++)
		if (mountinfo_below(c->allowed.list[i].path, dir) &&
		    keep(c, c->allowed.list[i].path, e) != 0)
			return -1;
	return 0;
}

/* real is canonical. */
static int
close_door(struct closing *c, const char *real, const char *reason, struct error *e)
{
	struct stat st;

	if (strcmp(real, "/") == 0 || mountinfo_below(real, "/proc") || lstat(real, &st) != 0 ||
	    is_allowed(c, real))
		return 0;
	if (hide_path(c->plan, real, &st, reason, e) != 0)
		return -1;
	return S_ISDIR(st.st_mode) ? keep_allowed(c, real, e) : 0;
}

/* Looked for by one call first: most are not there. */
static int
close_place(struct closing *c, const char *path, const char *reason, struct error *e)
{
	AUTO_FREE char *real = NULL;
	struct stat st;

	if (lstat(path, &st) != 0)
		return 0;
	real = realpath(path, NULL);
	if (real == NULL)
		return errno == ENOMEM ? no_memory(e) : 0;
	return close_door(c, real, reason, e);
}

/* All of the user's runtime directory but the agents; of a root, those of all users. */
static int
close_users(struct closing *c, char *const *env, struct error *e)
{
	const char *agent = environment_get(env, "SSH_AUTH_SOCK");
	AUTO_FREE char *real = agent != NULL ? realpath(agent, NULL) : NULL;
	char dir[sizeof users + 16], path[sizeof dir + 32];
	struct stat st;

	snprintf(dir, sizeof dir, "%s/%u", users, c->uid);
	if (real == NULL || lstat(real, &c->agent) != 0 || !S_ISSOCK(c->agent.st_mode))
		c->agent = (struct stat){0};
	if (c->root && close_place(c, users, user_bus, e) != 0)
		return -1;
	if (lstat(dir, &st) != 0 || is_allowed(c, dir))
		return 0;
	if (!c->root && close_place(c, dir, user_bus, e) != 0)
		return -1;
	for (size_t i = 0; i < COUNT(agents); i++) {
		snprintf(path, sizeof path, "%s/%s", dir, agents[i]);
		if (keep(c, path, e) != 0)
			return -1;
	}
	if (c->agent.st_ino != 0 && mountinfo_below(real, dir))
		return keep(c, real, e);
	return 0;
}

static bool
is_kept(const struct closing *c, const char *path)
{
	const struct view_paths *kept = &c->plan->view.kept;

	for (size_t i = 0; i < kept->count; i++)
		if (strcmp(path, kept->list[i].path) == 0)
			return true;
	return false;
}

static const char *
reason_for(const struct closing *c, uid_t owner)
{
	if (owner == 0)
		return roots;
	return owner == c->uid ? callers : others;
}

/* A socket file with a listener: a door if it is the leg's user's, or root's, and to a root whosever it is. */
static int
close_listener(struct closing *c, const char *path, const struct stat *st, struct error *e)
{
	AUTO_FREE char *real = NULL;
	const char *name;
	size_t count;

	if (!S_ISSOCK(st->st_mode) || (!c->root && st->st_uid != c->uid && st->st_uid != 0) ||
	    (st->st_dev == c->agent.st_dev && st->st_ino == c->agent.st_ino))
		return 0;
	real = realpath(path, NULL);
	if (real == NULL)
		return errno == ENOMEM ? no_memory(e) : 0;
	if (doors_stays_open(real) || is_kept(c, real) || hide_above(c->plan, real) != NULL)
		return 0;
	name = strrchr(real, '/');
	if (name == NULL || strcmp(name + 1, gpg_agent) != 0)
		return close_door(c, real, reason_for(c, st->st_uid), e);
	count = c->plan->view.hidden.count;
	if (close_door(c, real, gpg, e) != 0)
		return -1;
	if (c->plan->view.hidden.count > count)
		c->plan->view.hidden.list[count].stand_in = gpg_restricted;
	return 0;
}

/*
 * A path that was bound relative to a directory, which the kernel does not tell. Most listeners stay where they
 * were, so it is looked for in the working directory of each process that lets us.
 */
static int
close_relative(struct closing *c, const struct listeners *l, struct error *e)
{
	DIR *proc = opendir("/proc");
	int result = 0;

	for (struct dirent *d; proc != NULL && result == 0 && (d = readdir(proc)) != NULL;) {
		char name[sizeof "/proc//cwd" + sizeof d->d_name];
		struct stat st;

		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		snprintf(name, sizeof name, "/proc/%s/cwd", d->d_name);
		AUTO_FD int cwd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		for (size_t i = 0; cwd >= 0 && i < l->count && result == 0; i++) {
			AUTO_FREE char *path = NULL;

			if (l->list[i][0] == '/' || fstatat(cwd, l->list[i], &st, 0) != 0)
				continue;
			if (asprintf(&path, "%s/%s", name, l->list[i]) < 0) {
				path = NULL;
				result = no_memory(e);
			} else {
				result = close_listener(c, path, &st, e);
			}
		}
	}
	if (proc != NULL)
		closedir(proc);
	return result;
}

static int
close_listeners(struct closing *c, struct error *e)
{
	struct listeners l;
	bool relative = false;
	int result = 0;

	if (listeners_read(&l) != 0)
		return error_set(e, errno, "mount a proc file system there, or let it be read",
		    "can't read /proc/net/unix");
	for (size_t i = 0; i < l.count && result == 0; i++) {
		struct stat st;

		relative = relative || l.list[i][0] != '/';
		if (l.list[i][0] == '/' && !doors_stays_open(l.list[i]) &&
		    stat(l.list[i], &st) == 0)
			result = close_listener(c, l.list[i], &st, e);
	}
	if (relative && result == 0)
		result = close_relative(c, &l, e);
	listeners_free(&l);
	return result;
}

int
doors_close(struct plan *p, char *const *env, uid_t uid, struct error *e)
{
	struct closing c = {.plan = p, .uid = uid, .root = p->leg.kind == IDENTITY_ROOT};
	int result = find_allowed(&c, e);

	/* What --hide names may be a directory with something allowed in it. */
	for (size_t i = 0; i < p->view.hidden.count && result == 0; i++)
		result = keep_allowed(&c, p->view.hidden.list[i].path, e);
	if (result == 0)
		result = close_users(&c, env, e);
	for (size_t i = 0; i < COUNT(places) && result == 0; i++)
		result = close_place(&c, places[i].path, places[i].reason, e);
	if (result == 0)
		result = close_listeners(&c, e);
	view_paths_free(&c.allowed);
	return result;
}
