/*
 * The AppArmor profile that lets a program make user namespaces (apparmor.d(5)). Pure.
 *
 * Its text is that of apparmor.in, which is installed with the path of the installed program.
 */
#ifndef GUARD_PROFILE_H
#define GUARD_PROFILE_H

#include "bindmount/error.h"

/*
 * The profile for the program at `path`; malloc'd, NULL with *e. Refused are paths that are not
 * absolute, and those that no rule can name: with a quotation mark, a backslash or control bytes.
 */
char *profile_text(const char *path, struct error *e);

#endif
