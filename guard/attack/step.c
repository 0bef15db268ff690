/* A decoy of a CI step. See step.h. */
#include "guard/attack/step.h"

#include "bindmount/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define GUID  "4f4c0d54-9d2c-4e65-8c2a-3a1f2f7b9c10"
#define OTHER "b1946ac9-2490-4a4b-9a6e-0c1d5d6e7f80"
#define FILES "/job/_temp/_runner_file_commands/"

static const struct {
	const char *path, *bytes; /* bytes: NULL for a directory or a copy of the program */
	const char *name;         /* for people */
} items[STEP_ITEMS] = {
    [STEP_OUTPUT] = {FILES "set_output_" GUID, "before=kept\n", "GITHUB_OUTPUT"},
    [STEP_ENV] = {FILES "set_env_" GUID, "MODE=fast\n", "GITHUB_ENV"},
    [STEP_ADD_PATH] = {FILES "add_path_" GUID, "/opt/tool/bin\n", "GITHUB_PATH"},
    [STEP_STATE] = {FILES "save_state_" GUID, "started=1\n", "GITHUB_STATE"},
    [STEP_SUMMARY] = {FILES "step_summary_" GUID, "# Summary\n", "GITHUB_STEP_SUMMARY"},
    [STEP_OTHER_OUTPUT] = {FILES "set_output_" OTHER, "outer=kept\n",
	"the other step's GITHUB_OUTPUT"},
    [STEP_OTHER_ENV] = {FILES "set_env_" OTHER, "OUTER=kept\n", "the other step's GITHUB_ENV"},
    [STEP_SCRIPT] = {"/job/_temp/" GUID ".sh", "leg\necho done\n", "the step's script"},
    [STEP_EVENT] = {"/job/_temp/_github_workflow/event.json", "{\"action\": \"opened\"}\n",
	"event.json"},
    [STEP_ACTION] = {"/job/_actions/owner/check/v1/action.yml", "runs: {using: node20}\n",
	"action.yml"},
    [STEP_ACTION_CODE] = {"/job/_actions/owner/check/v1/post.js", "console.log('post')\n",
	"the action's post.js"},
    [STEP_HOOK] = {"/hooks/completed.sh", "#!/bin/sh\nexit 0\n", "the runner's hook"},
    [STEP_NODE] = {"/runner/externals/node20/bin/node", "#!/bin/sh\n", "the runner's node"},
    [STEP_CREDENTIALS] = {"/runner/.credentials", "secret\n", "the runner's .credentials"},
    [STEP_RUNNER] = {"/runner/bin/Runner.Worker", NULL, "Runner.Worker"},
    [STEP_ATTACKER] = {"/tool/attacker", NULL, "the leg's program"},
    [STEP_GUARD] = {"/tool/guard", NULL, "the program that guards"},
    [STEP_COMMANDS] = {"/job/_temp/_runner_file_commands", NULL, "_runner_file_commands"},
    [STEP_TEMP] = {"/job/_temp", NULL, "RUNNER_TEMP"},
    [STEP_JOB] = {"/job", NULL, "the directory above RUNNER_TEMP"},
};

static const char *const directories[] = {"/job", "/job/_temp", "/job/_temp/_runner_file_commands",
    "/job/_temp/_github_workflow", "/job/_actions", "/job/_actions/owner",
    "/job/_actions/owner/check", "/job/_actions/owner/check/v1", "/job/repo", "/hooks", "/run",
    "/run/systemd", "/run/podman", "/run/tmux", "/runner", "/runner/bin", "/runner/externals",
    "/runner/externals/node20", "/runner/externals/node20/bin", "/tool"};

void
step_name(struct step *s, const char *top)
{
	snprintf(s->top, sizeof s->top, "%s", top);
	for (int i = 0; i < STEP_ITEMS; i++)
		snprintf(s->path[i], sizeof s->path[i], "%.256s%s", top, items[i].path);
	snprintf(s->workspace, sizeof s->workspace, "%.256s/job/repo", top);
	snprintf(s->alive, sizeof s->alive, "%.256s/job/repo/alive", top);
	snprintf(s->run, sizeof s->run, "%.256s/run", top);
}

static int
write_file(const char *path, const char *bytes)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	size_t size = strlen(bytes);

	if (fd < 0 || fchmod(fd, 0644) != 0)
		return -1;
	return write(fd, bytes, size) == (ssize_t)size ? 0 : -1;
}

static int
copy_program(const char *from, const char *to)
{
	AUTO_FD int in = open(from, O_RDONLY | O_CLOEXEC);
	AUTO_FD int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n;

	if (in < 0 || out < 0 || fchmod(out, 0755) != 0)
		return -1;
	while ((n = sendfile(out, in, NULL, 1 << 20)) > 0)
		continue;
	return n < 0 ? -1 : 0;
}

static int
make_item(const struct step *s, int i, const char *program, bool copy_guard)
{
	if (items[i].bytes != NULL)
		return write_file(s->path[i], items[i].bytes);
	if (i == STEP_GUARD && !copy_guard)
		return write_file(s->path[i], "#!/bin/sh\n");
	return copy_program(program, s->path[i]);
}

int
step_make(const struct step *s, const char *program, bool copy_guard, struct error *e)
{
	char path[STEP_PATH];

	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
		snprintf(path, sizeof path, "%.256s%s", s->top, directories[i]);
		if (mkdir(path, 0755) != 0 || chmod(path, 0755) != 0)
			return error_set(e, errno, NULL, "can't make %s", path);
	}
	for (int i = 0; i < STEP_FILES; i++)
		if (make_item(s, i, program, copy_guard) != 0)
			return error_set(
			    e, errno, "have some room in TMPDIR", "can't make %s", s->path[i]);
	if (write_file(s->alive, "") != 0)
		return error_set(e, errno, NULL, "can't make %s", s->alive);
	return 0;
}

