/* SPDX-License-Identifier: Apache-2.0 */
/* Switching keys in the images of this process: see keys.h. */
#include "keys.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "hook.h"
#include "lock.h"
#include "loss.h"
#include "opaque.h"
#include "service.h"
#include "shared.h"
#include "stack/numbers.h"
#include "stack/stack.h"
#include "sys.h"
#include "text.h"

_Atomic uint64_t rt_key_switches;

/* The executable's own image, when it is instrumented: it is linked together with us. */
extern RT_HIDDEN __attribute__((weak)) struct rh_image __rh_image;

static struct rt_lock images_lock;
static struct rt_image *images;
static uint32_t images_end; /* one more than the highest number */
static bool all_armed;      /* images that come later are armed too */

/* No key can be switched at all: the program runs as if nothing had been asked for. */
static void refuse(enum rh_loss why)
{
    static _Atomic bool said;
    rt_lose(why);
    if (!atomic_exchange(&said, true))
        rt_complain("keys cannot be switched in this process (", rt_loss_words(why),
                    "); running idle");
}

static uint8_t *place_code(const struct rh_key_place *place)
{
    return (uint8_t *)((uintptr_t)&place->code + (uintptr_t)(intptr_t)place->code);
}

static uint8_t *place_flag(const struct rh_key_place *place)
{
    return (uint8_t *)((uintptr_t)&place->flag + (uintptr_t)(intptr_t)place->flag);
}

static uint32_t key_of(const struct rh_key_place *place)
{
    return place->key & ~RH_PLACE_ENTRY;
}

/* Entries of functions ask a sampler. */
static bool is_wanted(const struct rh_key_place *place)
{
    return !(place->key & RH_PLACE_ENTRY) || (rt_detector && rt_detector->sampled);
}

/* --- writing to text --- */

/* How text is written in this batch. */
struct writer {
    struct rt_image *image;
    int mem; /* /proc/self/mem, or -1 when the pages themselves are writable */
};

static bool open_memory(struct writer *w)
{
    w->mem = (int)rt_sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    return w->mem >= 0;
}

/* To make all of an image's text writable takes as long as to write hundreds of bytes one by one.
 */
static bool writer_open(struct writer *w, struct rt_image *image, bool has_few)
{
    static _Atomic bool can_sync; /* asked first: a byte written cannot be unseen */
    size_t size = image->text_high - image->text_low;
    w->image = image;
    w->mem = -1;
    if (!atomic_load(&can_sync) && rt_sys_sync_cores() != 0) {
        refuse(RH_LOSS_KEY_CORES_NOT_SYNCED);
        return false;
    }
    atomic_store(&can_sync, true);
    if (has_few && open_memory(w))
        return true;
    if (rt_sys_mprotect((void *)image->text_low, size, image->text_protection | PROT_WRITE) == 0)
        return true;
    if (open_memory(w))
        return true;
    refuse(RH_LOSS_KEY_TEXT_READ_ONLY);
    return false;
}

static bool writer_store(struct writer *w, uint8_t *at, uint8_t byte)
{
    if (w->mem >= 0)
        return rt_sys_pwrite(w->mem, &byte, 1, (uintptr_t)at) == 1;
    __atomic_store_n(at, byte, __ATOMIC_RELEASE);
    return true;
}

static void writer_close(struct writer *w)
{
    if (w->mem >= 0)
        rt_sys_close(w->mem);
    else
        rt_sys_mprotect((void *)w->image->text_low, w->image->text_high - w->image->text_low,
                        w->image->text_protection);
}

static bool switch_place(struct writer *w, const struct rh_key_place *place, bool is_gate, bool on)
{
    if (place->flag) {
        __atomic_store_n(place_flag(place), (uint8_t)on, __ATOMIC_RELEASE);
        return true;
    }
    uint8_t byte;
    uint8_t *code = place_code(place);
    switch (rt_arch_key_byte(code, is_gate, on, &byte)) {
    case RT_PATCH_DONE:
        break;
    case RT_PATCH_FOREIGN:
        rt_lose(RH_LOSS_KEY_FOREIGN_BYTE);
        return false;
    case RT_PATCH_STACK_ADDRESS:
        rt_lose(RH_LOSS_KEY_STACK_ADDRESS);
        return false;
    }
    if (*code == byte || writer_store(w, code, byte))
        return true;
    rt_lose(RH_LOSS_KEY_TEXT_READ_ONLY);
    return false;
}

