/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses are sites and how they share keys, on small modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "instrument/sites.h"

#define HEADER                                                                                     \
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:"  \
    "32:64-S128\"\n"                                                                               \
    "target triple = \"x86_64-pc-linux-gnu\"\n"                                                    \
    "@g = global i32 0\n@c = constant i32 7\n@t = internal thread_local global i32 0\n"            \
    "declare void @other()\ndeclare void @keep(ptr)\n"                                             \
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"                                     \
    "declare ptr @llvm.threadlocal.address.p0(ptr)\n"

struct collected {
    struct rh_module *module;
    struct rh_accesses accesses;
    struct rh_sites sites;
};

static struct collected collect_as(const char *body, bool checked)
{
    struct collected c = {0};
    char *text = test_malloc(strlen(HEADER) + strlen(body) + 1);
    strcpy(text, HEADER);
    strcat(text, body);
    if (rh_ir_open_memory("test", text, strlen(text), &c.module) != RH_OK)
        fail_msg("%s", rh_error_text());
    test_free(text);
    rh_accesses_collect(c.module, NULL, &c.accesses);
    rh_sites_collect(&c.accesses, NULL, checked, &c.sites);
    return c;
}

static struct collected collect(const char *body)
{
    return collect_as(body, false);
}

static void release(struct collected *c)
{
    rh_sites_release(&c->sites);
    rh_accesses_release(&c->accesses);
    rh_ir_close(c->module);
}

static const struct rh_site *site(const struct collected *c, size_t i)
{
    assert_true(i < c->sites.sites.len);
    return &c->sites.sites.data[i];
}

static const struct rh_key *key(const struct collected *c, size_t i)
{
    assert_true(i < c->sites.keys.len);
    return &c->sites.keys.data[i];
}

static void fields_of_one_base_share_a_key(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p) {\n"
                                 "  %a = getelementptr i8, ptr %p, i64 4\n"
                                 "  %b = getelementptr i8, ptr %p, i64 12\n"
                                 "  store i32 1, ptr %a\n"
                                 "  %v = load i64, ptr %b\n"
                                 "  store i8 2, ptr %p\n"
                                 "  ret void\n}\n");
    assert_int_equal(c.sites.keys.len, 1);
    assert_int_equal(c.sites.sites.len, 3);
    assert_int_equal(key(&c, 0)->site_count, 3);
    assert_int_equal(site(&c, 0)->record.offset, 0);
    assert_int_equal(site(&c, 1)->record.offset, 8);
    assert_int_equal(site(&c, 2)->record.offset, -4);
    assert_int_equal(site(&c, 0)->record.access, RH_ACCESS_WRITE);
    assert_int_equal(site(&c, 1)->record.access, RH_ACCESS_READ);
    assert_int_equal(site(&c, 1)->record.size, 8);
    release(&c);
}

static void a_call_between_parts_them(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p) {\n"
                                 "  store i32 1, ptr %p\n"
                                 "  call void @other()\n"
                                 "  store i32 2, ptr %p\n"
                                 "  ret void\n}\n");
    assert_int_equal(c.sites.keys.len, 3);
    assert_int_equal(key(&c, 0)->kind, RH_KEY_GATE);
    assert_int_equal(site(&c, 0)->key, 1);
    assert_int_equal(site(&c, 1)->key, 2);
    release(&c);
}

static void blocks_do_not_share(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, i1 %x) {\n"
                                 "  store i32 1, ptr %p\n"
                                 "  br i1 %x, label %a, label %b\n"
                                 "a:\n  store i32 2, ptr %p\n  br label %b\n"
                                 "b:\n  ret void\n}\n");
    assert_int_equal(c.sites.keys.len, 3);
    release(&c);
}

static void private_memory_is_left_out_by_reason(void **state)
{
    (void)state;
    struct collected c = collect("define i32 @f(ptr byval(i32) %p) {\n"
                                 "  %s = alloca i32\n"
                                 "  %e = alloca i32\n"
                                 "  call void @keep(ptr %e)\n"
                                 "  store i32 1, ptr %s\n"
                                 "  store i32 1, ptr %e\n"
                                 "  %c = load i32, ptr @c\n"
                                 "  %ta = call ptr @llvm.threadlocal.address.p0(ptr @t)\n"
                                 "  store i32 %c, ptr %ta\n"
                                 "  %v = load i32, ptr %p\n"
                                 "  ret i32 %v\n}\n");
    assert_int_equal(c.sites.sites.len, 1);
    assert_string_equal(site(&c, 0)->pointer->name, "e");
    assert_int_equal(c.accesses.skipped[RH_SKIP_STACK], 1);
    assert_int_equal(c.accesses.skipped[RH_SKIP_CONSTANT], 1);
    assert_int_equal(c.accesses.skipped[RH_SKIP_THREAD_LOCAL], 1);
    assert_int_equal(c.accesses.skipped[RH_SKIP_BY_VALUE], 1);
    release(&c);
}

