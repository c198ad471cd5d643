/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks where call frame information is missing or registers are wrong: hand-written code, code
 * made at run time, objects compiled without tables, calls of nothing, an exhausted stack, and
 * registers with nonsense in them. Where the way out can be known it must be found; nowhere may the
 * walk crash.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "arch/x86_64/code.h"
#include "compare.h"
#include "stack/stack.h"
#include "stack/images.h"

#define NO_TAIL() __asm__ volatile("" : : : "memory")

typedef void callback(void *arg);
typedef void pass_function(callback *function, void *arg);
pass_function pass_framed, pass_frameless, pass_in_c;
void fault_in_leaf(void);
extern const char pass_framed_end[];

enum { MAX = 512 };

/* Code pointers as data and back, which is what all this is about. */
static uintptr_t address_of(void (*function)(void))
{
    return (uintptr_t)function;
}
#define ADDRESS(function) address_of((void (*)(void))(function))

/* The sizes of functions are not known here, but all those that are asked for are small. */
static bool is_inside(uintptr_t pc, uintptr_t function)
{
    return pc > function && pc <= function + 400;
}

/* --- through code without tables --- */

static const char *where;
static uintptr_t expected;

__attribute__((noinline)) static void look(void *arg)
{
    (void)arg;
    compare_beyond(where, expected, 400);
    NO_TAIL();
}

/* Calls look through `pass` from a function that must be in the stack behind it. */
__attribute__((noinline)) static void expect_behind(const char *name, pass_function *pass,
                                                    callback *function, void *arg)
{
    where = name;
    expected = ADDRESS(expect_behind);
    pass(function, arg);
    NO_TAIL();
}

/* A copy of pass_framed in memory that belongs to no image. */
static pass_function *make_function(void)
{
    const char *code = (const char *)ADDRESS(pass_framed);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page + 64, code, (size_t)(pass_framed_end - code));
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    return (pass_function *)(uintptr_t)(page + 64);
}

static void pass_through_code(void)
{
    pass_function *made = make_function(), *other = make_function();
    expect_behind("hand-written code with a frame pointer", pass_framed, look, NULL);
    expect_behind("C without tables", pass_in_c, look, NULL);
    expect_behind("code made at run time", made, look, NULL);
    /* The second gets its function as the argument of the first. */
    expect_behind("made code called by made code", made, (callback *)(uintptr_t)other,
                  (void *)ADDRESS(look));
}

/* --- nonsense in the frame pointer --- */

static void look_anyway(void *arg)
{
    uintptr_t pcs[MAX];
    (void)arg;
    uint32_t known = rt_stack_here(find_self(), pcs, MAX);
    uint32_t count = rt_stack_here(NULL, pcs, MAX);
    if (count < 2 || known != count || !is_inside(pcs[1], ADDRESS(pass_frameless)))
        fail_comparison("nonsense in the frame pointer", "the function that has it is missing");
    /* What stands in a frame that is none may look like a return address: a call before it is all
     * that can be asked for. */
    for (uint32_t i = 2; i < count; i++)
        if (!rt_arch_is_call((const uint8_t *)(pcs[i] - RT_CALL_LENGTH)))
            fail_comparison("nonsense in the frame pointer", "taken for a return address");
}

static void pass_nonsense(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t values[] = {0,
                                1,
                                8,
                                4096,
                                UINTPTR_MAX,
                                UINTPTR_MAX - 7,
                                UINTPTR_MAX - 15,
                                INTPTR_MAX,
                                here + 1,
                                here - 8,
                                ADDRESS(look)};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        pass_frameless(look_anyway, (void *)values[i]);
    for (unsigned i = 0; i < 1000; i++)
        pass_frameless(look_anyway, (void *)(here + i * 4));
}

/* --- faults --- */

static sigjmp_buf after_fault;
static uintptr_t fault_stack[MAX];
static uint32_t fault_count, fault_count_blind;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    fault_count_blind = rt_stack_at_signal(NULL, context, fault_stack, MAX);
    fault_count = rt_stack_at_signal(find_self(), context, fault_stack, MAX);
    siglongjmp(after_fault, 1);
}

__attribute__((noinline)) static void fall(const char *name, void (*volatile function)(void),
                                           uintptr_t pc)
{
    if (!sigsetjmp(after_fault, 1))
        function();
    if (fault_count < 3 || fault_stack[0] < pc + 1 || fault_stack[0] > pc + 16 ||
        !is_inside(fault_stack[1], ADDRESS(fall)))
        fail_comparison(name, "the caller of what faulted is missing");
    if (fault_count != fault_count_blind)
        fail_comparison(name, "found more or less without bounds");
    fault_count = 0;
}

__attribute__((noinline)) static long overflow(long depth)
{
    volatile long room[20];
    room[depth % 20] = depth;
    if (depth >= 0)
        room[3] = overflow(depth + 1);
    NO_TAIL();
    return room[depth % 20] + room[3];
}

static void *exhaust_stack(void *arg)
{
    (void)arg;
    static char alternate[1 << 16];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    if (!sigsetjmp(after_fault, 1))
        overflow(0);
    for (uint32_t i = 0; i < MAX; i++)
        if (fault_count != MAX || !is_inside(fault_stack[i], ADDRESS(overflow))) {
            fail_comparison("exhausted stack", "calls are missing");
            break;
        }
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    return NULL;
}

static void run_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    pthread_t thread;
    pthread_attr_t attr;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    fall("fault in a leaf without tables", fault_in_leaf, ADDRESS(fault_in_leaf));
    fall("call of nothing", NULL, 0);
    fall("call of data", (void (*)(void))(uintptr_t)fault_stack, (uintptr_t)fault_stack);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 18);
    pthread_create(&thread, &attr, exhaust_stack, NULL);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

/* --- registers that make no sense --- */

static uint64_t random_state = 20240229;
static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Somewhere that looks right: in this stack, in code, or anywhere. */
static uintptr_t draw_address(uintptr_t here)
{
    const uintptr_t places[] = {here, ADDRESS(look), ADDRESS(sigaction), ADDRESS(pass_framed), 0};
    uint64_t kind = draw() % 8;
    return kind < 5 ? places[kind] + draw() % 20000 : draw() >> (kind * 8 - 40);
}

static void try_random_registers(void)
{
    ucontext_t u;
    uintptr_t pcs[64];
    memset(&u, 0, sizeof u);
    for (int i = 0; i < 2000; i++) {
        for (int r = 0; r < NGREG; r++)
            u.uc_mcontext.gregs[r] = (greg_t)draw_address((uintptr_t)pcs);
        uint32_t count = rt_stack_at_signal(find_self(), &u, pcs, 64);
        if (!count || !rt_stack_at_signal(NULL, &u, pcs, 64) || count > 64)
            fail_comparison("random registers", "the pc itself is missing");
    }
}

int main(void)
{
    rt_stack_refresh();
    pass_through_code();
    pass_nonsense();
    run_faults();
    try_random_registers();
    return finish_comparisons(8);
}
