/* The command line of `legguard audit`. See arguments.h. */
#include "guard/audit/arguments.h"

#include "guard/limits.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const usages[] = {
    [AUDIT_VERIFY] = "write legguard audit verify FILE [--head HASH]... [--json]",
    [AUDIT_SHOW] = "write legguard audit show FILE [--run ID] [--since WHEN] [--tampered] [--json]",
    [AUDIT_REPORT] =
	"write legguard audit report FILE -o OUT [--run ID] [--since WHEN] [--tampered]",
    [AUDIT_HELP] = "write legguard audit verify, show or report, and a FILE",
};

static int
refuse(const struct audit_arguments *a, struct error *e, const char *what, const char *word)
{
	return error_set(e, 0, usages[a->action], "%s%s", what, word);
}

static int
read_head(struct audit_arguments *a, const char *word, struct error *e)
{
	if (a->walk.n_heads == WALK_HEADS)
		return refuse(a, e, "too many heads: ", word);
	if (strlen(word) != 2 * LINE_HASH ||
	    line_parse_hex(a->walk.heads[a->walk.n_heads].hash, LINE_HASH, word) != 0)
		return refuse(a, e, "a head is 64 lower-case hexadecimal digits, not ", word);
	a->walk.n_heads++;
	return 0;
}

static int
read_run(struct audit_arguments *a, const char *word, struct error *e)
{
	size_t size = strlen(word);

	if (size == 0 || size > 2 * LINE_RUN || strspn(word, "0123456789abcdef") != size)
		return refuse(a, e, "a run is up to 32 lower-case hexadecimal digits, not ", word);
	a->choice.run = word;
	return 0;
}

/* "2026-11-29", or with a time in UTC behind it, to the minute, second or microsecond. */
static bool
read_time(char since[LINE_TIME], const char *word)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
	char padded[LINE_TIME];
	size_t size = strlen(word);

	if (size > 0 && word[size - 1] == 'Z')
		size--;
	if (size >= sizeof padded)
		return false;
	snprintf(padded, sizeof padded, "%.*s", (int)size, word);
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		struct tm t = {0};
		const char *rest = strptime(padded, forms[i], &t);

		if (rest == NULL ||
		    (*rest != '\0' && (i < 2 || *rest != '.' ||
					  strspn(rest + 1, "0123456789") != strlen(rest + 1))))
			continue;
		snprintf(since, LINE_TIME, "%04u-%02u-%02uT%02u:%02u:%02u",
		    (unsigned)(t.tm_year + 1900) % 10000, (unsigned)t.tm_mon % 100 + 1,
		    (unsigned)t.tm_mday % 100, (unsigned)t.tm_hour % 100, (unsigned)t.tm_min % 100,
		    (unsigned)t.tm_sec % 100);
		snprintf(since + strlen(since), LINE_TIME - strlen(since), "%.7s", rest);
		return true;
	}
	return false;
}

/* So long ago. */
static bool
read_duration(char since[LINE_TIME], const char *word)
{
	int64_t ms;
	struct timespec now;
	struct tm t;
	time_t then;

	if (limits_parse_duration(word, &ms) != 0)
		return false;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	then = ms / 1000 < now.tv_sec ? (time_t)(now.tv_sec - ms / 1000) : 0;
	(void)gmtime_r(&then, &t);
	return strftime(since, LINE_TIME, "%Y-%m-%dT%H:%M:%S", &t) > 0;
}

static int
read_since(struct audit_arguments *a, const char *word, struct error *e)
{
	if (read_time(a->choice.since, word) || read_duration(a->choice.since, word))
		return 0;
	return refuse(a, e,
	    "--since takes 2026-11-29, 2026-11-29T23:38:50Z or, for so long ago, 90m, not ", word);
}

static int
read_output(struct audit_arguments *a, const char *word, struct error *e)
{
	if (*word == '\0')
		return refuse(a, e, "the output has no name", "");
	a->output = word;
	return 0;
}

/* Which option belongs to which action; one that takes a word has a function to read it. */
static const struct {
	const char *name;
	bool verify, show, report;
	int (*read)(struct audit_arguments *a, const char *word, struct error *e);
} options[] = {
    {"--head", true, false, false, read_head},
    {"--json", true, true, false, NULL},
    {"--run", false, true, true, read_run},
    {"--since", false, true, true, read_since},
    {"--tampered", false, true, true, NULL},
    {"--output", false, false, true, read_output},
    {"-o", false, false, true, read_output},
};

/* The option's word is next, or stands behind a "=". Returns how many words were taken, or -1. */
static int
read_option(struct audit_arguments *a, char **argv, struct error *e)
{
	size_t length = strcspn(argv[0], "=");
	const char *word = argv[0][length] == '=' ? argv[0] + length + 1 : NULL;

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		bool known = a->action == AUDIT_VERIFY ? options[i].verify
		             : a->action == AUDIT_SHOW ? options[i].show
		                                       : options[i].report;

		if (!known || strlen(options[i].name) != length ||
		    memcmp(options[i].name, argv[0], length) != 0)
			continue;
		if (options[i].read == NULL && word == NULL) {
			*(strcmp(options[i].name, "--json") == 0 ? &a->json : &a->choice.tampered) =
			    true;
			return 1;
		}
		if (options[i].read == NULL)
			break;
		if (word != NULL || argv[1] != NULL)
			return options[i].read(a, word != NULL ? word : argv[1], e) != 0 ? -1
			       : word != NULL                                            ? 1
			                                                                 : 2;
		return refuse(a, e, argv[0], " needs a value");
	}
	return refuse(a, e, "unknown option ", argv[0]);
}

static int
read_action(struct audit_arguments *a, const char *word, struct error *e)
{
	static const char *const names[] = {[AUDIT_VERIFY] = "verify",
	    [AUDIT_SHOW] = "show",
	    [AUDIT_REPORT] = "report",
	    [AUDIT_HELP] = "--help"};

	a->action = AUDIT_HELP;
	if (word == NULL)
		return refuse(a, e, "no action given", "");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], word) == 0) {
			a->action = (enum audit_action)i;
			return 0;
		}
	return refuse(a, e, "unknown action ", word);
}

int
arguments_read(struct audit_arguments *a, int argc, char **argv, struct error *e)
{
	bool only_words = false;

	if (read_action(a, argc > 1 ? argv[1] : NULL, e) != 0)
		return -1;
	for (int i = 2, n; i < argc; i += n) {
		n = 1;
		if (!only_words && strcmp(argv[i], "--help") == 0) {
			a->action = AUDIT_HELP;
			return 0;
		}
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0')
			n = read_option(a, argv + i, e);
		else if (a->walk.path != NULL)
			return refuse(a, e, "one word too many: ", argv[i]);
		else
			a->walk.path = argv[i];
		if (n < 0)
			return -1;
	}
	if (a->action == AUDIT_HELP)
		return 0;
	if (a->walk.path == NULL)
		return refuse(a, e, "no file given", "");
	if (a->action == AUDIT_REPORT && a->output == NULL)
		return refuse(a, e, "-o is missing", "");
	return 0;
}
