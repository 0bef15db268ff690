/* The class of a leg by its result message. See classify.h. */
#include "guard/classify.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jansson.h>

/* Text of the client's own, by which two kinds of a 400 are told from the others. */
static const char no_credit[] = "Credit balance is too low";
static const char limit_reached[] = "You have reached your specified API usage limits";
static const char not_logged_in[] = "Not logged in";

void
classify_fail(struct classifier *c)
{
	c->failed = true;
	free(c->message);
	c->message = NULL;
	c->size = c->room = 0;
}

/* As text of a JSON string begins with it: half of a character beyond U+FFFF, \uD800 to \uDFFF. 0: it does not. */
static char
surrogate(const char *text, size_t size)
{
	if (size < 6 || text[0] != '\\' || text[1] != 'u' || (text[2] != 'd' && text[2] != 'D'))
		return 0;
	for (int i = 3; i < 6; i++)
		if (!isxdigit((unsigned char)text[i]))
			return 0;
	if (strchr("01234567", text[3]) != NULL)
		return 0;
	return strchr("89abAB", text[3]) != NULL ? 'h' : 'l';
}

/*
 * What is after an escape's backslash that is at text[i]. The client cuts texts without regard to characters and prints a
 * half as an escape, which strict readers refuse: it becomes U+FFFD here.
 */
static size_t
after_escape(char *text, size_t size, size_t i)
{
	char half = surrogate(text + i, size - i);

	if (half == 'h' && surrogate(text + i + 6, size - i - 6) == 'l')
		return i + 12;
	if (half != 0)
		memcpy(text + i + 2, "fffd", 4);
	return i + 2;
}

/* Before a message takes memory: mend its texts, and see that it is bounded. */
static bool
prepare(char *text, size_t size)
{
	bool in_string = false;
	int depth = 0;
	size_t values = 1;

	for (size_t i = 0; i < size;) {
		char ch = text[i];

		if (in_string && ch == '\\') {
			i = after_escape(text, size, i);
			continue;
		}
		i++;
		if (ch == '"')
			in_string = !in_string;
		if (in_string)
			continue;
		values += ch == ',' || ch == '{' || ch == '[';
		depth += (ch == '{' || ch == '[') - (ch == '}' || ch == ']');
		if (depth > CLASSIFY_DEPTH || values > CLASSIFY_VALUES)
			return false;
	}
	return true;
}

static const char *
string_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	/* A text that goes on after a zero byte is none that is looked for. */
	return text != NULL && strlen(text) == json_string_length(value) ? text : "";
}

static void
keep_subtype(struct classify_result *r, const char *subtype)
{
	static const char *const known[] = {
	    "success", "error_max_turns", "error_max_budget_usd", "error_during_execution"};

	strcpy(r->subtype, "other");
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(subtype, known[i]) == 0)
			strcpy(r->subtype, known[i]);
}

/* An error that the interface answered with. */
static enum lane
by_status(const struct classify_result *r, const json_t *message)
{
	const char *text = string_of(message, "result");

	if (strcmp(string_of(message, "terminal_reason"), "api_error") != 0)
		return LANE_ERROR;
	if (!r->has_status)
		return strncmp(text, not_logged_in, strlen(not_logged_in)) == 0 ? LANE_AUTH
		                                                                : LANE_ERROR;
	switch (r->api_error_status) {
	case 400:
		return strcmp(text, no_credit) == 0 || strstr(text, limit_reached) != NULL
		           ? LANE_CREDIT_STOP
		           : LANE_ERROR;
	case 402:
		return LANE_CREDIT_STOP;
	case 401:
	case 403:
		return LANE_AUTH;
	case 429:
		return LANE_RATE_LIMIT;
	case 408:
		return LANE_OVERLOADED;
	default:
		return r->api_error_status >= 500 && r->api_error_status <= 599 ? LANE_OVERLOADED
		                                                                : LANE_ERROR;
	}
}

static enum lane
lane_of(const struct classify_result *r, const json_t *message)
{
	if (strcmp(r->subtype, "error_max_turns") == 0)
		return LANE_MAX_TURNS;
	if (strcmp(r->subtype, "error_max_budget_usd") == 0)
		return LANE_BUDGET;
	if (strcmp(r->subtype, "success") != 0)
		return LANE_ERROR;
	return r->is_error ? by_status(r, message) : LANE_OK;
}

