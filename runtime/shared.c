/* SPDX-License-Identifier: Apache-2.0 */
/* The control page and the event ring: see shared.h. */
#include "shared.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "loss.h"
#include "stack/image_names.h"
#include "sys.h"
#include "text.h"

static struct rh_shared *shared;
static bool is_controlled, controls_itself;

static struct rh_shared *map_file(const char *path)
{
    long fd = rt_sys_open(path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) {
        rt_complain("cannot open the control page ", path, "; running without");
        return NULL;
    }
    long end = rt_arch_syscall(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0);
    struct rh_shared *page = NULL;
    if (end >= (long)sizeof *page) {
        long at =
            rt_arch_syscall(SYS_mmap, 0, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        page = at < 0 && at > -4096 ? NULL : (struct rh_shared *)at;
    }
    rt_sys_close((int)fd);
    bool is_ours = page && page->magic == RH_SHARED_MAGIC && page->version == RH_SHARED_VERSION;
    if (is_ours)
        return page;
    rt_complain(
        "not a control page of this version: ", path,
        "; running without: was the program linked by another racehive? then link it again");
    if (page)
        rt_unmap(page, sizeof *page);
    return NULL;
}

/* --- a page of our own --- */

static void note_program(struct rh_shared *page)
{
    long size = rt_arch_syscall(SYS_readlink, (long)"/proc/self/exe", (long)page->program,
                                sizeof page->program - 1, 0, 0, 0);
    page->program[size > 0 ? size : 0] = '\0';
}

/* The memory before the findings is asked for at once: a store must not fail later. */
static struct rh_shared *map_new_file(long fd)
{
    const long size = sizeof(struct rh_shared);
    if (rt_arch_syscall(SYS_fallocate, fd, 0, 0, offsetof(struct rh_shared, findings), 0, 0) != 0 ||
        rt_arch_syscall(SYS_ftruncate, fd, size, 0, 0, 0, 0) != 0)
        return NULL;
    long at = rt_arch_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at < 0 && at > -4096 ? NULL : (struct rh_shared *)at;
}

/* Named by the process and the time: one process may become several programs. */
static struct rh_shared *make_file(const char *folder)
{
    enum { MODE = 0600 };
    struct rt_line line = {0};
    rt_line_text(&line, folder);
    rt_line_text(&line, "/");
    rt_line_number(&line, (uint64_t)rt_sys_getpid());
    rt_line_text(&line, "-");
    rt_line_number(&line, (uint64_t)rt_sys_monotonic_ns());
    if (line.length >= sizeof line.bytes)
        return NULL;
    line.bytes[line.length] = '\0';
    long fd = rt_sys_open(line.bytes, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
    struct rh_shared *page = fd >= 0 ? map_new_file(fd) : NULL;
    if (fd >= 0)
        rt_sys_close((int)fd);
    if (!page) {
        rt_complain("cannot make a control page in ", folder, "; running without");
        return NULL;
    }
    page->magic = RH_SHARED_MAGIC;
    page->version = RH_SHARED_VERSION;
    atomic_store(&page->control.generation, 1);
    note_program(page);
    return page;
}

void rt_shared_open(const char *path, const char *folder)
{
    shared = *path ? map_file(path) : *folder ? make_file(folder) : NULL;
    is_controlled = shared != NULL;
    if (!shared)
        shared = rt_map(sizeof *shared);
    if (!shared)
        return;
    rt_image_names = shared->images;
    rt_losses_move(shared->losses);
}

struct rh_shared *rt_shared(void)
{
    return shared;
}

struct rh_control *rt_control(void)
{
    return is_controlled || controls_itself ? &shared->control : NULL;
}

struct rh_control *rt_shared_control_self(void)
{
    controls_itself = true;
    return &shared->control;
}

/* One that executes another program is there already. */
void rt_shared_enter(void)
{
    int32_t self = rt_sys_getpid();
    for (uint32_t i = 0; shared && i < RH_MAX_PROCESSES; i++) {
        int32_t there = 0;
        if (atomic_compare_exchange_strong(&shared->processes[i], &there, self) || there == self)
            return;
    }
}

void rt_shared_leave(void)
{
    int32_t self = rt_sys_getpid();
    for (uint32_t i = 0; shared && i < RH_MAX_PROCESSES; i++) {
        int32_t there = self;
        atomic_compare_exchange_strong(&shared->processes[i], &there, 0);
    }
}

bool rt_shared_is_read(void)
{
    return is_controlled;
}

/* Takes the next free position, or none when the reader is a whole ring behind. */
static bool take_position(struct rh_ring *ring, uint64_t *position)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    do {
        if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) >= RH_RING_SIZE) {
            rt_lose(RH_LOSS_EVENT);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&ring->head, &head, head + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    *position = head;
    return true;
}

void rt_post(enum rh_event_kind kind, uint32_t thread, uint64_t a, uint64_t b, uint64_t c,
             uint64_t d)
{
    uint64_t position;
    if (!is_controlled || !take_position(&shared->ring, &position))
        return;
    struct rh_event *event = &shared->ring.events[position % RH_RING_SIZE];
    event->kind = kind;
    event->thread = thread;
    event->words[0] = a;
    event->words[1] = b;
    event->words[2] = c;
    event->words[3] = d;
    atomic_store_explicit(&event->sequence, position + 1, memory_order_release);
}
