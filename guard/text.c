/* Values as text. See text.h. */
#include "guard/text.h"

#include "bindmount/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *
text_visible(const char *src)
{
	size_t size = 4 * strlen(src) + 2; /* strnvis(3): four for one at the most */
	char *text = malloc(size);

	return text != NULL ? error_visible(text, size, src) : NULL;
}

size_t
text_drop(char **list, size_t count, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		free(list[i]);
	if (count > from + n)
		memmove(list + from, list + from + n, (count - from - n) * sizeof *list);
	return count - n;
}

const char *
text_signal(char text[TEXT_SIGNAL], int sig)
{
	const char *name = sigabbrev_np(sig);

	if (name != NULL)
		snprintf(text, TEXT_SIGNAL, "SIG%s", name);
	else
		snprintf(text, TEXT_SIGNAL, "SIG%d", sig); /* a real-time signal */
	return text;
}

void
text_put_json(FILE *out, const char *json)
{
	for (const char *at = json; *at != '\0'; at++)
		if (at[0] == '#' && at > json && at[-1] == '#')
			fputs("\\u0023", out);
		else
			putc(*at, out);
	putc('\n', out);
}
