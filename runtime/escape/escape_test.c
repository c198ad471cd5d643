/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The escape analysis against full reachability: random threads allocate, store, copy, publish and
 * free (escape_testing.h). A block that a thread can reach, and that another one has allocated,
 * must have escaped. Each rule of propagation is switched off in turn, and then it must not hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "racehive/random.h"

#define RULES(X)                                                                                   \
    X(STORE)                                                                                       \
    X(COPY)                                                                                        \
    X(WORD)                                                                                        \
    X(CLOSURE)                                                                                     \
    X(STACK)                                                                                       \
    X(AGAIN)                                                                                       \
    X(TAG)                                                                                         \
    X(END)                                                                                         \
    X(PACKED)                                                                                      \
    X(PACKED_COPY)                                                                                 \
    X(REALLOC)                                                                                     \
    X(RACY)
enum rule {
    RULE_NONE,
#define RULE_ENUM(name) RULE_##name,
    RULES(RULE_ENUM)
#undef RULE_ENUM
        RULE_COUNT
};
static enum rule broken;
#define RULE(name) (broken != RULE_##name)
#include "escape/escape.c"

#include "escape/escape_testing.h"

static const char *name_of(enum rule rule)
{
    static const char *const names[] = {"none",
#define RULE_NAME(name) #name,
                                        RULES(RULE_NAME)
#undef RULE_NAME
    };
    return names[rule];
}

/* --- blocks --- */

static alignas(4096) char arena[1 << 20];

static bool finds(const char *at, const char *start)
{
    struct rt_heap_block block;
    return rt_heap_find((uintptr_t)at, &block) && block.start == (uintptr_t)start;
}

static void test_addresses_lead_to_their_block(void **state)
{
    (void)state;
    struct rt_heap_block block;
    rt_heap_add((uintptr_t)arena + 16, 40, 1, 1);
    rt_heap_add((uintptr_t)arena + 64, 600000, 2, 1);
    rt_heap_add((uintptr_t)arena + 64 + 600016, 8, 3, 1);
    assert_true(finds(arena + 16, arena + 16));
    assert_true(finds(arena + 55, arena + 16));
    assert_false(rt_heap_find((uintptr_t)arena + 56, &block));
    assert_false(rt_heap_find((uintptr_t)arena + 15, &block));
    assert_true(finds(arena + 64, arena + 64));
    assert_true(finds(arena + 4096, arena + 64));
    assert_true(finds(arena + 64 + 599999, arena + 64));
    assert_true(finds(arena + 64 + 600016, arena + 64 + 600016));
    assert_false(rt_heap_find((uintptr_t)arena + 64 + 600024, &block));
    assert_true(rt_heap_find((uintptr_t)arena + 5000, &block));
    assert_true(rt_heap_size(&block) >= 600000 && rt_heap_size(&block) < 600016);
    assert_true(rt_heap_is_of(&block, 2));
    assert_false(rt_heap_is_of(&block, 3));
    rt_heap_remove((uintptr_t)arena + 64, 600000);
    assert_false(rt_heap_find((uintptr_t)arena + 5000, &block));
    assert_true(finds(arena + 16, arena + 16));
    assert_true(finds(arena + 64 + 600016, arena + 64 + 600016));
    rt_heap_remove((uintptr_t)arena, sizeof arena);
    assert_false(rt_heap_find((uintptr_t)arena + 16, &block));
}

/* What nobody saw being freed makes room for what comes there. */
static void test_a_new_block_replaces_old_ones(void **state)
{
    (void)state;
    struct rt_heap_block block;
    rt_heap_add((uintptr_t)arena, 300000, 1, 1);
    rt_heap_add((uintptr_t)arena + 8192, 64, 1, 1);
    assert_true(finds(arena + 8192 + 63, arena + 8192));
    assert_false(rt_heap_find((uintptr_t)arena + 4096, &block));
    rt_heap_add((uintptr_t)arena + 4096, 8192, 1, 1);
    assert_true(finds(arena + 8192, arena + 4096));
    rt_heap_remove((uintptr_t)arena, sizeof arena);
}

/* --- who has escaped --- */

static struct rt_thread two[2];
static struct rt_escape own[2];

static void begin_two(void)
{
    static uintptr_t stacks[2][64];
    for (uint32_t i = 0; i < 2; i++) {
        two[i] = (struct rt_thread){.slot = i, .in_hook = 1};
        two[i].stack_low = (uintptr_t)stacks[i];
        two[i].stack_high = (uintptr_t)(stacks[i] + 64);
        rt_escape_begin(&own[i]);
    }
}

static bool asked(struct rt_thread *thread, struct rt_escape *of, uintptr_t address)
{
    uint16_t origin;
    return rt_escape_ask(thread, of, address, &origin);
}

static void test_a_foreign_block_is_counted(void **state)
{
    (void)state;
    begin_two();
    uint64_t before = counted[RH_LOSS_ESCAPE_HIDDEN];
    rt_escape_alloc(&two[0], &own[0], (uintptr_t)arena, 64, 1, false);
    assert_false(asked(&two[0], &own[0], (uintptr_t)arena + 8));
    assert_int_equal(counted[RH_LOSS_ESCAPE_HIDDEN], before);
    assert_true(asked(&two[1], &own[1], (uintptr_t)arena + 8));
    assert_int_equal(counted[RH_LOSS_ESCAPE_HIDDEN], before + 1);
    assert_true(asked(&two[0], &own[0], (uintptr_t)arena + 8));
    assert_int_equal(counted[RH_LOSS_ESCAPE_HIDDEN], before + 1);
    rt_escape_gone(&own[0], (uintptr_t)arena, 64);
}

