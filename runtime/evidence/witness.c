/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of an access: see witness.h. Runs in hooks: no lock, no libc. */
#include "evidence/witness.h"

#include "keys.h"
#include "stack/stack.h"

void rt_witness_take(const struct rt_thread *self, const struct rt_access *a, struct rt_witness *w)
{
    const struct rt_image *image = a->image->runtime;
    w->site = (struct rh_site_name){.image = image->number, .site = a->site};
    w->thread = self->id;
    w->parent = self->parent;
    w->address = a->address;
    w->size = a->size;
    w->frame_count = a->frame ? rt_stack_at_key(self, a->frame, w->frames, RH_MAX_FRAMES)
                              : rt_stack_here(self, w->frames, RH_MAX_FRAMES);
    w->lock_count = 0;
    for (uint32_t i = 0; i < self->held_count && w->lock_count < RH_MAX_LOCKS; i++)
        w->locks[w->lock_count++] = (uintptr_t)self->held[i].lock;
}
