/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes: see watchpoint.h. What paused threads call runs in hooks: no lock, no libc. */
#include "watchpoint.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "arch/x86_64/sample.h"
#include "budget.h"
#include "options.h"
#include "service.h"
#include "stack/stack.h"
#include "sys.h"

/* Threads beyond the first WATCHED go unwatched in a pause: events cost some microseconds each. One
 * sample fits in the shared memory, and one is all there can be. */
enum { WATCHED = 32, PAGE = 4096, STACK_BYTES = 8192, MAPPED = 5 * PAGE };

/*
 * One watchpoint at a time:
 *   IDLE -> FILLING -> WANTED, by who asks
 *   WANTED -> ARMING -> ARMED, by the watcher
 *   ARMED -> READING -> OVER, or from ARMING to OVER, or from WANTED to IDLE, by who has asked
 *   OVER -> IDLE, by the watcher, when nothing is armed any more
 */
enum state { IDLE, FILLING, WANTED, ARMING, ARMED, READING, OVER };

static struct {
    _Atomic uint32_t state;
    _Atomic bool is_possible; /* there is a watcher */
    uintptr_t address;
    uint32_t length;
    int32_t tid; /* of who asks */
    uint32_t count;
    uint32_t turn; /* where the next watchpoint begins among the threads */
    struct event {
        int fd;
        uint32_t thread, parent;
        const uint8_t *mapped;
    } events[WATCHED];
} watchpoint;

/* --- the kernel --- */

/* The largest part that a debug register can hold, within the bytes and nowhere else. */
static uint32_t part_of(uintptr_t address, uint64_t size)
{
    uint32_t length = 8;
    while (length > 1 && (address % length || size < length))
        length /= 2;
    return length;
}

/* Strict mode and filters may kill whoever asks. */
static bool is_filtered(void)
{
    return rt_arch_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
}

static int open_event(int32_t tid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attr,
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = watchpoint.address,
        .bp_len = watchpoint.length,
        .sample_period = 1,
        .sample_type =
            PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = RT_SAMPLE_MASK,
        .sample_stack_user = STACK_BYTES,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)rt_arch_syscall(SYS_perf_event_open, (long)&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC,
                                0);
}

/* On for one event only: what comes after would cost the program and tell nothing new. */
static bool open_mapped(struct event *e, int32_t tid)
{
    e->fd = open_event(tid);
    if (e->fd < 0)
        return false;
    long at = rt_arch_syscall(SYS_mmap, 0, MAPPED, PROT_READ, MAP_SHARED, e->fd, 0);
    if (at < 0 && at > -PAGE) {
        rt_sys_close(e->fd);
        return false;
    }
    e->mapped = (const uint8_t *)at;
    rt_arch_syscall(SYS_ioctl, e->fd, PERF_EVENT_IOC_REFRESH, 1, 0, 0, 0);
    return true;
}

/* --- the watcher --- */

struct round {
    uint32_t skip, seen;
};

static bool arm_thread(struct rt_thread *t, void *arg)
{
    struct round *round = arg;
    int32_t tid = t->tid;
    if (atomic_load(&t->state) != RT_THREAD_RUNNING || tid <= 0 || tid == watchpoint.tid)
        return true;
    if (round->seen++ < round->skip)
        return true;
    struct event *e = &watchpoint.events[watchpoint.count];
    e->thread = t->id;
    e->parent = t->parent;
    watchpoint.count += open_mapped(e, tid);
    return watchpoint.count < WATCHED && atomic_load(&watchpoint.state) == ARMING;
}

/* Where there are more threads than events, each watchpoint begins behind the last one. */
static void arm(void)
{
    struct round round = {.skip = watchpoint.turn};
    watchpoint.count = 0;
    rt_thread_each(arm_thread, &round);
    watchpoint.turn = watchpoint.count == WATCHED ? watchpoint.turn + WATCHED : 0;
}

static void disarm(void)
{
    for (uint32_t i = 0; i < watchpoint.count; i++) {
        rt_unmap((void *)(uintptr_t)watchpoint.events[i].mapped, MAPPED);
        rt_sys_close(watchpoint.events[i].fd);
    }
    watchpoint.count = 0;
}

/* Processor time of the watcher's own. */
static uint64_t used_ns(void)
{
    struct timespec used = {0};
    rt_arch_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&used, 0, 0, 0, 0);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* What it takes is the program's loss, as that of hooks is. */
