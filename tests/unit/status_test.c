/* status: the object that programs read and the notes that people read, both safe to print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/notes.h"
#include "guard/status.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* Wait statuses as waitpid(2) gives them. */
#define EXITED(code) ((code) << 8)
#define SIGNALLED(s) (s)

static const char evil[] = "a\n\x1b[31m\xff\x80\"\\\t";

static json_t *
render(const struct outcome *o)
{
	struct error e = {0};
	char *text = status_render(o, &e);
	json_t *root;

	assert_non_null(text);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_true(json_is_object(root));
	return root;
}

static const char *
text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return text;
}

static void
expect_int(const json_t *object, const char *key, long long value)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	assert_int_equal(json_integer_value(json_object_get(object, key)), value);
}

static void
expect_bool(const json_t *object, const char *key, bool value)
{
	assert_true(json_is_boolean(json_object_get(object, key)));
	assert_int_equal(json_is_true(json_object_get(object, key)), value);
}

static void
expect_null(const json_t *object, const char *key)
{
	assert_true(json_is_null(json_object_get(object, key)));
}

static void
a_clean_run_has_every_key(void **state)
{
	static const char *const keys[] = {"version", "schema", "class", "exit_status", "origin",
	    "leg", "exec_error", "cancelled", "timed_out", "overflowed", "isolation", "view",
	    "confined", "landlock_abi", "landlock_scopes", "held", "promises", "doors", "protected",
	    "removed_env", "proof", "survivors", "sweep", "tampered", "findings", "leftovers",
	    "brought_out", "published", "error", "hint", "neutralized", "imports", "result",
	    "audit"};
	const struct outcome o = {.leg_ended = true,
	    .isolation = ISOLATION_NAMESPACE,
	    .scopes = true,
	    .proof = PROOF_PID_NAMESPACE,
	    .published = true};
	json_t *root = render(&o);

	(void)state;
	assert_int_equal(json_object_size(root), sizeof keys / sizeof keys[0]);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		assert_non_null(json_object_get(root, keys[i]));
	assert_string_equal(text_of(root, "version"), LEGGUARD_VERSION);
	expect_int(root, "schema", 1);
	assert_string_equal(text_of(root, "class"), "ok");
	expect_int(root, "exit_status", 0);
	assert_string_equal(text_of(root, "origin"), "leg");
	expect_int(json_object_get(root, "leg"), "exit", 0);
	expect_null(json_object_get(root, "leg"), "signal");
	expect_null(root, "exec_error");
	expect_null(root, "cancelled");
	expect_bool(root, "timed_out", false);
	expect_bool(root, "overflowed", false);
	assert_string_equal(text_of(root, "isolation"), "namespace");
	expect_bool(root, "confined", true);
	expect_bool(root, "landlock_scopes", true);
	assert_string_equal(text_of(root, "proof"), "pid-namespace");
	expect_int(json_object_get(root, "survivors"), "count", 0);
	assert_int_equal(
	    json_array_size(json_object_get(json_object_get(root, "survivors"), "list")), 0);
	expect_null(root, "sweep");
	expect_bool(root, "tampered", false);
	assert_int_equal(json_array_size(json_object_get(root, "findings")), 0);
	expect_bool(root, "published", true);
	expect_null(root, "error");
	expect_null(root, "audit");
	json_decref(root);
}

static void
the_record_has_its_path_and_its_head(void **state)
{
	struct outcome o = {.audit = {.asked = true, .path = "/x/audit\n.jsonl"}};
	json_t *root = render(&o), *audit = json_object_get(root, "audit");

	(void)state;
	assert_string_equal(text_of(audit, "path"), "/x/audit\\n.jsonl");
	expect_null(audit, "head");
	expect_bool(audit, "failed", false);
	json_decref(root);
	memset(o.audit.head, 'a', sizeof o.audit.head - 1);
	root = render(&o);
	assert_string_equal(text_of(json_object_get(root, "audit"), "head"), o.audit.head);
	json_decref(root);
	error_set(&o.audit.why, 0, NULL, "can't");
	root = render(&o);
	expect_bool(json_object_get(root, "audit"), "failed", true);
	json_decref(root);
}

