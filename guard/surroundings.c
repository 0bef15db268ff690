/* What is to be known of this machine. See surroundings.h. */
#include "guard/surroundings.h"

#include "bindmount/cleanup.h"
#include "bindmount/mountinfo.h"
#include "bindmount/sys.h"
#include "guard/cgroup.h"
#include "guard/sudo.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TRIAL_MS = 10000,
	CGROUP_EMPTY_MS = 1000,
	KERNEL_MAJOR = 5, /* the oldest that legguard is made for */
	KERNEL_MINOR = 15,
};

/* The first line of a file; "" if there is none. */
static const char *
first_line(const char *path, char *text, size_t size)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void fact(struct trial_result *r, bool is, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
fact(struct trial_result *r, bool is, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->detail, sizeof r->detail, fmt, ap);
	va_end(ap);
	r->state = is ? TRIAL_YES : TRIAL_NO;
}

void
surroundings_kernel(const struct view *view, struct trial_result *r)
{
	struct utsname name;
	int major = 0, minor = 0;

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	if (uname(&name) != 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2) {
		error_set(&r->error, errno, NULL, "can't tell the kernel's release");
		return;
	}
	if (major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR)) {
		trial_missing(r, 0, "use Linux 5.15 or later", "Linux %s is too old", name.release);
		return;
	}
	r->state = TRIAL_OK;
	trial_detail(r, "%s %s", name.sysname, name.release);
}

void
surroundings_user(const struct view *view, struct trial_result *r)
{
	(void)view;
	*r = (struct trial_result){.value = (int)getuid()};
	if (getuid() == 0) {
		trial_missing(r, 0, NULL, "started as root");
		return;
	}
	r->state = TRIAL_OK;
	trial_detail(r, "user %u, group %u", getuid(), getgid());
}

/* Add a word to a list in r->detail. */
static void
note(struct trial_result *r, const char *word)
{
	size_t n = strlen(r->detail);

	snprintf(r->detail + n, sizeof r->detail - n, "%s%s", n > 0 ? ", " : "", word);
}

/* The first field of the map begins at 0 and covers all ids in the first user namespace. */
static bool
is_first_user_namespace(void)
{
	char text[128];
	unsigned int inside = 1, outside = 1, count = 0;

	(void)sscanf(first_line("/proc/self/uid_map", text, sizeof text), "%u %u %u", &inside,
	    &outside, &count);
	return inside == 0 && outside == 0 && count == 4294967295u;
}

static bool
is_proc_masked(void)
{
	struct mountinfo m;
	bool masked = false;

	if (mountinfo_read(&m) != 0)
		return false;
	for (size_t i = 0; i < m.count; i++)
		masked |= mountinfo_masks_proc(&m.list[i]);
	mountinfo_free(&m);
	return masked;
}

void
surroundings_container(const struct view *view, struct trial_result *r)
{
	static const char *const files[] = {
	    "/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
	const char *engine = getenv("container");

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (access(files[i], F_OK) == 0)
			note(r, files[i]);
	if (engine != NULL && engine[0] != '\0')
		note(r, "the variable \"container\"");
	if (!is_first_user_namespace())
		note(r, "a user namespace");
	if (is_proc_masked())
		note(r, "a masked /proc");
	r->state = r->detail[0] != '\0' ? TRIAL_YES : TRIAL_NO;
	if (r->state == TRIAL_NO)
		note(r, "no sign of one");
}

void
surroundings_seccomp(const struct view *view, struct trial_result *r)
{
	FILE *file = fopen("/proc/self/status", "re");
	char *line = NULL;
	size_t room = 0;
	int mode = -1;

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	while (file != NULL && mode < 0 && getline(&line, &room, file) > 0)
		(void)sscanf(line, "Seccomp: %d", &mode);
	free(line);
	if (file != NULL)
		fclose(file);
	if (mode < 0)
		error_set(&r->error, 0, NULL, "/proc/self/status does not say");
	else
		fact(r, mode != 0, mode != 0 ? "system calls are filtered" : "none");
}

void
surroundings_no_new_privs(const struct view *view, struct trial_result *r)
{
	int set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	fact(r, set == 1, set == 1 ? "set: sudo can't work" : "not set");
}

void
surroundings_apparmor(const struct view *view, struct trial_result *r)
{
	static const char sysctl[] = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
	char text[64], profile[256];

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	if (access(sysctl, F_OK) != 0) {
		fact(r, false, "this kernel knows no restriction");
		return;
	}
	r->value = atoi(first_line(sysctl, text, sizeof text));
	first_line("/proc/self/attr/current", profile, sizeof profile);
	fact(r, r->value != 0,
	    "kernel.apparmor_restrict_unprivileged_userns is %d; own profile: %s", r->value,
	    profile[0] != '\0' ? profile : "unknown");
}

void
surroundings_ptrace_scope(const struct view *view, struct trial_result *r)
{
	char text[64];

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	if (first_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text)[0] == '\0') {
		fact(r, false, "no Yama: a process may trace others of its user");
		return;
	}
	r->value = atoi(text);
	fact(r, r->value > 0, "kernel.yama.ptrace_scope is %d", r->value);
}

