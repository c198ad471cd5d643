/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of stacks: see compare.h. */
#include "compare.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "arch/x86_64/registers.h"
#include "keys.h"
#include "stack/stack.h"

/* Not in unwind.h, but exported by libgcc for as long as there has been .eh_frame. */
struct dwarf_eh_bases {
    void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

enum { MAX = 4096 };

struct stack {
    uint32_t count;
    uintptr_t pcs[MAX];
    bool is_exact[MAX];
};

/* Per thread and out of the way, for small stacks. */
static _Thread_local struct stack theirs, ours, blind;
static _Thread_local bool has_bounds;
static _Thread_local struct rt_thread self;
static _Atomic long comparisons, failures;

const struct rt_thread *find_self(void)
{
    if (!has_bounds) {
        pthread_attr_t attr;
        void *low;
        size_t size;
        pthread_getattr_np(pthread_self(), &attr);
        pthread_attr_getstack(&attr, &low, &size);
        pthread_attr_destroy(&attr);
        self.stack_low = (uintptr_t)low;
        self.stack_high = (uintptr_t)low + size;
        has_bounds = true;
    }
    return &self;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
    struct stack *s = arg;
    int before = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &before);
    if (pc && s->count < MAX) {
        s->is_exact[s->count] = before;
        s->pcs[s->count++] = pc + (uintptr_t)before;
    }
    return _URC_NO_REASON;
}

static void print_stack(const char *title, const struct stack *s, uint32_t from)
{
    fprintf(stderr, "  %s:", title);
    for (uint32_t i = from; i < s->count && i < from + 24; i++)
        fprintf(stderr, " %#lx", (unsigned long)s->pcs[i]);
    fprintf(stderr, "\n");
}

void fail_comparison(const char *where, const char *what)
{
    if (failures++ < 20)
        fprintf(stderr, "%s: %s\n", where, what);
}

/* The first frames are in the comparing function itself and differ. */
static bool begins_with(const struct stack *whole, const struct stack *part, uint32_t from,
                        uint32_t part_from)
{
    if (whole->count - from < part->count - part_from)
        return false;
    return !memcmp(whole->pcs + from, part->pcs + part_from,
                   (part->count - part_from) * sizeof part->pcs[0]);
}

static void fail_with_stacks(const char *where, const char *what, const struct stack *s,
                             uint32_t theirs_from, uint32_t ours_from)
{
    fail_comparison(where, what);
    if (failures > 20)
        return;
    print_stack("libgcc", &theirs, theirs_from);
    print_stack(s == &blind ? "racehive, bounds unknown" : "racehive", s, ours_from);
}

static void expect(const char *where, const struct stack *s, uint32_t theirs_from,
                   uint32_t ours_from, bool is_whole)
{
    comparisons++;
    bool same = begins_with(s, &theirs, ours_from, theirs_from) &&
                (!is_whole || s->count - ours_from == theirs.count - theirs_from);
    if (!same)
        fail_with_stacks(where, "stacks differ", s, theirs_from, ours_from);
}

__attribute__((noinline)) static void compare(const char *where, bool is_whole)
{
    const struct rt_thread *me = find_self();
    theirs.count = 0;
    _Unwind_Backtrace(add_frame, &theirs);
    ours.count = rt_stack_here(me, ours.pcs, MAX);
    blind.count = rt_stack_here(NULL, blind.pcs, MAX);
    expect(where, &ours, 1, 1, is_whole);
    expect(where, &blind, 1, 1, is_whole);
}

void compare_here(const char *where)
{
    compare(where, true);
    __asm__ volatile(""); /* no tail call */
}

void compare_beyond(const char *where, uintptr_t function, uintptr_t size)
{
    compare(where, false);
    for (uint32_t i = 0; i < ours.count; i++)
        if (ours.pcs[i] > function && ours.pcs[i] <= function + size)
            return;
    fail_comparison(where, "did not get to the function behind");
    print_stack("racehive", &ours, 0);
}

/* While stepping, comparisons are made by the handler, which uses the same stacks. */
static volatile bool is_stepping;

void compare_at_key(const char *where, const struct rh_hook_frame *frame)
{
    const struct rt_thread *me = find_self();
    if (is_stepping)
        return;
    theirs.count = 0;
    _Unwind_Backtrace(add_frame, &theirs);
    uint32_t from = 0;
    while (from < theirs.count && theirs.pcs[from] != rt_arch_resume(frame))
        from++;
    if (from == theirs.count)
        fail_comparison(where, "libgcc did not find the key behind the thunk");
    ours.count = rt_stack_at_key(me, frame, ours.pcs, MAX);
    blind.count = rt_stack_at_key(NULL, frame, blind.pcs, MAX);
    expect(where, &ours, from, 0, true);
    expect(where, &blind, from, 0, true);
}

/* --- one instruction after the other --- */

