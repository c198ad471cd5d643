/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small world for the escape analysis: threads that allocate, store, copy and publish at random,
 * and a look at everything that says whether the analysis has missed an escape. For escape_test.c,
 * which includes it behind the analysis.
 *
 * Each thread has a few pointers in its hands (*locals*), a stack, and what it can load. A word of
 * memory is a pointer to a block or to a stack, in one of the forms that C programs use: to the
 * beginning, inside, behind the end, with tags. A block is either *packed*, with words at odd
 * addresses, or not. What nobody can reach any more is freed while all stand still, and its memory
 * is used again.
 */
#ifndef RH_RUNTIME_ESCAPE_TESTING_H
#define RH_RUNTIME_ESCAPE_TESTING_H

#include <pthread.h>
#include <stdalign.h>
#include <time.h>

enum {
    SIMULATED = 3, /* threads of a world that is looked at after each step */
    THREADS = 24,
    LOCALS = 6,
    STACK =
        96, /* words: the red zone, slots that stores are told of, slots for arguments by value */
    FIRST_SLOT = 16,
    FIRST_ARGUMENT = 48,
    GLOBALS = 8,
    MOST_BLOCKS = 1 << 16,
    ODD = 3, /* where a packed block has its words */
};

struct block {
    char *at;
    size_t size;
    uint32_t owner;
    bool packed, marked;
};

struct actor {
    struct rt_thread thread;
    struct rt_escape own;
    uint64_t random;
    uintptr_t locals[LOCALS];
    uintptr_t stack[STACK];
    uint32_t arguments; /* slots given to them; none is used twice */
};

static struct {
    struct actor threads[THREADS];
    uintptr_t globals[GLOBALS];
    struct block blocks[MOST_BLOCKS];
    size_t count;
    pthread_mutex_t lock; /* of the list */
    uint64_t random, stops, steps, made, escaped;
    pthread_barrier_t barrier;
    bool only_copies_pack; /* so that it matters that these are seen */
    bool failed, over;
    time_t until;
} world;