static void
the_keys_come_in_a_fixed_order(void **state)
{
	const struct outcome o = {.isolation = ISOLATION_NONE};
	struct error e = {0};
	char *text = status_render(&o, &e);

	(void)state;
	assert_non_null(text);
	assert_int_equal(strncmp(text, "{\"version\":\"", strlen("{\"version\":\"")), 0);
	assert_non_null(strstr(text, "\",\"schema\":1,\"class\":\"ok\",\"exit_status\":0,"));
	free(text);
}

static void
a_leg_ends_by_a_signal_or_never_was(void **state)
{
	struct outcome o = {.leg_ended = true, .wait_status = SIGNALLED(SIGKILL)};
	json_t *root = render(&o);

	(void)state;
	expect_null(json_object_get(root, "leg"), "exit");
	assert_string_equal(text_of(json_object_get(root, "leg"), "signal"), "SIGKILL");
	json_decref(root);
	o.wait_status = SIGNALLED(40); /* real-time signals have no name of their own */
	root = render(&o);
	assert_string_equal(text_of(json_object_get(root, "leg"), "signal"), "SIG40");
	json_decref(root);
	o = (struct outcome){.guard_origin = true,
	    .exit_status = EXIT_NOT_FOUND,
	    .exec_errno = ENOENT,
	    .lane = LANE_ERROR,
	    .proof = PROOF_SUBREAPER};
	root = render(&o);
	expect_null(root, "leg");
	assert_string_equal(text_of(root, "exec_error"), "ENOENT");
	assert_string_equal(text_of(root, "origin"), "guard");
	assert_string_equal(text_of(root, "proof"), "subreaper");
	json_decref(root);
	o.exec_errno = 4000; /* no such error */
	root = render(&o);
	assert_string_equal(text_of(root, "exec_error"), strerror(4000));
	json_decref(root);
}

static void
facts_of_a_bad_run_are_told(void **state)
{
	struct outcome o = {.guard_origin = true,
	    .exit_status = EXIT_RESTORE,
	    .lane = LANE_TAMPERED,
	    .leg_ended = true,
	    .wait_status = EXITED(7),
	    .cancel_signal = SIGTERM,
	    .timed_out = true,
	    .overflowed = true,
	    .isolation = ISOLATION_NONE,
	    .proof = PROOF_NONE,
	    .restore_failed = true};
	json_t *root;

	(void)state;
	error_set(&o.error, EROFS, "look at the mount", "can't restore %s", evil);
	root = render(&o);
	assert_string_equal(text_of(root, "class"), "tampered");
	expect_int(root, "exit_status", 122);
	expect_int(json_object_get(root, "leg"), "exit", 7);
	assert_string_equal(text_of(root, "cancelled"), "SIGTERM");
	expect_bool(root, "timed_out", true);
	expect_bool(root, "overflowed", true);
	assert_string_equal(text_of(root, "isolation"), "none");
	expect_bool(root, "confined", false);
	expect_bool(root, "landlock_scopes", false);
	assert_string_equal(text_of(root, "proof"), "none");
	expect_bool(root, "published", false);
	assert_non_null(strstr(text_of(root, "error"), "can't restore a\\n"));
	assert_non_null(strstr(text_of(root, "error"), "Read-only file system: look at the mount"));
	json_decref(root);
}

static void
untrusted_text_is_encoded(void **state)
{
	struct survivor survivors[] = {
	    {.pid = 7, .ppid = 1, .start = 123456789012ULL, .name = "x\n\xff"},
	    {.pid = 8, .ppid = 7, .start = 0, .name = ""},
	};
	struct outcome o = {.survivors = survivors,
	    .n_survivors = 2,
	    .survivors_total = 5,
	    .proof = PROOF_PID_NAMESPACE};
	json_t *root, *list, *one;

	(void)state;
	o.tampered = true;
	assert_int_equal(findings_add(&o.findings, FINDING_REWRITTEN, true, evil, NULL), 0);
	assert_int_equal(findings_add(&o.findings, FINDING_PATH_MOVED, false, "/p", evil), 0);
	root = render(&o);
	one = json_object_get(root, "survivors");
	expect_int(one, "count", 5);
	list = json_object_get(one, "list");
	assert_int_equal(json_array_size(list), 2);
	one = json_array_get(list, 0);
	expect_int(one, "pid", 7);
	expect_int(one, "ppid", 1);
	expect_int(one, "start", 123456789012LL);
	assert_string_equal(text_of(one, "name"), "x\\nM^?");
	assert_string_equal(text_of(json_array_get(list, 1), "name"), "");
	expect_bool(root, "tampered", true);
	list = json_object_get(root, "findings");
	assert_int_equal(json_array_size(list), 2);
	one = json_array_get(list, 0);
	assert_string_equal(text_of(one, "kind"), "rewritten");
	assert_string_equal(text_of(one, "path"), "a\\n^[[31mM^?M^@\"\\\\t");
	expect_bool(one, "restored", true);
	expect_null(one, "detail");
	one = json_array_get(list, 1);
	assert_string_equal(text_of(one, "kind"), "path-moved");
	expect_bool(one, "restored", false);
	assert_string_equal(text_of(one, "detail"), "a\\n^[[31mM^?M^@\"\\\\t");
	json_decref(root);
	findings_free(&o.findings);
}