static void take_turn(void)
{
    uint64_t began = used_ns();
    uint32_t state = WANTED;
    if (atomic_compare_exchange_strong(&watchpoint.state, &state, ARMING)) {
        if (!is_filtered())
            arm();
        uint32_t arming = ARMING;
        atomic_compare_exchange_strong(&watchpoint.state, &arming, ARMED);
        state = OVER;
    }
    if (atomic_load(&watchpoint.state) == OVER) {
        disarm();
        atomic_store(&watchpoint.state, IDLE);
    }
    rt_meter_charge(RT_METER_HOOKS, used_ns() - began);
}

static int serve(void *arg)
{
    (void)arg;
    if (rt_arch_syscall(SYS_close_range, 0, UINT32_MAX, 0, 0, 0, 0) != 0)
        return 0;
    atomic_store(&watchpoint.is_possible, true);
    for (;;) {
        uint32_t state = atomic_load(&watchpoint.state);
        if (state == WANTED || state == OVER)
            take_turn();
        else
            rt_sys_futex_wait(&watchpoint.state, state, -1);
    }
}

void rt_watchpoint_start(void)
{
    static char *stack;
    if (rt_options.values && rt_options.watch)
        rt_service_thread(serve, &stack, false);
}

/* --- paused threads --- */

bool rt_watchpoint_ask(const struct rt_thread *self, uintptr_t address, uint64_t size)
{
    uint32_t idle = IDLE;
    if (!atomic_load(&watchpoint.is_possible) ||
        !atomic_compare_exchange_strong(&watchpoint.state, &idle, FILLING))
        return false;
    watchpoint.address = address;
    watchpoint.length = part_of(address, size);
    watchpoint.tid = self->tid;
    atomic_store(&watchpoint.state, WANTED);
    rt_sys_futex_wake(&watchpoint.state, 1);
    return true;
}

struct sample {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t abi;
    uint64_t registers[RT_REGISTER_COUNT];
    uint64_t stack_size;
    uint8_t stack[STACK_BYTES];
    uint64_t stack_filled; /* bytes of it */
};
_Static_assert(sizeof(struct sample) <= MAPPED - PAGE, "one sample fits");

/* The number of a thread that has just ended may be one of another process by now. */
static bool read_event(const struct event *e, struct rt_witness *writer)
{
    const struct perf_event_mmap_page *head = (const void *)e->mapped;
    const struct sample *s = (const void *)(e->mapped + PAGE);
    if (__atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE) < sizeof *s ||
        s->header.type != PERF_RECORD_SAMPLE || s->header.size != sizeof *s ||
        (int32_t)s->pid != rt_sys_getpid() || s->abi != PERF_SAMPLE_REGS_ABI_64 ||
        s->stack_size != STACK_BYTES || s->stack_filled > STACK_BYTES)
        return false;
    struct rt_registers r;
    rt_arch_registers_of_sample(s->registers, &r);
    writer->thread = e->thread;
    writer->parent = e->parent;
    writer->frame_count =
        rt_stack_in_copy(&r, s->stack, s->stack_filled, writer->frames, RH_MAX_FRAMES);
    return true;
}

static bool read_events(struct rt_witness *writer)
{
    for (uint32_t i = 0; i < watchpoint.count; i++)
        if (read_event(&watchpoint.events[i], writer))
            return true;
    return false;
}

bool rt_watchpoint_end(bool wanted, struct rt_witness *writer)
{
    uint32_t wanted_still = WANTED, arming = ARMING, armed = ARMED;
    if (atomic_compare_exchange_strong(&watchpoint.state, &wanted_still, IDLE))
        return false;
    bool seen = false;
    if (!atomic_compare_exchange_strong(&watchpoint.state, &arming, OVER) &&
        atomic_compare_exchange_strong(&watchpoint.state, &armed, READING)) {
        seen = wanted && read_events(writer);
        atomic_store(&watchpoint.state, OVER);
    }
    rt_sys_futex_wake(&watchpoint.state, 1);
    return seen;
}

void rt_watchpoint_after_fork(void)
{
    watchpoint.count = 0; /* what is mapped of events is not copied */
    atomic_store(&watchpoint.is_possible, false);
    atomic_store(&watchpoint.state, IDLE);
}
