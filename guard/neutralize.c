/*
 * Making workflow commands inert. See neutralize.h.
 *
 * A line is either still at its start (LEAD: nothing but white space so far), or has shown one or two colons there, or
 * is past the point where `::` would matter (REST). Most bytes of most streams are in REST, where only the ends of
 * lines, "#" and the first byte of a full-width sign matter: these are searched for and what is between is copied.
 */
#include "guard/neutralize.h"

#include <string.h>
#include <strings.h>

enum state {
	LEAD,    /* of a line */
	COLON,   /* one colon after that */
	COLONS,  /* two: what comes next decides */
	ADDRESS, /* and then digits of what may be an address */
	ADDRESS_COLON,
	ADDRESS_REST, /* it is one; but no second pair of colons may follow */
	REST,
};

static const char *const names[NEUTRALIZE_NAMES] = {"other", "set-output", "save-state", "add-mask",
    "add-matcher", "remove-matcher", "warning", "error", "notice", "debug", "group", "endgroup",
    "echo", "stop-commands", "set-env", "add-path"};

const char *
neutralize_name(size_t index)
{
	return index < NEUTRALIZE_NAMES ? names[index] : NULL;
}

enum sign { OTHER, PARTIAL, SPACE, COLON_SIGN, HASH, BRACKET };

/* The code points above ASCII that matter, as they are encoded. Ranges only in the last byte. */
static const struct {
	unsigned char bytes[3];
	unsigned char last;
	size_t size;
	enum sign sign;
} signs[] = {
    {{0xc2, 0x85}, 0x85, 2, SPACE},
    {{0xc2, 0xa0}, 0xa0, 2, SPACE},
    {{0xe1, 0x9a, 0x80}, 0x80, 3, SPACE},
    {{0xe2, 0x80, 0x80}, 0x8a, 3, SPACE},
    {{0xe2, 0x80, 0xa8}, 0xa9, 3, SPACE},
    {{0xe2, 0x80, 0xaf}, 0xaf, 3, SPACE},
    {{0xe2, 0x81, 0x9f}, 0x9f, 3, SPACE},
    {{0xe3, 0x80, 0x80}, 0x80, 3, SPACE},
    {{0xef, 0xbc, 0x83}, 0x83, 3, HASH},
    {{0xef, 0xbc, 0x9a}, 0x9a, 3, COLON_SIGN},
    {{0xef, 0xbc, 0xbb}, 0xbb, 3, BRACKET},
};

static enum sign
classify(const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
		size_t last = signs[i].size - 1;

		if (n > signs[i].size || memcmp(s, signs[i].bytes, n <= last ? n : last) != 0)
			continue;
		if (n <= last)
			return PARTIAL;
		if (s[last] >= signs[i].bytes[last] && s[last] <= signs[i].last)
			return signs[i].sign;
	}
	return OTHER;
}

static enum sign
classify_ascii(unsigned char c)
{
	switch (c) {
	case '\t':
	case '\v':
	case '\f':
	case ' ':
		return SPACE;
	case ':':
		return COLON_SIGN;
	case '#':
		return HASH;
	case '[':
		return BRACKET;
	default:
		return OTHER;
	}
}

