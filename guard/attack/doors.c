/*
 * Attacks through somebody outside who takes orders. The battery's own bystander listens where services
 * do, so most can be tried on every machine; the real ones are tried where they are.
 */
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/attack/registry.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int
connect_to(const struct brief *b, enum door d)
{
	struct sockaddr_un a;
	socklen_t size = raw_unix_address(&a, d, &b->step, b->marker);
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || size == 0 || connect(fd, (struct sockaddr *)&a, size) != 0)
		return -1;
	return fd_take(&fd);
}

/* The answer shows that it was taken. */
static void
order(const struct brief *b, enum door d, const char *what)
{
	AUTO_FD int fd = connect_to(b, d);
	char answer[16];

	leg_try(fd >= 0 && send(fd, "POST /start\r\n\r\n", 15, MSG_NOSIGNAL) == 15 &&
		    recv(fd, answer, sizeof answer, 0) > 0,
	    what);
}

static void
docker(const struct brief *b)
{
	order(b, DOOR_DOCKER, "order a container at docker.sock");
}

static void
podman(const struct brief *b)
{
	order(b, DOOR_PODMAN, "order a container at podman.sock");
}

static void
bus(const struct brief *b)
{
	order(b, DOOR_BUS, "send a message on the session bus");
}

static void
manager(const struct brief *b)
{
	order(b, DOOR_MANAGER, "start a unit at the user's service manager");
}

static void
tmux(const struct brief *b)
{
	order(b, DOOR_TMUX, "open a window at a terminal multiplexer");
}

static void
service(const struct brief *b)
{
	order(b, DOOR_SERVICE, "order something at a service of the user's");
}

static void
abstract(const struct brief *b)
{
	order(b, DOOR_ABSTRACT, "order something at an abstract socket");
}

static void
receive(const struct brief *b, enum door d)
{
	AUTO_FD int fd = connect_to(b, d);

	if (fd < 0 || send(fd, "give", 4, MSG_NOSIGNAL) != 4) {
		leg_failed("ask for a descriptor");
		return;
	}
	leg_forge(raw_receive_descriptor(fd), "append by a descriptor from outside");
}

static void
descriptor(const struct brief *b)
{
	receive(b, DOOR_DESCRIPTOR);
}

static void
abstract_descriptor(const struct brief *b)
{
	receive(b, DOOR_ABSTRACT_DESCRIPTOR);
}

/* --- the real ones */

static int
connect_path(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval bound = {.tv_sec = 2};
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
	return fd_take(&fd);
}

static const char *
no_docker(uid_t leg)
{
	AUTO_FD int fd = connect_path("/run/docker.sock");

	(void)leg;
	return fd >= 0 ? NULL : "no container engine answers this user at /run/docker.sock";
}

static void
real_docker(const struct brief *b)
{
	static const char ping[] = "GET /_ping HTTP/1.0\r\n\r\n";
	AUTO_FD int fd = connect_path("/run/docker.sock");
	char answer[16];

	(void)b;
	if (fd >= 0 && send(fd, ping, sizeof ping - 1, MSG_NOSIGNAL) > 0 &&
	    recv(fd, answer, sizeof answer, 0) > 0)
		leg_got("an answer of the container engine at /run/docker.sock");
	else
		leg_failed("reach /run/docker.sock");
}

/* Run words, quietly. Its exit status, 127 if it can't be run. */
static int
run_quietly(const char *const *words)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd <= 2; fd++)
			(void)dup2(null, fd);
		execvp(words[0], (char *const *)words);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return 126;
	return WEXITSTATUS(status);
}

/* It is the program's word that counts, and its exit status. */
static void
judge_program(const char *const *words, const char *got, const char *what)
{
	int status = run_quietly(words);

	errno = 0;
	if (status == 0)
		leg_got("%s", got);
	else
		leg_failed("%s: exit status %d", what, status);
}

static const char *
manager_socket(char *path, size_t size)
{
	snprintf(path, size, "/run/user/%u/systemd/private", geteuid());
	return path;
}

static const char *
no_manager(uid_t leg)
{
	char path[64];
	AUTO_FD int fd = connect_path(manager_socket(path, sizeof path));

	(void)leg;
	return fd >= 0 ? NULL : "this user has no service manager (systemd --user)";
}

/* What it starts is outside of every view. It is the file that shows it. */
static void
real_manager(const struct brief *b)
{
	char script[STEP_PATH + 160], directory[64];
	const char *const words[] = {
	    "systemd-run", "--user", "--quiet", "--collect", "--wait", "sh", "-c", script, NULL};

	snprintf(directory, sizeof directory, "/run/user/%u", geteuid());
	(void)setenv("XDG_RUNTIME_DIR", directory, 1);
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	snprintf(script, sizeof script, "printf %%s '%.120s' >>'%s'", b->marker, b->output);
	judge_program(words, "a unit of the user's service manager", "systemd-run --user");
}

/* Nothing is left: a job that is taken is removed again. */
static const char *const at_words[] = {"sh", "-c",
    "echo : | at now + 1 year 2>&1 | sed -n 's/^job \\([0-9]*\\) .*/\\1/p' | "
    "{ read -r n && atrm \"$n\"; }",
    NULL};

static const char *
no_at(uid_t leg)
{
	(void)leg;
	if (access("/usr/bin/at", X_OK) != 0)
		return "at(1) is not installed";
	return run_quietly(at_words) == 0 ? NULL : "at(1) takes no jobs from this user";
}

