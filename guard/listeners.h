/*
 * Who can be spoken to by a path: the pathname sockets of /proc/net/unix (proc(5), unix(7)) that take
 * connections or datagrams from anybody.
 */
#ifndef GUARD_LISTENERS_H
#define GUARD_LISTENERS_H

#include <stddef.h>

struct listeners {
	const char **
	    list; /* paths as they were bound: may be relative, gone, or of another mount namespace */
	size_t count;
	char *text; /* that they point into */
};

/*
 * Pure: parse text (malloc'd, NUL-terminated), which *l owns from then on. Listed are stream and packet
 * sockets that listen (an accepted one only carries its listener's name), and datagram sockets, of which the state
 * does not tell: since Linux 5.15 somebody else's connect(2) makes one look connected. Abstract and unbound
 * sockets are left out. A line break in a path is part of it. -1: errno ENOMEM.
 */
int listeners_parse(struct listeners *l, char *text);

/* Those of the caller's network namespace. Without such a file there are none. -1: errno. */
int listeners_read(struct listeners *l);

void listeners_free(struct listeners *l);

#endif
