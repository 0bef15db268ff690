/* A sandbox inside the leg. See sandbox.h. */
#include "bindmount/sandbox.h"

#include "bindmount/sys.h"
#include "bindmount/userns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Dispositions and mask as a fresh process has them. */
static void
reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int
sandbox_run_bubblewrap(void)
{
	reset_signals();
	sys_close_from(STDERR_FILENO + 1);
	/* The file of the process that executes it: itself. No other is sure to be there. */
	return execlp("bwrap", "bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net",
	    "--proc", "/proc", "--dev", "/dev", "/proc/self/exe", "--version", NULL);
}

/* The old root below a new one, as bubblewrap has it, and the new one in its place. */
static int
replace_root(struct error *e)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") != 0 ||
	    chdir("/proc") != 0 || mkdir("newroot", 0700) != 0)
		return error_set(e, errno, userns_cure(errno), "can't mount a tmpfs in a sandbox");
	if (mount("/", "newroot", NULL, MS_BIND | MS_REC, NULL) != 0)
		return error_set(e, errno, userns_cure(errno), "can't bind / in a sandbox");
	/* pivot_root(2): with "." for both the old root ends up on top of the new one */
	if (chdir("newroot") != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		return error_set(e, errno, userns_cure(errno), "can't replace / in a sandbox");
	return 0;
}

static int
mount_own(struct error *e)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return error_set(
		    e, errno, userns_cure(errno), "can't mount a fresh /proc in a sandbox");
	if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "size=64k,mode=0755") != 0 ||
	    mkdir("/dev/pts", 0755) != 0 ||
	    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=620") != 0)
		return error_set(e, errno, userns_cure(errno), "can't mount a /dev in a sandbox");
	return 0;
}

int
sandbox_imitate(uid_t uid, gid_t gid, struct error *e)
{
	struct error *shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	if (shared == MAP_FAILED)
		return error_set(e, errno, NULL, "can't prepare a sandbox");
	pid = sys_fork(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET, NULL);
	if (pid < 0)
		return error_set(e, errno, userns_cure(errno), "can't make a sandbox's namespaces");
	if (pid == 0)
		_exit(userns_map_identity(uid, gid, shared) == 0 && replace_root(shared) == 0 &&
			      mount_own(shared) == 0
			  ? 0
			  : 1);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(e, errno, NULL, "can't wait for a sandbox");
	if (shared->what[0] != '\0')
		*e = *shared;
	else if (status != 0)
		error_set(e, 0, NULL, "a sandbox ended before it was made");
	munmap(shared, sizeof *shared);
	return e->what[0] == '\0' ? 0 : -1;
}
