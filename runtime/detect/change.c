/* SPDX-License-Identifier: Apache-2.0 */
/* Values that change during a pause: see change.h. Runs in hooks: no lock, no libc. */
#include "change.h"

#include <fcntl.h>
#include <signal.h>

#include "options.h"
#include "probe.h"
#include "stack/images.h"
#include "thread.h"

static bool is_plain(const struct rt_access *a)
{
    const uint32_t unsure = RH_SITE_SIZED | RH_SITE_PARTIAL | RH_SITE_VOLATILE | RH_SITE_AT_LEAST |
                            RH_SITE_AT_MOST | RH_SITE_OBJECT;
    return (a->kind == RH_ACCESS_READ || a->kind == RH_ACCESS_WRITE) && !(a->flags & unsure) &&
           a->size > 0 && a->size <= RT_CHANGE_MAX;
}

/* --- the value --- */

/* A page that the program has protected, to learn of the access, is left alone. */
static bool can_read(uintptr_t address, uint64_t size)
{
    uintptr_t last = address + size - 1;
    return rt_can_read(address) &&
           (address / RT_PROBE_PAGE == last / RT_PROBE_PAGE || rt_can_read(last));
}

static uint8_t byte_at(uintptr_t address)
{
    return *(const volatile uint8_t *)address;
}

/* All of them: a thread that brings SIGSEGV upon itself does not do so here. */
static uint64_t put_signals_off(void)
{
    uint64_t old = 0, all = UINT64_MAX;
    rt_arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof all, 0, 0);
    return old;
}

void rt_change_begin(const struct rt_access *a, struct rt_change *c)
{
    c->began_ns = rt_sys_monotonic_ns();
    c->size = 0;
    if (!rt_options.values || !is_plain(a) || !can_read(a->address, a->size))
        return;
    c->address = a->address;
    c->size = a->size;
    c->signals = put_signals_off();
    for (uint64_t i = 0; i < c->size; i++)
        c->bytes[i] = byte_at(c->address + i);
}

static bool has_changed(const struct rt_change *c)
{
    if (!can_read(c->address, c->size))
        return false;
    for (uint64_t i = 0; i < c->size; i++)
        if (byte_at(c->address + i) != c->bytes[i])
            return true;
    return false;
}

bool rt_change_end(const struct rt_change *c)
{
    if (!c->size)
        return false;
    bool changed = has_changed(c);
    rt_signals_restore(c->signals);
    return changed && rt_change_is_private("/proc/self/maps", c->address, c->size);
}

/* --- whose memory it is --- */

/* A file that is read byte by byte, to the end or the first failure. */
struct reader {
    long fd, got, at;
    char bytes[512];
};

static int next_byte(struct reader *r)
{
    if (r->at == r->got) {
        r->got = rt_arch_syscall(SYS_read, r->fd, (long)r->bytes, sizeof r->bytes, 0, 0, 0);
        r->at = 0;
    }
    return r->got > 0 ? (unsigned char)r->bytes[r->at++] : -1;
}

static int digit_of(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A hexadecimal number and the character behind it, which is returned. */
static int take_number(struct reader *r, uint64_t *number)
{
    int c = next_byte(r);
    for (*number = 0; digit_of(c) >= 0; c = next_byte(r))
        *number = *number << 4 | (uint64_t)digit_of(c);
    return c;
}

static int skip_word(struct reader *r)
{
    int c = next_byte(r);
    while (c >= 0 && c != ' ' && c != '\n')
        c = next_byte(r);
    return c;
}

enum mapping { MAPPING_ELSEWHERE, MAPPING_PRIVATE, MAPPING_OTHER, MAPPING_END };

/* One line: "7f0000000000-7f0000001000 rw-p 00000000 00:00 0   [heap]". Inodes are decimal, but 0
 * is 0. */
static enum mapping take_line(struct reader *r, uintptr_t address, uint64_t size)
{
    uint64_t low, high, inode;
    if (take_number(r, &low) != '-' || take_number(r, &high) != ' ')
        return MAPPING_END;
    int sharing = 0;
    for (int i = 0; i < 4; i++)
        sharing = next_byte(r);
    next_byte(r);
    skip_word(r); /* offset */
    skip_word(r); /* device */
    int c = take_number(r, &inode);
    while (c >= 0 && c != '\n')
        c = next_byte(r);
    if (address < low || address >= high)
        return MAPPING_ELSEWHERE;
    return sharing == 'p' && inode == 0 && size <= high - address ? MAPPING_PRIVATE : MAPPING_OTHER;
}

bool rt_change_is_private(const char *maps, uintptr_t address, uint64_t size)
{
    struct rt_stack_image image;
    if (rt_stack_image_around(address, &image))
        return true;
    struct reader r;
    r.fd = rt_sys_open(maps, O_RDONLY | O_CLOEXEC, 0);
    r.got = r.at = 0;
    if (r.fd < 0)
        return false;
    enum mapping mapping;
    do
        mapping = take_line(&r, address, size);
    while (mapping == MAPPING_ELSEWHERE);
    rt_sys_close((int)r.fd);
    return mapping == MAPPING_PRIVATE;
}
