/* SPDX-License-Identifier: Apache-2.0 */
/* The assembly of checks: see checks.h. */
#include "instrument/checks.h"

#include "racehive/check.h"

enum { GRANULE = RH_CHECK_GRANULE, MOST_GRANULES = 4 };

static bool is_write(const struct rh_site *site)
{
    return site->record.access == RH_ACCESS_WRITE;
}

bool rh_check_suits(const struct rh_site *site)
{
    const struct rh_site_record *r = &site->record;
    bool is_plain = r->access == RH_ACCESS_READ || r->access == RH_ACCESS_WRITE;
    bool has_size = r->size == 1 || r->size == 2 || r->size == 4 ||
                    (r->size && r->size % GRANULE == 0 && r->size <= MOST_GRANULES * GRANULE);
    return is_plain && has_size && !(r->flags & ~RH_SITE_VOLATILE);
}

/* With the neighbours that the check stands for. */
static uint32_t bytes_of(const struct rh_site *site)
{
    return site->record.size * (site->run ? site->run : 1);
}

static uint32_t plain_shape(const struct rh_site *site)
{
    _Static_assert(GRANULE * MOST_GRANULES <= RH_CHECK_SHAPE_SIZE, "a size has room");
    return site->record.size | (is_write(site) ? (uint32_t)RH_CHECK_SHAPE_WRITES : 0);
}

/* Of neighbours without a gap. */
static uint32_t dense_shape(const struct rh_site *site)
{
    return plain_shape(site) | (uint32_t)RH_CHECK_SHAPE_SWEEP |
           site->record.size << RH_CHECK_SHAPE_STRIDE_AT;
}

uint32_t rh_check_shape(const struct rh_site *site)
{
    return site->run ? dense_shape(site) | site->run << RH_CHECK_SHAPE_COUNT_AT : plain_shape(site);
}

uint32_t rh_check_sweep_shape(const struct rh_site *site)
{
    int64_t stride = site->sweep->stride < 0 ? -site->sweep->stride : site->sweep->stride;
    return site->run ? dense_shape(site)
                     : plain_shape(site) | (uint32_t)RH_CHECK_SHAPE_SWEEP |
                           (uint32_t)stride << RH_CHECK_SHAPE_STRIDE_AT;
}

uint32_t rh_check_sweep_run(const struct rh_site *site)
{
    return site->run ? site->run : 1;
}

bool rh_check_can_sweep(const struct rh_site *site, int64_t stride)
{
    int64_t bytes = (int64_t)site->run * site->record.size;
    return !stride || !site->run || stride == bytes || stride == -bytes;
}

_Static_assert(RH_CHECK_CELLS == 4, "the scale of the address of a granule's shadow");

/* The granule's shadow: its base is left in %r11, a quarter of the distance in %r10. */
static void add_lookup(struct rh_strbuf *t, const char *stub, bool has_runtime)
{
    rh_strbuf_addf(t, "\tmovq %%r9,%%r10\n\tshrq $$%d,%%r10\n", RH_CHECK_CHUNK_BITS);
    if (has_runtime)
        rh_strbuf_add(t, "\tmovq __rh_directory(%rip),%r11\n");
    else
        rh_strbuf_add(t, "\tmovq __rh_directory@GOTPCREL(%rip),%r11\n\tmovq (%r11),%r11\n");
    rh_strbuf_addf(t,
                   "\tmovq (%%r11,%%r10,8),%%r11\n"
                   "\ttestq %%r11,%%r11\n"
                   "\tje %s\n"
                   "\tmovq %%r9,%%r10\n",
                   stub);
}

/* Xors the thread's epoch to %r11; %r10 is free. */
static void add_epoch(struct rh_strbuf *t, bool has_runtime)
{
    if (has_runtime)
        rh_strbuf_add(t, "\txorq %fs:__rh_epoch@tpoff,%r11\n");
    else
        rh_strbuf_add(t, "\tmovq __rh_epoch@gottpoff(%rip),%r10\n\txorq %fs:(%r10),%r11\n");
    rh_strbuf_addf(t, "\tshrq $$%d,%%r11\n", RH_CHECK_ORIGIN_BITS);
}

