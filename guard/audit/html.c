/* Writing HTML. See html.h. */
#include "guard/audit/html.h"

#include "bindmount/cleanup.h"
#include "guard/text.h"

int
html_text(FILE *out, const char *text)
{
	AUTO_FREE char *visible = text_visible(text);

	if (visible == NULL)
		return -1;
	for (const char *at = visible; *at != '\0'; at++)
		switch (*at) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*at, out);
		}
	return 0;
}
