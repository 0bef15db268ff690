/* What came of an attack. See judge.h. */
#include "guard/attack/judge.h"

#include "bindmount/cleanup.h"
#include "guard/attack/leg.h"
#include "guard/attack/raw.h"
#include "guard/bounded.h"
#include "guard/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
	LATE_MS = 300,     /* what something that is alive gets to show what it does */
	JANITOR_MS = 3000, /* what may take to be put back where the launcher itself was killed */
	KILLED = 128 + 9,
};

static bool
say(struct verdict *v, enum verdict_kind kind, const char *text)
{
	v->kind = kind;
	snprintf(v->detail, sizeof v->detail, "%.240s", text);
	return true;
}

/* --- one look for each kind of evidence; each is true, and says why, if the attack got through */

static bool
is_alive(const struct evidence *e)
{
	if (flock(e->alive, LOCK_EX | LOCK_NB) != 0)
		return true;
	(void)flock(e->alive, LOCK_UN);
	return false;
}

/* Its notes may have been turned off; the leg of no attack but one ends with such a status itself. */
static bool
was_reported(const struct evidence *e)
{
	return e->own && (e->status == EXIT_TAMPERED || e->status == EXIT_RESTORE ||
			     strstr(e->errors, "tampered: ") != NULL);
}

static bool
look_at_step(struct verdict *v, const struct evidence *e)
{
	char what[256];

	return step_differs(e->before, e->step, e->marker, was_reported(e), what, sizeof what) &&
	       say(v, VERDICT_THROUGH, what);
}

/* What a killed launcher leaves is put back by somebody who is not waited for. */
static bool
look_at_step_again(struct verdict *v, const struct evidence *e)
{
	int64_t until = bounded_now() + JANITOR_MS;
	struct verdict now = *v;

	while (look_at_step(&now, e)) {
		if (!e->own || e->status != KILLED || bounded_now() > until) {
			*v = now;
			return true;
		}
		(void)poll(NULL, 0, 10);
	}
	return false;
}

static bool
look_for_survivors(struct verdict *v, const struct evidence *e)
{
	int64_t until = bounded_now() + LATE_MS;
	struct verdict late = {0};
	char text[256];

	if (!is_alive(e))
		return false;
	while (bounded_now() < until && !look_at_step(&late, e) && is_alive(e))
		(void)poll(NULL, 0, 5);
	snprintf(text, sizeof text, "something %s after the wrapper %s returned%s%.160s",
	    bounded_now() < until && late.detail[0] == '\0' ? "was alive for a moment" : "is alive",
	    bounded_now() < until && late.detail[0] == '\0' ? "had" : "has",
	    late.detail[0] != '\0' ? ", and " : "", late.detail);
	return say(v, VERDICT_THROUGH, text);
}

/* Those have to be looked at before the file is opened for writing, which a lease would notice. */
static bool
look_for_locks(struct verdict *v, const struct evidence *e)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const char *path = e->step->path[STEP_OUTPUT];
	AUTO_FD int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == EWOULDBLOCK &&
		       say(v, VERDICT_THROUGH, "a lease on the file is left");
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return say(v, VERDICT_THROUGH, "a lock on the file is left");
	return fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK &&
	       say(v, VERDICT_THROUGH, "a record lock on the file is left");
}

static bool
look_at_terminal(struct verdict *v, const struct evidence *e)
{
	struct pollfd p = {.fd = e->terminal, .events = POLLIN};

	return e->terminal >= 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0 &&
	       say(v, VERDICT_THROUGH, "something was typed at the terminal of the step");
}

static bool
look_in_keyring(struct verdict *v, const struct evidence *e, int ring, const char *what)
{
	char name[128];
	long key;

	snprintf(name, sizeof name, "legguard-attack-%.64s", e->marker);
	key = raw_keyctl(
	    KEYCTL_SEARCH, (unsigned long)ring, (unsigned long)"user", (unsigned long)name, 0);
	if (key < 0)
		return false;
	(void)raw_keyctl(KEYCTL_UNLINK, (unsigned long)key, (unsigned long)ring, 0, 0);
	return say(v, VERDICT_THROUGH, what);
}