static void
what_a_sweep_found_is_told(void **state)
{
	struct process found[] = {
	    {.pid = 7, .ppid = 1, .start = 123456789012ULL, .name = "x\n"}, {.pid = 8, .name = ""}};
	struct outcome o = {.sweep = SWEEP_KILL,
	    .swept = {.list = found, .count = 2},
	    .swept_total = 5,
	    .sweep_failed = true};
	json_t *root = render(&o), *sweep = json_object_get(root, "sweep"), *one;

	(void)state;
	assert_string_equal(text_of(sweep, "mode"), "kill");
	expect_int(sweep, "count", 5);
	expect_bool(sweep, "clean", false);
	assert_int_equal(json_array_size(json_object_get(sweep, "found")), 2);
	one = json_array_get(json_object_get(sweep, "found"), 0);
	expect_int(one, "pid", 7);
	expect_int(one, "ppid", 1);
	expect_int(one, "start", 123456789012LL);
	assert_string_equal(text_of(one, "name"), "x\\n");
	json_decref(root);
	o = (struct outcome){.sweep = SWEEP_REPORT, .sweep_clean = true};
	root = render(&o);
	sweep = json_object_get(root, "sweep");
	assert_string_equal(text_of(sweep, "mode"), "report");
	expect_int(sweep, "count", 0);
	expect_bool(sweep, "clean", true);
	assert_int_equal(json_array_size(json_object_get(sweep, "found")), 0);
	json_decref(root);
}

/* jansson's memory: so many allocations succeed, then none does. */
static size_t granted;

static void *
grant(size_t size)
{
	return granted-- > 0 ? malloc(size) : (granted = 0, NULL);
}

static void
without_memory_there_is_an_error_and_no_object(void **state)
{
	struct survivor survivors[] = {{.pid = 7, .name = "x"}};
	struct process found[] = {{.pid = 7, .name = "x"}};
	struct outcome o = {.leg_ended = true,
	    .sweep = SWEEP_KILL,
	    .swept = {.list = found, .count = 1},
	    .wait_status = SIGNALLED(SIGKILL),
	    .exec_errno = ENOENT,
	    .cancel_signal = SIGINT,
	    .survivors = survivors,
	    .n_survivors = 1,
	    .survivors_total = 1};
	char *text = NULL;
	size_t n;

	(void)state;
	error_set(&o.error, 0, NULL, "x");
	assert_int_equal(findings_add(&o.findings, FINDING_LINKED, true, "/p", "d"), 0);
	json_set_alloc_funcs(grant, free);
	for (n = 0; text == NULL; n++) {
		struct error e = {0};

		granted = n;
		text = status_render(&o, &e);
		if (text == NULL)
			assert_string_equal(e.what, "can't render the status object");
	}
	json_set_alloc_funcs(malloc, free);
	assert_true(n > 20);
	free(text);
	findings_free(&o.findings);
}

static void
expect_notes(const struct outcome *o, bool quiet, const char *expected)
{
	struct error e = {0};
	char *notes = notes_render(o, quiet, &e);

	assert_non_null(notes);
	assert_string_equal(notes, expected);
	free(notes);
}

static void
a_clean_run_needs_no_notes(void **state)
{
	const struct outcome o = {.leg_ended = true, .proof = PROOF_PID_NAMESPACE};

	(void)state;
	expect_notes(&o, false, "");
	expect_notes(&o, true, "");
}

static void
an_unconfined_run_is_noted(void **state)
{
	const struct outcome o = {
	    .leg_ended = true, .isolation = ISOLATION_NONE, .proof = PROOF_SUBREAPER};

	(void)state;
	expect_notes(&o, false, "legguard: the leg ran unconfined (--isolation none)\n");
	expect_notes(&o, true, "");
}