static void atomics_stand_alone_and_acquire_after(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p) {\n"
                                 "  store i32 1, ptr %p\n"
                                 "  store atomic i32 1, ptr %p release, align 4\n"
                                 "  %v = load atomic i32, ptr %p acquire, align 4\n"
                                 "  %w = atomicrmw add ptr %p, i32 1 seq_cst\n"
                                 "  fence release\n"
                                 "  fence acquire\n"
                                 "  fence syncscope(\"singlethread\") seq_cst\n"
                                 "  ret void\n}\n");
    const uint8_t kinds[] = {RH_KEY_ACCESS, RH_KEY_ACCESS, RH_KEY_ACCESS,
                             RH_KEY_AFTER,  RH_KEY_ACCESS, RH_KEY_AFTER,
                             RH_KEY_ACCESS, RH_KEY_ACCESS, RH_KEY_AFTER};
    assert_int_equal(c.sites.keys.len, sizeof kinds);
    for (size_t i = 0; i < sizeof kinds; i++)
        assert_int_equal(key(&c, i)->kind, kinds[i]);
    assert_int_equal(c.sites.sites.len, 6);
    assert_int_equal(site(&c, 1)->record.order, RH_MO_RELEASE);
    assert_int_equal(site(&c, 3)->record.access, RH_ACCESS_ATOMIC_UPDATE);
    assert_int_equal(site(&c, 4)->record.access, RH_ACCESS_FENCE);
    release(&c);
}

static void copies_of_memory_are_two_sites(void **state)
{
    (void)state;
    struct collected c =
        collect("define void @f(ptr %p, ptr %q, i64 %n) {\n"
                "  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 24, i1 false)\n"
                "  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)\n"
                "  ret void\n}\n");
    assert_int_equal(c.sites.sites.len, 4);
    unsigned sized = 0, fixed = 0;
    for (size_t i = 0; i < 4; i++) {
        bool known = !(site(&c, i)->record.flags & RH_SITE_SIZED);
        assert_int_equal(known, site(&c, i)->length == NULL);
        fixed += known && site(&c, i)->record.size == 24;
        sized += !known;
    }
    assert_int_equal(fixed, 2);
    assert_int_equal(sized, 2);
    release(&c);
}

/* Whether the gate `k` stands in exactly these blocks, by their numbers. */
static void assert_gate(const struct collected *c, size_t k, size_t count, const uint32_t *blocks)
{
    const struct rh_key *gate = key(c, k);
    assert_int_equal(gate->kind, RH_KEY_GATE);
    assert_int_equal(gate->site_count, 0);
    assert_int_equal(gate->gate, RH_NO_GATE);
    assert_int_equal(gate->block_count, count);
    for (size_t b = 0; b < count; b++)
        assert_int_equal(gate->blocks[b]->id, blocks[b]);
}

/* A loop with this body around a counter; blocks: 0 entry, 1 loop, 2 out. */
#define LOOP(before, body)                                                                         \
    "define void @f(ptr %p, i64 %n) {\n"                                                           \
    "entry:\n" before "  br label %loop\n"                                                         \
    "loop:\n"                                                                                      \
    "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n"                                                \
    "  %a = getelementptr i64, ptr %p, i64 %i\n" body "  %j = add i64 %i, 1\n"                     \
    "  %x = icmp ult i64 %j, %n\n"                                                                 \
    "  br i1 %x, label %loop, label %out\n"                                                        \
    "out:\n  ret void\n}\n"

static void a_tight_loop_is_served_by_the_entry(void **state)
{
    (void)state;
    struct collected c = collect(LOOP("", "  store i64 1, ptr %a\n"));
    assert_int_equal(c.sites.keys.len, 2);
    assert_gate(&c, 0, 1, (const uint32_t[]){0});
    assert_int_equal(key(&c, 1)->gate, 0);
    release(&c);
}

