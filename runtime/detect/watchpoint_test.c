/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the watchpoint against a kernel of our own: which bytes and threads it is asked for,
 * that all that is opened is closed whenever a pause ends, and what is made of a sample.
 */
#include "arch/x86_64/syscall.h"

static long fake_syscall(long number, long a, long b, long c, long d, long e, long f);
#define rt_arch_syscall fake_syscall
#include "watchpoint.c"
#undef rt_arch_syscall

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect/fakes_testing.h"

enum { FIRST_FD = 100, OWN_PID = 77 };

struct rt_options rt_options;

/* --- the kernel --- */

static struct {
    long refusal; /* instead of a descriptor */
    long seccomp, used_ns;
    int opened, closed, mapped, refreshed;
    struct perf_event_attr attr; /* the last one */
    long tids[2 * WATCHED];
    uint8_t *memory[2 * WATCHED];
} kernel;

static long open_fake(const struct perf_event_attr *attr, long tid)
{
    if (kernel.refusal)
        return kernel.refusal;
    kernel.attr = *attr;
    kernel.tids[kernel.opened] = tid;
    return FIRST_FD + kernel.opened++;
}

static long map_fake(long fd)
{
    kernel.mapped++;
    return (long)(kernel.memory[fd - FIRST_FD] = calloc(1, MAPPED));
}

static long fake_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    (void)c, (void)d, (void)f;
    switch (number) {
    case SYS_perf_event_open:
        return open_fake((const struct perf_event_attr *)a, b);
    case SYS_mmap:
        return map_fake(e);
    case SYS_ioctl:
        kernel.refreshed += b == PERF_EVENT_IOC_REFRESH;
        return 0;
    case SYS_prctl:
        return kernel.seccomp;
    case SYS_clock_gettime:
        ((struct timespec *)b)->tv_nsec = kernel.used_ns += 1000;
        return 0;
    default:
        return -ENOSYS;
    }
}

int32_t rt_sys_getpid(void)
{
    return OWN_PID;
}

long rt_sys_close(int fd)
{
    (void)fd;
    kernel.closed++;
    return 0;
}

void rt_unmap(void *start, size_t size)
{
    assert_int_equal(size, MAPPED);
    kernel.mapped--;
    free(start);
}

long rt_sys_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)word, (void)count;
    return 0;
}

long rt_sys_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    (void)word, (void)expected, (void)timeout_ns;
    return 0;
}

/* --- the rest of the runtime --- */

static uint64_t charged;

void rt_meter_charge(enum rt_meter meter, uint64_t ns)
{
    assert_int_equal(meter, RT_METER_HOOKS);
    charged += ns;
}

bool rt_service_thread(int (*run)(void *), char **stack, bool shares_files)
{
    (void)run, (void)stack;
    assert_false(shares_files);
    return true;
}

static struct rt_registers walked;
static size_t walked_size;

uint32_t rt_stack_in_copy(const struct rt_registers *r, const void *bytes, size_t size,
                          uintptr_t *pcs, uint32_t max)
{
    (void)max;
    walked = *r;
    walked_size = size;
    pcs[0] = r->value[RT_REGISTER_PC];
    return 1 + (*(const uint8_t *)bytes == 0x77);
}

/* --- tests --- */

static int set_up(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    memset(&watchpoint, 0, sizeof watchpoint);
    clear_fakes(0, FAKES);
    charged = 0;
    atomic_store(&watchpoint.is_possible, true);
    for (int i = 0; i < 4; i++) {
        fakes[i].id = (uint32_t)i + 1;
        fakes[i].parent = i > 0;
        fakes[i].tid = 1000 + i;
        atomic_store(&fakes[i].state, RT_THREAD_RUNNING);
    }
    return 0;
}

static void assert_nothing_left(void)
{
    assert_int_equal(atomic_load(&watchpoint.state), IDLE);
    assert_int_equal(kernel.opened, kernel.closed);
    assert_int_equal(kernel.mapped, 0);
}

static void test_parts(void **state)
{
    (void)state;
    assert_int_equal(part_of(0x1000, 8), 8);
    assert_int_equal(part_of(0x1000, 64), 8);
    assert_int_equal(part_of(0x1004, 8), 4);
    assert_int_equal(part_of(0x1002, 8), 2);
    assert_int_equal(part_of(0x1001, 8), 1);
    assert_int_equal(part_of(0x1000, 7), 4);
    assert_int_equal(part_of(0x1000, 1), 1);
}

static void test_all_others_are_watched(void **state)
{
    (void)state;
    atomic_store(&fakes[3].state, RT_THREAD_ENDED);
    assert_true(rt_watchpoint_ask(&fakes[1], 0x1000, 8));
    assert_false(rt_watchpoint_ask(&fakes[2], 0x1000, 8)); /* one at a time */
    take_turn();
    assert_int_equal(kernel.opened, 2);
    assert_int_equal(kernel.tids[0], 1000);
    assert_int_equal(kernel.tids[1], 1002);
    assert_int_equal(kernel.refreshed, 2);
    assert_int_equal(kernel.attr.type, PERF_TYPE_BREAKPOINT);
    assert_int_equal(kernel.attr.bp_type, HW_BREAKPOINT_W);
    assert_int_equal(kernel.attr.bp_addr, 0x1000);
    assert_int_equal(kernel.attr.bp_len, 8);
    assert_true(kernel.attr.disabled && kernel.attr.exclude_kernel && !kernel.attr.inherit);
    assert_int_equal(kernel.attr.sigtrap, 0);
    struct rt_witness writer;
    assert_false(rt_watchpoint_end(true, &writer)); /* nobody wrote */
    take_turn();
    assert_nothing_left();
    assert_int_equal(charged, 2000); /* two turns */
}

