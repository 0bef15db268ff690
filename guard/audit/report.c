/* A record as one page. See report.h. */
#include "guard/audit/report.h"

#include "bindmount/cleanup.h"
#include "guard/audit/page.h"
#include "guard/audit/place.h"
#include "guard/audit/runs.h"
#include "guard/audit/show.h"
#include "guard/chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The verdict comes first on the page and is known last, so the rest waits in files without a name. */
struct reporting {
	struct runs runs;
	FILE *rows, *sections;
};

static int
put_run(void *arg, const struct run *r, struct error *e)
{
	struct reporting *p = arg;

	if (page_row(p->rows, r) != 0 || page_run(p->sections, r) != 0)
		return error_set(e, ENOMEM, NULL, "can't write about a run");
	if (ferror(p->rows) || ferror(p->sections))
		return error_set(e, errno, "make room in TMPDIR, or /tmp", "can't keep the report");
	return 0;
}

static int
take_line(
    void *arg, uint64_t number, struct audit_line *l, const unsigned char *hash, struct error *e)
{
	struct reporting *p = arg;

	return runs_add(&p->runs, number, l, hash, e);
}

static int
read_record(struct reporting *p, struct audit_arguments *a, struct error *e)
{
	p->rows = tmpfile();
	p->sections = tmpfile();
	if (p->rows == NULL || p->sections == NULL)
		return error_set(e, errno, NULL, "can't make a temporary file");
	p->runs = (struct runs){.choice = &a->choice, .finished = put_run, .arg = p};
	a->walk.content = true;
	a->walk.line = take_line;
	a->walk.arg = p;
	return walk_file(&a->walk, e) != 0 ? -1 : runs_end(&p->runs, e);
}

static int
copy(FILE *out, FILE *in)
{
	char buffer[16 * 1024];
	size_t n;

	rewind(in);
	while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
		if (fwrite(buffer, 1, n, out) != n)
			return -1;
	return ferror(in) ? -1 : 0;
}

static int
put_page(FILE *out, const struct reporting *p, const struct walk *w)
{
	if (page_top(out, w, p->runs.shown) != 0)
		return -1;
	page_rows_begin(out);
	if (copy(out, p->rows) != 0)
		return -1;
	page_rows_end(out);
	if (copy(out, p->sections) != 0)
		return -1;
	page_end(out);
	return fflush(out) != 0 || ferror(out) ? -1 : 0;
}

static int
write_page(const struct reporting *p, const struct audit_arguments *a, mode_t mask, struct error *e)
{
	struct place place;
	int result;

	if (strcmp(a->output, "-") == 0)
		return put_page(stdout, p, &a->walk) == 0
		           ? 0
		           : error_set(e, errno, NULL, "can't write to standard output");
	if (place_open(&place, a->output, 0666 & ~mask, e) != 0)
		return -1;
	result = put_page(place.out, p, &a->walk) == 0
	             ? place_commit(&place, e)
	             : error_set(e, errno, NULL, "can't write %s", a->output);
	place_close(&place);
	return result;
}

/* The page would take its place. */
static int
refuse_record(const struct audit_arguments *a, struct error *e)
{
	struct stat in, out;
	bool from_input = strcmp(a->walk.path, "-") == 0;

	if (strcmp(a->output, "-") == 0 ||
	    (from_input ? fstat(STDIN_FILENO, &in) : stat(a->walk.path, &in)) != 0 ||
	    lstat(a->output, &out) != 0 || !chain_same(&in, &out))
		return 0;
	return error_set(e, 0, "name another file", "-o %s is the record itself", a->output);
}

int
report(struct audit_arguments *a, mode_t mask, int *status, struct error *e)
{
	struct reporting p = {0};
	AUTO_FREE char *broken = NULL;
	int result = refuse_record(a, e);

	if (result == 0)
		result = read_record(&p, a, e);
	if (result == 0)
		result = write_page(&p, a, mask, e);
	broken = result == 0 ? show_broken(&a->walk) : NULL;
	if (broken != NULL)
		fprintf(stderr, "legguard: %s\n", broken);
	*status = result == 0 && a->walk.verdict == WALK_BROKEN;
	if (p.rows != NULL)
		(void)fclose(p.rows);
	if (p.sections != NULL)
		(void)fclose(p.sections);
	runs_free(&p.runs);
	walk_free(&a->walk);
	return result;
}
