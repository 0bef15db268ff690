/* Which attacks there are. See registry.h. */
#include "guard/attack/registry.h"

#include <string.h>

const struct attack_group *const attack_groups[] = {
    &attack_write,
    &attack_names,
    &attack_mounts,
    &attack_around,
    &attack_process,
    &attack_doors,
    &attack_resources,
    &attack_late,
    &attack_host,
    NULL,
};

size_t
attack_count(void)
{
	size_t n = 0;

	for (size_t i = 0; attack_groups[i] != NULL; i++)
		n += attack_groups[i]->count;
	return n;
}

const struct attack *
attack_find(const char *name, size_t length)
{
	for (size_t i = 0; attack_groups[i] != NULL; i++)
		for (size_t k = 0; k < attack_groups[i]->count; k++) {
			const struct attack *a = &attack_groups[i]->list[k];

			if (strlen(a->name) == length && strncmp(a->name, name, length) == 0)
				return a;
		}
	return NULL;
}
