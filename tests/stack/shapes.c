/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of many shapes, each compared with libgcc's at the end of the calls, and then again before
 * each single instruction on the way, so that prologues, epilogues, stubs of the linker and libc's
 * own code are seen from inside.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "compare.h"
#include "stack/stack.h"

#define KEEP(x)   __asm__ volatile("" : : "r"(x) : "memory")
#define NO_TAIL() __asm__ volatile("" : : : "memory")

static int is_stepping;

/* The innermost point of every shape. When stepping, each instruction is compared anyway. */
__attribute__((noinline)) static void look(const char *where)
{
    if (!is_stepping)
        compare_here(where);
    NO_TAIL();
}

__attribute__((noinline)) static long recurse(long depth)
{
    volatile long local[4] = {depth};
    if (depth == 0)
        look("recursion");
    else
        local[1] = recurse(depth - 1);
    NO_TAIL();
    return local[0] + local[1];
}

__attribute__((noinline)) static void use_alloca(size_t size)
{
    char *block = alloca(size);
    memset(block, 1, size);
    KEEP(block);
    look("alloca");
    NO_TAIL();
}

__attribute__((noinline)) static int use_vla(int n)
{
    int values[n];
    for (int i = 0; i < n; i++)
        values[i] = i * n;
    KEEP(values);
    look("variable-length array");
    return values[n - 1];
}

__attribute__((noinline)) static void use_aligned(int n)
{
    _Alignas(64) char block[64 * 2];
    memset(block, n, sizeof block);
    KEEP(block);
    look("over-aligned local");
    NO_TAIL();
}

/* Both at once: needs a base register of its own, and in gcc an expression for the CFA. */
__attribute__((noinline)) static void use_aligned_alloca(int n)
{
    _Alignas(128) char block[128];
    char *more = alloca((size_t)n);
    memset(block, n, sizeof block);
    memset(more, n, (size_t)n);
    KEEP(block);
    KEEP(more);
    look("over-aligned local and alloca");
    NO_TAIL();
}

__attribute__((noinline)) static void use_large_frame(void)
{
    char block[100000];
    block[0] = 1;
    KEEP(block);
    look("large frame");
    NO_TAIL();
}

__attribute__((noinline)) static long use_many_registers(long a, long b, long c, long d, long e,
                                                         long f, long g, long h)
{
    long x = a * b, y = c * d, z = e * f, u = g * h, v = a * h;
    KEEP(x);
    look("all saved registers");
    KEEP(z);
    look("all saved registers, again");
    return x + y + z + u + v + a + b + c + d + e + f + g + h;
}

static int order(const void *a, const void *b)
{
    look("qsort callback");
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void use_qsort(void)
{
    int values[8] = {4, 2, 8, 1, 9, 3, 7, 5}, wanted = 7;
    qsort(values, 8, sizeof values[0], order);
    KEEP(bsearch(&wanted, values, 8, sizeof values[0], order));
}

static void run_once(void)
{
    look("pthread_once callback");
    NO_TAIL();
}

__attribute__((noinline)) static void use_once(void)
{
    pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, run_once);
    KEEP(&once);
}

/* A function that ends in a call which does not return: the return address is behind its end. */
static jmp_buf back;
__attribute__((noinline, noreturn)) static void leave(void)
{
    look("below a call at the end of a function");
    longjmp(back, 1);
}
__attribute__((noinline, noreturn)) static void end_in_call(int n)
{
    KEEP(n);
    leave();
}

__attribute__((noinline)) static void use_noreturn(void)
{
    if (!setjmp(back))
        end_in_call(3);
    NO_TAIL();
}

/* Leaf functions, through a pointer that the compiler cannot see through. */
__attribute__((noinline)) static long leaf(long a, long b)
{
    return a * b + 1;
}
static long (*volatile leaf_pointer)(long, long) = leaf;

__attribute__((noinline)) static void use_libc(void)
{
    char text[64] = "stack";
    char *end;
    KEEP(strlen(text) + (size_t)leaf_pointer(3, 4));
    memmove(text + 8, text, 32);
    KEEP(strtol(text, &end, 10));
    KEEP(malloc(24));
}

static void run_recursion(void *arg)
{
    (void)arg;
    recurse(is_stepping ? 20 : 300);
    NO_TAIL();
}

static void run_blocks(void *arg)
{
    (void)arg;
    use_alloca(500);
    use_vla(7);
    use_aligned(2);
    use_aligned_alloca(300);
    use_large_frame();
    NO_TAIL();
}

static void run_calls(void *arg)
{
    (void)arg;
    use_many_registers(1, 2, 3, 4, 5, 6, 7, 8);
    use_qsort();
    use_once();
    use_noreturn();
    use_libc();
    NO_TAIL();
}

/* Functions that have not been called before: on the way the linker's stub looks them up. */
static void run_first_calls(void *arg)
{
    char text[16] = "abc";
    KEEP(text);
    KEEP(strcspn(arg ? arg : "ab", "b"));
    KEEP(getpagesize());
    KEEP(strpbrk(text, "xyz"));
    NO_TAIL();
}

static const struct shape {
    void (*run)(void *);
    const char *name;
} shapes[] = {
    {run_recursion, "recursion, each instruction"},
    {run_blocks, "blocks on the stack, each instruction"},
    {run_calls, "calls, each instruction"},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void *run_shapes(void *arg)
{
    for (int i = 0; i < SHAPES; i++)
        shapes[i].run(arg);
    return NULL;
}

static int run_shapes_c11(void *arg)
{
    run_shapes(arg);
    return 0;
}

static void run_threads(void)
{
    pthread_t thread;
    thrd_t other;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 20);
    pthread_create(&thread, &attr, run_shapes, NULL);
    pthread_join(thread, NULL);
    thrd_create(&other, run_shapes_c11, NULL);
    thrd_join(other, NULL);
    pthread_attr_destroy(&attr);
}

/* --- signals --- */

static void on_signal(int signal)
{
    (void)signal;
    look("signal handler");
    use_aligned_alloca(100);
    NO_TAIL();
}

static sigjmp_buf after_fault;
static void on_fault(int signal)
{
    (void)signal;
    look("handler of a fault");
    siglongjmp(after_fault, 1);
}

/* The fault is the function's first instruction that matters, in a leaf, in the red zone. */
__attribute__((noinline)) static long fault(volatile long *p)
{
    return *p + 1;
}

static volatile long *volatile nowhere;

static void run_signals(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    struct sigaction on_segv = {.sa_handler = on_fault, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGSEGV, &on_segv, NULL);
    raise(SIGUSR1);
    if (!sigsetjmp(after_fault, 1))
        fault(nowhere);
}

static void step_through(void)
{
    is_stepping = 1;
    compare_each_instruction("first calls, each instruction", run_first_calls, NULL);
    for (int i = 0; i < SHAPES; i++) {
        long steps = compare_each_instruction(shapes[i].name, shapes[i].run, NULL);
        if (steps < 100)
            fail_comparison(shapes[i].name, "too few instructions: was there no stepping?");
    }
    is_stepping = 0;
}

int main(void)
{
    static char alternate[1 << 16];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    rt_stack_refresh();
    run_shapes(NULL);
    run_threads();
    run_signals(0);
    sigaltstack(&stack, NULL);
    run_signals(SA_ONSTACK);
    step_through();
    return finish_comparisons(3000);
}