/* Keys elsewhere must not make the loop pay for its own. */
static void a_tight_loop_beside_other_keys_has_its_own_gate(void **state)
{
    (void)state;
    struct collected c = collect(LOOP("  store i64 2, ptr %p\n", "  store i64 1, ptr %a\n"));
    assert_int_equal(c.sites.keys.len, 4);
    assert_gate(&c, 0, 1, (const uint32_t[]){0});
    assert_int_equal(key(&c, 1)->kind, RH_KEY_GATE);
    assert_int_equal(key(&c, 1)->gate, 0);
    assert_int_equal(key(&c, 1)->block_count, 1);
    assert_int_equal(key(&c, 1)->blocks[0]->id, 1);
    assert_int_equal(key(&c, 2)->gate, 0);
    assert_int_equal(key(&c, 3)->gate, 1);
    assert_int_equal(site(&c, key(&c, 3)->first_site)->key, 3);
    release(&c);
}

static void a_loop_with_a_call_has_a_gate(void **state)
{
    (void)state;
    struct collected c =
        collect(LOOP("  store i64 2, ptr %p\n", "  store i64 1, ptr %a\n  call void @other()\n"));
    assert_int_equal(c.sites.keys.len, 3);
    assert_gate(&c, 0, 2, (const uint32_t[]){1, 0});
    release(&c);
}

static void the_entry_has_no_gate_if_loops_have_all_sites(void **state)
{
    (void)state;
    struct collected c =
        collect(LOOP("", "  store i64 1, ptr %a\n  call void @other()\n  store i64 2, ptr %p\n"));
    assert_int_equal(c.sites.keys.len, 3);
    assert_gate(&c, 0, 1, (const uint32_t[]){1});
    release(&c);
}

static void a_waiting_loop_has_a_gate(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, ptr %q) {\n"
                                 "entry:\n  store i32 1, ptr %q\n  br label %loop\n"
                                 "loop:\n"
                                 "  %v = load i32, ptr %p\n"
                                 "  %x = icmp eq i32 %v, 0\n"
                                 "  br i1 %x, label %loop, label %out\n"
                                 "out:\n  ret void\n}\n");
    assert_int_equal(c.sites.keys.len, 3);
    assert_gate(&c, 0, 2, (const uint32_t[]){1, 0});
    release(&c);
}

/* Blocks: 0 entry, 1 loop, 2 rare, 3 latch, 4 out. */
static void a_loop_with_a_rare_call_has_its_gate_there(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, ptr %q, i64 %n) {\n"
                                 "entry:\n  store i64 1, ptr %q\n  br label %loop\n"
                                 "loop:\n"
                                 "  %i = phi i64 [ 0, %entry ], [ %j, %latch ]\n"
                                 "  %a = getelementptr i64, ptr %p, i64 %i\n"
                                 "  %v = load i64, ptr %a\n"
                                 "  %r = icmp eq i64 %v, 0\n"
                                 "  br i1 %r, label %rare, label %latch\n"
                                 "rare:\n  call void @other()\n  br label %latch\n"
                                 "latch:\n"
                                 "  store i64 %i, ptr %a\n"
                                 "  %j = add i64 %i, 1\n"
                                 "  %x = icmp ult i64 %j, %n\n"
                                 "  br i1 %x, label %loop, label %out\n"
                                 "out:\n  ret void\n}\n");
    assert_gate(&c, 0, 2, (const uint32_t[]){2, 0});
    release(&c);
}

/* Blocks: 0 entry, 1 outer, 2 before, 3 inner, 4 latch, 5 out. */
static void a_loop_around_a_tight_one_has_its_gate_before_it(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, i64 %n) {\n"
                                 "entry:\n  br label %outer\n"
                                 "outer:\n"
                                 "  %i = phi i64 [ 0, %entry ], [ %j, %latch ]\n"
                                 "  %a = getelementptr i64, ptr %p, i64 %i\n"
                                 "  %v = load i64, ptr %a\n"
                                 "  %r = icmp eq i64 %v, 0\n"
                                 "  br i1 %r, label %before, label %latch\n"
                                 "before:\n  br label %inner\n"
                                 "inner:\n"
                                 "  %k = phi i64 [ 0, %before ], [ %l, %inner ]\n"
                                 "  %b = getelementptr i64, ptr %p, i64 %k\n"
                                 "  store i64 %i, ptr %b\n"
                                 "  %l = add i64 %k, 1\n"
                                 "  %y = icmp ult i64 %l, %n\n"
                                 "  br i1 %y, label %inner, label %latch\n"
                                 "latch:\n"
                                 "  %j = add i64 %i, 1\n"
                                 "  %x = icmp ult i64 %j, %n\n"
                                 "  br i1 %x, label %outer, label %out\n"
                                 "out:\n  ret void\n}\n");
    assert_gate(&c, 0, 2, (const uint32_t[]){2, 0});
    release(&c);
}

