/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers of system calls: see buffer.h. */
#include "kernel/buffer.h"

#include <limits.h>
#include <sys/uio.h>

#include "intercept/fork.h"
#include "kernel/kernel.h"
#include "sync.h"

/* The kernel moves no more in one call, whatever it is asked for. */
#define MOST_MOVED 0x7ffff000u

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void rt_buffer_use(const void *start, size_t moved, enum rt_sync what, uintptr_t caller)
{
    if (rt_fork_is_home())
        rt_sync_use(start, least(moved, MOST_MOVED), what, caller);
}

/* The list is the program's, and the call may yet refuse it. */
void rt_buffers_use(const struct iovec *buffers, size_t count, size_t moved, enum rt_sync what,
                    uintptr_t caller)
{
    enum { PART = 16 };
    struct iovec part[PART];
    if (!rt_sync_wants_uses() || !rt_fork_is_home() || count > IOV_MAX)
        return;
    moved = least(moved, MOST_MOVED);
    for (size_t i = 0; i < count && moved; i++) {
        size_t size = least(count - i, PART) * sizeof part[0];
        if (i % PART == 0 && !rt_kernel_peek(part, buffers + i, size))
            return;
        const struct iovec *buffer = &part[i % PART];
        size_t touched = least(buffer->iov_len, moved);
        rt_sync_use(buffer->iov_base, touched, what, caller);
        moved -= touched;
    }
}
