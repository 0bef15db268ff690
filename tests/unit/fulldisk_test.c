/*
 * What was reserved before the leg is enough after it, on file systems that the leg has filled to
 * the last block and inode: small images of ext4, xfs and btrfs, and a tmpfs.
 *
 * Needs root, for the mounts. They are made in a mount namespace of the test's own, on loop devices
 * that clear themselves, so that nothing stays behind even if the test is killed.
 */
#include "tests/unit/scratch.h"

#include <sched.h>
#include <sys/mount.h>

struct disk {
	const char *name;
	int names;         /* how many more files the leg makes once the blocks are used up */
	const char *size;  /* of the image; NULL: none */
	const char *mkfs;  /* its command line */
	const char *mount; /* that of mount(8), without the mount point */
};

static const struct disk disks[] = {
    {"ext4", 100000, "16M", "mkfs.ext4 -q -F -m 0 -N 512", "mount -o loop,nosuid,nodev"},
    {"xfs", 100000, "300M", "mkfs.xfs -q -f", "mount -o loop,nosuid,nodev"},
    /* Without any metadata space btrfs refuses every rename, and none can be set aside. */
    {"btrfs", 100, "128M", "mkfs.btrfs -q -f", "mount -o loop,nosuid,nodev"},
    {"tmpfs", 100000, NULL, NULL, "mount -t tmpfs -o nosuid,nodev,size=8m,nr_inodes=300 tmpfs"},
};

static int
run(const char *fmt, ...)
{
	char command[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof command, fmt, ap);
	va_end(ap);
	return system(command);
}

/* Put a file system of its own in the place of the scratch directory's contents. */
static void
mount_disk(const struct scratch *x, const struct disk *disk)
{
	char image[192] = "";

	if (disk->size != NULL) {
		snprintf(image, sizeof image, "'%s.image'", x->root);
		if (run("truncate -s %s %s && %s %s >/dev/null 2>&1", disk->size, image, disk->mkfs,
			image) != 0) {
			print_message("skipped: cannot make a file system of %s\n", disk->name);
			skip();
		}
	}
	if (run("%s %s '%s' 2>/dev/null", disk->mount, image, x->root) != 0) {
		print_message("skipped: cannot mount %s\n", disk->name);
		skip();
	}
	if (disk->size != NULL)
		(void)run(
		    "rm %s", image); /* the loop device has it; nothing stays if we are killed */
	dir(x, "work");
	dir(x, "work/temp");
	dir(x, COMMANDS);
	dir(x, "elsewhere");
	put(x, OUTPUT, "kept=1\n");
	put(x, ENV, "");
	put(x, SUMMARY, "# so far\n");
	put(x, OTHER, "other=1\n");
}

static int
scratch_unmount(void **state)
{
	struct scratch *x = *state;
	char image[192];

	snprintf(image, sizeof image, "%s.image", x->root);
	snapshot_free(x->s);
	x->s = NULL;
	(void)umount2(x->root, 0);
	(void)unlink(image);
	return scratch_close(state);
}