static bool switch_key(struct writer *w, uint32_t key, bool on)
{
    struct rt_image *r = w->image;
    bool is_gate = r->image->keys[key].kind == RH_KEY_GATE;
    bool good = true;
    atomic_fetch_add_explicit(&rt_key_switches, 1, memory_order_relaxed);
    for (uint32_t i = r->place_first[key]; i < r->place_first[key + 1]; i++) {
        const struct rh_key_place *place = &r->image->places_begin[r->place_order[i]];
        if (is_wanted(place))
            good &= switch_place(w, place, is_gate, on);
    }
    return good;
}

/* One more, or one less, reason for a key to be on. */
static bool use_key(struct writer *w, uint32_t key, bool on)
{
    uint32_t before = w->image->key_uses[key];
    w->image->key_uses[key] = on ? before + 1 : before - 1;
    if (on ? before != 0 : before != 1)
        return true;
    uint32_t gate = w->image->image->keys[key].gate;
    bool good = switch_key(w, key, on);
    if (gate != RH_NO_GATE)
        good &= use_key(w, gate, on);
    return good;
}

static bool set_site(struct writer *w, uint32_t site, enum rt_keys_user user, bool on)
{
    struct rt_image *r = w->image;
    uint8_t before = r->site_armed[site];
    uint8_t after = (uint8_t)(on ? before | user : before & ~user);
    __atomic_store_n(&r->site_armed[site], after, __ATOMIC_RELAXED);
    if (!before == !after)
        return true;
    bool good = use_key(w, r->access_key[site], on);
    if (r->after_key[site] != RT_NO_KEY)
        good &= use_key(w, r->after_key[site], on);
    return good;
}

/* Ends a batch: only when every core has passed a barrier is the change a fact. */
static bool end_batch(struct writer *w, bool good)
{
    writer_close(w);
    if (rt_sys_sync_cores() == 0)
        return good;
    rt_lose(RH_LOSS_KEY_CORES_NOT_SYNCED);
    return false;
}

/* --- images --- */

static void count_places(struct rt_image *r)
{
    const struct rh_key_place *places = r->image->places_begin;
    for (uint32_t i = 0; i < r->place_count; i++)
        r->place_first[key_of(&places[i]) + 1]++;
    for (uint32_t k = 0; k < r->key_count; k++)
        r->place_first[k + 1] += r->place_first[k];
    uint32_t *fill = r->key_uses; /* all zero again when we are done */
    for (uint32_t i = 0; i < r->place_count; i++) {
        uint32_t key = key_of(&places[i]);
        r->place_order[r->place_first[key] + fill[key]++] = i;
    }
    for (uint32_t k = 0; k < r->key_count; k++)
        fill[k] = 0;
}

static void map_sites(struct rt_image *r)
{
    for (uint32_t s = 0; s < r->site_count; s++)
        r->after_key[s] = RT_NO_KEY;
    for (uint32_t k = 0; k < r->key_count; k++) {
        const struct rh_key_record *key = &r->image->keys[k];
        uint32_t *of = key->kind == RH_KEY_AFTER ? r->after_key : r->access_key;
        for (uint32_t i = 0; i < key->site_count; i++)
            of[key->first_site + i] = k;
    }
}

/* The tables need memory in proportion to the image's keys: not before someone arms one. */
static bool prepare(struct rt_image *r)
{
    if (r->site_armed)
        return true;
    size_t words = (size_t)r->place_count + r->key_count + 1 + r->key_count + 2 * r->site_count;
    uint32_t *block = rt_map(words * sizeof(uint32_t) + r->site_count);
    if (!block) {
        rt_lose(RH_LOSS_KEY_NO_MEMORY);
        return false;
    }
    r->place_order = block;
    r->place_first = r->place_order + r->place_count;
    r->key_uses = r->place_first + r->key_count + 1;
    r->access_key = r->key_uses + r->key_count;
    r->after_key = r->access_key + r->site_count;
    r->site_armed = (uint8_t *)(r->after_key + r->site_count);
    count_places(r);
    map_sites(r);
    return true;
}