/* Set and clear the trap flag, with their own rows right at each instruction. */
void stepping_on(void);
void stepping_off(void);
__asm__(".text\n"
        ".macro set_flag name, operation, bits\n"
        ".type \\name, @function\n"
        "\\name:\n"
        "\t.cfi_startproc\n"
        "\tpushfq\n"
        "\t.cfi_adjust_cfa_offset 8\n"
        "\t\\operation \\bits, (%rsp)\n"
        "\tpopfq\n"
        "\t.cfi_adjust_cfa_offset -8\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size \\name, .-\\name\n"
        ".endm\n"
        "set_flag stepping_on, orq, $0x100\n"
        "set_flag stepping_off, andq, $~0x100\n");

static const char *stepped_where;
static volatile long steps;
static struct stack previous; /* at the instruction before */

/* libgcc gives up where there is no call frame information, as in stubs. */
static bool is_given_up(void)
{
    struct dwarf_eh_bases bases;
    uint32_t last = theirs.count - 1;
    return !_Unwind_Find_FDE((void *)(theirs.pcs[last] - 1), &bases);
}

/* Where libgcc has given up, one instruction can have done no more than call or jump: the callers
 * are those of the instruction before, with at most one more in between. */
static void expect_step(const struct stack *s, uint32_t theirs_from, uint32_t ours_from)
{
    bool is_whole = !is_given_up();
    expect(stepped_where, s, theirs_from, ours_from, is_whole);
    if (is_whole)
        return;
    while (ours_from < s->count && s->pcs[ours_from] != theirs.pcs[theirs.count - 1])
        ours_from++;
    uint32_t more = s->count - ours_from - previous.count;
    if (s->count < ours_from + previous.count || more > 1 ||
        memcmp(s->pcs + ours_from + 1 + more, previous.pcs + 1,
               (previous.count - 1) * sizeof previous.pcs[0]))
        fail_with_stacks(stepped_where, "wrong callers of a stub", s, theirs_from, ours_from);
}

/* The same stack from a copy of it: `previous` is what the walk of the original has found. Of a
 * copy that has not all of it, as far as that goes. */
static void expect_in_copy(const void *context, uintptr_t stack)
{
    static _Alignas(8) uint8_t copy[1 << 16];
    struct rt_registers r;
    size_t size = self.stack_high - stack;
    if (stack < self.stack_low || stack >= self.stack_high)
        return;
    bool is_whole = size <= sizeof copy;
    size = is_whole ? size : sizeof copy;
    memcpy(copy, (const void *)stack, size);
    rt_arch_registers_at_signal(context, &r);
    ours.count = rt_stack_in_copy(&r, copy, size, ours.pcs, MAX);
    if (ours.count > 0)
        ours.pcs[0]++;
    if (ours.count > previous.count || (is_whole && ours.count < previous.count) ||
        memcmp(ours.pcs, previous.pcs, ours.count * sizeof ours.pcs[0]))
        fail_with_stacks(stepped_where, "another stack in a copy", &ours, 0, 0);
    comparisons++;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    const ucontext_t *u = context;
    uintptr_t pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    steps++;
    if (!stepped_where) {
        if (!rt_stack_at_signal(&self, context, ours.pcs, MAX) || ours.pcs[0] != pc + 1 ||
            !rt_stack_at_signal(NULL, context, ours.pcs, MAX))
            fail_comparison("walk at each instruction", "the pc itself is missing");
        return;
    }
    theirs.count = 0;
    _Unwind_Backtrace(add_frame, &theirs);
    uint32_t from = 0;
    while (from < theirs.count && !(theirs.is_exact[from] && theirs.pcs[from] == pc + 1))
        from++;
    ours.count = rt_stack_at_signal(&self, context, ours.pcs, MAX);
    blind.count = rt_stack_at_signal(NULL, context, blind.pcs, MAX);
    expect_step(&ours, from, 0);
    expect_step(&blind, from, 0);
    /* And through the signal's own frame. */
    ours.count = rt_stack_here(&self, ours.pcs, MAX);
    expect_step(&ours, 1, 1);
    previous.count = rt_stack_at_signal(&self, context, previous.pcs, MAX);
    expect_in_copy(context, (uintptr_t)u->uc_mcontext.gregs[REG_RSP]);
}

long compare_each_instruction(const char *where, void (*function)(void *), void *arg)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, before;
    find_self();
    sigemptyset(&action.sa_mask);
    sigaction(SIGTRAP, &action, &before);
    stepped_where = where;
    steps = 0;
    is_stepping = true;
    stepping_on();
    function(arg);
    stepping_off();
    is_stepping = false;
    sigaction(SIGTRAP, &before, NULL);
    return steps;
}

long walk_each_instruction(void (*function)(void *), void *arg)
{
    return compare_each_instruction(NULL, function, arg);
}

int finish_comparisons(long at_least)
{
    printf("%ld comparisons, %ld failures\n", comparisons, failures);
    if (comparisons < at_least)
        printf("expected at least %ld comparisons\n", at_least);
    fflush(stdout);
    return failures || comparisons < at_least ? EXIT_FAILURE : EXIT_SUCCESS;
}
