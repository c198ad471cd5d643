/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order through the kernel: one thread writes to a pipe what another reads, connects where another
 * accepts, wakes another that polls. What the kernel hands from one to the other is an object of
 * synchronisation like any other; this is how it is named.
 *
 * An object must be the same for both sides, or an order that is there is not seen and a race is
 * made up; objects that are shared by more than they need to be only hide races. So each is as
 * narrow as can be told for certain, at the cost of one or two system calls while events are live:
 * - files, pipes, FIFOs, message queues: device and inode, the same at both ends. The kernel's
 *   anonymous files (eventfd, epoll, signalfd, timerfd, inotify) have one inode in common, and so
 *   one object.
 * - internet sockets: the port that is sent to, which is the port of the one who receives, whatever
 *   address or family leads there; and the socket itself, for an answer that a thread receives has
 *   much to do with the request that another has sent on it.
 * - all other sockets of a family (local ones above all): one object, for the two ends have
 *   different inodes and mostly no names.
 * - terminals and pseudo-terminals: one object, for the same reason.
 * Numbers are scattered over a few thousand objects, so that a server with a million connections
 * has no more.
 *
 * Who polls is told that something is ready, not what was sent, and mostly reads it next; but he
 * may also go by the word of the poll alone. epoll does not even say which descriptor it was. So
 * there is one object, *readiness*, that all polls acquire, and to which all sends release that may
 * wake someone in this process: not those to files, which are always ready, nor to other machines,
 * nor to the standard streams, where logs go. A server's threads thus do not learn from each other
 * with every answer they send.
 *
 * A child process, or the parent of one, may hear of something on one pipe or local socket and
 * answer on another. So in a process that has made a child, or is one, all of these also are one
 * object, that of children.
 *
 * Not seen: what other processes and machines do in between. The two requests that a client sends
 * one after the other are not ordered, nor are what two pipes lead to that an executed program was
 * given.
 */
#ifndef RH_RUNTIME_KERNEL_KERNEL_H
#define RH_RUNTIME_KERNEL_KERNEL_H

#include "rt.h"

/* What an object of the kernel's is known by. */
enum rt_kernel {
    RT_KERNEL_FILE, /* device, inode */
    RT_KERNEL_PORT,
    RT_KERNEL_FAMILY, /* of sockets */
    RT_KERNEL_TERMINAL,
    RT_KERNEL_READINESS,
    RT_KERNEL_MESSAGES,   /* identifier, as of msgget */
    RT_KERNEL_SEMAPHORES, /* identifier, as of semget */
    RT_KERNEL_CHILDREN,
};

RT_HIDDEN const volatile void *rt_kernel_object(enum rt_kernel kind, uint64_t a, uint64_t b);

/* What follows is for wrappers, while events are live; all of it may run in signal handlers and
 * leaves errno alone. In a child that shares our memory nothing is told. */

/* KERNEL_SEND and KERNEL_RECEIVE of an object that is known without a descriptor. */
RT_HIDDEN void rt_kernel_release(enum rt_kernel kind, uint64_t a);
RT_HIDDEN void rt_kernel_acquire(enum rt_kernel kind, uint64_t a);
/* A child is about to be made. */
RT_HIDDEN void rt_kernel_has_relatives(void);
/* Before a thread sends on a descriptor, or closes it. */
RT_HIDDEN void rt_kernel_sending(int fd);
/* The same where the call may name an address; `to` is the program's and may be nonsense. */
RT_HIDDEN void rt_kernel_sending_to(int fd, const void *to, size_t size);
/* After a thread has received something, or the end, from a descriptor. */
RT_HIDDEN void rt_kernel_received(int fd);
/* Before a socket listens; after it was connected. */
RT_HIDDEN void rt_kernel_listening(int fd);
RT_HIDDEN void rt_kernel_connected(int fd);
/* Copies what the program points to, if it is there. */
RT_HIDDEN bool rt_kernel_peek(void *into, const void *from, size_t size);

#endif
