/* See root.h. */
#include "bindmount/root.h"

#include <errno.h>
#include <unistd.h>

int
root_enter(int top, struct error *e)
{
	if (fchdir(top) != 0 || chroot(".") != 0)
		return error_set(e, errno, NULL, "can't make the leg's view the root");
	return 0;
}