static _Atomic uint64_t counted[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = counted;

static uint32_t random_below(struct actor *a, uint32_t limit)
{
    return rh_random_below(a ? &a->random : &world.random, limit);
}

static void world_begin(uint64_t seed)
{
    memset(&world, 0, sizeof world);
    pthread_mutex_init(&world.lock, NULL);
    world.random = rh_random_seed(seed);
    world.only_copies_pack = seed % 2;
    for (uint32_t i = 0; i < THREADS; i++) {
        struct actor *a = &world.threads[i];
        a->random = rh_random_seed(seed * THREADS + i);
        a->thread.slot = i;
        a->thread.in_hook = 1;
        a->thread.stack_low = (uintptr_t)a->stack;
        a->thread.stack_high = (uintptr_t)(a->stack + STACK);
        rt_escape_begin(&a->own);
        a->own.sp = (uintptr_t)&a->stack[FIRST_SLOT];
    }
    atomic_store(&is_packed, false);
}

/* --- words and places --- */

/* The list is sorted only while all stand still. */
static struct block *block_at(uintptr_t address)
{
    for (size_t i = 0; i < world.count; i++)
        if (address - (uintptr_t)world.blocks[i].at <= world.blocks[i].size)
            return &world.blocks[i];
    return NULL;
}

static struct block *find_block(uintptr_t address)
{
    pthread_mutex_lock(&world.lock);
    struct block *found = block_at(address);
    pthread_mutex_unlock(&world.lock);
    return found;
}

/* A pointer as C programs hide it. */
static uintptr_t dress(struct actor *a, uintptr_t start)
{
    const struct block *b = find_block(start);
    if (!b)
        return start;
    switch (random_below(a, 8)) {
    case 0:
        return start + random_below(a, (uint32_t)b->size);
    case 1:
        return start + b->size;
    case 2:
        return start | 1;
    case 3:
        return start | 0x5aull << 48;
    default:
        return start;
    }
}

static uintptr_t undress(uintptr_t word)
{
    return word & ((1ull << 47) - 1);
}

static uintptr_t load_word(uintptr_t at)
{
    uintptr_t word;
    if (at % sizeof word == 0)
        return atomic_load_explicit((_Atomic uintptr_t *)at, memory_order_relaxed);
    memcpy(&word, (const void *)at, sizeof word);
    return word;
}

static void store_word(uintptr_t at, uintptr_t word)
{
    if (at % sizeof word == 0)
        atomic_store_explicit((_Atomic uintptr_t *)at, word, memory_order_relaxed);
    else
        memcpy((void *)at, &word, sizeof word);
}

static uint32_t words_of(const struct block *b)
{
    return (uint32_t)((b->size - (b->packed ? ODD : 0)) / sizeof(uintptr_t));
}

static uintptr_t word_of(const struct block *b, uint32_t i)
{
    return (uintptr_t)b->at + (b->packed ? ODD : 0) + i * sizeof(uintptr_t);
}

/* A block that the thread has in its hands. */
static struct block *held(struct actor *a)
{
    uintptr_t local = a->locals[random_below(a, LOCALS)];
    return local ? find_block(local) : NULL;
}

static uintptr_t some_place(struct actor *a)
{
    const struct block *b = held(a);
    switch (random_below(a, 8)) {
    case 0:
        return (uintptr_t)&world.globals[random_below(a, GLOBALS)];
    case 1:
        return (uintptr_t)&a->stack[FIRST_SLOT + random_below(a, FIRST_ARGUMENT - FIRST_SLOT)];
    default:
        return b ? word_of(b, random_below(a, words_of(b))) : 0;
    }
}

static uintptr_t some_value(struct actor *a)
{
    if (random_below(a, 16) == 0)
        return (uintptr_t)&a->stack[FIRST_SLOT + random_below(a, FIRST_ARGUMENT - FIRST_SLOT)];
    uintptr_t local = a->locals[random_below(a, LOCALS)];
    return local ? dress(a, local) : 0;
}

/* --- what threads do --- */

static void allocate(struct actor *a)
{
    static const uint32_t sizes[] = {16, 24, 40, 64, 200, 1000, 9000};
    struct block b = {.size = sizes[random_below(a, 7)],
                      .owner = a->thread.slot,
                      .packed = random_below(a, 4) == 0};
    pthread_mutex_lock(&world.lock);
    bool has_room = world.count < MOST_BLOCKS;
    if (has_room) {
        b.at = calloc(1, b.size);
        world.blocks[world.count++] = b;
        world.made++;
    }
    pthread_mutex_unlock(&world.lock);
    if (!has_room)
        return;
    rt_escape_alloc(&a->thread, &a->own, (uintptr_t)b.at, b.size, 1, false);
    a->locals[random_below(a, LOCALS)] = (uintptr_t)b.at;
}

/* A block that is nobody else's business. */
static void allocate_and_free(struct actor *a)
{
    size_t size = 16 + random_below(a, 20000);
    char *at = malloc(size);
    rt_escape_alloc(&a->thread, &a->own, (uintptr_t)at, size, 1, false);
    rt_escape_gone(&a->own, (uintptr_t)at, size);
    free(at);
}

static void store(struct actor *a)
{
    uintptr_t place = some_place(a), value = some_value(a);
    if (!place || (world.only_copies_pack && place % sizeof place))
        return;
    rt_escape_store(&a->thread, &a->own, place, value);
    store_word(place, value);
}

/* In two pieces. */
static void store_pieces(struct actor *a)
{
    uintptr_t place = some_place(a), value = some_value(a);
    if (!place || place % sizeof place)
        return;
    store_word(place, value);
    rt_escape_word(&a->thread, &a->own, place + random_below(a, 8));
}

static void copy(struct actor *a)
{
    const struct block *from = held(a), *to = held(a);
    if (!from || !to || from == to || from->packed)
        return;
    uint32_t count = words_of(from) < words_of(to) ? words_of(from) : words_of(to);
    rt_escape_copy(&a->thread, &a->own, word_of(to, 0), word_of(from, 0),
                   count * sizeof(uintptr_t));
    for (uint32_t i = 0; i < count; i++)
        store_word(word_of(to, i), load_word(word_of(from, i)));
}

/* Nobody tells of the store of an argument that is passed by value. */
static void pass_by_value(struct actor *a)
{
    if (a->arguments == STACK - FIRST_ARGUMENT)
        return;
    uintptr_t *slot = &a->stack[FIRST_ARGUMENT + a->arguments++];
    uintptr_t global = (uintptr_t)&world.globals[random_below(a, GLOBALS)];
    store_word((uintptr_t)slot, some_value(a));
    rt_escape_store(&a->thread, &a->own, global, (uintptr_t)slot);
    store_word(global, (uintptr_t)slot);
}

static bool is_of_a_stack(uintptr_t address)
{
    return address - (uintptr_t)world.threads < sizeof world.threads;
}

static void load(struct actor *a)
{
    uintptr_t place = some_place(a);
    uintptr_t address = place ? undress(load_word(place)) : 0;
    if (is_of_a_stack(address))
        address = undress(load_word(address));
    const struct block *b = address && !is_of_a_stack(address) ? find_block(address) : NULL;
    if (b)
        a->locals[random_below(a, LOCALS)] = (uintptr_t)b->at;
}

/* Where it is: then nobody need store its address again. */
static void reallocate(struct actor *a)
{
    struct block *b = held(a);
    if (!b)
        return;
    rt_escape_gone(&a->own, (uintptr_t)b->at, b->size);
    rt_escape_alloc(&a->thread, &a->own, (uintptr_t)b->at, b->size, 1, true);
    b->owner = a->thread.slot;
}

static void act(struct actor *a)
{
    static void (*const acts[])(struct actor *) = {
        allocate, store, store_pieces,      copy,      pass_by_value, load,
        load,     store, allocate_and_free, reallocate};
    acts[random_below(a, sizeof acts / sizeof acts[0])](a);
}

/* --- the look at everything --- */

static void mark(uintptr_t word);

static void mark_block(struct block *b)
{
    if (b->marked)
        return;
    b->marked = true;
    for (uint32_t i = 0; i < words_of(b); i++)
        mark(load_word(word_of(b, i)));
}

/* Of a stack only the word that is meant. */
static void mark(uintptr_t word)
{
    uintptr_t address = undress(word);
    if (is_of_a_stack(address)) {
        uintptr_t on_stack = undress(load_word(address));
        if (!is_of_a_stack(on_stack))
            mark(on_stack);
        return;
    }
    struct block *b = address ? block_at(address) : NULL;
    if (b)
        mark_block(b);
}

static void mark_thread(const struct actor *a)
{
    for (uint32_t i = 0; i < LOCALS; i++)
        mark(a->locals[i]);
    for (uint32_t i = FIRST_SLOT; i < STACK; i++)
        mark(a->stack[i]);
    for (uint32_t i = 0; i < GLOBALS; i++)
        mark(world.globals[i]);
}

static bool has_escaped(const struct block *b)
{
    struct rt_heap_block entered;
    return !rt_heap_find((uintptr_t)b->at, &entered) ||
           rt_heap_state_of(&entered) == RT_HEAP_ESCAPED;
}

/* Frees what nobody has reached. */
static void collect(const bool *reached)
{
    size_t kept = 0;
    for (size_t i = 0; i < world.count; i++) {
        struct block *b = &world.blocks[i];
        if (reached[i]) {
            world.blocks[kept++] = *b;
            continue;
        }
        world.escaped += has_escaped(b);
        rt_escape_gone(&world.threads[b->owner].own, (uintptr_t)b->at, b->size);
        free(b->at);
    }
    world.count = kept;
}

/* Whatever a thread can reach and has not allocated has escaped. */
static bool world_is_sound(uint32_t threads)
{
    static bool reached[MOST_BLOCKS];
    bool sound = true;
    memset(reached, 0, world.count);
    for (uint32_t t = 0; t < threads; t++) {
        for (size_t i = 0; i < world.count; i++)
            world.blocks[i].marked = false;
        mark_thread(&world.threads[t]);
        for (size_t i = 0; i < world.count; i++) {
            const struct block *b = &world.blocks[i];
            reached[i] |= b->marked;
            sound &= !b->marked || b->owner == t || has_escaped(b);
        }
    }
    if (sound)
        collect(reached);
    return sound;
}

static uint64_t world_count_private(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < world.count; i++)
        count += !has_escaped(&world.blocks[i]);
    return count;
}

static void world_end(void)
{
    for (size_t i = 0; i < world.count; i++) {
        rt_escape_gone(&world.threads[0].own, (uintptr_t)world.blocks[i].at, world.blocks[i].size);
        free(world.blocks[i].at);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        rt_escape_end(&world.threads[i].own);
    world.count = 0;
}

/* --- many threads --- */

static void *run(void *arg)
{
    enum { STEPS = 400 };
    struct actor *a = arg;
    while (!world.over) {
        for (int i = 0; i < STEPS; i++)
            act(a);
        if (pthread_barrier_wait(&world.barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            world.stops++;
            world.steps += STEPS * THREADS;
            world.failed |= !world_is_sound(THREADS);
            world.over = world.failed || time(NULL) >= world.until;
        }
        pthread_barrier_wait(&world.barrier);
    }
    return NULL;
}

/* How many escapes were missed: 0, or 1 at which it ends. */
static int run_at_once(unsigned seconds)
{
    pthread_t threads[THREADS];
    world.until = time(NULL) + seconds;
    pthread_barrier_init(&world.barrier, NULL, THREADS);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, &world.threads[i]);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&world.barrier);
    return world.failed;
}

#endif
