/* SPDX-License-Identifier: Apache-2.0 */
/* Where every key that is on arrives: see hook.h. Runs with only the general registers saved. */
#include "hook.h"

#include "budget.h"
#include "keys.h"
#include "loss.h"
#include "opaque.h"
#include "sys.h"

_Atomic uint32_t rt_hook_scout_window, rt_hook_scout_over = UINT32_MAX;

static bool is_scout_muted(void)
{
    return atomic_load_explicit(&rt_hook_scout_over, memory_order_relaxed) ==
           atomic_load_explicit(&rt_hook_scout_window, memory_order_relaxed);
}

static bool orders_threads(uint8_t access)
{
    return access != RH_ACCESS_READ && access != RH_ACCESS_WRITE;
}

/* The program may have asked us to look away (AnnotateIgnoreReadsBegin and its like). */
static bool is_ignored(const struct rt_thread *self, uint8_t access)
{
    bool only_reads = access == RH_ACCESS_READ || access == RH_ACCESS_ATOMIC_READ;
    return only_reads ? self->ignore_reads != 0 : self->ignore_writes != 0;
}

/* Of what a call touches, only what is sure. */
static uint64_t size_of(const struct rh_site_record *site, const struct rh_hook_frame *frame)
{
    uint64_t size = site->flags & RH_SITE_SIZED ? frame->size : site->size;
    return site->flags & RH_SITE_AT_MOST ? size != 0 : size;
}

/* In a signal handler inside a hook, plain accesses are left out; what orders threads is not, or
 * someone would not learn what he should. Returns whom it was for, enum rt_keys_user or'ed. */
static uint8_t tell(struct rt_thread *self, const struct rt_detector *detector,
                    const struct rh_key_record *key, struct rh_image *image,
                    const struct rh_hook_frame *frame)
{
    const struct rt_image *r = image->runtime;
    bool is_muted = is_scout_muted();
    uint8_t all_users = 0;
    for (uint32_t s = key->first_site; s < key->first_site + key->site_count; s++) {
        uint8_t users = __atomic_load_n(&r->site_armed[s], __ATOMIC_RELAXED);
        if (!users || (users == RT_KEYS_SCOUT && is_muted))
            continue;
        all_users |= users;
        const struct rh_site_record *site = &image->sites[s];
        if (rt_unlikely(self->in_hook > 1) && !orders_threads(site->access)) {
            rt_lose(RH_LOSS_HOOK_NESTED);
            continue;
        }
        bool ignored = rt_unlikely(is_ignored(self, site->access));
        if (ignored && !orders_threads(site->access))
            continue;
        struct rt_access access = {
            .image = image,
            .site = s,
            .kind = site->access,
            .order = site->order,
            .flags = site->flags,
            .ignored = ignored,
            .users = users,
            .address = frame->address + (uintptr_t)(intptr_t)site->offset,
            .size = size_of(site, frame),
            .frame = frame,
        };
        if (key->kind == RH_KEY_AFTER)
            detector->after(self, &access);
        else
            detector->access(self, &access);
    }
    return all_users;
}

/* Who pays for a hook. */
static enum rt_meter meter_of(uint8_t users)
{
    bool is_scouts = !users || (users & (RT_KEYS_SCOUT | RT_KEYS_TASK)) == RT_KEYS_SCOUT;
    return is_scouts ? RT_METER_HOOKS : RT_METER_TASKS;
}

void rt_hook(struct rh_image *image, struct rh_hook_frame *frame)
{
    const struct rt_detector *detector = rt_detector;
    if (rt_unlikely(!detector))
        return;
    struct rt_thread *self = rt_thread_self();
    if (rt_unlikely(!self)) {
        rt_lose(RH_LOSS_HOOK_NO_THREAD);
        rt_opaque(RH_OPAQUE_THREAD);
        return;
    }
    self->in_hook++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t began = rt_meter_begin(self);
    uint8_t users = tell(self, detector, &image->keys[frame->key], image, frame);
    rt_meter_end(self, meter_of(users), began);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->in_hook--;
}

static bool is_outside(struct rt_thread *t, void *arg)
{
    bool *all_outside = arg;
    if (__atomic_load_n(&t->in_hook, __ATOMIC_RELAXED))
        *all_outside = false;
    return *all_outside;
}

/* After the barrier, a thread that is outside will see, when it comes back, what the caller had
 * written before. */
bool rt_hooks_drain(void)
{
    enum { TRIES = 50, WAIT_NS = 200000 };
    _Atomic uint32_t never = 0;
    if (rt_sys_sync_cores() != 0)
        return false;
    for (int i = 0; i < TRIES; i++) {
        bool all_outside = true;
        rt_thread_each(is_outside, &all_outside);
        if (all_outside)
            return true;
        rt_sys_futex_wait(&never, 0, WAIT_NS);
    }
    return false;
}
