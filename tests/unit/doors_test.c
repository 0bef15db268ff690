/* doors: which sockets /proc/net/unix tells of take orders, which of them stay open, and what variables point to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/doors.h"
#include "guard/doorvars.h"
#include "guard/listeners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HEADER "Num       RefCount Protocol Flags    Type St Inode Path\n"

/* text, below the header, holds just these. */
static void
expect(const char *text, const char *const *paths)
{
	struct listeners l;
	char *whole = malloc(sizeof HEADER + strlen(text));
	size_t i;

	assert_non_null(whole);
	strcpy(stpcpy(whole, HEADER), text);
	assert_int_equal(listeners_parse(&l, whole), 0);
	for (i = 0; paths[i] != NULL; i++) {
		assert_true(i < l.count);
		assert_string_equal(l.list[i], paths[i]);
	}
	assert_int_equal(l.count, i);
	listeners_free(&l);
}

static void
what_listens_by_a_path_is_listed(void **state)
{
	static const char *const paths[] = {"/run/a", "/run/b c", "relative", "/run/packets", NULL};

	(void)state;
	expect("00000000365f2b34: 00000002 00000000 00010000 0001 01 13788913 /run/a\n"
	       "00000000365f2b35: 00000002 00000000 00010000 0001 01    25 /run/b c\n"
	       "ffff9a7c365f2b36: 00000002 00000000 00010000 0001 01     9 relative\n"
	       "00000000: 00000002 00000000 00010000 0005 01 13788913 /run/packets\n",
	    paths);
}

static void
connections_and_nameless_sockets_are_not(void **state)
{
	static const char *const none[] = {NULL};

	(void)state;
	expect("", none);
	expect("0000000000000001: 00000003 00000000 00000000 0001 03 1452 /run/accepted\n"
	       "0000000000000002: 00000002 00000000 00000000 0001 01 1453 /run/bound-only\n"
	       "0000000000000003: 00000003 00000000 00000000 0001 03  1454\n"
	       "0000000000000004: 00000002 00000000 00010000 0001 01 1455 @abstract\n"
	       "0000000000000005: 00000002 00000000 00010000 0001 01 1456 @\n"
	       "0000000000000006: 00000002 00000000 00010000 0005 01 1457\n",
	    none);
}

static void
datagram_sockets_take_from_anybody(void **state)
{
	static const char *const paths[] = {"/run/log", "/run/looks-connected", NULL};

	(void)state;
	expect("0000000000000001: 00000002 00000000 00000000 0002 01 1 /run/log\n"
	       "0000000000000002: 00000002 00000000 00000000 0002 03 2 /run/looks-connected\n"
	       "0000000000000003: 00000002 00000000 00000000 0002 01 3 @dgram\n"
	       "0000000000000004: 00000002 00000000 00000000 0002 01 4\n",
	    paths);
}

static void
a_line_break_belongs_to_the_path(void **state)
{
	static const char *const paths[] = {"/a\nb", "/c\n\nd: e", "/f", NULL};

	(void)state;
	expect("0000000000000001: 00000002 00000000 00010000 0001 01 1 /a\nb\n"
	       "0000000000000002: 00000002 00000000 00010000 0001 01 2 /c\n\nd: e\n"
	       "0000000000000003: 00000002 00000000 00010000 0001 01 3 /f\n",
	    paths);
}

static void
torn_lines_are_passed_over(void **state)
{
	static const char *const paths[] = {"/whole", NULL};

	(void)state;
	expect("0000000000000001\n0000000000000001:\n0000000000000001: 2 0 10000 1 1\n"
	       "0000000000000001: 2 0 10000 1 1 x /a\n0000000000000001: 2 0 10000 1 1 5x /a\n"
	       "0000000000000001: 2 0 10000 1 1 5 /whole",
	    paths);
}

static void
a_table_without_anything_is_read(void **state)
{
	struct listeners l;

	(void)state;
	assert_int_equal(listeners_parse(&l, strdup("")), 0);
	assert_int_equal(l.count, 0);
	listeners_free(&l);
}

