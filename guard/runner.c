/* Finding the runner. See runner.h. */
#include "guard/runner.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"
#include "guard/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANCESTORS_MAX = 256 };

/* Cut the last component off; false if there is none. */
static bool
cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return false;
	*slash = '\0';
	return true;
}

char *
runner_root_of(const char *executable)
{
	static const char worker[] = "/Runner.Worker", deleted[] = " (deleted)";
	AUTO_FREE char *path = strdup(executable);
	char *slash;

	if (path == NULL || path[0] != '/')
		return NULL;
	errno = 0;
	slash = strrchr(path, '/');
	if (strncmp(slash, worker, sizeof worker - 1) != 0)
		return NULL;
	/* An update replaces the file of a runner that is at work. */
	if (slash[sizeof worker - 1] != '\0' && strcmp(slash + sizeof worker - 1, deleted) != 0)
		return NULL;
	*slash = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL || slash == path ||
	    (strcmp(slash, "/bin") != 0 && strncmp(slash, "/bin.", 5) != 0))
		return NULL;
	*slash = '\0';
	return ptr_take(&path);
}

/* The root by an ancestor's executable. */
static char *
find_ancestor(struct processes *seen)
{
	AUTO_FD int procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct process p;
	pid_t pid = getppid();

	for (int i = 0; procfd >= 0 && pid > 0 && i < ANCESTORS_MAX; i++) {
		char link[32], path[PATH_MAX + 1], *root;
		ssize_t n;

		snprintf(link, sizeof link, "%d/exe", (int)pid);
		n = readlinkat(procfd, link, path, sizeof path - 1);
		if (n > 0) {
			path[n] = '\0';
			root = runner_root_of(path);
			if (root != NULL)
				return root;
		}
		if (process_read(&p, procfd, pid) != 0 || processes_add(seen, &p) != 0)
			break;
		pid = p.ppid;
	}
	return NULL;
}

/* The root is `up` levels above path, if a runner is there. */
static char *
root_above(const char *path, int up)
{
	AUTO_FREE char *root = path != NULL ? realpath(path, NULL) : NULL;
	AUTO_FREE char *worker = NULL;

	if (root == NULL)
		return NULL;
	for (; up > 0; up--)
		if (!cut(root))
			return NULL;
	if (asprintf(&worker, "%s/bin/Runner.Worker", root) < 0)
		worker = NULL;
	return worker != NULL && access(worker, F_OK) == 0 ? ptr_take(&root) : NULL;
}

/* ROOT/_work/_temp, ROOT/_work/_tool */
char *
runner_find(char *const *env, struct processes *seen)
{
	char *root = find_ancestor(seen);

	if (root == NULL)
		root = root_above(environment_get(env, "RUNNER_TEMP"), 2);
	if (root == NULL)
		root = root_above(environment_get(env, "RUNNER_TOOL_CACHE"), 2);
	return root;
}

bool
runner_is_script(const char *name)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.";
	size_t i;

	for (i = 0; i < sizeof form - 1; i++)
		if (form[i] == 'x' ? !isxdigit((unsigned char)name[i]) : name[i] != form[i])
			return false;
	return name[i] != '\0';
}

static bool
ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

enum runner_part
runner_part(const char *name)
{
	/* An update leaves bin.VERSION and externals.VERSION beside them, and links to those. */
	static const char *const code[] = {
	    "bin", "externals", "_diag", ".env", ".path", ".runner", ".service", ".setup_info"};

	if (strncmp(name, ".credentials", strlen(".credentials")) == 0)
		return RUNNER_PART_SECRET;
	for (size_t i = 0; i < sizeof code / sizeof code[0]; i++)
		if (strcmp(name, code[i]) == 0)
			return RUNNER_PART_CODE;
	if (strncmp(name, "bin.", 4) == 0 || strncmp(name, "externals.", 10) == 0 ||
	    strncmp(name, ".runner", 7) == 0 || ends_in(name, ".sh") ||
	    ends_in(name, ".sh.template"))
		return RUNNER_PART_CODE;
	return RUNNER_PART_NONE;
}
