/* Writing to somebody who may not be reading. See bounded.h. */
#include "guard/bounded.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 50 };

static void
interrupt(int signal)
{
	(void)signal; /* that it has a handler makes the write end with EINTR */
}

int64_t
bounded_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* What is in progress while the timer ticks. */
struct ticking {
	struct sigaction action;
	sigset_t mask;
};

static int
begin_ticks(struct ticking *t)
{
	/* It ticks on: the first one may come before the call has begun. */
	static const struct itimerval ticks = {
	    .it_interval.tv_usec = TICK_MS * 1000, .it_value.tv_usec = TICK_MS * 1000};
	struct sigaction action = {.sa_handler = interrupt};
	sigset_t alarm;

	sigemptyset(&action.sa_mask);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (sigaction(SIGALRM, &action, &t->action) != 0 ||
	    setitimer(ITIMER_REAL, &ticks, NULL) != 0)
		return -1;
	sigprocmask(SIG_UNBLOCK, &alarm, &t->mask);
	return 0;
}

/* Keeps errno. */
static void
end_ticks(const struct ticking *t)
{
	static const struct itimerval off;
	int errnum = errno;

	setitimer(ITIMER_REAL, &off, NULL);
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
	(void)sigaction(SIGALRM, &t->action, NULL);
	errno = errnum;
}

ssize_t
bounded_write(int fd, const void *data, size_t size)
{
	struct ticking t;
	ssize_t n;

	if (begin_ticks(&t) != 0)
		return -1;
	n = write(fd, data, size);
	end_ticks(&t);
	if (n < 0 && errno == EINTR)
		errno = EAGAIN;
	return n;
}

ssize_t
bounded_recv(int fd, void *data, size_t size, bool *brought)
{
	struct iovec part = {.iov_base = data, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct ticking t;
	ssize_t n;

	if (begin_ticks(&t) != 0)
		return -1;
	/* Without room for them descriptors are dropped, and the flag says so. */
	n = recvmsg(fd, &message, MSG_DONTWAIT);
	end_ticks(&t);
	*brought = n >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
	if (n < 0 && errno == EINTR)
		errno = EAGAIN;
	return n;
}

void
bounded_close(int fd)
{
	struct ticking t;
	bool ticks = begin_ticks(&t) == 0;

	(void)close(fd);
	if (ticks)
		end_ticks(&t);
}

static bool
is_cancelled(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		   sigismember(&pending, SIGHUP) == 1);
}

/* False when nobody took anything for too long. */
static bool
wait_for_room(int fd, int64_t *until, bool *cancelled)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int ready;

	for (;;) {
		int64_t now = bounded_now();

		if (!*cancelled && is_cancelled()) {
			*cancelled = true;
			if (now + BOUNDED_LAST_MS < *until)
				*until = now + BOUNDED_LAST_MS;
		}
		ready = poll(&p, 1, now < *until ? TICK_MS : 0);
		/* Whose descriptors were taken (prlimit) can't ask; the write is bounded in any case. */
		if (ready > 0 || (ready < 0 && errno == EINVAL))
			return true;
		if (now >= *until)
			return false;
	}
}

int
bounded_write_all(int fd, const char *data, size_t size, int64_t until)
{
	bool cancelled = false;

	while (size > 0) {
		ssize_t n;

		if (!wait_for_room(fd, &until, &cancelled)) {
			errno = ETIMEDOUT;
			return -1;
		}
		n = bounded_write(fd, data, size);
		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n < 0 && bounded_now() >= until) {
			errno = ETIMEDOUT; /* poll saw room that the write did not find */
			return -1;
		}
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

int
bounded_lock(int fd, int64_t until)
{
	struct ticking before;
	int result = flock(fd, LOCK_EX | LOCK_NB);

	if (result == 0 || errno != EWOULDBLOCK || bounded_now() >= until)
		return result;
	if (begin_ticks(&before) != 0)
		return -1;
	do
		result = flock(fd, LOCK_EX);
	while (result != 0 && errno == EINTR && bounded_now() < until && !is_cancelled());
	end_ticks(&before);
	if (result != 0 && errno == EINTR)
		errno = EWOULDBLOCK;
	return result;
}