/* Blocks: 0 entry, 1 loop, 2 out. */
static void a_loop_without_keys_has_a_gate_behind_it(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p) {\n"
                                 "entry:\n  store i32 1, ptr %p\n  br label %loop\n"
                                 "loop:\n"
                                 "  %v = load atomic i32, ptr @g monotonic, align 4\n"
                                 "  %x = icmp eq i32 %v, 0\n"
                                 "  br i1 %x, label %loop, label %out\n"
                                 "out:\n  store i32 2, ptr %p\n  ret void\n}\n");
    assert_gate(&c, 0, 2, (const uint32_t[]){2, 0});
    release(&c);
}

/* Blocks: 0 entry, 1 work, 2 out. */
static void the_first_gate_stands_as_late_as_it_can(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, i1 %x) {\n"
                                 "entry:\n  br i1 %x, label %work, label %out\n"
                                 "work:\n  store i32 1, ptr %p\n  call void @other()\n"
                                 "  store i32 2, ptr %p\n  br label %out\n"
                                 "out:\n  ret void\n}\n");
    assert_gate(&c, 0, 1, (const uint32_t[]){1});
    release(&c);
}

static void a_single_key_stands_in_place(void **state)
{
    (void)state;
    struct collected c = collect(LOOP("", "  store i64 %i, ptr %p\n  call void @other()\n"));
    assert_int_equal(c.sites.keys.len, 1);
    assert_int_equal(key(&c, 0)->kind, RH_KEY_ACCESS);
    assert_int_equal(key(&c, 0)->gate, RH_NO_GATE);
    release(&c);
}

static void a_cycle_that_is_no_loop_has_a_gate(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, i1 %x) {\n"
                                 "entry:\n  store i32 1, ptr %p\n"
                                 "  br i1 %x, label %a, label %b\n"
                                 "a:\n  call void @other()\n"
                                 "  br i1 %x, label %b, label %out\n"
                                 "b:\n  store i32 2, ptr %p\n  br label %a\n"
                                 "out:\n  ret void\n}\n");
    assert_int_equal(c.sites.keys.len, 3);
    assert_int_equal(key(&c, 0)->block_count, 2);
    assert_in_range(key(&c, 0)->blocks[0]->id, 1, 2);
    assert_int_equal(key(&c, 0)->blocks[1]->id, 0);
    release(&c);
}

static void atomics_need_no_gate(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p, ptr %q) {\n"
                                 "  store i32 1, ptr %p\n"
                                 "  %v = load atomic i32, ptr %p acquire, align 4\n"
                                 "  store i32 1, ptr %q\n"
                                 "  ret void\n}\n");
    const uint32_t gates[] = {RH_NO_GATE, 0, RH_NO_GATE, RH_NO_GATE, 0};
    assert_int_equal(c.sites.keys.len, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(key(&c, i)->gate, gates[i]);
    assert_int_equal(key(&c, 3)->kind, RH_KEY_AFTER);
    release(&c);
}

static void fingerprints_are_distinct_and_stable(void **state)
{
    (void)state;
    const char *body = "define void @f(ptr %p) {\n"
                       "  store i32 1, ptr %p\n"
                       "  call void @other()\n"
                       "  store i32 2, ptr %p\n"
                       "  %v = load i32, ptr %p\n"
                       "  ret void\n}\n";
    struct collected a = collect(body), b = collect(body);
    assert_int_equal(a.sites.sites.len, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(site(&a, i)->fingerprint == site(&b, i)->fingerprint);
        for (size_t j = 0; j < i; j++)
            assert_false(site(&a, i)->fingerprint == site(&a, j)->fingerprint);
    }
    release(&a);
    release(&b);
}

static void ignored_functions_have_no_sites(void **state)
{
    (void)state;
    struct collected c = collect("define void @f(ptr %p) disable_sanitizer_instrumentation {\n"
                                 "  store i32 1, ptr %p\n  ret void\n}\n"
                                 "define void @n(ptr %p) naked {\n  unreachable\n}\n");
    assert_int_equal(c.sites.sites.len, 0);
    assert_int_equal(c.accesses.skipped[RH_SKIP_IGNORED_FUNCTION], 1);
    assert_int_equal(c.accesses.skipped[RH_SKIP_NAKED_FUNCTION], 1);
    release(&c);
}

