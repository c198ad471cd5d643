/* SPDX-License-Identifier: Apache-2.0 */
/* The names of sockets: see names.h. */
#include "kernel/names.h"

enum { ENTRIES = 256, NEAR = 128 };

/* Each word has the inode and the generation, so that two threads may write an entry at once. From
 * above: 32 bits of inode, 8 of the generation, 8 that differ, 16 of a port. */
static struct {
    _Atomic uint64_t own, peer; /* and the family; and whether it is near */
} entries[ENTRIES];

static _Atomic uint32_t generation = 1;

static uint64_t pack(uint64_t inode, uint32_t since, uint8_t more, uint16_t port)
{
    return inode << 32 | (uint64_t)(since & 0xff) << 24 | (uint64_t)more << 16 | port;
}

static bool is_of(uint64_t word, uint64_t inode)
{
    return word && word >> 24 == pack(inode, atomic_load(&generation), 0, 0) >> 24;
}

uint32_t rt_names_generation(void)
{
    return atomic_load(&generation);
}

/* The number alone would come again. */
void rt_names_forget(void)
{
    atomic_fetch_add(&generation, 1);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        atomic_store_explicit(&entries[i].own, 0, memory_order_relaxed);
        atomic_store_explicit(&entries[i].peer, 0, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

bool rt_names_find(uint64_t inode, struct rt_names *names)
{
    uint64_t own = atomic_load(&entries[inode % ENTRIES].own);
    uint64_t peer = atomic_load(&entries[inode % ENTRIES].peer);
    if (inode > UINT32_MAX || !is_of(own, inode) || !is_of(peer, inode))
        return false;
    *names = (struct rt_names){
        .family = (uint8_t)(own >> 16),
        .is_near = peer >> 16 & NEAR,
        .own = (uint16_t)own,
        .peer = (uint16_t)peer,
    };
    return true;
}

void rt_names_keep(uint64_t inode, const struct rt_names *names, uint32_t since)
{
    if (inode > UINT32_MAX || since != atomic_load(&generation))
        return;
    uint8_t near = names->is_near ? NEAR : 0;
    atomic_store(&entries[inode % ENTRIES].own, pack(inode, since, names->family, names->own));
    atomic_store(&entries[inode % ENTRIES].peer, pack(inode, since, near, names->peer));
}