/* An access within one granule, at any place of it. */
static void add_small(struct rh_strbuf *t, const struct rh_site *site, const char *stub,
                      bool has_runtime)
{
    uint32_t size = bytes_of(site);
    int row = (size == 4 ? 2 : (int)size - 1) * 2 + is_write(site);
    int offset = row * GRANULE * (int)sizeof(uint64_t);
    add_lookup(t, stub, has_runtime);
    rh_strbuf_add(t, "\tandq $$-8,%r10\n\tmovq (%r11,%r10,4),%r11\n");
    add_epoch(t, has_runtime);
    rh_strbuf_add(t, "\tmovl %r9d,%r10d\n\tandl $$7,%r10d\n");
    if (has_runtime)
        rh_strbuf_addf(t, "\ttestq %%r11,%%fs:__rh_needs@tpoff+%d(,%%r10,8)\n", offset);
    else
        rh_strbuf_addf(t,
                       "\tshll $$3,%%r10d\n"
                       "\taddq __rh_needs@gottpoff(%%rip),%%r10\n"
                       "\ttestq %%r11,%%fs:%d(%%r10)\n",
                       offset);
    rh_strbuf_addf(t, "\tjne %s\n", stub);
}

/* The bits that the first cell must lack, of the granule that the access's byte `at` is in. */
static long long needs_of(const struct rh_site *site, uint32_t at)
{
    uint32_t left = bytes_of(site) - at, part = left < GRANULE ? left : GRANULE;
    uint64_t needs = rh_check_needs((uint8_t)((1u << part) - 1), is_write(site));
    return (long long)(needs | ~(uint64_t)RH_CHECK_KINDS);
}

/* Leaves the address of the first granule's shadow in %r10. Without the runtime, the epoch has
 * taken that since. */
static void add_shadow(struct rh_strbuf *t, const char *stub, bool is_first, bool has_runtime)
{
    if (!is_first && has_runtime)
        return;
    add_lookup(t, stub, has_runtime);
    rh_strbuf_add(t, "\tleaq (%r11,%r10,4),%r10\n");
}

/* An access of whole granules, perhaps but for the end; one that is not aligned is left to the
 * hook.
 */
static void add_whole(struct rh_strbuf *t, const struct rh_site *site, const char *stub,
                      bool has_runtime)
{
    bool has_second = rh_check_has_second(site);
    if (site->lead || site->inst->align < GRANULE)
        rh_strbuf_addf(t, "\ttestb $$7,%%r9b\n\tjne %s\n", stub);
    for (uint32_t at = 0; at < bytes_of(site); at += GRANULE) {
        add_shadow(t, stub, at == 0, has_runtime);
        rh_strbuf_addf(t, "\tmovq %u(%%r10),%%r11\n", RH_CHECK_CELLS * at);
        add_epoch(t, has_runtime);
        rh_strbuf_addf(t, "\ttestq $$%lld,%%r11\n", needs_of(site, at));
        if (has_second)
            rh_strbuf_addf(t, "\tjne .Lrh_second%u_${:uid}\n.Lrh_more%u_${:uid}:\n", at, at);
        else
            rh_strbuf_addf(t, "\tjne %s\n", stub);
    }
}

bool rh_check_has_second(const struct rh_site *site)
{
    uint32_t bytes = bytes_of(site);
    return !is_write(site) && bytes % GRANULE == 0 && bytes <= MOST_GRANULES * GRANULE;
}

void rh_check_add_second(struct rh_strbuf *t, const struct rh_site *site, const char *stub,
                         bool has_runtime)
{
    for (uint32_t at = 0; at < bytes_of(site); at += GRANULE) {
        rh_strbuf_addf(t, ".Lrh_second%u_${:uid}:\n", at);
        add_shadow(t, stub, false, has_runtime);
        rh_strbuf_addf(t, "\ttestl $$%u,%u(%%r10)\n\tje %s\n", 1u << RH_CHECK_ORIGIN_BITS << 1,
                       RH_CHECK_CELLS * at, stub);
        rh_strbuf_addf(t, "\tmovq %u(%%r10),%%r11\n",
                       RH_CHECK_CELLS * at + (uint32_t)sizeof(uint64_t));
        add_epoch(t, has_runtime);
        rh_strbuf_addf(t, "\ttestq $$%lld,%%r11\n\tje .Lrh_more%u_${:uid}\n\tjmp %s\n",
                       needs_of(site, at), at, stub);
    }
}

void rh_check_add(struct rh_strbuf *text, const struct rh_site *site, const char *address,
                  const char *stub, bool has_runtime)
{
    uint32_t bytes = bytes_of(site);
    rh_strbuf_addf(text, "\t%s\n", address);
    if (site->lead)
        rh_strbuf_addf(text, "\taddq $$%d,%%r9\n", site->lead);
    if (bytes == 1 || bytes == 2 || bytes == 4)
        add_small(text, site, stub, has_runtime);
    else
        add_whole(text, site, stub, has_runtime);
}