/* --- checks --- */

static const struct rh_site *site_of_size(const struct collected *c, uint32_t size)
{
    for (size_t i = 0; i < c->sites.keyed; i++)
        if (site(c, i)->record.size == size)
            return site(c, i);
    return NULL;
}

/* Of an unrolled loop. The fourth stands apart, and the numbers of 32 bits may wrap. */
static void one_check_for_neighbours_by_index(void **state)
{
    (void)state;
    struct collected c = collect_as("define i8 @f(ptr %p, i64 %i, i32 %n) {\n"
                                    "  %q = getelementptr i8, ptr %p, i64 8\n"
                                    "  %i1 = or disjoint i64 %i, 1\n"
                                    "  %i2 = add i64 %i, 2\n"
                                    "  %i4 = add i64 %i, 4\n"
                                    "  %a1 = getelementptr i8, ptr %q, i64 %i1\n"
                                    "  %a0 = getelementptr i8, ptr %q, i64 %i\n"
                                    "  %a2 = getelementptr i8, ptr %q, i64 %i2\n"
                                    "  %a4 = getelementptr i8, ptr %q, i64 %i4\n"
                                    "  %v1 = load i8, ptr %a1\n"
                                    "  %v0 = load i8, ptr %a0\n"
                                    "  %v2 = load i8, ptr %a2\n"
                                    "  %v4 = load i8, ptr %a4\n"
                                    "  %n1 = add i32 %n, 1\n"
                                    "  %b0 = getelementptr i16, ptr %q, i32 %n\n"
                                    "  %b1 = getelementptr i16, ptr %q, i32 %n1\n"
                                    "  %w0 = load i16, ptr %b0\n"
                                    "  %w1 = load i16, ptr %b1\n"
                                    "  ret i8 %v0\n}\n",
                                    true);
    assert_int_equal(c.sites.keyed, 4);
    assert_int_equal(site(&c, 0)->run, 3);
    assert_int_equal(site(&c, 0)->lead, -1);
    assert_int_equal(site(&c, 1)->run, 0);
    assert_int_equal(site_of_size(&c, 2)->run, 0);
    release(&c);
}

static void one_check_for_neighbouring_vectors(void **state)
{
    (void)state;
    struct collected c = collect_as("define void @f(ptr %p) {\n"
                                    "  %q = getelementptr i8, ptr %p, i64 16\n"
                                    "  %v = load <2 x i64>, ptr %p\n"
                                    "  %w = load <2 x i64>, ptr %q\n"
                                    "  ret void\n}\n",
                                    true);
    assert_int_equal(site_of_size(&c, 16)->run, 2);
    release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_one_base_share_a_key),
        cmocka_unit_test(a_call_between_parts_them),
        cmocka_unit_test(blocks_do_not_share),
        cmocka_unit_test(private_memory_is_left_out_by_reason),
        cmocka_unit_test(atomics_stand_alone_and_acquire_after),
        cmocka_unit_test(copies_of_memory_are_two_sites),
        cmocka_unit_test(a_tight_loop_is_served_by_the_entry),
        cmocka_unit_test(a_tight_loop_beside_other_keys_has_its_own_gate),
        cmocka_unit_test(a_loop_with_a_call_has_a_gate),
        cmocka_unit_test(the_entry_has_no_gate_if_loops_have_all_sites),
        cmocka_unit_test(a_waiting_loop_has_a_gate),
        cmocka_unit_test(a_loop_with_a_rare_call_has_its_gate_there),
        cmocka_unit_test(a_loop_around_a_tight_one_has_its_gate_before_it),
        cmocka_unit_test(a_loop_without_keys_has_a_gate_behind_it),
        cmocka_unit_test(the_first_gate_stands_as_late_as_it_can),
        cmocka_unit_test(a_single_key_stands_in_place),
        cmocka_unit_test(a_cycle_that_is_no_loop_has_a_gate),
        cmocka_unit_test(atomics_need_no_gate),
        cmocka_unit_test(fingerprints_are_distinct_and_stable),
        cmocka_unit_test(ignored_functions_have_no_sites),
        cmocka_unit_test(one_check_for_neighbours_by_index),
        cmocka_unit_test(one_check_for_neighbouring_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
