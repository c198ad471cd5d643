/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks at keys: a hook that is reached through the thunk takes the stack of the key's code, and
 * so does libgcc's unwinder, from inside the hook, through the rows of thunk.S; both must agree, at
 * the hook and before each instruction of stub, thunk and hook. The keys are as src/instrument
 * writes them, switched on.
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "keys.h"
#include "stack/stack.h"

#define NO_TAIL() __asm__ volatile("" : : : "memory")

/* The text of add_switch, add_stub and add_place, without the record of the place. */
#define KEY(instruction, ...)                                                                      \
    __asm__ volatile(".Lkey%=:\n"                                                                  \
                     "\t.byte 0xe9\n"                                                              \
                     "\t.long .Lstub%=-.-4\n"                                                      \
                     ".Lback%=:\n"                                                                 \
                     "\t.pushsection .rh_cold,\"ax\",@progbits\n"                                  \
                     ".Lstub%=:\n"                                                                 \
                     "\tleaq -128(%%rsp),%%rsp\n"                                                  \
                     "\tpushq $70000\n"                                                            \
                     "\tpushq $0\n"                                                                \
                     "\tpushq %%rdi\n"                                                             \
                     "\t" instruction "\n"                                                         \
                     "\tcall __rh_thunk\n"                                                         \
                     "\tpopq %%rdi\n"                                                              \
                     "\tleaq 144(%%rsp),%%rsp\n"                                                   \
                     "\tjmp .Lback%=\n"                                                            \
                     "\t.popsection"                                                               \
                     :                                                                             \
                     : __VA_ARGS__                                                                 \
                     : "cc")
#define KEY_AT(place) KEY("leaq %0,%%rdi", "m"(place))

static void hook(struct rh_image *image, struct rh_hook_frame *frame);
extern struct rh_image __rh_image;
struct rh_image __rh_image = {.hook = hook};

static long shared[100];
static long reached;
static const char *where = "key";

__attribute__((noinline)) void hook_reached(void);
__attribute__((noinline)) void hook_reached(void) /* for gdb */
{
    NO_TAIL();
}

static void hook(struct rh_image *image, struct rh_hook_frame *frame)
{
    if (image != &__rh_image || frame->key != 70000)
        fail_comparison(where, "the hook's arguments are wrong");
    reached++;
    hook_reached();
    compare_at_key(where, frame);
    NO_TAIL();
}

__attribute__((noinline)) static long leaf_with_key(long a, long b)
{
    KEY_AT(shared[a]);
    return a * 3 + b;
}

__attribute__((noinline)) static void key_forms(long a, long *p)
{
    KEY("movq %0,%%rdi", "r"(p));
    KEY("xorl %%edi,%%edi", "i"(0));
    KEY_AT(p[a]);
    KEY_AT(shared[a + 7]);
    KEY_AT(*p);
    NO_TAIL();
}

__attribute__((noinline)) static long key_in_many_registers(long a, long b, long c, long d, long e,
                                                            long f, long g, long h)
{
    long x = a * b, y = c * d, z = e * f, u = g * h, v = a * h;
    KEY_AT(shared[x]);
    leaf_with_key(x, y);
    KEY_AT(shared[v]);
    return x + y + z + u + v + a + b + c + d + e + f + g + h;
}

__attribute__((noinline)) static void key_under_alloca(int n)
{
    _Alignas(64) char block[64];
    char *more = alloca((size_t)n);
    memset(more, n, (size_t)n);
    memset(block, n, sizeof block);
    KEY("movq %0,%%rdi", "r"(more));
    KEY("movq %0,%%rdi", "r"(block));
    leaf_with_key(1, 2);
}

__attribute__((noinline)) static long recurse(long depth)
{
    volatile long local[2] = {depth};
    if (depth == 0)
        KEY_AT(shared[3]);
    else
        local[1] = recurse(depth - 1);
    NO_TAIL();
    return local[0] + local[1];
}

/* Functions whose rows find the CFA through registers that the hook's frame does not have. */
void through_r12(void (*function)(long, long *), long a, long *p);
void through_r15(void (*function)(long, long *), long a, long *p);
__asm__(".text\n"
        ".macro through name, register\n"
        ".type \\name, @function\n"
        "\\name:\n"
        "\t.cfi_startproc\n"
        "\tpushq %\\register\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\t.cfi_offset %\\register, -16\n"
        "\tmovq %rsp, %\\register\n"
        "\t.cfi_def_cfa_register %\\register\n"
        "\tsubq $144, %rsp\n"
        "\tmovq %rdi, %rax\n"
        "\tmovq %rsi, %rdi\n"
        "\tmovq %rdx, %rsi\n"
        "\tcall *%rax\n"
        "\tmovq %\\register, %rsp\n"
        "\t.cfi_def_cfa_register %rsp\n"
        "\tpopq %\\register\n"
        "\t.cfi_def_cfa_offset 8\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size \\name, .-\\name\n"
        ".endm\n"
        "through through_r12, r12\n"
        "through through_r15, r15\n");

static void run_keys(void *arg)
{
    (void)arg;
    leaf_with_key(4, 5);
    key_forms(6, shared);
    key_in_many_registers(1, 2, 3, 4, 5, 6, 7, 8);
    key_under_alloca(200);
    recurse(20);
    through_r12(key_forms, 5, shared);
    through_r15(key_forms, 5, shared);
    NO_TAIL();
}

static void on_signal(int signal)
{
    (void)signal;
    run_keys(NULL);
    NO_TAIL();
}

static void run_in_handler(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

int main(void)
{
    static char alternate[1 << 16];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    rt_stack_refresh();
    run_keys(NULL);
    where = "key in a signal handler";
    run_in_handler(0);
    sigaltstack(&stack, NULL);
    where = "key in a signal handler with its own stack";
    run_in_handler(SA_ONSTACK);
    long without = reached;
    where = "key, stepping";
    long steps = compare_each_instruction("key, each instruction", run_keys, NULL);
    if (reached * 3 != without * 4)
        fail_comparison("keys", "not every key was reached each time");
    printf("%ld keys reached, %ld instructions\n", reached, steps);
    return finish_comparisons(without * 2 + steps * 3);
}