/* False if it is no result as it has to be. */
static bool
take_result(struct classify_result *r, const json_t *message)
{
	const json_t *is_error = json_object_get(message, "is_error");
	const json_t *status = json_object_get(message, "api_error_status");
	const json_t *turns = json_object_get(message, "num_turns");
	const json_t *duration = json_object_get(message, "duration_ms");
	const json_t *cost = json_object_get(message, "total_cost_usd");

	if (!json_is_boolean(is_error) || !json_is_string(json_object_get(message, "subtype")) ||
	    (status != NULL && !json_is_null(status) && !json_is_integer(status)))
		return false;
	r->found = true;
	r->is_error = json_is_true(is_error);
	keep_subtype(r, string_of(message, "subtype"));
	r->has_status = json_is_integer(status) && json_integer_value(status) >= 100 &&
	                json_integer_value(status) <= 999;
	if (json_is_integer(status) && !r->has_status)
		return false;
	r->api_error_status = r->has_status ? (int)json_integer_value(status) : 0;
	r->has_num_turns = json_is_integer(turns);
	r->num_turns = r->has_num_turns ? json_integer_value(turns) : 0;
	r->has_duration = json_is_integer(duration);
	r->duration_ms = r->has_duration ? json_integer_value(duration) : 0;
	r->has_cost = json_is_number(cost);
	r->total_cost_usd = r->has_cost ? json_number_value(cost) : 0;
	r->lane = lane_of(r, message);
	return true;
}

/* A message is complete. */
static void
take_message(struct classifier *c)
{
	json_t *message = NULL;

	if (prepare(c->message, c->size))
		message =
		    json_loadb(c->message, c->size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	c->size = 0;
	c->messages++;
	c->separated = false;
	/* Nothing may come after the result. */
	if (!json_is_object(message) || c->result.found)
		classify_fail(c);
	else if (strcmp(string_of(message, "type"), "result") == 0 &&
		 !take_result(&c->result, message))
		classify_fail(c);
	json_decref(message);
}

static bool
keep(struct classifier *c, char ch)
{
	if (c->size == c->room) {
		size_t room = c->room > 0 ? 2 * c->room : 4096;
		char *more = room <= 2 * CLASSIFY_MESSAGE ? realloc(c->message, room) : NULL;

		if (more == NULL)
			return false;
		c->message = more;
		c->room = room;
	}
	if (c->size == CLASSIFY_MESSAGE)
		return false;
	c->message[c->size++] = ch;
	return true;
}

static bool
is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

/* Between messages: what may stand there. */
static bool
take_between(struct classifier *c, char ch)
{
	if (is_blank(ch))
		return true;
	switch (c->form) {
	case CLASSIFY_BEGINNING:
		if (ch == '[') {
			c->form = CLASSIFY_ARRAY;
			return true;
		}
		c->form = CLASSIFY_LINES;
		break;
	case CLASSIFY_ARRAY:
		if (ch == ',' && c->messages > 0 && !c->separated) {
			c->separated = true;
			return true;
		}
		if (ch == ']' && !c->separated) {
			c->form = CLASSIFY_ARRAY_ENDED;
			return true;
		}
		if (c->messages > 0 && !c->separated)
			return false;
		break;
	case CLASSIFY_ARRAY_ENDED:
		return false;
	case CLASSIFY_LINES:
		break;
	}
	if (ch != '{')
		return false;
	c->depth = 1;
	return keep(c, ch);
}

static bool
take_inside(struct classifier *c, char ch)
{
	if (!keep(c, ch))
		return false;
	if (c->escaped) {
		c->escaped = false;
	} else if (c->in_string) {
		c->escaped = ch == '\\';
		c->in_string = ch != '"';
	} else if (ch == '"') {
		c->in_string = true;
	} else if (ch == '{' || ch == '[') {
		c->depth++;
	} else if (ch == '}' || ch == ']') {
		c->depth--;
	}
	if (c->depth == 0)
		take_message(c);
	return !c->failed;
}

void
classify_feed(struct classifier *c, const char *data, size_t size)
{
	for (size_t i = 0; i < size && !c->failed; i++)
		if (!(c->depth > 0 ? take_inside(c, data[i]) : take_between(c, data[i])))
			classify_fail(c);
}

enum lane
classify_end(struct classifier *c, int wait_status)
{
	struct classify_result *r = &c->result;
	bool agrees;

	if (c->failed || c->depth > 0 || c->form == CLASSIFY_ARRAY || !r->found)
		return LANE_ERROR;
	/* The client ends with 1 for an error and with 0 else; a signal leaves no result. */
	agrees = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == (r->is_error ? 1 : 0);
	return agrees ? r->lane : LANE_ERROR;
}

static json_t *
integer_or_null(bool has, long long value)
{
	return has ? json_integer(value) : json_null();
}

json_t *
classify_fields(const struct classify_result *r)
{
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "subtype", r->subtype, "is_error",
	    r->is_error, "api_error_status", integer_or_null(r->has_status, r->api_error_status),
	    "num_turns", integer_or_null(r->has_num_turns, r->num_turns), "duration_ms",
	    integer_or_null(r->has_duration, r->duration_ms), "total_cost_usd",
	    r->has_cost ? json_real(r->total_cost_usd) : json_null());
}

void
classify_free(struct classifier *c)
{
	free(c->message);
	c->message = NULL;
}
