/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses with every form of address. Before each, the program writes what a hook must be told:
 * `expect write ADDRESS SIZE`. The trace must hold each line, in this order per thread.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    int a;
    int b;
    struct pair *other;
    unsigned char tail[9];
};

int global_word;
static int local_array[32];
struct pair global_pair;
extern char **environ;
static int *volatile hidden; /* what the compiler cannot follow */

#define EXPECT(kind, pointer, size)                                                                \
    (printf("expect " kind " 0x%llx %zu\n", (unsigned long long)(uintptr_t)(pointer),              \
            (size_t)(size)),                                                                       \
     fflush(stdout))

__attribute__((noinline)) static void set_global(int v)
{
    EXPECT("write", &global_word, 4);
    global_word = v;
}

__attribute__((noinline)) static void set_element(unsigned i, int v)
{
    EXPECT("write", &local_array[i], 4);
    local_array[i] = v;
}

__attribute__((noinline)) static void set_fields(struct pair *p, int v)
{
    EXPECT("write", &p->a, 4);
    EXPECT("write", &p->b, 4);
    EXPECT("write", &p->other, 8);
    p->a = v;
    p->b = v + 1;
    p->other = p;
}

__attribute__((noinline)) static int read_before(const int *end, long n)
{
    EXPECT("read", &end[-n], 4);
    return end[-n];
}

__attribute__((noinline)) static void keep(int *slot)
{
    hidden = slot;
}

__attribute__((noinline)) static int escaping_local(int v)
{
    char room[300];
    int slot = v;
    keep(&slot);
    memset(room, v, sizeof room);
    keep((int *)(void *)room);
    keep(&slot);
    EXPECT("write", &slot, 4);
    slot = v + 2;
    return *hidden + room[v];
}

__attribute__((noinline)) static int variable_frame(size_t n)
{
    int *slots = alloca(n * sizeof(int));
    keep(slots);
    EXPECT("write", &slots[n - 1], 4);
    slots[n - 1] = (int)n;
    return hidden[n - 1];
}

__attribute__((noinline)) static void over_aligned(void)
{
    _Alignas(128) int slot = 0;
    keep(&slot);
    EXPECT("write", &slot, 4);
    slot = 9;
    keep(&slot);
}

__attribute__((noinline)) static void copy_some(void *to, const void *from, size_t n)
{
    EXPECT("read", from, n);
    EXPECT("write", to, n);
    memcpy(to, from, n);
}

__attribute__((noinline)) static void copy_struct(struct pair *to, const struct pair *from)
{
    EXPECT("read", from, sizeof *from);
    EXPECT("write", to, sizeof *to);
    *to = *from;
}

__attribute__((noinline)) static void write_byte(struct pair *p, unsigned i)
{
    EXPECT("write", &p->tail[i], 1);
    p->tail[i] = (unsigned char)i;
}

__attribute__((noinline)) static long add_atomic(long *p)
{
    EXPECT("atomic update", p, 8);
    return __atomic_fetch_add(p, 3, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
    (void)argv;
    struct pair *heap = malloc(sizeof *heap * 2);
    long number = argc;
    memset(heap, 0, sizeof *heap * 2);
    set_global(argc);
    set_element((unsigned)argc + 4, 2);
    set_fields(heap, 1);
    set_fields(&global_pair, 2);
    set_fields(&heap[argc], 3);
    int sum = read_before(&local_array[20], argc);
    sum += escaping_local(argc) + variable_frame((size_t)argc + 6);
    over_aligned();
    copy_some(heap[0].tail, heap[1].tail, (size_t)argc + 3);
    copy_struct(&heap[0], &global_pair);
    write_byte(heap, (unsigned)argc);
    sum += (int)add_atomic(&number);
    free(heap);
    return sum > 0 ? 0 : 1;
}
