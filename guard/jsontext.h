/*
 * Untrusted text in JSON, bounded: an object made of such pieces has a size that can be told beforehand. Each
 * function returns a new object, or NULL without memory, which json_pack() takes as its own failure. Pure.
 */
#ifndef GUARD_JSONTEXT_H
#define GUARD_JSONTEXT_H

#include <jansson.h>
#include <stddef.h>

enum { JSONTEXT_MAX = 1024, JSONTEXT_SHORT = 256 }; /* bytes of one text */

/* As error_visible() has it, cut at JSONTEXT_MAX; null for NULL. */
json_t *jsontext(const char *text);
/* Likewise, cut at JSONTEXT_SHORT. */
json_t *jsontext_short(const char *text);

/*
 * Append text to list unless that would make the list take more than *room bytes, which is counted down.
 * Returns list, or NULL without memory; then list is given back. list may be NULL.
 */
json_t *jsontext_append(json_t *list, size_t *room, const char *text);

/* Append an item, which may be NULL. Likewise. */
json_t *jsontext_append_item(json_t *list, json_t *item);

/* Set a member. Returns object, or NULL as above. object and value may be NULL. */
json_t *jsontext_set(json_t *object, const char *name, json_t *value);

#endif
