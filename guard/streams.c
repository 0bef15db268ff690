/* The leg's output. See streams.h. */
#include "guard/streams.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* After 2>&1 one pipe serves both, so that the order between them is kept as well. */
static bool
are_one_file(int a, int b)
{
	struct stat sta, stb;

	return fstat(a, &sta) == 0 && fstat(b, &stb) == 0 && sta.st_dev == stb.st_dev &&
	       sta.st_ino == stb.st_ino;
}

/* What is to be done with a stream besides passing it on. */
static void
listen_to(struct relay *r, struct outcome *out, size_t i)
{
	r->tail = out->keeps_output ? &out->output[i] : NULL;
	r->neutralizer = out->neutralizes ? &out->neutralizer[i] : NULL;
	r->counter = out->counts_commands ? &out->neutralizer[i] : NULL;
}

static int
open_relays(
    struct relay relay[STREAMS], struct leg_plan *plan, struct outcome *out, struct error *e)
{
	bool classifies = out->classifies;

	if ((classifies ? relay_open_to_read(&relay[0], &out->classifier, e)
			: relay_open(&relay[0], STDOUT_FILENO, e)) != 0)
		return -1;
	if (!classifies)
		listen_to(&relay[0], out, 0);
	plan->output[0] = plan->output[1] = relay[0].leg_end;
	out->one_stream = !classifies && are_one_file(STDOUT_FILENO, STDERR_FILENO);
	if (out->one_stream)
		return 0;
	if (relay_open(&relay[1], STDERR_FILENO, e) != 0)
		return -1;
	listen_to(&relay[1], out, 1);
	plan->output[1] = relay[1].leg_end;
	return 0;
}

/* Or the leg could not open /dev/stdout, which is a new open of its pipe. */
static int
give_pipes(const struct relay relay[STREAMS], const struct leg_plan *plan, struct error *e)
{
	for (size_t i = 0; plan->kind == IDENTITY_USER && i < STREAMS; i++)
		if (relay[i].leg_end >= 0 && fchown(relay[i].leg_end, plan->uid, plan->gid) != 0)
			return error_set(e, errno, "give root CAP_CHOWN",
			    "can't give the leg the pipes for its output");
	return 0;
}

int
streams_open(
    struct relay relay[STREAMS], struct leg_plan *plan, struct outcome *out, struct error *e)
{
	return open_relays(relay, plan, out, e) != 0 ? -1 : give_pipes(relay, plan, e);
}
