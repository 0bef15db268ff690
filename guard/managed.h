/*
 * --managed-settings FILE: an agent client's settings that the leg must not be able to change.
 *
 * Hooks of the client run commands; a leg that can write settings can have them run later, outside of any guard. The
 * client reads managed settings first, and two of its keys shut other hooks out.
 */
#ifndef GUARD_MANAGED_H
#define GUARD_MANAGED_H

#include "bindmount/error.h"
#include "bindmount/view.h"

/*
 * Refuse unless path is absolute and leads, without a symbolic link, to a regular file that belongs to root, as does each
 * directory above, none of which the group or others can write; and unless the file is a JSON object, no key twice, in
 * which allowManagedHooksOnly or disableAllHooks is true. Then add it to read_only. To be called outside of the leg's
 * namespaces, where owners show as they are.
 */
int managed_check(const char *path, struct view_paths *read_only, struct error *e);

#endif