static void
a_cancel_is_noted_with_its_cause(void **state)
{
	struct outcome o = {.proof = PROOF_PID_NAMESPACE, .cancel_signal = SIGINT};

	(void)state;
	expect_notes(&o, false, "legguard: cancelled by SIGINT\n");
	expect_notes(&o, true, "");
	o.cancel_signal = SIGPIPE;
	expect_notes(&o, false, "legguard: cancelled: nobody takes the leg's output any more\n");
}

static void
an_end_at_a_limit_is_noted_with_it(void **state)
{
	struct outcome o = {
	    .proof = PROOF_PID_NAMESPACE, .limits = {.timeout = 600000, .max_output = 64 << 20}};

	(void)state;
	expect_notes(&o, false, "");
	o.timed_out = true;
	expect_notes(&o, false, "legguard: the leg was ended after 10m (--timeout)\n");
	o.overflowed = true;
	o.timed_out = false;
	expect_notes(&o, false, "legguard: the leg was ended after 64M of output (--max-output)\n");
	expect_notes(&o, true, "");
}

static void
each_finding_is_noted_and_quietly_those_that_remain(void **state)
{
	struct outcome o = {.proof = PROOF_PID_NAMESPACE};

	(void)state;
	assert_int_equal(
	    findings_add(&o.findings, FINDING_REWRITTEN, true, "/path", "12 bytes became 40"), 0);
	assert_int_equal(findings_add(&o.findings, FINDING_REMOVED, true, "/a\nb", NULL), 0);
	assert_int_equal(findings_add(&o.findings, FINDING_REPLACED, false, "/c", "x\x1b"), 0);
	expect_notes(&o, false,
	    "legguard: tampered: rewritten /path (12 bytes became 40), restored\n"
	    "legguard: tampered: removed /a\\nb, restored\n"
	    "legguard: tampered: replaced /c (x^[), NOT restored\n");
	expect_notes(&o, true, "legguard: tampered: replaced /c (x^[), NOT restored\n");
	findings_free(&o.findings);
}

static void
killed_processes_are_named_up_to_eight(void **state)
{
	struct survivor survivors[9];
	struct outcome o = {.proof = PROOF_PID_NAMESPACE, .survivors = survivors};

	(void)state;
	for (int i = 0; i < 9; i++)
		survivors[i] = (struct survivor){.pid = i + 2, .name = "s\t"};
	o.survivors_total = 1;
	expect_notes(&o, false, "legguard: killed 1 process the leg left running\n");
	o.n_survivors = 1;
	expect_notes(&o, false, "legguard: killed 1 process the leg left running: s\\t (pid 2)\n");
	o.n_survivors = o.survivors_total = 2;
	expect_notes(&o, false,
	    "legguard: killed 2 processes the leg left running: s\\t (pid 2), s\\t (pid 3)\n");
	o.n_survivors = 2;
	o.survivors_total = 70;
	expect_notes(&o, false,
	    "legguard: killed 70 processes the leg left running: s\\t (pid 2), s\\t (pid 3), "
	    "...\n");
	o.n_survivors = o.survivors_total = 9;
	expect_notes(&o, false,
	    "legguard: killed 9 processes the leg left running: s\\t (pid 2), s\\t (pid 3), "
	    "s\\t (pid 4), s\\t (pid 5), s\\t (pid 6), s\\t (pid 7), s\\t (pid 8), s\\t (pid 9), "
	    "...\n");
	expect_notes(&o, true, "");
}

static void
what_a_sweep_found_is_noted(void **state)
{
	struct process found[] = {{.pid = 7, .name = "a\t"}, {.pid = 8, .name = "b"}};
	struct outcome o = {.proof = PROOF_SUBREAPER, .sweep = SWEEP_KILL, .sweep_clean = true};

	(void)state;
	expect_notes(&o, false, "");
	o.swept = (struct processes){.list = found, .count = 2};
	o.swept_total = 2;
	expect_notes(&o, false,
	    "legguard: killed 2 processes that had left the leg's tree: a\\t (pid 7), b (pid 8)\n");
	expect_notes(&o, true, "");
	o.sweep = SWEEP_REPORT;
	o.swept.count = o.swept_total = 1;
	expect_notes(&o, false,
	    "legguard: found 1 process that may have left the leg's tree: a\\t (pid 7)\n");
	expect_notes(&o, true, "");
	o.sweep = SWEEP_KILL;
	o.sweep_failed = true;
	o.proof = PROOF_NONE;
	o.swept_total = 9;
	expect_notes(&o, true,
	    "legguard: leg left 9 processes running after it ended: a\\t (pid 7), ...\n"
	    "legguard: there is no proof that everything the leg started is dead\n");
	o.swept_total = o.swept.count = 0; /* they could not even be listed */
	expect_notes(
	    &o, true, "legguard: there is no proof that everything the leg started is dead\n");
}

