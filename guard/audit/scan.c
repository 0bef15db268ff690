/* The quick way through a line. See scan.h; the grammar is RFC 8259's. */
#include "guard/audit/scan.h"

#include "guard/utf8.h"

#include <string.h>

struct cursor {
	const char *at, *end;
};

static bool value(struct cursor *c, struct scan_value *v, int depth);

static bool
take(struct cursor *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool
word(struct cursor *c, const char *wanted)
{
	size_t size = strlen(wanted);

	if ((size_t)(c->end - c->at) < size || memcmp(c->at, wanted, size) != 0)
		return false;
	c->at += size;
	return true;
}

/* Four digits of \u that are a character by themselves, and not NUL. */
static bool
is_character(const char *digits)
{
	unsigned code = 0;

	for (int i = 0; i < 4; i++) {
		char c = digits[i];
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
		                 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
		                                        : 16;

		if (digit > 15)
			return false;
		code = code << 4 | digit;
	}
	return code != 0 && (code < 0xd800 || code > 0xdfff);
}

/* Behind the backslash. */
static bool
escape(struct cursor *c)
{
	if (c->at == c->end || *c->at == '\0' || strchr("\"\\/bfnrtu", *c->at) == NULL)
		return false;
	if (*c->at++ != 'u')
		return true;
	if (c->end - c->at < 4 || !is_character(c->at))
		return false;
	c->at += 4;
	return true;
}

/* Bytes of a string that stand for themselves: no quote, backslash or control character, nor beyond ASCII. */
static size_t
plain(const char *text, size_t size)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
	size_t n = 0;

	/* A byte of x is zero exactly if one of (x - ones) & ~x has its top bit set. */
	for (; size - n >= 8; n += 8) {
		uint64_t w, quote, backslash;

		memcpy(&w, text + n, sizeof w);
		quote = w ^ ones * '"';
		backslash = w ^ ones * '\\';
		if (((w | (w - ones * 0x20) | ((quote - ones) & ~quote) |
			 ((backslash - ones) & ~backslash)) &
			tops) != 0)
			break;
	}
	while (n < size && (unsigned char)text[n] >= 0x20 && (unsigned char)text[n] < 0x80 &&
	       text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

static bool
string(struct cursor *c, struct scan_value *v)
{
	const char *begin;
	bool escaped = false, ascii = true;

	if (!take(c, '"'))
		return false;
	for (begin = c->at;; c->at++) {
		c->at += plain(c->at, (size_t)(c->end - c->at));
		if (c->at == c->end || (unsigned char)*c->at < 0x20)
			return false;
		if (*c->at == '"')
			break;
		if (*c->at != '\\') {
			ascii = false;
			continue;
		}
		c->at++;
		if (!escape(c))
			return false;
		c->at--;
		escaped = true;
	}
	*v = (struct scan_value){JSON_STRING, escaped ? NULL : begin, (size_t)(c->at - begin), 0};
	return take(c, '"') && (ascii || utf8_is_faithful(begin, v->size));
}

static bool
integer(struct cursor *c, struct scan_value *v)
{
	bool negative = take(c, '-');
	const char *begin = c->at;
	int64_t number = 0;

	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9' && c->at - begin < 19; c->at++)
		number = 10 * number + (*c->at - '0');
	/* At most 18 digits, which fit; what a fraction or an exponent begins with is no end of a value. */
	if (c->at == begin || c->at - begin > 18 || (*begin == '0' && c->at - begin > 1))
		return false;
	*v = (struct scan_value){JSON_INTEGER, NULL, 0, negative ? -number : number};
	return true;
}

static bool
is_new(const struct scan_member *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].size == list[n].size &&
		    memcmp(list[i].name, list[n].name, list[n].size) == 0)
			return false;
	return true;
}

static bool
members(struct cursor *c, struct scan_member *list, size_t *count, int depth)
{
	struct scan_value key;

	*count = 0;
	if (!take(c, '{') || depth == 0)
		return false;
	if (take(c, '}'))
		return true;
	do {
		struct scan_member *m = &list[*count];

		if (*count == SCAN_MEMBERS || !string(c, &key) || key.text == NULL)
			return false;
		m->name = key.text;
		m->size = key.size;
		if (!is_new(list, (*count)++) || !take(c, ':') || !value(c, &m->value, depth - 1))
			return false;
	} while (take(c, ','));
	return take(c, '}');
}

static bool
object(struct cursor *c, struct scan_value *v, int depth)
{
	struct scan_member list[SCAN_MEMBERS];
	size_t count;

	v->type = JSON_OBJECT;
	return members(c, list, &count, depth);
}

static bool
array(struct cursor *c, struct scan_value *v, int depth)
{
	struct scan_value item;

	v->type = JSON_ARRAY;
	if (!take(c, '[') || depth == 0)
		return false;
	if (take(c, ']'))
		return true;
	do
		if (!value(c, &item, depth - 1))
			return false;
	while (take(c, ','));
	return take(c, ']');
}

static bool
value(struct cursor *c, struct scan_value *v, int depth)
{
	*v = (struct scan_value){0};
	switch (c->at < c->end ? *c->at : '\0') {
	case '"':
		return string(c, v);
	case '{':
		return object(c, v, depth);
	case '[':
		return array(c, v, depth);
	case 't':
		v->type = JSON_TRUE;
		return word(c, "true");
	case 'f':
		v->type = JSON_FALSE;
		return word(c, "false");
	case 'n':
		v->type = JSON_NULL;
		return word(c, "null");
	default:
		return integer(c, v);
	}
}

bool
scan_object(struct scan *s, const char *text, size_t size)
{
	struct cursor c = {text, text + size};

	s->next = 0;
	return members(&c, s->list, &s->count, SCAN_DEPTH) && c.at == c.end;
}

const struct scan_value *
scan_get(struct scan *s, const char *name)
{
	size_t size = strlen(name);

	for (size_t n = 0; n < s->count; n++) {
		size_t i = (s->next + n) % s->count;

		if (s->list[i].size == size && memcmp(s->list[i].name, name, size) == 0) {
			s->next = i + 1;
			return &s->list[i].value;
		}
	}
	return NULL;
}
