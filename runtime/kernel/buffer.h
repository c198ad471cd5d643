/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's memory that system calls read and fill, told to the detector as uses (rt.h). What
 * is sent is told of before the KERNEL_SEND of the call: whoever receives it may already write
 * there. What is received is told of after the KERNEL_RECEIVE: it is filled only when it has come.
 *
 * Not told of: what a call reads and writes beside the data, which is descriptions of buffers,
 * addresses, and control messages.
 */
#ifndef RH_RUNTIME_KERNEL_BUFFER_H
#define RH_RUNTIME_KERNEL_BUFFER_H

#include <sys/socket.h>

#include "rt.h"

/* For wrappers, while events are live; leaves errno alone. `what` is KERNEL_SEND or KERNEL_RECEIVE,
 * `moved` how many bytes at most, in all buffers together. */
RT_HIDDEN void rt_buffer_use(const void *start, size_t moved, enum rt_sync what, uintptr_t caller);
RT_HIDDEN void rt_buffers_use(const struct iovec *buffers, size_t count, size_t moved,
                              enum rt_sync what, uintptr_t caller);
/* How much of a buffer is surely filled by a call with these flags: MSG_TRUNC has some sockets
 * throw the data away, and others tell of more than there was room for. */
static inline size_t rt_buffer_filled(size_t size, size_t got, int flags)
{
    return flags & MSG_TRUNC ? 0 : got < size ? got : size;
}

#endif
