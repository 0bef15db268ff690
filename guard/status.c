/*
 * What is said about a run afterwards to programs: the status object.
 *
 * Paths, details and process names are the leg's choice of bytes. They pass through error_visible(),
 * which leaves plain ASCII, so that they can't make the JSON invalid.
 */
#include "guard/status.h"

#include "bindmount/cleanup.h"
#include "guard/promises.h"
#include "guard/jsontext.h"
#include "guard/text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jansson.h>

enum {
	SCHEMA = 1,  /* a new key does not change it, a key's new meaning does */
	LINE = 2048, /* more than error_line() can make of an error */
};

/*
 * The parts of the object. Each returns NULL without memory, which json_pack() and
 * json_array_append_new() take as their own failure.
 */

static json_t *
untrusted(const char *text)
{
	AUTO_FREE char *encoded = NULL;

	if (text == NULL)
		return json_null();
	encoded = text_visible(text);
	return encoded != NULL ? json_string(encoded) : NULL;
}

static json_t *
signal_or_null(int sig)
{
	char text[TEXT_SIGNAL];

	return sig != 0 ? json_string(text_signal(text, sig)) : json_null();
}

static json_t *
errno_or_null(int errnum)
{
	const char *name = strerrorname_np(errnum);

	if (errnum == 0)
		return json_null();
	return json_string(name != NULL ? name : strerror(errnum));
}

static json_t *
error_or_null(const struct error *e)
{
	char line[LINE];

	return e->what[0] != '\0' ? untrusted(error_line(line, sizeof line, e)) : json_null();
}

static json_t *
leg_or_null(const struct outcome *o)
{
	if (!o->leg_ended)
		return json_null();
	if (WIFSIGNALED(o->wait_status))
		return json_pack(
		    "{s:n, s:o}", "exit", "signal", signal_or_null(WTERMSIG(o->wait_status)));
	return json_pack("{s:i, s:n}", "exit", WEXITSTATUS(o->wait_status), "signal");
}

static json_t *
process(pid_t pid, pid_t ppid, unsigned long long start, const char *name)
{
	return json_pack("{s:i, s:i, s:I, s:o}", "pid", (int)pid, "ppid", (int)ppid, "start",
	    (json_int_t)start, "name", untrusted(name));
}

static json_t *
survivors(const struct outcome *o)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < o->n_survivors; i++) {
		const struct survivor *s = &o->survivors[i];
		json_t *item = process(s->pid, s->ppid, s->start, s->name);

		list = jsontext_append_item(list, item);
	}
	return json_pack("{s:I, s:o}", "count", (json_int_t)o->survivors_total, "list", list);
}

static json_t *
sweep_or_null(const struct outcome *o)
{
	json_t *list;

	if (o->sweep == SWEEP_DEFAULT)
		return json_null();
	list = json_array();
	for (size_t i = 0; list != NULL && i < o->swept.count; i++) {
		const struct process *p = &o->swept.list[i];

		if (json_array_append_new(list, process(p->pid, p->ppid, p->start, p->name)) != 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return json_pack("{s:s, s:I, s:o, s:b}", "mode", o->sweep == SWEEP_KILL ? "kill" : "report",
	    "count", (json_int_t)o->swept_total, "found", list, "clean", o->sweep_clean);
}

static json_t *
findings(const struct findings *f)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < f->count; i++) {
		const struct finding *one = &f->list[i];
		json_t *item = json_pack("{s:s, s:o, s:b, s:o}", "kind", finding_name(one->kind),
		    "path", untrusted(one->path), "restored", one->restored, "detail",
		    untrusted(one->detail));

		list = jsontext_append_item(list, item);
	}
	return list;
}

static json_t *
leftovers(const struct leftovers *l)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < l->count; i++) {
		const struct leftover *one = &l->list[i];

		list = jsontext_append_item(
		    list, json_pack("{s:o, s:s, s:s}", "path", untrusted(one->path), "what",
			      leftover_text(one->kind), "when",
			      one->kind == LEFTOVER_CHANGED ? "during"
			      : one->before                 ? "before"
							    : "after"));
	}
	return list;
}

/* By name; null if they pass. */
static json_t *
neutralized_or_null(const struct outcome *o)
{
	json_t *object;

	if (!o->neutralizes)
		return json_null();
	object = json_object();
	for (size_t i = 0; object != NULL && neutralize_name(i) != NULL; i++) {
		uint64_t n = o->neutralizer[0].count[i] + o->neutralizer[1].count[i];

		if (n > 0 && json_object_set_new(
				 object, neutralize_name(i), json_integer((json_int_t)n)) != 0) {
			json_decref(object);
			object = NULL;
		}
	}
	return object;
}

static json_t *
promises_or_null(const struct outcome *o)
{
	json_t *object;

	if (!o->began)
		return json_null();
	object = json_object();
	for (int i = 0; object != NULL && i < PROMISES; i++)
		if (json_object_set_new(
			object, promise_name(i), json_boolean(promise_holds(o, i))) != 0) {
			json_decref(object);
			object = NULL;
		}
	return object;
}

static json_t *
imports(const struct importing *all)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < all->count; i++) {
		const struct imported *one = &all->list[i];

		list = jsontext_append_item(
		    list, json_pack("{s:s, s:o, s:s?}", "kind", import_kind_name(one->kind), "name",
			      untrusted(one->name), "refused", one->why));
	}
	return list;
}