static bool
is_digit(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* No registered name begins like this, so that only addresses are looked at twice. */
static bool
begins_address(unsigned char c)
{
	return (c >= '0' && c <= '9') || c == 'f' || c == 'F';
}

static void
count(struct neutralizer *n)
{
	size_t index = 0;

	for (size_t i = 1; i < NEUTRALIZE_NAMES; i++)
		if (n->name_size == strlen(names[i]) &&
		    strncasecmp(n->name, names[i], n->name_size) == 0)
			index = i;
	n->count[index]++;
	n->naming = false;
}

/* One byte of the name behind a backslash. */
static void
read_name(struct neutralizer *n, unsigned char c)
{
	bool more = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';

	if (!more || n->name_size == sizeof n->name)
		count(n);
	else
		n->name[n->name_size++] = (char)c;
}

static size_t
insert(struct neutralizer *n, char *out)
{
	if (n->naming)
		count(n);
	n->naming = true;
	n->name_size = 0;
	*out = '\\';
	return 1;
}

static void
start_line(struct neutralizer *n)
{
	n->state = LEAD;
	n->hashes = 0;
}

/*
 * The next code point is s: how the line goes on, and whether a backslash is due before it. Colons of an address: the
 * one after its first digits is followed by more digits, or it is none.
 */
static size_t
before(struct neutralizer *n, enum sign sign, unsigned char c, char *out)
{
	switch ((enum state)n->state) {
	case LEAD:
		if (sign != SPACE)
			n->state = sign == COLON_SIGN ? COLON : REST;
		return 0;
	case COLON:
		n->state = sign == COLON_SIGN ? COLONS : REST;
		return 0;
	case COLONS:
		n->state = REST;
		if (sign == SPACE)
			return 0;
		if (!begins_address(c))
			return insert(n, out);
		n->state = ADDRESS;
		n->digits = 1;
		return 0;
	case ADDRESS:
		n->state = REST;
		if (is_digit(c) && n->digits < 4) {
			n->state = ADDRESS;
			n->digits++;
			return 0;
		}
		if (c == ':')
			n->state = ADDRESS_COLON;
		else if (c == ' ' || c == '\t' || c == '/' || c == '%')
			n->state = ADDRESS_REST;
		n->colon = false;
		return n->state != REST ? 0 : insert(n, out);
	case ADDRESS_COLON:
		n->state = is_digit(c) ? ADDRESS_REST : REST;
		return is_digit(c) ? 0 : insert(n, out);
	case ADDRESS_REST:
		/* What is not printable ASCII may count for nothing between two colons. */
		if (sign == COLON_SIGN && n->colon)
			return insert(n, out);
		n->colon = sign == COLON_SIGN || (n->colon && (c < ' ' || c >= 0x7f));
		return 0;
	case REST:
		break;
	}
	return 0;
}

/* Behind the third sign of "##[". */
static size_t
after(struct neutralizer *n, enum sign sign, char *out)
{
	if (sign == BRACKET && n->hashes == 2) {
		n->hashes = 0;
		return insert(n, out);
	}
	n->hashes = sign != HASH ? 0 : n->hashes < 2 ? n->hashes + 1 : 2;
	return 0;
}

/* A whole code point, or a byte that belongs to none that matters. */
static size_t
pass(struct neutralizer *n, const unsigned char *s, size_t size, enum sign sign, char *out)
{
	size_t made;

	if (s[0] == '\n' || s[0] == '\r') {
		if (n->naming)
			count(n);
		start_line(n);
		out[0] = (char)s[0];
		return 1;
	}
	made = before(n, sign, s[0], out);
	if (n->naming)
		read_name(n, s[0]);
	memcpy(out + made, s, size);
	made += size;
	return made + after(n, sign, out + made);
}

static size_t
pass_byte(struct neutralizer *n, unsigned char c, char *out)
{
	unsigned char whole[sizeof n->sequence];
	size_t size = n->n_sequence, made;
	enum sign sign;

	if (size == 0 && c < 0x80)
		return pass(n, &c, 1, classify_ascii(c), out);
	memcpy(whole, n->sequence, size);
	whole[size++] = c;
	sign = classify(whole, size);
	n->n_sequence = 0;
	if (sign == PARTIAL) {
		memcpy(n->sequence, whole, size);
		n->n_sequence = size;
		return 0;
	}
	if (sign != OTHER)
		return pass(n, whole, size, sign, out);
	/* It is none of these: then it is its first byte, and what comes after may be anything. */
	made = pass(n, whole, 1, OTHER, out);
	for (size_t i = 1; i < size; i++)
		made += pass_byte(n, whole[i], out + made);
	return made;
}

typedef unsigned char block __attribute__((vector_size(16)));

/* Nothing in these 16 bytes, nor in the one behind them, needs a look: GCC's vectors, which every machine has. */
static bool
is_block_plain(const unsigned char *p)
{
	block a, b, matters;
	uint64_t half[2];

	memcpy(&a, p, sizeof a);
	memcpy(&b, p + 1, sizeof b);
	matters = (block)(a == '\r') | (block)(a == '#') | (block)(a == 0xef) |
	          ((block)(a == '\n') & ((block)(b <= ' ') | (block)(b >= 0x80) |
					    (block)(b == ':') | (block)(b == '#')));
	memcpy(half, &matters, sizeof half);
	return (half[0] | half[1]) == 0;
}

/* A line that begins with it needs no further look at its start. */
static bool
is_plain(unsigned char c)
{
	return c < 0x80 && c > ' ' && c != ':' && c != '#';
}

/* From the start of a line, over blanks and further lines: true if it is in REST at *at then, else still in LEAD. */
static bool
skip_lead(const unsigned char **at, const unsigned char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\n'))
		(*at)++;
	return *at < end && is_plain(**at);
}

/* From REST: how many bytes pass as they are, line after line. */
static size_t
skim(struct neutralizer *n, const unsigned char *p, size_t size)
{
	const unsigned char *at = p, *end = p + size;

	while (at < end) {
		while ((size_t)(end - at) > sizeof(block) && is_block_plain(at))
			at += sizeof(block);
		if (*at == '\r' || *at == '#' || *at == 0xef)
			break;
		if (*at++ == '\n' && !skip_lead(&at, end)) {
			start_line(n);
			break;
		}
	}
	return (size_t)(at - p);
}

static size_t
pass_all(struct neutralizer *n, const unsigned char *p, size_t size, char *out)
{
	size_t made = 0;

	for (size_t i = 0; i < size;) {
		size_t run = 0;

		if (n->state == REST && n->hashes == 0 && !n->naming && n->n_sequence == 0)
			run = skim(n, p + i, size - i);
		memcpy(out + made, p + i, run);
		made += run;
		i += run;
		if (run == 0 || (i < size && n->state == REST))
			made += pass_byte(n, p[i++], out + made);
	}
	return made;
}

/* As long as it may be one: true. */
static bool
may_be_mark(const unsigned char *s, size_t size)
{
	static const struct {
		const char *bytes;
		size_t size;
	} marks[] = {
	    {"\xff\xfe", 2}, {"\xfe\xff", 2}, {"\x00\x00\xfe\xff", 4}, {"\xef\xbb\xbf", 3}};

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (size < marks[i].size && memcmp(s, marks[i].bytes, size) == 0)
			return true;
	return false;
}

/* The first bytes, which are a mark or not: with the mark of UTF-8 behind it, the line still begins. */
static size_t
begin(struct neutralizer *n, char *out)
{
	static const char replacement[] = "\xef\xbf\xbd";
	unsigned char held[NEUTRALIZE_HELD];
	size_t size = n->n_held, skip = 0, made = 0;

	memcpy(held, n->held, size);
	n->begun = true;
	n->n_held = 0;
	if (size >= 3 && memcmp(held, "\xef\xbb\xbf", 3) == 0) {
		memcpy(out, held, 3);
		made = skip = 3;
	} else if (size >= 2 &&
		   (memcmp(held, "\xff\xfe", 2) == 0 || memcmp(held, "\xfe\xff", 2) == 0)) {
		skip = 2;
	} else if (size == 4 && memcmp(held, "\x00\x00\xfe\xff", 4) == 0) {
		skip = 4;
	}
	if (skip > 0 && made == 0) {
		memcpy(out, replacement, 3);
		made = 3;
		n->state = REST;
	}
	return made + pass_all(n, held + skip, size - skip, out + made);
}

size_t
neutralize(struct neutralizer *n, const void *in, size_t size, char *out)
{
	const unsigned char *p = in;
	size_t made = 0;

	while (!n->begun && size > 0) {
		n->held[n->n_held++] = *p++;
		size--;
		if (!may_be_mark(n->held, n->n_held))
			made += begin(n, out);
	}
	return made + pass_all(n, p, size, out + made);
}

/* What is written next, by whoever, is on the same line. */
static bool
could_be_completed(const struct neutralizer *n)
{
	return (n->state != LEAD && n->state != REST) || n->hashes > 0;
}

size_t
neutralize_end(struct neutralizer *n, char *out)
{
	size_t made = 0;
	/* A code point or a mark that has only begun can be completed as well. */
	bool unfinished = n->n_sequence > 0 || (!n->begun && n->n_held > 0);

	if (!n->begun && n->n_held > 0)
		made += begin(n, out);
	for (size_t i = 0; i < n->n_sequence; i++)
		made += pass(n, &n->sequence[i], 1, OTHER, out + made);
	n->n_sequence = 0;
	if (n->naming)
		count(n);
	if (unfinished || could_be_completed(n))
		out[made++] = '\n';
	return made;
}
