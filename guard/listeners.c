/* Reading /proc/net/unix. See listeners.h. */
#include "guard/listeners.h"

#include "bindmount/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the kernel calls __SO_ACCEPTCON: listen(2) has been called. */
enum { FLAG_LISTENS = 1 << 16 };

struct entry {
	unsigned long flags, type;
	char *path; /* up to the end of the line; NULL if there is none */
};

static bool
read_hex(char **at, unsigned long *value)
{
	char *end;

	*value = strtoul(*at, &end, 16);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* "NUM: REFCOUNT PROTOCOL FLAGS TYPE ST INODE[ PATH]"; the inode number is padded with blanks. */
static bool
parse_line(struct entry *e, char *line)
{
	unsigned long skipped;
	size_t digits;
	char *at = line;

	if (!read_hex(&at, &skipped) || *at++ != ':' || !read_hex(&at, &skipped) ||
	    !read_hex(&at, &skipped) || !read_hex(&at, &e->flags) || !read_hex(&at, &e->type) ||
	    !read_hex(&at, &skipped))
		return false;
	at += strspn(at, " ");
	digits = strspn(at, "0123456789");
	if (digits == 0 || (at[digits] != ' ' && at[digits] != '\0'))
		return false;
	e->path = at[digits] == ' ' ? at + digits + 1 : NULL;
	return true;
}

static bool
takes_from_anybody(const struct entry *e)
{
	if (e->path == NULL || e->path[0] == '\0' || e->path[0] == '@')
		return false;
	return e->type == SOCK_DGRAM || (e->flags & FLAG_LISTENS) != 0;
}

/* The line after this one, which is cut off there; NULL at the end. */
static char *
cut(char *line)
{
	char *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = '\0';
	return end + 1;
}

static int
add(struct listeners *l, const char *path)
{
	const char **list = reallocarray(l->list, l->count + 1, sizeof *list);

	if (list == NULL)
		return -1;
	l->list = list;
	list[l->count++] = path;
	return 0;
}

int
listeners_parse(struct listeners *l, char *text)
{
	struct entry e;
	bool in_path = false; /* of the entry before, which this line may go on with */

	*l = (struct listeners){.text = text};
	for (char *line = cut(text), *next; line != NULL; line = next) {
		next = cut(line);
		if (!parse_line(&e, line)) {
			if (in_path && next != NULL)
				line[-1] = '\n';
			continue;
		}
		in_path = e.path != NULL;
		if (takes_from_anybody(&e) && add(l, e.path) != 0) {
			listeners_free(l);
			return -1;
		}
	}
	return 0;
}

static char *
read_all(int fd)
{
	AUTO_FREE char *text = NULL;
	size_t size = 0, room = 0;
	ssize_t n;

	do {
		if (room - size < 8192) {
			char *more = realloc(text, room + 32768);

			if (more == NULL)
				return NULL;
			text = more;
			room += 32768;
		}
		n = read(fd, text + size, room - size - 1);
		if (n < 0)
			return NULL;
		size += (size_t)n;
	} while (n > 0);
	text[size] = '\0';
	return ptr_take(&text);
}

int
listeners_read(struct listeners *l)
{
	AUTO_FD int fd = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);
	char *text;

	*l = (struct listeners){0};
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	text = read_all(fd);
	return text != NULL ? listeners_parse(l, text) : -1;
}

void
listeners_free(struct listeners *l)
{
	free(l->list);
	free(l->text);
	*l = (struct listeners){0};
}
