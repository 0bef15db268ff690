/*
 * Putting the components of a path back to their places.
 *
 * Works on one node of a chain at a time, whose parent is held and known to be in its place. Nobody
 * who could move things meanwhile may be alive. Nothing is deleted that is not certain to have been
 * made since the snapshot: what stands in a component's place goes where the component was found,
 * or into quarantine beside it.
 */
#ifndef GUARD_NAMES_H
#define GUARD_NAMES_H

#include "guard/chain.h"
#include "guard/findings.h"

#include <time.h>

/* An entry that was moved out of the way. */
struct quarantined {
	struct chain_node *parent;
	char name[64];
	struct stat st;
	size_t finding; /* the one to tell of it if it has to stay; SIZE_MAX: none */
};

struct names {
	struct timespec since; /* when the snapshot was taken */
	struct quarantined *list;
	size_t count;
};

/* A directory made accessible to its owner for a while. */
struct names_opened {
	int fd; /* borrowed */
	mode_t mode;
	bool changed;
};

/*
 * Give the owner u+rwx on the directory at fd; O_PATH will do. No error: what needs it will fail.
 */
void names_open_up(struct names_opened *o, int fd);
void names_close_up(struct names_opened *o);

#define AUTO_OPENED __attribute__((cleanup(names_close_up)))

/*
 * fstatat(2) of name in dir, no link followed. Where the leg has taken away the right to search dir, that is given back for
 * as long as it takes: what can't be looked up is neither gone nor changed.
 */
int names_look(int dir, const char *name, struct stat *st);

/* chmod(2) by descriptor; unlike fchmod(2) it takes an O_PATH one. -1 with errno. */
int names_chmod(int fd, mode_t mode);

/* The path of what is held at fd, as the kernel tells it, or NULL. To be freed. */
char *names_path_of(int fd);

/*
 * Find node's inode and move it to its place. foreign tells whether something else is there; *left
 * gets the path where that ended up if it was swapped (NULL if not known; to be freed). -1 with
 * errno: ENOENT if the inode was not found.
 */
int names_put_back(struct names *n, struct chain_node *node, bool foreign, char **left);

/* Move what is in node's place into quarantine. -1 with errno. */
int names_clear(struct names *n, struct chain_node *node);

/* Let the quarantined entries from the `from`th on be told of by finding `finding`. */
void names_blame(struct names *n, size_t from, size_t finding);

/*
 * The end: remove from quarantine what certainly is the leg's, and name the rest in the details of
 * the findings. Originals that had been in another original's place are home by now.
 */
void names_finish(struct names *n, struct findings *f);

#endif
