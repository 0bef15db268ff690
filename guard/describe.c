/* The text of --dry-run. See describe.h. */
#include "guard/describe.h"

#include "bindmount/cleanup.h"
#include "bindmount/landlock.h"
#include "guard/costs.h"
#include "guard/hide.h"
#include "guard/environment.h"
#include "guard/promises.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORD = 4096 };

static void
describe_requests(FILE *out, const struct plan *p, const struct snapshot *s)
{
	char text[WORD];

	for (size_t i = 0; i < p->n_requests; i++) {
		size_t index = snapshot_index(s, i), size;

		(void)snapshot_bytes(s, index, &size);
		error_visible(text, sizeof text, snapshot_path(s, index));
		fprintf(out, "guard      %s (%s, %zu bytes)\n", text, p->requests[i].source, size);
	}
	for (size_t i = 0; i < snapshot_count(s); i++)
		if (snapshot_is_neighbour(s, i)) {
			error_visible(text, sizeof text, snapshot_path(s, i));
			fprintf(out, "record     %s\n", text);
		}
}

static void
describe_landlock(FILE *out, const struct plan *p)
{
	fprintf(out, "isolation  landlock, ABI %d%s%s%s\n", p->landlock_abi,
	    p->no_truncation ? ", with a seccomp filter that denies truncation" : "",
	    p->truncation_denied ? "" : ", which can't deny that guarded files are emptied",
	    p->scopes ? ", with scopes for signals and abstract sockets"
		      : ", without scopes: the leg can signal processes of its user (Linux 6.12)");
}

static void
describe_view(FILE *out, const struct plan *p)
{
	bool confined = p->options->isolation != ISOLATION_NONE;
	char text[WORD];

	for (size_t i = 0; confined && i < p->view.read_only.count; i++) {
		const char *path = p->view.read_only.list[i].path;
		const struct protected_path *protected = protected_get(&p->protected, path);

		fprintf(out, "read-only  %s", error_visible(text, sizeof text, path));
		if (protected != NULL)
			fprintf(out, " (%s)", protected->why);
		fprintf(out, "\n");
	}
	for (size_t i = 0; i < p->protected.count; i++) {
		const struct protected_path *one = &p->protected.list[i];

		if (one->left_out != NULL)
			fprintf(out, "unprotected %s (%s; %s)\n",
			    error_visible(text, sizeof text, one->path), one->why, one->left_out);
	}
	for (size_t i = 0; confined && i < p->view.hidden.count; i++) {
		error_visible(text, sizeof text, p->view.hidden.list[i].path);
		fprintf(out, "hide       %s (%s%s)\n", text, p->hidden_for.list[i],
		    hide_is_movable(p, p->view.hidden.list[i].path)
			? "; the leg could move it to get around that"
			: "");
	}
	for (size_t i = 0; confined && i < p->view.kept.count; i++) {
		error_visible(text, sizeof text, p->view.kept.list[i].path);
		fprintf(out, "keep       %s\n", text);
	}
	for (size_t i = 0; confined && i < p->view.pinned.count; i++) {
		error_visible(text, sizeof text, p->view.pinned.list[i].path);
		fprintf(out, "pin        %s\n", text);
	}
	for (size_t i = 0; i < p->view.writable.count; i++) {
		error_visible(text, sizeof text, p->view.writable.list[i].path);
		fprintf(out, "writable   %s\n", text);
	}
	if (p->view.temp.path != NULL) {
		error_visible(text, sizeof text, p->view.temp.path);
		fprintf(out, "private    %s, and what is new in it is brought out\n", text);
	}
	costs_describe(out, p);
	error_visible(text, sizeof text, p->view.cwd.path);
	fprintf(out, "directory  %s\n", text);
	if (p->leg.kind == IDENTITY_USER)
		fprintf(out, "user       %u, group %u, no other groups\n", (unsigned)p->leg.uid,
		    (unsigned)p->leg.gid);
	else if (p->leg.kind == IDENTITY_ROOT)
		fprintf(out, "user       root, with a container's capabilities at the most\n");
	if (p->landlock_abi > 0)
		describe_landlock(out, p);
	else
		fprintf(out, "isolation  %s\n",
		    !confined   ? "none: the leg can write the guarded files; they are put back"
		    : p->scopes ? "namespace, with Landlock scopes for signals and abstract sockets"
				: "namespace, without Landlock scopes (Linux 6.12 has them)");
}

