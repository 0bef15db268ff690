/*
 * What container engines do to a file system that a root without most of its capabilities is to live in.
 *
 * The kernel's own files go by the uid: /proc/sys, /sys, devices. So
 *   - no mount lets a device node be opened, but those of a minimal /dev: null, zero, full, random, urandom, tty,
 *     terminals and shared memory of its own;
 *   - what sets the kernel up is read-only: /proc/sys, sysrq-trigger, irq, bus and fs, /sys with the control
 *     groups in it, and each other mount of a file system of that kind;
 *   - what shows too much of it is masked: /proc/kcore, keys, timer_list and their like, /sys/firmware;
 *   - another proc file system is covered by nothing at all.
 * A proc with something mounted in it is what the kernel refuses a nested sandbox a fresh one for.
 */
#ifndef BINDMOUNT_ENGINE_H
#define BINDMOUNT_ENGINE_H

#include "bindmount/error.h"

/* In a mount namespace of its own, with a fresh /proc. Needs open_tree(2) and mount_setattr(2). */
int engine_confine(struct error *e);

/* After that: open descriptors 0, 1 and 2 anew in the minimal /dev where they are devices of it. */
int engine_take_descriptors(struct error *e);

#endif
