/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a pointer comes to where another thread finds it. In each, the block is written
 * after it was published, and only much later read by the other thread: whoever misses the
 * publication takes the write for private. commands_test.py looks for each line with WAY. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct box {
    long value;
    struct box *inner;
};

struct pair {
    long weight;
    struct box *box;
    long rest[4];
};

static struct box *plain, *by_varargs, *outer, **list;
static unsigned long number;
static struct box *_Atomic exchanged, *_Atomic compared;
static struct pair copied, moved, counted;
static unsigned char bytes[sizeof(struct box *)];
static struct pair *on_stack;
static uintptr_t tagged;
static struct box **inside;
static struct __attribute__((packed)) {
    char odd;
    struct box *box;
} packed;
static int fds[2];
static atomic_int done, finished;
static volatile size_t size = sizeof(struct pair);

static NOINLINE void keep(int count, ...)
{
    va_list arguments;
    va_start(arguments, count);
    by_varargs = va_arg(arguments, struct box *);
    va_end(arguments);
}

static NOINLINE void copy_bytes(volatile unsigned char *to, const volatile unsigned char *from)
{
    for (size_t i = 0; i < sizeof(struct box *); i++)
        to[i] = from[i];
}

static NOINLINE struct box *join_bytes(void)
{
    struct box *box;
    copy_bytes((unsigned char *)&box, bytes);
    return box;
}

static NOINLINE struct box *receive(void)
{
    struct box *box = NULL;
    return read(fds[0], &box, sizeof box) == sizeof box ? box : NULL;
}

static NOINLINE struct box *nest(struct box *b)
{
    struct box *around = calloc(1, sizeof *around);
    around->inner = b;
    return around;
}

#define LOCAL                                                                                      \
    {                                                                                              \
        1, b,                                                                                      \
        {                                                                                          \
            2, 3, 4, 5                                                                             \
        }                                                                                          \
    }
/* How it is published, and how it is found. */
#define WAYS(WAY)                                                                                  \
    WAY(1, plain = b, plain)                                                                       \
    WAY(2, number = (unsigned long)b, (struct box *)number)                                        \
    WAY(3, atomic_exchange(&exchanged, b), atomic_load(&exchanged))                                \
    WAY(4, struct box *none = NULL;                                                                \
        atomic_compare_exchange_strong(&compared, &none, b), atomic_load(&compared))               \
    WAY(5, struct pair local = LOCAL; copied = local, copied.box)                                  \
    WAY(6, struct pair local = LOCAL; memcpy(&counted, &local, size), counted.box)                 \
    WAY(7, struct pair local = LOCAL; memmove(&moved, &local, size), moved.box)                    \
    WAY(8, outer = nest(b), outer->inner)                                                          \
    WAY(9, copy_bytes(bytes, (unsigned char *)&b), join_bytes())                                   \
    WAY(10, keep(1, b), by_varargs)                                                                \
    WAY(11, tagged = (uintptr_t)b | 1, (struct box *)(tagged & ~(uintptr_t)1))                     \
    WAY(12, inside = &b->inner, (struct box *)((char *)inside - offsetof(struct box, inner)))      \
    WAY(13, packed.box = b, packed.box)                                                            \
    WAY(14, list = realloc(list, 100 * sizeof *list); list[99] = b, list[99])                      \
    WAY(15, (void)!write(fds[1], &b, sizeof b), receive())

enum { COUNT = 15 };

#define PUBLISH(n, publish, find)                                                                  \
    static NOINLINE void publish_##n(struct box *b)                                                \
    {                                                                                              \
        publish;                                                                                   \
        __asm__ volatile("" ::: "memory");                                                         \
    }                                                                                              \
    static NOINLINE struct box *find_##n(void)                                                     \
    {                                                                                              \
        return find;                                                                               \
    }
WAYS(PUBLISH)

static NOINLINE void write_1(struct box *b) { b->value = 1; } // WAY 1
static NOINLINE void write_2(struct box *b) { b->value = 1; } // WAY 2
static NOINLINE void write_3(struct box *b) { b->value = 1; } // WAY 3
static NOINLINE void write_4(struct box *b) { b->value = 1; } // WAY 4
static NOINLINE void write_5(struct box *b) { b->value = 1; } // WAY 5
static NOINLINE void write_6(struct box *b) { b->value = 1; } // WAY 6
static NOINLINE void write_7(struct box *b) { b->value = 1; } // WAY 7
static NOINLINE void write_8(struct box *b) { b->value = 1; } // WAY 8
static NOINLINE void write_9(struct box *b) { b->value = 1; } // WAY 9
static NOINLINE void write_10(struct box *b) { b->value = 1; } // WAY 10
static NOINLINE void write_11(struct box *b) { b->value = 1; } // WAY 11
static NOINLINE void write_12(struct box *b) { b->value = 1; } // WAY 12
static NOINLINE void write_13(struct box *b) { b->value = 1; } // WAY 13
static NOINLINE void write_14(struct box *b) { b->value = 1; } // WAY 14
static NOINLINE void write_15(struct box *b) { b->value = 1; } // WAY 15
static NOINLINE void write_16(struct box *b) { b->value = 1; } // WAY 16
static NOINLINE void write_private(struct box *b) { b->value = 1; } // PRIVATE

static NOINLINE long use(const struct box *b)
{
    return b ? b->value : 0; // READ
}

static void *reader(void *sum)
{
    while (!atomic_load_explicit(&done, memory_order_relaxed))
        usleep(100);
#define FIND(n, publish, find) *(long *)sum += use(find_##n());
    WAYS(FIND)
    *(long *)sum += on_stack->weight + use(on_stack->box);
    atomic_store(&finished, 1);
    return NULL;
}

static NOINLINE struct box *make(void)
{
    struct box *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    return b;
}

/* Made here, because what make() makes is published, and gone before main's stack is. */
static NOINLINE void stay_private(int publishes)
{
    struct box *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    write_private(b);
    if (publishes)
        plain = b;
    else
        free(b);
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t thread;
    static long sum;
    struct pair local = {.weight = 1};
    if (pipe(fds) || pthread_create(&thread, NULL, reader, &sum))
        abort();
    stay_private(argc > 1);
#define RUN(n, publish, find)                                                                      \
    {                                                                                              \
        struct box *b = make();                                                                    \
        publish_##n(b);                                                                            \
        write_##n(b);                                                                              \
    }
    WAYS(RUN)
    struct box *b = make();
    local.box = b;
    on_stack = &local;
    write_16(b);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    pthread_join(thread, NULL);
    return sum == COUNT + 2 && finished ? 0 : 1;
}
