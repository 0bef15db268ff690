/*
 * What the value of each option of `legguard run` means: one function an option, for options.c's table.
 *
 * Each looks at its value, keeps it in *o, or refuses it by name. Pure.
 */
#ifndef GUARD_VALUES_H
#define GUARD_VALUES_H

#include "guard/options.h"

typedef int value_function(struct options *o, const char *value, struct error *e);

/* Add value to the list of a repeatable option; what is the name of its argument. */
int value_keep(
    struct words *w, const char *option, const char *what, const char *value, struct error *e);

value_function value_isolation;
value_function value_user;
value_function value_cgroup;
value_function value_directory;
value_function value_setenv;
value_function value_unset;
value_function value_timeout;
value_function value_signal;
value_function value_kill_after;
value_function value_max_output;
value_function value_sweep;
value_function value_file_commands;
value_function value_import;
value_function value_workflow_commands;
value_function value_set_output;
value_function value_classify;
value_function value_managed_settings;
value_function value_exactly_one_env;
value_function value_exit_class;
value_function value_on_tamper;
value_function value_on_survivors;
value_function value_status_path;
value_function value_status_fd;
value_function value_audit;
value_function value_audit_otlp;

#endif