/* In the words of the status object. Whether the files have leases, a namespace's hold, the run will show. */
static void
describe_promises(FILE *out, const struct plan *p)
{
	const struct outcome o = {
	    .isolation = p->options->isolation,
	    .view = outcome_view(p->options),
	    .scopes = p->scopes,
	    .own_pids = p->options->isolation == ISOLATION_NAMESPACE && !p->options->share_pid,
	    .truncation_denied = p->truncation_denied,
	    .held = true,
	    .proof = PROOF_SUBREAPER,
	};
	const char *sep = "promises   ";

	for (int i = 0; i < PROMISES; i++)
		if (promise_holds(&o, i)) {
			fprintf(out, "%s%s", sep, promise_name(i));
			sep = ", ";
		}
	fprintf(out, "\n");
	sep = "not held   ";
	for (int i = 0; i < PROMISES; i++)
		if (!promise_holds(&o, i)) {
			fprintf(out, "%s%s", sep, promise_name(i));
			sep = ", ";
		}
	if (sep[0] == ',')
		fprintf(out, "\n");
}

/* Where the leg will find that it can't make anything, and what it gets instead. */
static void
describe_closed(FILE *out, const struct plan *p, const struct private_temp *t)
{
	const char *home = environment_get(p->leg_env, "HOME");
	AUTO_FREE char *real = home != NULL ? realpath(home, NULL) : NULL;
	char text[WORD];

	if (p->landlock_abi == 0)
		return;
	if (real != NULL && landlock_closes(&p->view.read_only, real))
		fprintf(out, "warning    HOME %s: nothing can be made or removed directly in it\n",
		    error_visible(text, sizeof text, real));
	if (landlock_closes(&p->view.read_only, p->view.cwd.path))
		fprintf(out,
		    "warning    the directory: nothing can be made or removed directly in it\n");
	if (t->real != NULL)
		fprintf(out, "private    RUNNER_TEMP, in %s\n",
		    error_visible(text, sizeof text, t->real));
	if (t->base != NULL)
		fprintf(
		    out, "private    TMPDIR, in %s\n", error_visible(text, sizeof text, t->base));
}

static void
describe_audit(FILE *out, const struct options *o)
{
	const char *held = o->isolation == ISOLATION_NONE ? ", which the leg can write" : "";
	char text[WORD];

	if (o->audit_path != NULL)
		fprintf(out, "audit      %s%s\n", error_visible(text, sizeof text, o->audit_path),
		    held);
	if (o->audit_fd >= 0)
		fprintf(out, "audit      descriptor %d%s\n", o->audit_fd, held);
	if (o->audit_otlp != NULL)
		fprintf(out, "audit      %s, as OTLP%s\n",
		    error_visible(text, sizeof text, o->audit_otlp), held);
}

char *
describe_plan(
    const struct plan *p, const struct snapshot *s, const struct private_temp *t, struct error *e)
{
	const struct options *o = p->options;
	char *text = NULL, word[WORD];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL) {
		error_set(e, errno, NULL, "can't describe the run");
		return NULL;
	}
	describe_requests(out, p, s);
	describe_view(out, p);
	for (size_t i = 0; i < p->removed_env.count; i++)
		fprintf(out, "unset      %s\n",
		    error_visible(word, sizeof word, p->removed_env.list[i]));
	describe_closed(out, p, t);
	describe_promises(out, p);
	for (size_t i = 0; i < p->view.decoys.files.count; i++)
		fprintf(out, "decoy      %s\n",
		    error_visible(word, sizeof word, p->view.decoys.files.list[i].path));
	for (size_t i = 0; i < o->n_imports; i++)
		fprintf(out, "import     %s%s%s\n", import_kind_name(o->imports[i].kind),
		    o->imports[i].name != NULL ? ":" : "",
		    o->imports[i].name != NULL
			? error_visible(word, sizeof word, o->imports[i].name)
			: "");
	describe_audit(out, o);
	fprintf(out, "output     workflow commands %s\n",
	    p->neutralizes ? "are made inert" : "pass as they are");
	if (p->shuts_stdin)
		fprintf(
		    out, "input      /dev/null: what is there could be written to, around that\n");
	if (p->on_terminal && p->options->isolation == ISOLATION_NONE)
		fprintf(
		    out, "warning    the terminal: the leg can write workflow commands to it\n");
	for (size_t i = 0; i < o->n_outputs; i++)
		fprintf(
		    out, "publish    %s\n", error_visible(word, sizeof word, o->outputs[i].name));
	if (p->output_request != PLAN_NO_OUTPUT && !o->no_outputs)
		fprintf(out, "publish    exit-code, tampered, reaped, %slane-class\n",
		    o->audit_path != NULL || o->audit_fd >= 0 ? "audit-head, " : "");
	fprintf(out, "run       ");
	for (char **arg = o->command; arg != NULL && *arg != NULL; arg++)
		fprintf(out, " %s", error_visible(word, sizeof word, *arg));
	fprintf(out, "\n");
	if (fclose(out) != 0) {
		error_set(e, errno, NULL, "can't describe the run");
		free(text);
		return NULL;
	}
	return text;
}
