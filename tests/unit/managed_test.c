/*
 * managed: settings are accepted only if root alone can change them and they shut hooks out.
 *
 * The files are in a root directory of the test's own: an ordinary user is root there by a user namespace, in which what
 * belongs to the real root is somebody else's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/managed.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_NAMESPACE = 77 };

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(                                                                   \
			    stderr, "line %d: %s: %s\n", __LINE__, #condition, strerror(errno));   \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static void
map_to_root(const char *file, unsigned long id)
{
	char line[64];

	snprintf(line, sizeof line, "0 %lu 1", id);
	put(file, line);
}

static void
make_root(void)
{
	unsigned long uid = geteuid(), gid = getegid();

	if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
		_exit(NO_NAMESPACE);
	if (uid != 0) {
		put("/proc/self/setgroups", "deny");
		map_to_root("/proc/self/uid_map", uid);
		map_to_root("/proc/self/gid_map", gid);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/mnt", "tmpfs", 0, "mode=0755") != 0)
		_exit(NO_NAMESPACE);
	umask(022);
	CHECK(mkdir("/mnt/etc", 0755) == 0 && mkdir("/mnt/foreign", 0755) == 0);
	put("/mnt/etc/hooks", "{\"allowManagedHooksOnly\": true}");
	put("/mnt/foreign/hooks", "{\"allowManagedHooksOnly\": true}");
	put("/mnt/etc/foreign", "{\"allowManagedHooksOnly\": true}");
	if (uid == 0)
		CHECK(
		    chown("/mnt/foreign", 1001, 0) == 0 && chown("/mnt/etc/foreign", 1001, 0) == 0);
	else
		CHECK(mount("/etc", "/mnt/foreign", NULL, MS_BIND | MS_REC, NULL) == 0 &&
		      mount("/etc/passwd", "/mnt/etc/foreign", NULL, MS_BIND, NULL) == 0);
	CHECK(chroot("/mnt") == 0 && chdir("/") == 0);
}

/* In a process of its own, since there is no way back. */
static void
in_own_root(void (*look)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		make_root();
		look();
		_exit(0);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACE)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
expect(const char *path, const char *complaint)
{
	struct view_paths read_only = {0};
	struct error e = {0};
	int result = managed_check(path, &read_only, &e);

	if (result != (complaint != NULL ? -1 : 0) ||
	    (complaint != NULL && strstr(e.what, complaint) == NULL)) {
		fprintf(stderr, "%s: %d, '%s', and not '%s'\n", path, result, e.what,
		    complaint != NULL ? complaint : "");
		_exit(1);
	}
	CHECK(read_only.count == (complaint == NULL));
	CHECK(complaint != NULL || strcmp(read_only.list[0].path, "/etc/hooks") == 0);
	view_paths_free(&read_only);
}

static void
look_at_owners(void)
{
	expect("/etc/hooks", NULL);
	expect("//etc/./hooks", NULL);
	expect("/etc/foreign", "it does not belong to root");
	expect("/foreign/hooks", "a directory above does not belong to root");
}

static void
look_at_modes(void)
{
	static const mode_t modes[] = {0664, 0646, 0666};

	for (size_t i = 0; i < 3; i++) {
		CHECK(chmod("/etc/hooks", modes[i]) == 0);
		expect("/etc/hooks", "others than root can write it");
	}
	CHECK(chmod("/etc/hooks", 0400) == 0);
	expect("/etc/hooks", NULL);
	CHECK(chmod("/etc", 01777) == 0);
	expect("/etc/hooks", "others than root can write a directory above");
	CHECK(chmod("/etc", 0755) == 0 && chmod("/", 0775) == 0);
	expect("/etc/hooks", "others than root can write a directory above");
}

static void
look_at_kinds(void)
{
	CHECK(symlink("hooks", "/etc/link") == 0 && symlink("etc", "/other") == 0);
	CHECK(mkfifo("/etc/fifo", 0600) == 0);
	expect("/etc/link", "--managed-settings /etc/link");
	expect("/other/hooks", "--managed-settings /other/hooks");
	expect("/etc/fifo", "it is no regular file");
	expect("/etc", "it is no regular file");
	expect("/etc/none", "--managed-settings /etc/none");
	expect("/etc/hooks/hooks", "--managed-settings");
	expect("/etc/../etc/hooks", "there is .. in its path");
	expect("etc/hooks", "it is no absolute path");
}

static void
look_at_contents(void)
{
	static const char *const shut[] = {"{\"disableAllHooks\":true}",
	    "{\"allowManagedHooksOnly\":false,\"disableAllHooks\":true,\"x\":[{}]}\n"};
	static const char *const open[] = {"{}", "{\"allowManagedHooksOnly\":1}",
	    "{\"disableAllHooks\":\"true\"}", "{\"disableAllHooks\":[true]}",
	    "{\"disableallhooks\":true}", "{\"x\":{\"disableAllHooks\":true}}"};
	static const char *const bad[] = {"", "true", "[{\"disableAllHooks\":true}]",
	    "{\"disableAllHooks\":true", "{\"disableAllHooks\":true} x",
	    "{\"disableAllHooks\":true,\"disableAllHooks\":true}",
	    "{\"disableAllHooks\":true,\"x\":{\"a\":1,\"a\":1}}", "{\"disableAllHooks\":True}"};

	for (size_t i = 0; i < sizeof shut / sizeof shut[0]; i++) {
		put("/etc/hooks", shut[i]);
		expect("/etc/hooks", NULL);
	}
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
		put("/etc/hooks", open[i]);
		expect("/etc/hooks", "neither allowManagedHooksOnly nor disableAllHooks is true");
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		put("/etc/hooks", bad[i]);
		expect("/etc/hooks", "it is no JSON object with each key once");
	}
}

static void
the_file_and_each_directory_are_roots(void **state)
{
	(void)state;
	in_own_root(look_at_owners);
}

static void
nobody_else_can_write_them(void **state)
{
	(void)state;
	in_own_root(look_at_modes);
}

static void
it_is_a_regular_file_that_no_link_leads_to(void **state)
{
	(void)state;
	in_own_root(look_at_kinds);
}

static void
hooks_are_shut_out_by_exactly_true(void **state)
{
	(void)state;
	in_own_root(look_at_contents);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_file_and_each_directory_are_roots),
	    cmocka_unit_test(nobody_else_can_write_them),
	    cmocka_unit_test(it_is_a_regular_file_that_no_link_leads_to),
	    cmocka_unit_test(hooks_are_shut_out_by_exactly_true),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
