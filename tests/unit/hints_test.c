/* hints: from the last lines of a leg that failed to what its view took away. The lines are what programs print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/hints.h"

#include <errno.h>
#include <string.h>

static const struct hints_facts plain = {
    .tier = HINTS_NAMESPACE, .engines_closed = true, .buses_closed = true};

static const char *
find(const char *text, const struct hints_facts *facts)
{
	return hints_find(text, strlen(text), facts);
}

static void
hinted(const char *text, const struct hints_facts *facts, const char *expected)
{
	const char *hint = find(text, facts);

	if (hint == NULL || strstr(hint, expected) == NULL)
		print_error("%s -> %s\n", text, hint != NULL ? hint : "nothing");
	assert_non_null(hint);
	assert_non_null(strstr(hint, expected));
}

static void
each_program_is_understood(void **state)
{
	static const struct {
		const char *text, *expected;
	} samples[] = {
	    {"bash: line 1: /home/runner/work/_temp/_runner_file_commands/set_output_1: Read-only "
	     "file system\n",
		"--set-output"},
	    {"OSError: [Errno 30] Read-only file system: '/github/file_commands/set_env_2'",
		"--set-output"},
	    {"Error: EROFS: read-only file system, open '/x/_runner_file_commands/set_output_1'\n"
	     "    at Object.openSync (node:fs:601:3) {\n  errno: -30,\n  code: 'EROFS',\n  "
	     "syscall: 'open',\n"
	     "  path: '/x/_runner_file_commands/set_output_1'\n}\n\nNode.js v20.20.2\n",
		"--set-output"},
	    {"touch: cannot touch '/x/_temp/_github_workflow/a': Read-only file system\n",
		"--unprotect"},
	    {"sudo: The \"no new privileges\" flag is set, which prevents sudo from running as "
	     "root.\n"
	     "sudo: If sudo is running in a container, you may need to adjust the container "
	     "configuration to "
	     "disable the flag.\n",
		"set-uid"},
	    {"sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set\n", "set-uid"},
	    {"Password: su: Authentication failure\n", "set-uid"},
	    {"bash: line 1: /usr/bin/ping: Operation not permitted\n", "set-uid"},
	    {"newuidmap: write to uid_map failed: Operation not permitted\n", "set-uid"},
	    {"chown: changing ownership of 'a': Invalid argument\n", "its own user"},
	    {"chgrp: changing group of 'a': Invalid argument\n", "its own user"},
	    {"tar: x/f: Cannot change ownership to uid 1002, gid 1002: Invalid argument\n"
	     "tar: Exiting with failure status due to previous errors\n",
		"its own user"},
	    {"Error: EINVAL: invalid argument, chown 'a'\n  code: 'EINVAL',\n", "its own user"},
	    {"Bad owner or permissions on /etc/ssh/ssh_config.d/10-company.conf\n"
	     "fatal: Could not read from remote repository.\n",
		"GIT_SSH_COMMAND"},
	    {"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker "
	     "daemon running?\n",
		"--allow-socket /run/docker.sock"},
	    {"dial unix /var/run/docker.sock: connect: permission denied\n", "--allow-socket"},
	    {"Failed to connect to bus: Permission denied\n", "buses"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
		hinted(samples[i].text, &plain, samples[i].expected);
}

static void
ordinary_failures_get_none(void **state)
{
	static const char *const samples[] = {"", "\n", "\n\n\n",
	    "make: *** [Makefile:2: all] Error 1\n", "npm ERR! code ELIFECYCLE\n",
	    "bash: foo: command not found\n",
	    "mkdir: cannot create directory '/x': Permission denied\n",
	    "chown: changing ownership of '/etc/passwd': Operation not permitted\n"};

	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
		assert_null(find(samples[i], &plain));
}

static void
a_hint_fits_what_was_taken_away(void **state)
{
	static const char erofs[] = "touch: cannot touch '/x': Read-only file system\n";
	static const char exdev[] = "mv: failed: Invalid cross-device link\n";
	static const char docker[] =
	    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n";
	static const char sudo[] = "sudo: effective uid is not 0, is sudo installed setuid root?\n";
	static const char denied[] = "touch: cannot touch '/x': Permission denied\n";
	const struct hints_facts pinned = {.tier = HINTS_NAMESPACE, .pinned = true};
	const struct hints_facts strict = {.tier = HINTS_NAMESPACE, .strict = true};
	const struct hints_facts landlock = {.tier = HINTS_LANDLOCK};
	const struct hints_facts none = {.tier = HINTS_NONE};
	const struct hints_facts root = {.tier = HINTS_NAMESPACE, .root = true};
	const struct hints_facts user = {.tier = HINTS_NAMESPACE, .user = true};

	(void)state;
	hinted(erofs, &pinned, "--pin");
	hinted(exdev, &pinned, "--pin");
	hinted(erofs, &strict, "--writable");
	hinted(erofs, &plain, "--unprotect");
	hinted(denied, &landlock, "TMPDIR");
	hinted(sudo, &user, "set-uid");
	assert_null(find(exdev, &plain));
	assert_null(find(docker, &strict)); /* there was no socket to close */
	assert_null(find(denied, &plain));
	assert_null(find(sudo, &root));
	assert_null(find(erofs, &none));
	assert_null(find("chown: changing ownership of 'a': Invalid argument\n", &user));
}

static void
the_last_failure_counts(void **state)
{
	char text[4096] = "sudo: effective uid is not 0, is sudo installed setuid root?\n";

	(void)state;
	for (int i = 0; i < 20; i++)
		strcat(text, "Falling back to something else.\n");
	hinted(text, &plain, "set-uid");
	strcat(text, "chown: changing ownership of 'a': Invalid argument\n");
	hinted(text, &plain, "its own user");
}

static void
any_bytes_are_looked_at(void **state)
{
	static const char text[] = "\0\xff\n\0chown: changing ownership of 'a\0': Invalid argument";

	(void)state;
	assert_non_null(hints_find(text, sizeof text - 1, &plain));
	assert_null(hints_find(text, 5, &plain));
	assert_null(hints_find(NULL, 0, &plain));
}

static void
a_command_with_capabilities_can_not_be_executed(void **state)
{
	const struct hints_facts none = {.tier = HINTS_NONE};

	(void)state;
	assert_non_null(hints_exec(EPERM, &plain));
	assert_null(hints_exec(EACCES, &plain));
	assert_null(hints_exec(EPERM, &none));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_program_is_understood),
	    cmocka_unit_test(ordinary_failures_get_none),
	    cmocka_unit_test(a_hint_fits_what_was_taken_away),
	    cmocka_unit_test(the_last_failure_counts),
	    cmocka_unit_test(any_bytes_are_looked_at),
	    cmocka_unit_test(a_command_with_capabilities_can_not_be_executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
