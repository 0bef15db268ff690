/* A run as one JSON object. See runjson.h. */
#include "guard/audit/runjson.h"

#include "bindmount/cleanup.h"
#include "guard/text.h"

#include <string.h>

/* Each returns a new value, or NULL without memory, which json_pack() takes as its own failure. */

static json_t *clean(const json_t *value);

static json_t *
clean_string(const json_t *value)
{
	AUTO_FREE char *text = text_visible(json_string_value(value));

	return text != NULL ? json_string(text) : NULL;
}

static json_t *
clean_array(const json_t *value)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < json_array_size(value); i++)
		if (json_array_append_new(list, clean(json_array_get(value, i))) != 0) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

static bool
is_link(const char *name)
{
	return strcmp(name, "v") == 0 || strcmp(name, "run") == 0 || strcmp(name, "seq") == 0 ||
	       strcmp(name, "prev") == 0 || strcmp(name, "file_prev") == 0 ||
	       strcmp(name, "final") == 0;
}

static json_t *
clean_object(const json_t *value, bool line)
{
	json_t *object = json_object(), *item;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)value, name, item)
	{
		AUTO_FREE char *visible = text_visible(name);

		if (line && is_link(name))
			continue;
		if (visible == NULL || json_object_set_new(object, visible, clean(item)) != 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *
clean(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		return clean_string(value);
	case JSON_ARRAY:
		return clean_array(value);
	case JSON_OBJECT:
		return clean_object(value, false);
	default:
		return json_deep_copy(value);
	}
}

static json_t *
line_or_null(const json_t *root)
{
	return root != NULL ? clean_object(root, true) : json_null();
}

static json_t *
events(const struct run *r)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < r->n_events; i++)
		if (json_array_append_new(list, clean_object(r->events[i].root, true)) != 0) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

static json_t *
counts(const struct run *r)
{
	json_t *object = json_object();

	for (enum audit_event event = 0; object != NULL && event < EVENTS; event++)
		if (r->count[event] > 0 && json_object_set_new(object, line_event_name(event),
					       json_integer((json_int_t)r->count[event])) != 0) {
			json_decref(object);
			object = NULL;
		}
	return object;
}

static json_t *
head_or_null(const struct run *r)
{
	char head[2 * LINE_HASH + 1];

	return r->end != NULL ? json_string(line_hex(head, r->head, LINE_HASH)) : json_null();
}

json_t *
runjson_object(const struct run *r)
{
	char id[2 * LINE_RUN + 1];

	return json_pack("{s:s, s:I, s:I, s:s, s:I, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:I}", "run",
	    line_hex(id, r->id, LINE_RUN), "first_line", (json_int_t)r->first_line, "last_line",
	    (json_int_t)r->last_line, "started", r->started, "took_us",
	    (json_int_t)(r->last_us - r->first_us), "complete", r->end != NULL, "tampered",
	    r->tampered, "head", head_or_null(r), "start", line_or_null(r->start), "end",
	    line_or_null(r->end), "events", events(r), "counts", counts(r), "left_out",
	    (json_int_t)r->left_out);
}
