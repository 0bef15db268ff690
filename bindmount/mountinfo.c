/* Reading mountinfo. See mountinfo.h. */
#include "bindmount/mountinfo.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* proc(5): blank, tab, newline and backslash stand as three octal digits. In place. */
static void
unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* What follows the options: any number of optional fields, "-", the type. In place. */
static char *
find_type(char *rest)
{
	char *separator = rest != NULL ? strstr(rest, " - ") : NULL, *type;

	if (separator == NULL)
		return NULL;
	type = separator + 3;
	type[strcspn(type, " ")] = '\0';
	return type;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD]... - TYPE SOURCE OPTIONS" */
static int
parse_line(struct mount_entry *m, char *line)
{
	char *save, *field[5];

	for (size_t i = 0; i < 5; i++) {
		field[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
		if (field[i] == NULL)
			return -1;
	}
	m->id = atoi(field[0]);
	if (sscanf(field[2], "%u:%u", &m->major, &m->minor) != 2)
		return -1;
	m->root = field[3];
	m->point = field[4];
	m->type = find_type(save);
	if (m->type == NULL)
		m->type = m->point + strlen(m->point);
	unescape(m->root);
	unescape(m->point);
	return 0;
}

int
mountinfo_parse(struct mountinfo *m, char *text)
{
	size_t room = 0;
	char *save;

	*m = (struct mountinfo){.text = text};
	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if (m->count == room) {
			struct mount_entry *list;

			room = room != 0 ? room * 2 : 64;
			list = reallocarray(m->list, room, sizeof *list);
			if (list == NULL)
				goto err;
			m->list = list;
		}
		if (parse_line(&m->list[m->count], line) != 0) {
			errno = EINVAL;
			goto err;
		}
		m->count++;
	}
	return 0;
err:
	mountinfo_free(m);
	return -1;
}

int
mountinfo_read(struct mountinfo *m)
{
	AUTO_FD int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	size_t size = 0, room = 0;
	ssize_t n;

	*m = (struct mountinfo){0};
	if (fd < 0)
		return -1;
	do {
		if (room - size < 8192) {
			char *more = realloc(text, room + 16384);

			if (more == NULL)
				return -1;
			text = more;
			room += 16384;
		}
		n = read(fd, text + size, room - size - 1);
		if (n < 0)
			return -1;
		size += (size_t)n;
	} while (n > 0);
	text[size] = '\0';
	return mountinfo_parse(m, ptr_take(&text));
}

void
mountinfo_free(struct mountinfo *m)
{
	free(m->list);
	free(m->text);
	*m = (struct mountinfo){0};
}

bool
mountinfo_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n > 0 && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool
mountinfo_masks_proc(const struct mount_entry *m)
{
	/* This one is on an empty directory, which is made for it, and hides nothing. */
	return mountinfo_below(m->point, "/proc") && strcmp(m->point, "/proc") != 0 &&
	       !mountinfo_below(m->point, "/proc/sys/fs/binfmt_misc");
}

/* base and rest in one, with one slash between them. rest is empty or begins with a slash. */
static char *
join(const char *base, const char *rest)
{
	char *path;

	if (strcmp(base, "/") == 0)
		base = "";
	if (asprintf(&path, "%s%s", base, rest) < 0) {
		errno = ENOMEM;
		return NULL;
	}
	if (path[0] == '\0') {
		free(path);
		path = strdup("/");
	}
	return path;
}

/* What is left of path below dir: empty, or beginning with a slash. */
static const char *
rest_below(const char *path, const char *dir)
{
	return strcmp(dir, "/") == 0 ? path : path + strlen(dir);
}

char *
mountinfo_alias(const struct mount_entry *home, const struct mount_entry *other, const char *path)
{
	AUTO_FREE char *inner = NULL;

	errno = 0;
	if (other->major != home->major || other->minor != home->minor ||
	    !mountinfo_below(path, home->point))
		return NULL;
	inner = join(home->root, rest_below(path, home->point));
	if (inner == NULL)
		return NULL;
	if (mountinfo_below(inner, other->root)) {
		const char *rest = rest_below(inner, other->root);

		return join(other->point, strcmp(rest, "/") == 0 ? "" : rest);
	}
	if (mountinfo_below(other->root, inner))
		return strdup(other->point);
	return NULL;
}
