/* A file that the command line names to be read by a command which does no more than that. */
#ifndef GUARD_INFILE_H
#define GUARD_INFILE_H

#include "bindmount/error.h"

/*
 * Open path, which may be "-" for standard input: *fd, to be closed if it is not STDIN_FILENO. What would make the reader
 * wait, as a FIFO in the place of a file, is refused; standard input may be one.
 */
int infile_open(const char *path, int *fd, struct error *e);
void infile_close(int fd);

#endif