/* Checks read what only their detectors prepare. Where pointer stores have no keys, nobody knows
 * what escapes. */
static bool suits_detector(const struct rt_image *r)
{
    static _Atomic bool said;
    uint32_t flags = r->image->counts[2];
    bool wants_stores = rt_detector && rt_detector->wants_stores;
    bool has_checks = flags & RH_IMAGE_CHECKS;
    if (wants_stores ? flags & RH_IMAGE_ESCAPE : !has_checks || (rt_detector && rt_detector->check))
        return true;
    if (!atomic_exchange(&said, true))
        rt_complain(has_checks ? "built with --rh-profile=testing, for fasttrack, literace and "
                                 "atexrace; running idle"
                               : "built without keys at pointer stores, which caper needs: link it "
                                 "again with racehive-cc (without --rh-escape=off); running idle",
                    "", "");
    return false;
}

/* Where pointers are stored and blocks allocated. */
static bool switch_stores(struct writer *w)
{
    struct rt_image *r = w->image;
    bool good = true;
    for (uint32_t k = 0; k < r->key_count; k++)
        if (r->image->keys[k].kind == RH_KEY_ESCAPE && !r->key_uses[k])
            good &= use_key(w, k, true);
    return good;
}

static bool is_spared(const struct rt_image *r, uint32_t site, bool on)
{
    return on && rt_detector && rt_detector->is_known && rt_detector->is_known(r, site);
}

static bool arm(struct rt_image *r, const uint32_t *sites, uint32_t count, enum rt_keys_user user,
                bool on)
{
    enum { FEW = 256 };
    struct writer w;
    if (!r->image || !r->place_count)
        return true;
    if (!suits_detector(r) || !prepare(r) || !writer_open(&w, r, count <= FEW))
        return false;
    r->image->hook = rt_detector && rt_detector->hook ? rt_detector->hook : rt_hook;
    if (rt_detector && rt_detector->check)
        r->image->check = rt_detector->check;
    bool good = true;
    if (on && rt_detector && rt_detector->wants_stores)
        good = switch_stores(&w);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t site = sites ? sites[i] : i;
        if (!is_spared(r, site, on))
            good &= set_site(&w, site, user, on);
    }
    return end_batch(&w, good);
}

bool rt_keys_all(bool on)
{
    bool good = true;
    rt_lock(&images_lock);
    all_armed = on;
    for (struct rt_image *r = images; r; r = r->next)
        good &= arm(r, NULL, r->site_count, RT_KEYS_ALL, on);
    rt_unlock(&images_lock);
    return good;
}

bool rt_keys_sites(struct rt_image *image, const uint32_t *sites, uint32_t count,
                   enum rt_keys_user user, bool on)
{
    rt_lock(&images_lock);
    bool good = arm(image, sites, count, user, on);
    rt_unlock(&images_lock);
    return good;
}

uint32_t rt_image_count(void)
{
    rt_lock(&images_lock);
    uint32_t count = images_end;
    rt_unlock(&images_lock);
    return count;
}

static struct rt_image *find_record(uint32_t number)
{
    struct rt_image *r = images;
    while (r && r->number != number)
        r = r->next;
    return r;
}

struct rt_image *rt_image_at(uint32_t number)
{
    rt_lock(&images_lock);
    struct rt_image *r = find_record(number);
    rt_unlock(&images_lock);
    return r;
}

/* What libc knows of an image that registers. */
struct newcomer {
    struct rh_image *image;
    uint32_t number;
    uintptr_t text_low, text_high;
    int text_protection;
};

static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, const void *at)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (uintptr_t)at >= start && (uintptr_t)at < start + p->p_memsz)
            return p;
    }
    return NULL;
}

/* The segment that holds the image's places: what to make writable and how to restore it. */
static int look_up(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct newcomer *n = arg;
    if (!segment_of(info, n->image))
        return 0;
    n->number = rt_number_of(info, n->image == &__rh_image, n->image->counts[1]);
    const ElfW(Phdr) *p = n->image->places_begin != n->image->places_end
                              ? segment_of(info, place_code(n->image->places_begin))
                              : NULL;
    if (!p)
        return 1;
    uintptr_t start = info->dlpi_addr + p->p_vaddr;
    n->text_low = start & ~(uintptr_t)4095;
    n->text_high = (start + p->p_memsz + 4095) & ~(uintptr_t)4095;
    n->text_protection = (p->p_flags & PF_R ? PROT_READ : 0) |
                         (p->p_flags & PF_W ? PROT_WRITE : 0) | (p->p_flags & PF_X ? PROT_EXEC : 0);
    return 1;
}

