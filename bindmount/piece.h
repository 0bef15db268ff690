/*
 * Parts of a small file system of one's own, put in many places: for masks and for decoys.
 *
 * Pieces can be cloned only from a mount that is part of the namespace (detached ones too, but since Linux 6.15), so the
 * tmpfs needs a place for as long as this takes. That is /proc: it is there, nothing below it is ever covered, and
 * whoever needs the old one has it as the working directory.
 */
#ifndef BINDMOUNT_PIECE_H
#define BINDMOUNT_PIECE_H

#define PIECE_PLACE "/proc"
#define PIECE_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC)

/*
 * Mount a tmpfs with these options on PIECE_PLACE, and make the proc file system that was there first the working
 * directory. Returns an O_PATH descriptor on its root, or -1 with errno.
 */
int piece_begin(const char *source, const char *options);

/* Nothing can be made in the tmpfs any more, nor in pieces put from now on. -1 with errno. */
int piece_make_read_only(void);

/*
 * Put what is called `name` in the tmpfs over what `on` is open on (O_PATH). open_tree(2) and move_mount(2), or a bind
 * mount where a filter or the kernel knows none (Linux 5.2). -1 with errno.
 */
int piece_put(int root, const char *name, int on);

/* Put back what `from` is open on, with what is mounted below it, over `on`. Likewise. */
int piece_put_back(int from, int on);

#endif
