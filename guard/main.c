/*
 * legguard: run one untrusted command in a CI step, so that it can't forge what the step reports.
 *
 * main chooses the subcommand and prints; everything else returns what there is to say.
 */
#include "bindmount/cleanup.h"
#include "guard/attack/battery.h"
#include "guard/attack/leg.h"
#include "guard/audit/command.h"
#include "guard/bounded.h"
#include "guard/doctor.h"
#include "guard/judge.h"
#include "guard/notes.h"
#include "guard/options.h"
#include "guard/outcome.h"
#include "guard/parse.h"
#include "guard/report.h"
#include "guard/run.h"
#include "guard/startup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
complain(const struct error *e)
{
	char line[2048], text[2048 + 16];
	int size = snprintf(text, sizeof text, "legguard: %s\n", error_line(line, sizeof line, e));

	/* Not by stdio: a signal has to end it where nobody reads. */
	(void)bounded_write_all(STDERR_FILENO, text, (size_t)size, BOUNDED_NEVER);
	return EXIT_GUARD;
}

/* Standard output may be full or closed: then what was asked for was not given. */
static int
print(const char *text)
{
	struct error e = {0};

	if (bounded_write_all(STDOUT_FILENO, text, strlen(text), BOUNDED_NEVER) == 0)
		return 0;
	error_set(&e, 0, NULL, "can't write to standard output");
	return complain(&e);
}

static int
finish_run(const struct options *o, const struct outcome *out)
{
	struct error e = {0};
	AUTO_FREE char *notes = notes_render(out, o->quiet, &e);

	if (notes == NULL)
		complain(&e);
	else
		(void)bounded_write_all(
		    STDERR_FILENO, notes, strlen(notes), outcome_write_until(out));
	return out->exit_status;
}

/* The refusal, and the end of a record that had begun. */
static int
refuse_run(const struct outcome *out, const struct error *why)
{
	struct error e = {0};
	AUTO_FREE char *notes = notes_render_refused(out, &e);
	int status = complain(why);

	if (notes != NULL)
		(void)bounded_write_all(
		    STDERR_FILENO, notes, strlen(notes), outcome_write_until(out));
	return status;
}

static int
run_command(int argc, char **argv, char **env, const struct startup *startup)
{
	struct options o;
	struct outcome out = {0};
	struct error e = {0};
	AUTO_FREE char *text = NULL;
	int status;

	if (options_parse(&o, argc, argv, &e) != 0)
		status = complain(&e);
	else if (o.help)
		status = print(options_run_help);
	else if (o.version)
		status = print("legguard " LEGGUARD_VERSION "\n");
	else if (run(&o, startup, env, &out, &text, &e) != 0)
		status = refuse_run(&out, &e);
	else if (o.dry_run)
		status = print(text);
	else
		status = finish_run(&o, &out);
	outcome_free(&out);
	options_free(&o);
	return status;
}

/* The subcommands that have something to say, and no more. */
static const struct {
	const char *name;
	int (*ask)(int argc, char **argv, char *const *env, const struct startup *startup,
	    char **text, int *status, struct error *e);
	const char *help; /* NULL: it has --help itself, among its options */
} commands[] = {
    {"attack", battery_run, NULL},
    {"audit", audit_command, NULL},
    {"classify", judge_command, options_classify_help},
    {"doctor", doctor, NULL},
    {"parse", parse_command, options_parse_help},
};

static int
ask_command(size_t index, int argc, char **argv, char **env, const struct startup *startup)
{
	struct error e = {0};
	AUTO_FREE char *text = NULL;
	int status, printed;

	if (commands[index].help != NULL && argc == 2 && strcmp(argv[1], "--help") == 0)
		return print(commands[index].help);
	if (commands[index].ask(argc, argv, env, startup, &text, &status, &e) != 0)
		return complain(&e);
	printed = print(text);
	return printed != 0 ? printed : status;
}

/* One word for scripts, and by standard error what people are to read. */
static int
outcome_command(int argc, char **argv, char **env, const struct startup *startup)
{
	struct error e = {0};
	AUTO_FREE char *text = NULL, *notes = NULL;
	int status, printed;

	if (report_command(argc, argv, env, startup, &text, &notes, &status, &e) != 0)
		return complain(&e);
	(void)bounded_write_all(STDERR_FILENO, notes, strlen(notes), BOUNDED_NEVER);
	printed = print(text);
	return printed != 0 ? printed : status;
}

int
main(int argc, char **argv, char **env)
{
	struct startup startup;
	struct error e = {0};

	/* The battery runs this program in other parts, which get what they are started with as it is. */
	if (argc >= 2 && strcmp(argv[1], ATTACK_LEG) == 0)
		return attack_leg(argc - 1, argv + 1);
	if (argc >= 3 && strcmp(argv[1], ATTACK_RUNNER) == 0)
		return attack_runner(argv + 1);
	if (startup_prepare(&startup, &e) != 0)
		return complain(&e);
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return run_command(argc - 1, argv + 1, env, &startup);
	if (argc >= 2 && strcmp(argv[1], "outcome") == 0)
		return outcome_command(argc - 1, argv + 1, env, &startup);
	for (size_t i = 0; argc >= 2 && i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return ask_command(i, argc - 1, argv + 1, env, &startup);
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return print(options_main_help);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return print("legguard " LEGGUARD_VERSION "\n");
	if (argc < 2)
		error_set(&e, 0, "see legguard --help", "no command given");
	else
		error_set(&e, 0, "see legguard --help", "unknown command %s", argv[1]);
	return complain(&e);
}
