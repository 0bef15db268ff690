/* The list of what was found changed. */
#include "guard/findings.h"

#include "bindmount/cleanup.h"

#include <stdlib.h>
#include <string.h>

int
findings_add(
    struct findings *f, enum finding_kind kind, bool restored, const char *path, const char *detail)
{
	AUTO_FREE char *path_copy = strdup(path);
	AUTO_FREE char *detail_copy = detail != NULL ? strdup(detail) : NULL;
	struct finding *list;

	if (path_copy == NULL || (detail != NULL && detail_copy == NULL))
		return -1;
	list = reallocarray(f->list, f->count + 1, sizeof *list);
	if (list == NULL)
		return -1;
	f->list = list;
	list[f->count++] = (struct finding){
	    .kind = kind,
	    .restored = restored,
	    .path = ptr_take(&path_copy),
	    .detail = ptr_take(&detail_copy),
	};
	return 0;
}

void
findings_attach(struct findings *f, struct found *found)
{
	if (f->count == 0)
		return;
	f->list[f->count - 1].found = *found;
	*found = (struct found){.known = false};
}

bool
findings_unrestored(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (!f->list[i].restored)
			return true;
	return false;
}

const char *
finding_name(enum finding_kind kind)
{
	static const char *const names[] = {
	    [FINDING_REWRITTEN] = "rewritten",
	    [FINDING_APPENDED] = "appended",
	    [FINDING_TRUNCATED] = "truncated",
	    [FINDING_REPLACED] = "replaced",
	    [FINDING_REMOVED] = "removed",
	    [FINDING_PATH_MOVED] = "path-moved",
	    [FINDING_LINKED] = "linked",
	    [FINDING_OPENED] = "opened",
	    [FINDING_METADATA] = "metadata",
	};

	return names[kind];
}

void
findings_free(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->list[i].path);
		free(f->list[i].detail);
		found_free(&f->list[i].found);
	}
	free(f->list);
	*f = (struct findings){0};
}