/* What keeps the leg's group from being made where cgroup_make() finds that no error. */
static const char *
why_no_cgroup(const struct cgroup *g)
{
	if (g->mount == NULL)
		return "no cgroup v2 is mounted here";
	if (g->parent < 0)
		return "our own cgroup can't be reached in the file system";
	return "our own cgroup is not delegated to this user";
}

static int
enter_cgroup(const struct cgroup *g)
{
	int status = -1;
	pid_t pid = sys_fork(0, NULL);

	if (pid == 0)
		_exit(cgroup_enter(g->dir) == 0 ? 0 : errno);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
	return errno == 0 ? 0 : -1;
}

static void
body_cgroup(void *arg, struct trial_result *r)
{
	static const char cure[] =
	    "delegate a cgroup to this user, its directory and its cgroup.procs (systemd: "
	    "Delegate=yes), and name it with --cgroup; only a leg that shares the pid namespace "
	    "needs it";
	struct cgroup g;

	(void)arg;
	/* A directory outlives us, so this is done whole, by a process that nobody knows of. */
	prctl(PR_SET_PDEATHSIG, 0);
	(void)setsid();
	if (cgroup_make(&g, NULL, &r->error) != 0)
		r->state = TRIAL_MISSING;
	else if (g.dir < 0)
		trial_missing(r, 0, cure, "%s", why_no_cgroup(&g));
	else if (enter_cgroup(&g) != 0)
		trial_missing(r, errno, cure, "can't enter a cgroup of our own making");
	else if (!cgroup_wait_empty(g.dir, CGROUP_EMPTY_MS))
		trial_missing(r, 0, NULL, "a cgroup did not say that it was empty");
	else
		r->state = TRIAL_OK;
	cgroup_remove(&g);
	if (r->state == TRIAL_OK)
		trial_detail(r, "one was made, entered and removed");
}

void
surroundings_cgroup(const struct view *view, struct trial_result *r)
{
	const struct trial t = {.ms = TRIAL_MS, .body = body_cgroup};

	(void)view;
	trial_run(&t, r);
}

static void
body_sudo(void *arg, struct trial_result *r)
{
	char *argv[] = {"sudo", "-n", "true", NULL};
	int status = sudo_run(argv, r);

	(void)arg;
	if (status < 0)
		return;
	/* What it said is no error: it is free to ask. */
	fact(r, status == 0, "%s", status == 0 ? "it asks for none" : r->error.what);
	r->error = (struct error){0};
}

void
surroundings_sudo(const struct view *view, struct trial_result *r)
{
	const struct trial t = {.ms = TRIAL_MS, .body = body_sudo};

	(void)view;
	trial_run(&t, r);
}

/* Not by getgrnam(3), which a statically linked program can't do without the C library's plug-ins. */
static bool
find_group(const char *name, gid_t *gid)
{
	FILE *file = fopen("/etc/group", "re");
	struct group *group;
	bool found = false;

	if (file == NULL)
		return false;
	while (!found && (group = fgetgrent(file)) != NULL)
		if (strcmp(group->gr_name, name) == 0) {
			*gid = group->gr_gid;
			found = true;
		}
	fclose(file);
	return found;
}

void
surroundings_docker_group(const struct view *view, struct trial_result *r)
{
	int n = getgroups(0, NULL);
	AUTO_FREE gid_t *groups = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *groups);
	gid_t docker;
	bool member = false;

	(void)view;
	*r = (struct trial_result){.value = TRIAL_NO_VALUE};
	if (groups == NULL || n < 0 || (n = getgroups(n, groups)) < 0) {
		error_set(&r->error, errno, NULL, "can't read our groups");
		return;
	}
	if (!find_group("docker", &docker)) {
		fact(r, false, "there is no such group");
		return;
	}
	groups[n++] = getegid();
	for (int i = 0; i < n; i++)
		member |= groups[i] == docker;
	fact(r, member,
	    member ? "as good as root; a user namespace does not take it away from the leg"
		   : "not a member");
}