static void
errors_are_noted_even_quietly(void **state)
{
	struct outcome o = {.exec_errno = EACCES,
	    .cancel_signal = SIGHUP,
	    .proof = PROOF_NONE,
	    .survivors_total = 1};
	static const char quiet[] =
	    "legguard: can't execute the command: Permission denied\n"
	    "legguard: there is no proof that everything the leg started is dead\n"
	    "legguard: can't restore x: No space left on device: free some\n";

	(void)state;
	error_set(&o.error, ENOSPC, "free some", "can't restore x");
	expect_notes(&o, true, quiet);
	expect_notes(&o, false,
	    "legguard: can't execute the command: Permission denied\n"
	    "legguard: cancelled by SIGHUP\n"
	    "legguard: killed 1 process the leg left running\n"
	    "legguard: there is no proof that everything the leg started is dead\n"
	    "legguard: can't restore x: No space left on device: free some\n");
}

static void
a_finished_outcome_gives_back_what_it_holds(void **state)
{
	struct outcome o = {.survivors = calloc(1, sizeof *o.survivors), .n_survivors = 1};

	(void)state;
	assert_int_equal(findings_add(&o.findings, FINDING_METADATA, true, "/p", "d"), 0);
	outcome_free(&o);
	assert_null(o.survivors);
	assert_int_equal(o.findings.count, 0);
	outcome_free(&o);
}

static void
what_others_hold_is_told_with_when(void **state)
{
	struct leftover held[] = {
	    {.kind = LEFTOVER_WRITER, .before = true, .path = (char *)"/t/a\n"},
	    {.kind = LEFTOVER_LOCK, .path = (char *)"/t/b"}};
	const struct outcome o = {.proof = PROOF_PID_NAMESPACE,
	    .leg_ended = true,
	    .leftovers = {.list = held, .count = 2}};
	struct error e = {0};
	char *text = status_render(&o, &e), *notes = notes_render(&o, false, &e);

	(void)state;
	assert_non_null(strstr(text,
	    "\"leftovers\":[{\"path\":\"/t/a\\\\n\",\"what\":\"open for writing in another "
	    "process\",\"when\":\"before\"},{\"path\":\"/t/b\",\"what\":\"locked by another "
	    "process\",\"when\":\"after\"}]"));
	assert_non_null(
	    strstr(notes, "legguard: /t/a\\n was open for writing in another process before "
			  "the leg started\n"));
	free(text);
	free(notes);
	notes = notes_render(&o, true, &e);
	assert_string_equal(notes, "");
	free(notes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_others_hold_is_told_with_when),
	    cmocka_unit_test(a_clean_run_has_every_key),
	    cmocka_unit_test(the_record_has_its_path_and_its_head),
	    cmocka_unit_test(the_keys_come_in_a_fixed_order),
	    cmocka_unit_test(a_leg_ends_by_a_signal_or_never_was),
	    cmocka_unit_test(facts_of_a_bad_run_are_told),
	    cmocka_unit_test(untrusted_text_is_encoded),
	    cmocka_unit_test(what_a_sweep_found_is_told),
	    cmocka_unit_test(without_memory_there_is_an_error_and_no_object),
	    cmocka_unit_test(a_clean_run_needs_no_notes),
	    cmocka_unit_test(an_unconfined_run_is_noted),
	    cmocka_unit_test(a_cancel_is_noted_with_its_cause),
	    cmocka_unit_test(an_end_at_a_limit_is_noted_with_it),
	    cmocka_unit_test(each_finding_is_noted_and_quietly_those_that_remain),
	    cmocka_unit_test(killed_processes_are_named_up_to_eight),
	    cmocka_unit_test(what_a_sweep_found_is_noted),
	    cmocka_unit_test(errors_are_noted_even_quietly),
	    cmocka_unit_test(a_finished_outcome_gives_back_what_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
