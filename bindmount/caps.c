/* Capabilities. See caps.h. */
#include "bindmount/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
caps_bound(uint64_t keep, struct error *e)
{
	/* EINVAL ends the kernel's list of capabilities. */
	for (int cap = 0; cap < 64; cap++) {
		if ((keep & CAPS_BIT(cap)) != 0 || prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL)
			return 0;
		return error_set(e, errno, NULL, "can't empty the capability bounding set");
	}
	return 0;
}

int
caps_drop(uint64_t keep, struct error *e)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {{0}};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return error_set(e, errno, NULL, "can't set no_new_privs");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return error_set(e, errno, NULL, "can't clear the ambient capabilities");
	if (keep != 0 && syscall(SYS_capget, &header, sets) != 0)
		return error_set(e, errno, NULL, "can't read the capabilities");
	for (int i = 0; i < 2; i++) {
		sets[i].permitted &= (uint32_t)(keep >> (32 * i));
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, sets) != 0)
		return error_set(e, errno, NULL, "can't drop capabilities");
	return 0;
}
