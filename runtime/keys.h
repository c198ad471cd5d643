/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switching keys on and off in the images of this process.
 *
 * How it works: a *batch* collects what to change and applies it at once: under one lock, pages of
 * text are made writable (or /proc/self/mem is used where that is refused), one byte is stored per
 * place, pages are restored, and membarrier makes every core see the new code before the batch
 * returns. A key is on while at least one of its sites is armed; a gate is on while a key
 * behind it is. A site is armed while at least one of its users wants it.
 */
#ifndef RH_RUNTIME_KEYS_H
#define RH_RUNTIME_KEYS_H

#include "rt.h"

#define RT_NO_KEY UINT32_MAX

/* Who wants a site armed: bits of struct rt_image's `site_armed`. */
enum rt_keys_user {
    RT_KEYS_ALL = 1,   /* keys=all, keys=flip, and tasks of detectors without a plan */
    RT_KEYS_TASK = 2,  /* it is a site of a task */
    RT_KEYS_ORDER = 4, /* it orders threads, and order is followed for tasks */
    RT_KEYS_SCOUT = 8, /* the scout watches it */
};

/* The runtime's record of an image. The tables are made when its first site is armed. Never freed:
 * an unloaded image's record is kept for its number, and used again if the same image comes back.
 */
struct rt_image {
    struct rh_image *image; /* NULL while it is not loaded */
    uint32_t number;        /* in this run: see racehive/control.h; RH_NO_IMAGE: it takes no part */
    bool is_executable;
    uint32_t key_count, site_count, place_count;
    uint32_t *place_order; /* places sorted by key */
    uint32_t *place_first; /* key_count + 1 entries into place_order */
    uint32_t *key_uses;    /* armed sites of the key; keys that are on, for gates */
    uint32_t *access_key;  /* per site: the key before it */
    uint32_t *after_key;   /* per site: the key after it, or RT_NO_KEY */
    uint8_t *site_armed;   /* enum rt_keys_user, or'ed; read by hooks */
    uintptr_t text_low, text_high;
    int text_protection;
    struct rt_image *next;
};

/* Keys switched in this process, on or off. */
extern RT_HIDDEN _Atomic uint64_t rt_key_switches;

/* One more than the highest number that this process has, and the image of a number, loaded or not;
 * NULL if there is none. */
RT_HIDDEN uint32_t rt_image_count(void);
RT_HIDDEN struct rt_image *rt_image_at(uint32_t number);

/* Arms (or disarms) every site of every image, present and future. False if no key can be switched
 * in this process; the reason has been counted. */
RT_HIDDEN bool rt_keys_all(bool on);
/* Arms or disarms `count` sites of an image for a user in one batch; the first ones if `sites` is
 * NULL. */
RT_HIDDEN bool rt_keys_sites(struct rt_image *image, const uint32_t *sites, uint32_t count,
                             enum rt_keys_user user, bool on);

RT_HIDDEN void rt_keys_fork_before(void);
RT_HIDDEN void rt_keys_fork_after(void);

/* --- what an architecture provides (arch/) --- */

enum rt_patch_result { RT_PATCH_DONE, RT_PATCH_FOREIGN, RT_PATCH_STACK_ADDRESS };

/* The byte to store at `code` to switch the key there, given what is there now. */
RT_HIDDEN enum rt_patch_result rt_arch_key_byte(const uint8_t *code, bool is_gate, bool on,
                                                uint8_t *byte);
/* Where the code at the key goes on after a hook, and its stack pointer. */
RT_HIDDEN uintptr_t rt_arch_resume(const struct rh_hook_frame *frame);
RT_HIDDEN uintptr_t rt_arch_stack(const struct rh_hook_frame *frame);

/* Called by each image (glue.c). Its address is also the object by which the loader's lock orders
 * what constructors and destructors do. */
RT_EXPORT void __rh_image_register(struct rh_image *image);

#endif