static void test_a_hold_may_end_at_any_moment(void **state)
{
    (void)state;
    struct rt_witness writer;
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    assert_false(rt_watchpoint_end(true, &writer)); /* before the watcher woke up */
    assert_nothing_left();
    assert_int_equal(kernel.opened, 0);
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    atomic_store(&watchpoint.state, ARMING); /* while it arms */
    arm();
    assert_false(rt_watchpoint_end(true, &writer));
    assert_int_equal(atomic_load(&watchpoint.state), OVER);
    assert_false(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    take_turn();
    assert_nothing_left();
    assert_int_equal(kernel.opened, 3);
}

static void test_a_kernel_that_does_not_lend(void **state)
{
    (void)state;
    struct rt_witness writer;
    kernel.refusal = -EACCES;
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    take_turn();
    assert_false(rt_watchpoint_end(true, &writer));
    take_turn();
    assert_nothing_left();
    kernel.refusal = 0;
    kernel.seccomp = 2; /* a filter might kill: nothing is asked */
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    take_turn();
    assert_int_equal(kernel.opened, 0);
    assert_false(rt_watchpoint_end(true, &writer));
    take_turn();
    assert_nothing_left();
}

static void write_sample(uint8_t *memory)
{
    struct perf_event_mmap_page *head = (void *)memory;
    struct sample *s = (void *)(memory + PAGE);
    s->header = (struct perf_event_header){.type = PERF_RECORD_SAMPLE, .size = sizeof *s};
    s->pid = OWN_PID;
    s->abi = PERF_SAMPLE_REGS_ABI_64;
    for (uint64_t i = 0; i < RT_REGISTER_COUNT; i++)
        s->registers[i] = 0x100 + i;
    s->stack_size = STACK_BYTES;
    s->stack[0] = 0x77;
    s->stack_filled = 256;
    head->data_head = sizeof *s;
}

static void test_a_sample(void **state)
{
    (void)state;
    struct rt_witness writer = {0};
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    take_turn();
    write_sample(kernel.memory[1]);
    assert_true(rt_watchpoint_end(true, &writer));
    assert_int_equal(writer.thread, 3);
    assert_int_equal(writer.parent, 1);
    assert_int_equal(writer.frame_count, 2); /* the bytes of the stack were there */
    assert_int_equal(walked_size, 256);
    /* ax bx cx dx si di bp sp ip r8 ... r15, to the numbers of call frame information */
    assert_int_equal(walked.value[3], 0x101);
    assert_int_equal(walked.value[1], 0x103);
    assert_int_equal(walked.value[RT_REGISTER_FRAME], 0x106);
    assert_int_equal(walked.value[RT_REGISTER_STACK], 0x107);
    assert_int_equal(walked.value[RT_REGISTER_PC], 0x108);
    assert_int_equal(walked.value[RT_REGISTER_15], 0x110);
    take_turn();
    assert_nothing_left();
}

static void test_samples_that_make_no_sense(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct rt_witness writer = {0};
        set_up(NULL);
        assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
        take_turn();
        write_sample(kernel.memory[0]);
        struct sample *s = (void *)(kernel.memory[0] + PAGE);
        if (i == 0)
            s->header.type = PERF_RECORD_LOST;
        else if (i == 1)
            s->abi = PERF_SAMPLE_REGS_ABI_32;
        else if (i == 2)
            s->stack_filled = STACK_BYTES + 8;
        else if (i == 3)
            s->pid = OWN_PID + 1;
        assert_int_equal(rt_watchpoint_end(true, &writer), i == 4);
        take_turn();
        assert_nothing_left();
    }
}

static void test_after_fork(void **state)
{
    (void)state;
    struct rt_witness writer;
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    take_turn();
    int opened = kernel.opened;
    rt_watchpoint_after_fork();
    assert_false(rt_watchpoint_ask(&fakes[0], 0x1000, 8)); /* until there is a watcher */
    atomic_store(&watchpoint.is_possible, true);
    assert_true(rt_watchpoint_ask(&fakes[0], 0x1000, 8));
    assert_false(rt_watchpoint_end(true, &writer));
    assert_int_equal(kernel.closed, 0); /* they are the parent's */
    for (int i = 0; i < opened; i++)
        free(kernel.memory[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_parts, set_up),
        cmocka_unit_test_setup(test_all_others_are_watched, set_up),
        cmocka_unit_test_setup(test_a_hold_may_end_at_any_moment, set_up),
        cmocka_unit_test_setup(test_a_kernel_that_does_not_lend, set_up),
        cmocka_unit_test_setup(test_a_sample, set_up),
        cmocka_unit_test_setup(test_samples_that_make_no_sense, set_up),
        cmocka_unit_test_setup(test_after_fork, set_up),
    };
    return cmocka_run_group_tests_name("watchpoint", tests, NULL, NULL);
}