static json_t *
result_or_null(const struct outcome *o)
{
	const struct classify_result *r = &o->classifier.result;

	if (!o->classifies || !r->found)
		return json_null();
	return classify_fields(r);
}

/*
 * The object's keys, in groups, a line each. To add one, give it a line in the group it belongs to; each function
 * returns a new object or NULL without memory.
 */
static json_t *
left_out(const struct protected *p)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < p->count; i++) {
		const struct protected_path *one = &p->list[i];

		if (one->left_out != NULL)
			list = jsontext_append_item(
			    list, json_pack("{s:o, s:s, s:s}", "path", untrusted(one->path), "what",
				      one->why, "why", one->left_out));
	}
	return list;
}

static json_t *
protected_or_null(const struct protected *p)
{
	size_t count = 0;

	if (p == NULL)
		return json_null();
	for (size_t i = 0; i < p->count; i++)
		count += p->list[i].left_out == NULL;
	return json_pack("{s:I, s:o}", "count", (json_int_t)count, "left_out", left_out(p));
}

static json_t *
removed_env(const struct words *names)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && names != NULL && i < names->count; i++)
		list = jsontext_append_item(list, untrusted(names->list[i]));
	return list;
}

static json_t *
brought_out_or_null(const struct brought_out *b)
{
	if (!b->tried)
		return json_null();
	return json_pack("{s:I, s:I, s:o}", "moved", (json_int_t)b->moved, "left",
	    (json_int_t)b->left, "where", untrusted(b->where));
}

/* What the leg does not see, by path, and whether abstract sockets outside are closed to it as well. */
static json_t *
doors(const struct outcome *o)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && o->hidden != NULL && i < o->hidden->count; i++)
		list = jsontext_append_item(list, untrusted(o->hidden->list[i].path));
	return json_pack("{s:o, s:b, s:b}", "hidden", list, "abstract", o->scopes, "paths",
	    o->isolation == ISOLATION_NAMESPACE);
}

/* null if none was asked for. */
static json_t *
audit_or_null(const struct outcome_audit *a)
{
	if (!a->asked)
		return json_null();
	return json_pack("{s:o, s:o, s:b}", "path", untrusted(a->path), "head",
	    a->head[0] != '\0' ? json_string(a->head) : json_null(), "failed",
	    a->why.what[0] != '\0' || a->changed);
}

/* clang-format off */
static json_t *
result_keys(const struct outcome *o)
{
	return json_pack("{s:s, s:i, s:s, s:i, s:s, s:o, s:o, s:o, s:b, s:b, s:s?, s:o}",
	    "version", LEGGUARD_VERSION,
	    "schema", SCHEMA,
	    "class", lane_name(o->lane),
	    "exit_status", o->exit_status,
	    "origin", o->guard_origin ? "guard" : "leg",
	    "leg", leg_or_null(o),
	    "exec_error", errno_or_null(o->exec_errno),
	    "cancelled", signal_or_null(o->cancel_signal),
	    "timed_out", o->timed_out,
	    "overflowed", o->overflowed,
	    "hint", o->hint,
	    "result", result_or_null(o));
}

static json_t *
confinement_keys(const struct outcome *o)
{
	return json_pack("{s:s, s:s, s:b, s:o, s:b, s:b, s:o, s:o, s:o, s:o}",
	    "isolation", isolation_name(o->isolation),
	    "view", outcome_view_name(o->view),
	    "confined", o->isolation != ISOLATION_NONE,
	    "landlock_abi", o->landlock_abi > 0 ? json_integer(o->landlock_abi) : json_null(),
	    "landlock_scopes", o->scopes,
	    "held", o->held,
	    "promises", promises_or_null(o),
	    "doors", doors(o),
	    "protected", protected_or_null(o->protected),
	    "removed_env", removed_env(o->removed_env));
}

static json_t *
end_keys(const struct outcome *o)
{
	return json_pack("{s:s, s:o, s:o}",
	    "proof", proof_name(o->proof),
	    "survivors", survivors(o),
	    "sweep", sweep_or_null(o));
}

static json_t *
file_keys(const struct outcome *o)
{
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
	    "tampered", o->tampered,
	    "findings", findings(&o->findings),
	    "leftovers", leftovers(&o->leftovers),
	    "brought_out", brought_out_or_null(&o->brought_out),
	    "neutralized", neutralized_or_null(o),
	    "imports", imports(&o->importing),
	    "published", o->published,
	    "audit", audit_or_null(&o->audit),
	    "error", error_or_null(&o->error));
}
/* clang-format on */

static json_t *
object(const struct outcome *o)
{
	static json_t *(*const groups[])(const struct outcome *) = {
	    result_keys, confinement_keys, end_keys, file_keys};
	json_t *root = json_object();

	for (size_t i = 0; root != NULL && i < sizeof groups / sizeof groups[0]; i++) {
		json_t *group = groups[i](o);

		if (group == NULL || json_object_update(root, group) != 0) {
			json_decref(root);
			root = NULL;
		}
		json_decref(group);
	}
	return root;
}

char *
status_render(const struct outcome *o, struct error *e)
{
	json_t *root = object(o);
	AUTO_FREE char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
	char *line = NULL;

	json_decref(root);
	if (text == NULL || asprintf(&line, "%s\n", text) < 0) {
		error_set(e, ENOMEM, NULL, "can't render the status object");
		return NULL;
	}
	return line;
}
