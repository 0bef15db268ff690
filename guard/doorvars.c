/* Variables that point to doors. See doorvars.h. */
#include "guard/doorvars.h"

#include "bindmount/cleanup.h"
#include "guard/environment.h"
#include "guard/hide.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the value names a socket or a directory. */
enum form {
	ADDRESSES, /* as doorvars_next() reads them */
	UP_TO_COMMA,
	X_DISPLAY,      /* ":N" or "unix:N", with ".SCREEN" behind it */
	WAYLAND_SOCKET, /* absolute, or in XDG_RUNTIME_DIR */
	SCREEN_SESSION, /* a name in SCREENDIR or /run/screen */
};

static const struct {
	const char *name;
	enum form form;
} variables[] = {
    {"DOCKER_HOST", ADDRESSES},
    {"CONTAINER_HOST", ADDRESSES},
    {"CONTAINERD_ADDRESS", ADDRESSES},
    {"CONTAINER_RUNTIME_ENDPOINT", ADDRESSES},
    {"IMAGE_SERVICE_ENDPOINT", ADDRESSES},
    {"BUILDKIT_HOST", ADDRESSES},
    {"LXD_SOCKET", ADDRESSES},
    {"INCUS_SOCKET", ADDRESSES},
    {"DBUS_SESSION_BUS_ADDRESS", ADDRESSES},
    {"DBUS_SYSTEM_BUS_ADDRESS", ADDRESSES},
    {"DBUS_STARTER_ADDRESS", ADDRESSES},
    {"AT_SPI_BUS_ADDRESS", ADDRESSES},
    {"NOTIFY_SOCKET", ADDRESSES},
    {"XDG_RUNTIME_DIR", ADDRESSES},
    {"GNOME_KEYRING_CONTROL", ADDRESSES},
    {"PULSE_SERVER", ADDRESSES},
    {"PULSE_RUNTIME_PATH", ADDRESSES},
    {"PIPEWIRE_RUNTIME_DIR", ADDRESSES},
    {"XAUTHORITY", ADDRESSES},
    {"SCREENDIR", ADDRESSES},
    {"TMUX", UP_TO_COMMA},
    {"STY", SCREEN_SESSION},
    {"DISPLAY", X_DISPLAY},
    {"WAYLAND_DISPLAY", WAYLAND_SOCKET},
};

/* D-Bus specification, "Server Addresses": %XX stands for a byte. In place. */
static void
decode(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++)
		if (s[0] == '%' && isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2])) {
			const char digits[] = {s[1], s[2], '\0'};

			*to++ = (char)strtoul(digits, NULL, 16);
			s += 2;
		} else {
			*to++ = *s;
		}
	*to = '\0';
}

/* The value of key among the "key=value"s of a D-Bus address, or NULL; *n is its length. */
static const char *
key(const char *keys, const char *name, size_t *n)
{
	size_t length = strlen(name);

	for (const char *at = keys;; at += strcspn(at, ",;") + 1) {
		if (strncmp(at, name, length) == 0 && at[length] == '=') {
			*n = strcspn(at + length + 1, ",;");
			return at + length + 1;
		}
		if (at[strcspn(at, ",;")] != ',')
			return NULL;
	}
}

/* What follows "unix:". */
static char *
unix_path(const char *rest, bool *abstract)
{
	size_t n;
	const char *path;
	char *copy;

	if (rest[0] == '/') /* "unix:/x" and "unix:///x" */
		return strdup(strncmp(rest, "//", 2) == 0 ? rest + 2 : rest);
	*abstract = key(rest, "abstract", &n) != NULL;
	path = key(rest, "path", &n);
	if (path == NULL)
		return strdup("");
	copy = strndup(path, n);
	if (copy != NULL)
		decode(copy);
	return copy;
}

char *
doorvars_next(const char **value, bool *abstract)
{
	const char *at = *value;
	bool dbus = strncmp(at, "unix:", 5) == 0 && at[5] != '/';

	*abstract = false;
	errno = 0;
	if (*at == '\0')
		return NULL;
	/* Only D-Bus has lists, and only its addresses end at a semicolon. */
	*value += dbus ? strcspn(at, ";") : strlen(at);
	if (**value == ';')
		++*value;
	if (strncmp(at, "unix:", 5) == 0)
		return unix_path(at + 5, abstract);
	*abstract = at[0] == '@';
	return strdup(at[0] == '/' ? at : "");
}

/* By the path as it is written, or by what it leads to. */
static bool
is_hidden(const struct plan *p, const char *path)
{
	AUTO_FREE char *real = NULL;

	if (path[0] != '/')
		return false;
	if (hide_above(p, path) != NULL)
		return true;
	real = realpath(path, NULL);
	return real != NULL && hide_above(p, real) != NULL;
}

static int
addresses_are_hidden(const struct plan *p, const char *value)
{
	for (;;) {
		bool abstract;
		AUTO_FREE char *path = doorvars_next(&value, &abstract);

		if (path == NULL)
			return errno == 0 ? 0 : -1;
		if ((abstract && p->scopes) || is_hidden(p, path))
			return 1;
	}
}

/* The path that the value stands for, malloc'd; NULL without memory. */
static char *
expand(enum form form, const char *value, char *const *env)
{
	const char *dir;
	char *path = NULL;
	unsigned number;

	switch (form) {
	case UP_TO_COMMA:
		return strndup(value, strcspn(value, ","));
	case X_DISPLAY:
		if (sscanf(value, ":%u", &number) != 1 && sscanf(value, "unix:%u", &number) != 1)
			return strdup("");
		return asprintf(&path, "/tmp/.X11-unix/X%u", number) < 0 ? NULL : path;
	case WAYLAND_SOCKET:
		dir = environment_get(env, "XDG_RUNTIME_DIR");
		if (value[0] == '/' || dir == NULL)
			return strdup(value);
		return asprintf(&path, "%s/%s", dir, value) < 0 ? NULL : path;
	case SCREEN_SESSION:
		dir = environment_get(env, "SCREENDIR");
		return strdup(dir != NULL ? dir : "/run/screen");
	case ADDRESSES:
		break;
	}
	return strdup(value);
}

/* 1 if the variable points to something hidden, 0 if not, -1 without memory. */
static int
points_inside(const struct plan *p, enum form form, const char *value, char *const *env)
{
	AUTO_FREE char *path = NULL;

	if (form == ADDRESSES)
		return addresses_are_hidden(p, value);
	path = expand(form, value, env);
	return path != NULL ? is_hidden(p, path) : -1;
}

static int
add(struct words *w, const char *name)
{
	const char **list = reallocarray(w->list, w->count + 1, sizeof *list);

	if (list == NULL)
		return -1;
	w->list = list;
	list[w->count++] = name;
	return 0;
}

int
doorvars_remove(struct plan *p, char *const *env, struct error *e)
{
	if (p->view.hidden.count == 0 && !p->scopes)
		return 0;
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *value = environment_get(env, variables[i].name);
		int inside = 0;

		if (value != NULL)
			inside = points_inside(p, variables[i].form, value, env);
		if (inside < 0 || (inside > 0 && add(&p->removed_env, variables[i].name) != 0))
			return error_set(e, ENOMEM, NULL, "can't note the doors' variables");
	}
	return 0;
}