/* Take every block, then every inode. */
static void
fill(const struct scratch *x, const struct disk *disk)
{
	static char block[1 << 20];
	char name[64];
	int fd;

	must(fd = open(at(x, "fill"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	memset(block, 'x', sizeof block);
	for (size_t size = sizeof block; size >= 4096; size /= 16)
		while (write(fd, block, size) > 0)
			continue;
	assert_int_equal(errno, ENOSPC);
	close(fd);
	for (int i = 0; i < disk->names; i++) {
		snprintf(name, sizeof name, "elsewhere/fill%d", i);
		fd = open(at(x, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		(void)!write(fd, block, 100);
		close(fd);
	}
}

#define PUBLISHED 60000

static void
publish(struct scratch *x)
{
	static char text[PUBLISHED + 1], all[PUBLISHED + 64];
	int fd;

	memset(text, 'a', PUBLISHED);
	text[PUBLISHED - 1] = '\n';
	if (snapshot_append(x->s, 0, text, PUBLISHED, &x->e) != 0)
		fail_msg("snapshot_append: %s: %s", x->e.what, strerror(x->e.errnum));
	must(fd = open(at(x, OUTPUT), O_RDONLY | O_CLOEXEC));
	assert_int_equal(read(fd, all, sizeof all), 7 + PUBLISHED);
	assert_memory_equal(all, "kept=1\n", 7);
	assert_memory_equal(all + 7, text, PUBLISHED);
	close(fd);
}

static void
reserve(struct scratch *x)
{
	take(x);
	if (snapshot_reserve(x->s, 0, PUBLISHED, &x->e) != 0)
		fail_msg("snapshot_reserve: %s", x->e.what);
}

static void
a_full_disk_takes_what_is_published(struct scratch *x, const struct disk *disk)
{
	reserve(x);
	fill(x, disk);
	restore(x);
	publish(x);
}

static void
a_full_disk_gives_truncated_files_their_bytes_back(struct scratch *x, const struct disk *disk)
{
	const size_t size = (size_t)1 << 20;
	char *bytes = malloc(size), *after = malloc(size);
	int fd;

	must(fd = open(at(x, SUMMARY), O_RDWR | O_CLOEXEC));
	memset(bytes, 's', size);
	assert_int_equal(write(fd, bytes, size), size);
	reserve(x);
	must(truncate(at(x, SUMMARY), 0));
	must(truncate(at(x, OUTPUT), 0));
	fill(x, disk);
	restore(x);
	assert_int_equal(pread(fd, after, size, 0), size);
	assert_memory_equal(bytes, after, size);
	close(fd);
	free(bytes);
	free(after);
	publish(x);
}

static void
a_full_disk_gives_removed_files_back(struct scratch *x, const struct disk *disk)
{
	reserve(x);
	must(unlink(at(x, OUTPUT)));
	must(unlink(at(x, ENV)));
	must(unlink(at(x, SUMMARY)));
	must(unlink(at(x, OTHER)));
	must(rmdir(at(x, COMMANDS)));
	fill(x, disk);
	restore(x);
	reads(x, ENV, "");
	reads(x, SUMMARY, "# so far\n");
	reads(x, OTHER, "other=1\n");
	publish(x);
}

static void
a_full_disk_gives_moved_names_back(struct scratch *x, const struct disk *disk)
{
	reserve(x);
	move(x, OUTPUT, "elsewhere/output");
	move(x, "work/temp", "elsewhere/moved");
	dir(x, "work/temp");
	dir(x, COMMANDS);
	put(x, OUTPUT, "lane-class=ok\n");
	fill(x, disk);
	restore(x);
	publish(x);
}

static void
a_disk_without_room_is_refused_beforehand(struct scratch *x, const struct disk *disk)
{
	put(x, OUTPUT, "kept=1\n");
	fill(x, disk);
	take(x);
	assert_int_equal(snapshot_reserve(x->s, 0, (size_t)4 << 20, &x->e), -1);
	assert_true(x->e.errnum == ENOSPC);
	assert_string_not_equal(x->e.cure, "");
}

static void
what_does_not_fit_is_cut_back(struct scratch *x, const struct disk *disk)
{
	static char text[4 << 20];

	memset(text, 'a', sizeof text);
	take(x);
	fill(x, disk);
	assert_int_equal(snapshot_append(x->s, 0, text, sizeof text, &x->e), -1);
	assert_int_equal(x->e.errnum, ENOSPC);
	reads(x, OUTPUT, "kept=1\n");
}

/* The promise on one disk: what cmocka passes along is the scratch directory, so it is a macro. */
#define ON(number, name)                                                                           \
	static void name##_##number(void **state)                                                  \
	{                                                                                          \
		mount_disk(*state, &disks[number]);                                                \
		name(*state, &disks[number]);                                                      \
	}
#define ON_ALL(name) ON(0, name) ON(1, name) ON(2, name) ON(3, name)

/* clang-format off */
ON_ALL(a_full_disk_takes_what_is_published)
ON_ALL(a_full_disk_gives_truncated_files_their_bytes_back)
ON_ALL(a_full_disk_gives_removed_files_back)
ON_ALL(a_full_disk_gives_moved_names_back)
ON_ALL(a_disk_without_room_is_refused_beforehand)
ON_ALL(what_does_not_fit_is_cut_back)

#define promise(number, fs, name)                                                                  \
	{#name " (" fs ")", name##_##number, scratch_open, scratch_unmount, NULL}
#define promise_all(name)                                                                          \
	promise(0, "ext4", name), promise(1, "xfs", name), promise(2, "btrfs", name),              \
	    promise(3, "tmpfs", name)
/* clang-format on */

static int
own_namespace(void **state)
{
	(void)state;
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
	           ? 0
	           : -1;
}

static void
full_disks_can_be_tried(void **state)
{
	(void)state;
	print_message("skipped: only root can mount a disk to fill\n");
	skip();
}

int
main(void)
{
	const struct CMUnitTest none[] = {cmocka_unit_test(full_disks_can_be_tried)};
	const struct CMUnitTest tests[] = {
	    promise_all(a_full_disk_takes_what_is_published),
	    promise_all(a_full_disk_gives_truncated_files_their_bytes_back),
	    promise_all(a_full_disk_gives_removed_files_back),
	    promise_all(a_full_disk_gives_moved_names_back),
	    promise_all(a_disk_without_room_is_refused_beforehand),
	    promise_all(what_does_not_fit_is_cut_back),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(none, NULL, NULL);
	return cmocka_run_group_tests(tests, own_namespace, NULL);
}