static void test_unknown_memory_has_escaped(void **state)
{
    (void)state;
    begin_two();
    assert_true(asked(&two[0], &own[0], (uintptr_t)&own));
    assert_false(asked(&two[0], &own[0], two[0].stack_low));
    assert_true(asked(&two[0], &own[0], two[1].stack_low));
    assert_true(asked(&two[0], &own[0], 0));
}

static void test_a_list_escapes_with_its_head(void **state)
{
    (void)state;
    enum { NODES = 10000 };
    static uintptr_t global;
    uintptr_t *node = (uintptr_t *)arena;
    begin_two();
    for (size_t i = 0; i < NODES; i++) {
        rt_escape_alloc(&two[0], &own[0], (uintptr_t)&node[2 * i], 16, 1, false);
        node[2 * i] = i ? (uintptr_t)&node[2 * (i - 1)] : 0;
    }
    assert_false(asked(&two[0], &own[0], (uintptr_t)arena));
    rt_escape_store(&two[0], &own[0], (uintptr_t)&global, (uintptr_t)&node[2 * (NODES / 2)]);
    assert_true(asked(&two[0], &own[0], (uintptr_t)arena));
    assert_true(asked(&two[0], &own[0], (uintptr_t)&node[2 * (NODES / 2)]));
    assert_false(asked(&two[0], &own[0], (uintptr_t)&node[2 * (NODES - 1)]));
    rt_escape_gone(&own[0], (uintptr_t)arena, sizeof arena);
}

/* What a racy store makes reachable is known by its origin, from the head to the last node. */
static void check_racy_stores(void)
{
    static uintptr_t global;
    uintptr_t *node = (uintptr_t *)arena;
    uint16_t origin;
    begin_two();
    for (uint16_t i = 0; i < 4; i++)
        rt_escape_alloc(&two[0], &own[0], (uintptr_t)&node[2 * i], 16, (uint16_t)(100 + i), false);
    node[0] = (uintptr_t)&node[2];
    node[2] = 0;
    assert_false(rt_escape_ask(&two[0], &own[0], (uintptr_t)&node[2], &origin));
    assert_int_equal(origin, 101);
    rt_escape_store(&two[0], &own[0], (uintptr_t)&global, (uintptr_t)&node[4]);
    uint32_t before = rt_escape_racy_count();
    own[0].is_racy = true;
    rt_escape_store(&two[0], &own[0], (uintptr_t)&global, (uintptr_t)node);
    rt_escape_store(&two[0], &own[0], (uintptr_t)&global, (uintptr_t)&node[4]);
    own[0].is_racy = false;
    if (broken == RULE_NONE)
        assert_int_equal(rt_escape_racy_count(), before + 3);
    assert_int_equal(rt_escape_is_racy(100) && rt_escape_is_racy(101) && rt_escape_is_racy(102),
                     broken == RULE_NONE);
    assert_false(rt_escape_is_racy(103));
    rt_escape_gone(&own[0], (uintptr_t)arena, sizeof arena);
}

static void test_racy_stores(void **state)
{
    (void)state;
    broken = RULE_RACY;
    check_racy_stores();
    broken = RULE_NONE;
    check_racy_stores();
}

/* --- random threads --- */

static bool is_sound(uint64_t seed)
{
    world_begin(seed);
    for (int step = 0; step < 400; step++) {
        act(&world.threads[random_below(0, SIMULATED)]);
        if (!world_is_sound(SIMULATED))
            return false;
    }
    return true;
}

static void test_random_threads(void **state)
{
    (void)state;
    broken = RULE_NONE;
    uint64_t private_blocks = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        if (!is_sound(seed))
            fail_msg("seed %llu", (unsigned long long)seed);
        private_blocks += world_count_private();
        world_end();
    }
    assert_true(private_blocks > 300);
}

/* Without any one of the rules, some block is taken to be private that is not. */
static void test_each_rule_is_needed(void **state)
{
    (void)state;
    for (enum rule rule = RULE_NONE + 1; rule < RULE_RACY; rule++) {
        bool failed = false;
        for (uint64_t seed = 1; seed <= 300 && !failed; seed++) {
            broken = rule;
            failed = !is_sound(seed);
            broken = RULE_NONE;
            world_end();
        }
        if (!failed)
            fail_msg("nothing fails without the rule %s", name_of(rule));
    }
}

/* Many threads at once; now and then all stop, and one looks at everything. */
static void test_threads_at_once(void **state)
{
    (void)state;
    const char *seconds = getenv("RH_ESCAPE_SECONDS");
    broken = RULE_NONE;
    world_begin(7);
    assert_int_equal(run_at_once(seconds ? (unsigned)atoi(seconds) : 2), 0);
    printf("%llu stops, %llu steps, %llu blocks made, %llu escaped\n",
           (unsigned long long)world.stops, (unsigned long long)world.steps,
           (unsigned long long)world.made, (unsigned long long)world.escaped);
    assert_true(world.stops > 0 && world.escaped > 0 && world.made > world.escaped);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_lead_to_their_block),
        cmocka_unit_test(test_a_new_block_replaces_old_ones),
        cmocka_unit_test(test_a_foreign_block_is_counted),
        cmocka_unit_test(test_unknown_memory_has_escaped),
        cmocka_unit_test(test_a_list_escapes_with_its_head),
        cmocka_unit_test(test_racy_stores),
        cmocka_unit_test(test_random_threads),
        cmocka_unit_test(test_each_rule_is_needed),
        cmocka_unit_test(test_threads_at_once),
    };
    if (!rt_escape_start())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