static void
a_socket_of_ones_own_is_found(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/doors-test.XXXXXX";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), found = 0;
	struct listeners l;

	(void)state;
	assert_non_null(mkdtemp(dir));
	strcat(strcpy(a.sun_path, dir), "/socket");
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	for (int listening = 0; listening <= 1; listening++) {
		if (listening)
			assert_int_equal(listen(fd, 1), 0);
		assert_int_equal(listeners_read(&l), 0);
		found = 0;
		for (size_t i = 0; i < l.count; i++)
			found += strcmp(l.list[i], a.sun_path) == 0;
		assert_int_equal(found, listening);
		listeners_free(&l);
	}
	close(fd);
	unlink(a.sun_path);
	rmdir(dir);
}

static void
what_only_answers_stays_open(void **state)
{
	static const char *const open[] = {"/run/nscd/socket", "/var/run/nscd/socket", "/dev/log",
	    "/run/systemd/journal/dev-log", "/run/systemd/resolve/io.systemd.Resolve",
	    "/run/systemd/userdb/io.systemd.DynamicUser", "/var/lib/sss/pipes/private/pam",
	    "/home/u/.gnupg/S.gpg-agent.ssh", "/x/S.gpg-agent.extra", "/x/S.keyboxd"};
	static const char *const closed[] = {"/run/docker.sock", "/home/u/.gnupg/S.gpg-agent",
	    "/run/nscd2/socket", "/run/systemd/private", "/run/systemd/notify",
	    "/run/systemd/io.systemd.Manager", "/run/dbus/system_bus_socket", "/x/S.dirmngr",
	    "/x/S.gpg-agent.mine", "S.gpg-agent.d/x", "/tmp/tmux-1001/default", "/dev/logs", "/"};

	(void)state;
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (!doors_stays_open(open[i]))
			fail_msg("%s is closed", open[i]);
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
		if (doors_stays_open(closed[i]))
			fail_msg("%s stays open", closed[i]);
}

/* value names these, in order; "@" stands for an abstract socket. */
static void
names(const char *value, const char *const *expected)
{
	const char *at = value;
	bool abstract;

	for (;; expected++) {
		char *path = doorvars_next(&at, &abstract);

		if (path == NULL)
			break;
		assert_non_null(*expected);
		assert_string_equal(path, abstract ? "" : *expected);
		assert_int_equal(abstract, strcmp(*expected, "@") == 0);
		free(path);
	}
	assert_int_equal(errno, 0);
	if (*expected != NULL)
		fail_msg("%s: %s is missing", value, *expected);
}

#define NAMES(value, ...)                                                                          \
	do {                                                                                       \
		static const char *const list[] = {__VA_ARGS__, NULL};                             \
                                                                                                   \
		names((value), list);                                                              \
	} while (0)

static void
addresses_are_read_in_every_form(void **state)
{
	(void)state;
	NAMES("/run/a.sock", "/run/a.sock");
	NAMES("/run/a;b,c", "/run/a;b,c");
	NAMES("unix:///run/a.sock", "/run/a.sock");
	NAMES("unix:/run/a.sock", "/run/a.sock");
	NAMES("unix:path=/run/a", "/run/a");
	NAMES("unix:path=/run/a,guid=12", "/run/a");
	NAMES("unix:guid=12,path=/run/a", "/run/a");
	NAMES("unix:xpath=/run/b,path=/run/a", "/run/a");
	NAMES("unix:path=/run/%61%2c%zz", "/run/a,%zz");
	NAMES("unix:path=/run/a;unix:path=/run/b,guid=1;", "/run/a", "/run/b");
	NAMES("unix:abstract=/tmp/x,guid=1;unix:path=/run/b", "@", "/run/b");
	NAMES("unix:tmpdir=/tmp;tcp:host=localhost", "", "");
	NAMES("@abstract", "@");
	NAMES("tcp://127.0.0.1:2375", "");
	NAMES("ssh://host/run/docker.sock", "");
	NAMES("unix:", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_listens_by_a_path_is_listed),
	    cmocka_unit_test(connections_and_nameless_sockets_are_not),
	    cmocka_unit_test(datagram_sockets_take_from_anybody),
	    cmocka_unit_test(a_line_break_belongs_to_the_path),
	    cmocka_unit_test(torn_lines_are_passed_over),
	    cmocka_unit_test(a_table_without_anything_is_read),
	    cmocka_unit_test(a_socket_of_ones_own_is_found),
	    cmocka_unit_test(what_only_answers_stays_open),
	    cmocka_unit_test(addresses_are_read_in_every_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