int
step_give(const struct step *s, uid_t uid, gid_t gid, struct error *e)
{
	char path[STEP_PATH];
	int failed = 0;

	if (uid == geteuid() && gid == getegid())
		return 0;
	failed |= lchown(s->top, uid, gid);
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
		snprintf(path, sizeof path, "%.256s%s", s->top, directories[i]);
		failed |= lchown(path, uid, gid);
	}
	for (int i = 0; i < STEP_FILES; i++)
		failed |= lchown(s->path[i], uid, gid);
	failed |= lchown(s->alive, uid, gid);
	return failed != 0 ? error_set(e, errno, NULL, "can't give the decoys to user %u", uid) : 0;
}

/* malloc'd; NULL with errno. Never waits, whatever stands there. */
static char *
read_file(const char *path, size_t *size)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *bytes = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0)
		return NULL;
	if (!S_ISREG(st.st_mode) || (bytes = malloc((size_t)st.st_size + 1)) == NULL)
		return NULL;
	n = read(fd, bytes, (size_t)st.st_size);
	if (n < 0)
		return NULL;
	*size = (size_t)n;
	return ptr_take(&bytes);
}

static unsigned int
read_flags(const char *path)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	unsigned int flags = 0;

	return fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 ? flags : 0;
}

static size_t
count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

int
step_remember(struct step_record *r, const struct step *s, struct error *e)
{
	*r = (struct step_record){0};
	for (int i = 0; i < STEP_ITEMS; i++)
		r->item[i].fd = -1;
	for (int i = 0; i < STEP_ITEMS; i++) {
		r->item[i].fd = open(s->path[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (r->item[i].fd < 0 || lstat(s->path[i], &r->item[i].st) != 0 ||
		    (i < STEP_FILES &&
			(r->item[i].bytes = read_file(s->path[i], &r->item[i].size)) == NULL))
			return error_set(e, errno, NULL, "can't read %s", s->path[i]);
		r->item[i].flags = read_flags(s->path[i]);
	}
	r->entries = count_entries(s->path[STEP_COMMANDS]);
	return 0;
}

void
step_forget(struct step_record *r)
{
	for (int i = 0; i < STEP_ITEMS; i++) {
		free(r->item[i].bytes);
		fd_drop(&r->item[i].fd);
	}
	*r = (struct step_record){0};
}

static const char *
differing_bytes(const struct step_record *r, int i, const char *path, const char *marker)
{
	size_t size = 0, before = r->item[i].size;
	AUTO_FREE char *now = read_file(path, &size);

	if (now == NULL)
		return "can't be read";
	if (size < before)
		return "was cut short";
	if (memcmp(now, r->item[i].bytes, before) != 0)
		return "was rewritten";
	if (size > before && (i != STEP_OUTPUT || memmem(now + before, size - before, marker,
						      strlen(marker)) != NULL))
		return "was forged at its end";
	return NULL;
}

static const char *
differing_kind(mode_t mode)
{
	return S_ISLNK(mode)    ? "is a symbolic link now"
	       : S_ISFIFO(mode) ? "is a named pipe now"
	       : S_ISDIR(mode)  ? "is a directory now"
	                        : "is of another kind now";
}

/* What has no name left can only be made anew. */
static bool
is_gone_for_good(const struct step_record *r, int i)
{
	struct stat st;

	return i < STEP_FILES && fstat(r->item[i].fd, &st) == 0 && st.st_nlink == 0;
}

static const char *
difference(
    const struct step_record *r, const struct step *s, int i, const char *marker, bool reported)
{
	const struct stat *before = &r->item[i].st;
	struct stat now;

	if (lstat(s->path[i], &now) != 0)
		return errno == ENOENT ? "is gone" : "can't be reached";
	if ((now.st_mode & S_IFMT) != (before->st_mode & S_IFMT))
		return differing_kind(now.st_mode);
	if ((now.st_dev != before->st_dev || now.st_ino != before->st_ino) &&
	    !is_gone_for_good(r, i))
		return i < STEP_FILES ? "is another file now" : "is another directory now";
	if (now.st_mode != before->st_mode)
		return "has another mode";
	if (i >= STEP_FILES)
		return NULL;
	if (now.st_nlink != before->st_nlink && !reported)
		return "has another link";
	if (now.st_mtim.tv_sec == STEP_FORGED_TIME)
		return "has another time";
	if (lgetxattr(s->path[i], "user.forged", NULL, 0) >= 0)
		return "has another attribute";
	if (read_flags(s->path[i]) != r->item[i].flags)
		return "has other flags";
	return differing_bytes(r, i, s->path[i], marker);
}

bool
step_differs(const struct step_record *r, const struct step *s, const char *marker, bool reported,
    char *what, size_t size)
{
	/* From the top, since what is wrong above shows below as well. */
	for (int i = STEP_ITEMS - 1; i >= 0; i--) {
		const char *text = difference(r, s, i, marker, reported);

		if (text == NULL)
			continue;
		snprintf(what, size, "%s %s", items[i].name, text);
		return true;
	}
	if (count_entries(s->path[STEP_COMMANDS]) != r->entries) {
		snprintf(what, size, "a file was added to %s", items[STEP_COMMANDS].name);
		return true;
	}
	return false;
}

static void
remove_below(int parent, const char *name)
{
	int fd;
	DIR *dir;
	struct dirent *entry;

	if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
		return;
	(void)fchmodat(parent, name, 0700, 0);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if ((dir = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_below(fd, entry->d_name);
	closedir(dir);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

void
step_remove(const char *top)
{
	(void)chmod(top, 0700);
	remove_below(AT_FDCWD, top);
}
