/* What can be done with a record. See command.h. */
#include "guard/audit/command.h"

#include "bindmount/cleanup.h"
#include "guard/audit/arguments.h"
#include "guard/audit/report.h"
#include "guard/audit/show.h"
#include "guard/audit/verify.h"
#include "guard/options.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int
verify(struct audit_arguments *a, char **text, int *status, struct error *e)
{
	int result = walk_file(&a->walk, e);

	if (result == 0) {
		*text = a->json ? verify_json(&a->walk, e) : verify_text(&a->walk, e);
		*status = verify_status(a->walk.verdict);
		result = *text != NULL ? 0 : -1;
	}
	walk_free(&a->walk);
	return result;
}

static int
nothing_more(char **text, struct error *e)
{
	*text = strdup("");
	return *text != NULL ? 0 : error_set(e, errno, NULL, "can't end");
}

int
audit_command(int argc, char **argv, char *const *env, const struct startup *startup, char **text,
    int *status, struct error *e)
{
	AUTO_FREE struct audit_arguments *a = calloc(1, sizeof *a);

	(void)env;
	/* There is nothing to settle: a signal may end it while it reads. */
	(void)sigprocmask(SIG_SETMASK, &startup->mask, NULL);
	(void)signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error of the write */
	*status = 0;
	if (a == NULL)
		return error_set(e, errno, NULL, "can't begin");
	if (arguments_read(a, argc, argv, e) != 0)
		return -1;
	switch (a->action) {
	case AUDIT_VERIFY:
		return verify(a, text, status, e);
	case AUDIT_SHOW:
		return show(a, status, e) != 0 ? -1 : nothing_more(text, e);
	case AUDIT_REPORT:
		return report(a, startup->umask, status, e) != 0 ? -1 : nothing_more(text, e);
	case AUDIT_HELP:
		*text = strdup(options_audit_help);
		break;
	}
	return *text != NULL ? 0 : error_set(e, errno, NULL, "can't print the help");
}
