/* The AppArmor profile. See profile.h. */
#include "guard/profile.h"

#include "guard/apparmor_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char placeholder[] = "@PROGRAM@";

static int
check_path(const char *path, struct error *e)
{
	static const char cure[] = "name the program by an absolute path of ordinary characters";

	if (path[0] != '/')
		return error_set(e, 0, cure, "--apparmor-profile: %s is not absolute", path);
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == '\177' || *c == '"' || *c == '\\')
			return error_set(
			    e, 0, cure, "--apparmor-profile: no rule can name %s", path);
	return 0;
}

/* Quoted, since it may hold blanks, and what would be a pattern or a variable taken for itself. */
static void
print_path(FILE *out, const char *path)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";

	if (path[strspn(path, plain)] == '\0') {
		fputs(path, out);
		return;
	}
	fputc('"', out);
	for (; *path != '\0'; path++) {
		if (strchr("*?[]{}^@", *path) != NULL)
			fputc('\\', out);
		fputc(*path, out);
	}
	fputc('"', out);
}

char *
profile_text(const char *path, struct error *e)
{
	const char *place = strstr(APPARMOR_TEXT, placeholder);
	char *text = NULL;
	size_t size;
	FILE *out;

	if (check_path(path, e) != 0)
		return NULL;
	out = open_memstream(&text, &size);
	if (out != NULL) {
		fwrite(APPARMOR_TEXT, 1, (size_t)(place - APPARMOR_TEXT), out);
		print_path(out, path);
		fputs(place + sizeof placeholder - 1, out);
	}
	if (out == NULL || fclose(out) != 0) {
		error_set(e, errno, NULL, "can't write a profile");
		free(text);
		return NULL;
	}
	return text;
}