/* The record of an image that has come back: all its keys are off, and nobody has armed a site. */
static void begin_anew(struct rt_image *r)
{
    for (uint32_t k = 0; r->site_armed && k < r->key_count; k++)
        __atomic_store_n(&r->key_uses[k], 0, __ATOMIC_RELAXED);
    for (uint32_t s = 0; r->site_armed && s < r->site_count; s++)
        __atomic_store_n(&r->site_armed[s], 0, __ATOMIC_RELAXED);
}

static struct rt_image *make_record(uint32_t number, const struct rh_image *image)
{
    struct rt_image *r = rt_map(sizeof *r);
    if (!r)
        return NULL;
    r->number = number;
    r->is_executable = image == &__rh_image;
    r->key_count = image->counts[0];
    r->site_count = image->counts[1];
    r->place_count = (uint32_t)(image->places_end - image->places_begin);
    r->next = images;
    images = r;
    if (number >= images_end)
        images_end = number + 1;
    return r;
}

/* NULL if the image does not take part; then its atomics may order threads unseen. */
static struct rt_image *enter(const struct newcomer *n)
{
    struct rt_image *r = NULL;
    rt_lock(&images_lock);
    if (n->number != RH_NO_IMAGE)
        r = find_record(n->number);
    if (r && r->image)
        r = NULL; /* another copy of it is loaded, and has the number */
    else if (r)
        begin_anew(r);
    else if (n->number != RH_NO_IMAGE)
        r = make_record(n->number, n->image);
    if (r) {
        r->text_low = n->text_low;
        r->text_high = n->text_high;
        r->text_protection = n->text_protection;
        n->image->runtime = r;
        __atomic_store_n(&r->image, n->image, __ATOMIC_RELEASE);
        if (rt_detector->functions)
            rt_detector->functions(r);
        if (all_armed)
            arm(r, NULL, r->site_count, RT_KEYS_ALL, true);
    }
    rt_unlock(&images_lock);
    return r;
}

RT_EXPORT void __rh_image_unregister(struct rh_image *image);

void __rh_image_register(struct rh_image *image)
{
    rt_start();
    if (image->magic != RH_IMAGE_MAGIC || image->version != RH_IMAGE_VERSION) {
        rt_complain("an image was built by another version of racehive-cc; its keys stay off", "",
                    "");
        return;
    }
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return;
    struct newcomer newcomer = {.image = image, .number = RH_NO_IMAGE};
    dl_iterate_phdr(look_up, &newcomer);
    rt_stack_refresh();
    rt_opaque_check_images();
    if (image->counts[2] & RH_IMAGE_FREES)
        rt_opaque_frees();
    if (image->counts[2] & RH_IMAGE_OPAQUE)
        rt_opaque(RH_OPAQUE_ASSEMBLY);
    struct rt_image *r = enter(&newcomer);
    if (r) {
        rt_service_image(r);
    } else {
        rt_lose(RH_LOSS_IMAGE);
        rt_opaque(RH_OPAQUE_KEYS);
    }
}

static int tell_variables(struct dl_phdr_info *info, size_t size, void *image)
{
    (void)size;
    if (!segment_of(info, image))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            rt_memory_gone(info->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
    return 1;
}

/* Its destructors have run: nobody uses its variables from now on. Its number stays its own. */
void __rh_image_unregister(struct rh_image *image)
{
    struct rt_image *r = image->runtime;
    if (!r)
        return;
    rt_service_image_gone(r);
    if (atomic_load(&rt_memory_live))
        dl_iterate_phdr(tell_variables, image);
    rt_lock(&images_lock);
    r->image = NULL; /* its memory stays: a hook may be on its way in another thread */
    rt_unlock(&images_lock);
}

void rt_keys_fork_before(void)
{
    rt_lock(&images_lock);
}

void rt_keys_fork_after(void)
{
    rt_unlock(&images_lock);
}
