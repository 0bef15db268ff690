/* Untrusted text in JSON. See jsontext.h. */
#include "guard/jsontext.h"

#include "bindmount/error.h"

#include <string.h>

json_t *
jsontext_short(const char *text)
{
	char visible[JSONTEXT_SHORT + 1];

	return text != NULL ? json_string(error_visible(visible, sizeof visible, text))
	                    : json_null();
}

/* What a visible text takes between its quotes. */
static size_t
size_of(const char *text)
{
	size_t size = sizeof "\"\"," - 1;

	for (; *text != '\0'; text++)
		size += *text == '"' || *text == '\\' ? 2 : 1;
	return size;
}

json_t *
jsontext(const char *text)
{
	char visible[JSONTEXT_MAX + 1];

	return text != NULL ? json_string(error_visible(visible, sizeof visible, text))
	                    : json_null();
}

json_t *
jsontext_append_item(json_t *list, json_t *item)
{
	if (list != NULL && json_array_append_new(list, item) == 0)
		return list;
	if (list == NULL)
		json_decref(item);
	json_decref(list);
	return NULL;
}

json_t *
jsontext_append(json_t *list, size_t *room, const char *text)
{
	char visible[JSONTEXT_MAX + 1];
	size_t size = size_of(error_visible(visible, sizeof visible, text));

	if (size > *room) {
		*room = 0; /* what follows is left out as well: the list is a beginning */
		return list;
	}
	*room -= size;
	return jsontext_append_item(list, json_string(visible));
}

json_t *
jsontext_set(json_t *object, const char *name, json_t *value)
{
	if (object != NULL && json_object_set_new(object, name, value) == 0)
		return object;
	if (object == NULL)
		json_decref(value);
	json_decref(object);
	return NULL;
}