static void
at(const struct brief *b)
{
	(void)b;
	judge_program(at_words, "a job of at(1), which it removed again", "leave a job with at(1)");
}

/* What the table holds is installed again: accepted, it changes nothing. */
static const char *const crontab_words[] = {"sh", "-c",
    "t=$(mktemp) || exit 1; trap 'rm -f \"$t\"' EXIT; if crontab -l >\"$t\" 2>/dev/null; then "
    "crontab "
    "\"$t\"; else echo '#' >\"$t\"; crontab \"$t\" && crontab -r; fi",
    NULL};

static const char *
no_crontab(uid_t leg)
{
	(void)leg;
	if (access("/usr/bin/crontab", X_OK) != 0)
		return "crontab(1) is not installed";
	return run_quietly(crontab_words) == 0 ? NULL : "crontab(1) takes no table from this user";
}

static void
crontab(const struct brief *b)
{
	(void)b;
	judge_program(crontab_words, "the user's crontab", "install a crontab");
}

/* --- programs that gain privileges */

static const char *
no_sudo(uid_t leg)
{
	static const char *const words[] = {"sudo", "-n", "true", NULL};

	if (leg == 0)
		return "it is root already";
	if (geteuid() == 0)
		return "whether sudo asks that user for a password shows only to that user";
	return run_quietly(words) == 0 ? NULL : "sudo is not installed, or asks for a password";
}

static void
sudo(const struct brief *b)
{
	static const char *const words[] = {"sudo", "-n", "true", NULL};

	(void)b;
	judge_program(words, "root, by sudo", "sudo");
}

static const char *const set_uid_programs[] = {
    "/usr/bin/su", "/bin/su", "/usr/bin/newgrp", "/usr/bin/passwd"};

static const char *
find_set_uid(void)
{
	struct stat st;

	for (size_t i = 0; i < sizeof set_uid_programs / sizeof set_uid_programs[0]; i++)
		/* Its owner may show as somebody else in the leg's user namespace. */
		if (stat(set_uid_programs[i], &st) == 0 && (st.st_mode & S_ISUID) != 0)
			return set_uid_programs[i];
	return NULL;
}

static const char *
no_set_uid(uid_t leg)
{
	if (leg == 0)
		return "it is root already";
	return find_set_uid() != NULL ? NULL : "there is no set-user-ID program that is known here";
}

static long
effective_uid(pid_t pid)
{
	char path[64], text[2048], *line;
	unsigned int uid;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	AUTO_FD int fd = open(path, O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (n <= 0)
		return -1;
	text[n] = '\0';
	line = strstr(text, "\nUid:");
	return line != NULL && sscanf(line + 5, "%*u %u", &uid) == 1 ? (long)uid : -1;
}

/* vfork(2) returns when the new program is there; it waits for what nobody types. */
static void
set_uid(const struct brief *b)
{
	const char *program = find_set_uid();
	int input[2];
	pid_t pid;

	(void)b;
	if (program == NULL || pipe(input) != 0) {
		leg_untried("find a set-user-ID program");
		return;
	}
	pid = vfork();
	if (pid == 0) {
		(void)dup2(input[0], 0);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	errno = 0;
	if (effective_uid(pid) == 0)
		leg_got("a process with root's rights, by %s", program);
	else
		leg_failed("gain root's rights by %s", program);
	(void)kill(pid, SIGKILL);
	(void)close(input[1]);
	(void)waitpid(pid, NULL, 0);
}

#define DOOR "masked doors"
#define NNP  "no_new_privs"

static const struct attack list[] = {
    {"docker-socket", "order a container at docker.sock", DOOR, docker, ATTACK_OUTSIDER, NULL,
	"landlock"},
    {"podman-socket", "order a container at podman.sock", DOOR, podman, ATTACK_OUTSIDER, NULL,
	"landlock"},
    {"session-bus", "order a unit on the D-Bus session bus", DOOR, bus, ATTACK_OUTSIDER, NULL,
	"landlock"},
    {"user-manager", "order a unit at systemd/private", DOOR, manager, ATTACK_OUTSIDER, NULL,
	"landlock"},
    {"tmux-socket", "order a command at a terminal multiplexer", DOOR, tmux, ATTACK_OUTSIDER, NULL,
	"landlock"},
    {"other-socket", "order something at a service that listens elsewhere", DOOR, service,
	ATTACK_OUTSIDER, NULL, "landlock"},
    {"abstract-socket", "order something at an abstract socket", "Landlock scope", abstract,
	ATTACK_OUTSIDER, NULL, NULL},
    {"descriptor", "be passed a descriptor by a helper outside", DOOR, descriptor, ATTACK_OUTSIDER,
	NULL, "landlock"},
    {"descriptor-abstract", "likewise, at an abstract socket", "Landlock scope",
	abstract_descriptor, ATTACK_OUTSIDER, NULL, NULL},
    {"docker-engine", "talk to the machine's container engine", DOOR, real_docker, 0, no_docker,
	NULL},
    {"systemd-run", "systemd-run --user, by the real service manager", DOOR, real_manager, 0,
	no_manager, NULL},
    {"at", "leave a job with at(1)", NNP, at, 0, no_at, NULL},
    {"crontab", "install a crontab", NNP, crontab, 0, no_crontab, NULL},
    {"sudo", "become root by sudo", NNP, sudo, 0, no_sudo, NULL},
    {"set-uid", "become root by a set-user-ID program", NNP, set_uid, 0, no_set_uid, NULL},
};

const struct attack_group attack_doors = {
    "doors", "somebody outside who takes orders", list, sizeof list / sizeof list[0]};
