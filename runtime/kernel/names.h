/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of sockets, kept by inode: asking the kernel for them at every message would cost a
 * busy server more than all else that is done for its order.
 *
 * How it works: a small lossy table. The kernel numbers sockets one after the other, so an inode is
 * not another socket's for a long time. Kept are only names that stay as they are until someone
 * in this process connects a socket anew: that begins another *generation*, and what was kept
 * before is void.
 */
#ifndef RH_RUNTIME_KERNEL_NAMES_H
#define RH_RUNTIME_KERNEL_NAMES_H

#include "rt.h"

struct rt_names {
    uint8_t family;
    bool is_near;       /* the peer is on this machine, as far as addresses tell */
    uint16_t own, peer; /* ports; 0: none */
};

/* Read before the kernel is asked for what is then kept. */
RT_HIDDEN uint32_t rt_names_generation(void);
/* After a socket has been connected, or may have been. */
RT_HIDDEN void rt_names_forget(void);

RT_HIDDEN bool rt_names_find(uint64_t inode, struct rt_names *names);
RT_HIDDEN void rt_names_keep(uint64_t inode, const struct rt_names *names, uint32_t generation);

#endif