static bool
look_at_processes(struct verdict *v, const struct evidence *e)
{
	char what[256];

	if (e->runner_killed)
		return say(v, VERDICT_THROUGH, "the process that started the wrapper was killed");
	if (e->runner_stopped)
		return say(v, VERDICT_THROUGH, "the process that started the wrapper was stopped");
	if (e->hung)
		return say(v, VERDICT_THROUGH, "the wrapper did not return");
	return bystander_is_hurt(e->bystander, what, sizeof what) && say(v, VERDICT_THROUGH, what);
}

static bool
look_at_output(struct verdict *v, const struct evidence *e)
{
	static const char command[] = "::set-output name=lane-class";
	const char *found = strstr(e->output, command);

	return found != NULL && (found == e->output || found[-1] == '\n') &&
	       say(v, VERDICT_THROUGH,
		   "a workflow command of the leg's is in the wrapper's output");
}

/* The value of the last lane-class that legguard published, or "". */
static void
read_class(const struct evidence *e, char *class, size_t size)
{
	static const char name[] = "lane-class<<";
	char text[8192], *entry = NULL, *value, *end;
	AUTO_FD int fd = open(e->step->path[STEP_OUTPUT], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;

	class[0] = '\0';
	text[n > 0 ? n : 0] = '\0';
	for (char *p = text; (p = strstr(p, name)) != NULL; p++)
		entry = p;
	if (entry == NULL || (value = strchr(entry, '\n')) == NULL ||
	    (end = strchr(value + 1, '\n')) == NULL)
		return;
	snprintf(class, size, "%.*s", (int)(end - value - 1), value + 1);
}

/* Whoever publishes nothing itself leaves that to others, who need the room for it. */
static bool
has_room(const struct evidence *e)
{
	static char block[16384];
	char path[STEP_PATH];
	AUTO_FD int fd = open(e->step->path[STEP_OUTPUT], O_WRONLY | O_APPEND | O_CLOEXEC);

	snprintf(path, sizeof path, "%.256s/room", e->step->top);
	memset(block, '\n', sizeof block);
	AUTO_FD int made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return made >= 0 && fd >= 0 && write(fd, block, sizeof block) == (ssize_t)sizeof block;
}

/* legguard's own words have to be there, and true. */
static bool
look_at_results(struct verdict *v, const struct evidence *e)
{
	char class[64];

	read_class(e, class, sizeof class);
	if ((e->attack->wants & ATTACK_OWN) != 0)
		return class[0] != '\0' && strcmp(class, "error") != 0 &&
		       say(v, VERDICT_THROUGH, "lane-class is not what the leg's status says");
	return (e->attack->wants & ATTACK_SMALL_FS) != 0 && class[0] == '\0' && !has_room(e) &&
	       say(v, VERDICT_THROUGH, "there is no room to publish anything");
}

/* --- the attack's own words */

/* The first line that begins with `word`, without that; false if there is none. */
static bool
find_line(const char *output, const char *word, char *line, size_t size)
{
	for (const char *p = output; (p = strstr(p, word)) != NULL; p++)
		if (p == output || p[-1] == '\n') {
			p += strlen(word);
			snprintf(line, size, "%.*s", (int)strcspn(p, "\n"), p);
			return true;
		}
	return false;
}

enum { NAMES = IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_CREATE };

/* What inotify saw: a name that was moved for a while, into what; and was any decoy touched at all? */
static bool
see_changes(const struct evidence *e, bool *touched, char *what, size_t size)
{
	char events[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = e->watch->fd >= 0 ? read(e->watch->fd, events, sizeof events) : -1;
	bool moved = false;

	*touched = e->watch->fd < 0;
	for (char *p = events; n > 0 && p < events + n;) {
		const struct inotify_event *event = (const struct inotify_event *)p;

		for (int i = 0; i < STEP_ITEMS && (event->mask & NAMES) != 0 && !moved; i++)
			if (event->len > 0 && (i <= STEP_OTHER_ENV || i >= STEP_FILES) &&
			    strcmp(event->name, strrchr(e->step->path[i], '/') + 1) == 0) {
				snprintf(what, size, "%.160s was moved for a while", event->name);
				moved = true;
			}
		/* Into that one the wrapper may write itself; legguard says what it had to put back. */
		*touched |=
		    (event->mask & NAMES) == 0 && (!e->own || event->wd != e->watch->output);
		p += sizeof *event + event->len;
	}
	return moved;
}

static void
weigh_words(struct verdict *v, const struct evidence *e)
{
	char line[240], name[240];
	bool moved, touched, kept;

	v->reported = was_reported(e);
	moved = see_changes(e, &touched, name, sizeof name);
	kept = (e->attack->wants & ATTACK_HOLDS) != 0;
	if (find_line(e->output, LEG_GOT, line, sizeof line))
		(void)say(v, VERDICT_THROUGH, line);
	else if (moved)
		(void)say(v, VERDICT_REPAIRED, name);
	else if (find_line(e->output, LEG_DID, line, sizeof line)) {
		(void)say(v, VERDICT_REPAIRED, line);
		if (!touched && !v->reported && !kept) {
			snprintf(name, sizeof name, "%.160s: only in what it alone sees", line);
			(void)say(v, VERDICT_BLOCKED, name);
		}
	} else if (v->reported)
		(void)say(v, VERDICT_REPAIRED, "the wrapper says so");
	else if (find_line(e->output, LEG_FAILED, line, sizeof line) ||
		 find_line(e->output, LEG_TRIED, line, sizeof line))
		(void)say(v, VERDICT_BLOCKED, line);
	else if (find_line(e->output, LEG_UNTRIED, line, sizeof line))
		(void)say(v, VERDICT_UNTRIED, line);
	else
		(void)say(v, VERDICT_UNTRIED, "the leg said nothing");
}

void
judge(struct verdict *v, const struct evidence *e)
{
	const char *errors = e->errors;
	size_t n = strlen(errors);

	*v = (struct verdict){.status = e->hung ? -1 : e->status};
	snprintf(v->said, sizeof v->said, "%s",
	    n >= sizeof v->said ? errors + n - sizeof v->said + 1 : errors);
	weigh_words(v, e);
	/* What is alive changes what is looked at, so that comes first. */
	(void)(look_for_survivors(v, e) || look_at_processes(v, e) || look_at_step_again(v, e) ||
	       look_for_locks(v, e) || look_at_terminal(v, e) ||
	       look_in_keyring(
		   v, e, KEY_SPEC_USER_KEYRING, "a key is left in the user's keyring") ||
	       look_in_keyring(
		   v, e, KEY_SPEC_SESSION_KEYRING, "a key is left in the session's keyring") ||
	       look_at_output(v, e) || look_at_results(v, e));
}

int
judge_watch(struct judge_watch *w, const struct step *s, bool own)
{
	static const enum step_item directories[] = {STEP_COMMANDS, STEP_TEMP, STEP_JOB};
	/* legguard opens for writing what it guards, to see that it can. */
	const uint32_t contents = IN_MODIFY | IN_ATTRIB | (own ? 0 : IN_CLOSE_WRITE);

	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	for (int i = 0; i < STEP_FILES && w->fd >= 0; i++) {
		int wd = inotify_add_watch(w->fd, s->path[i], contents);

		if (wd < 0)
			return -1;
		if (i == STEP_OUTPUT)
			w->output = wd;
	}
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		if (inotify_add_watch(w->fd, s->path[directories[i]], NAMES | IN_ATTRIB) < 0)
			return -1;
	return inotify_add_watch(w->fd, s->top, NAMES) < 0 ? -1 : 0;
}
