/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the call and thread graph.
 */
#include "ir/graph/graph.h"

#include "ir/testing.h"

#define START_THREAD                                                                               \
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"

static const char calls[] =
    "@table = global [1 x ptr] [ptr @taken_by_table]\n"
    "@second = alias void (), ptr @first\n"
    "@chosen = ifunc void (), ptr @resolver\n"
    "declare void @external()\n"
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
    "declare i32 @personality(...)\n"
    "define void @first() {\n"
    "  call void @external()\n"
    "  ret void\n"
    "}\n"
    "define ptr @resolver() {\n"
    "  ret ptr @first\n"
    "}\n"
    "define void @taken_by_table() {\n"
    "  ret void\n"
    "}\n"
    "define void @taken_by_argument() {\n"
    "  ret void\n"
    "}\n"
    "define void @taken_by_itself(ptr %p) {\n"
    "  ret void\n"
    "}\n"
    "define void @taken_in_bundle() {\n"
    "  ret void\n"
    "}\n"
    "define void @not_taken() {\n"
    "  ret void\n"
    "}\n"
    "define void @caller(ptr %p) personality ptr @personality {\n"
    "entry:\n"
    "  call void @not_taken()\n"
    "  call void @second()\n"
    "  call void @chosen()\n"
    "  call void %p()\n"
    "  call void asm sideeffect \"\", \"\"()\n"
    "  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 4, i1 false)\n"
    "  call void @caller(ptr @taken_by_argument)\n"
    "  call void @taken_by_itself(ptr @taken_by_itself)\n"
    "  call void @taken_in_bundle() [\"deopt\"(ptr @taken_in_bundle)]\n"
    "  invoke void dso_local_equivalent @not_taken() to label %done unwind label %pad\n"
    "pad:\n"
    "  %x = landingpad {ptr, i32} cleanup\n"
    "  ret void\n"
    "done:\n"
    "  ret void\n"
    "}\n";

static const struct rh_edge *get_out(const struct rh_graph *g, const struct rh_function *f,
                                     uint32_t i)
{
    uint32_t count;
    const uint32_t *out = rh_graph_out(g, f, &count);

    assert_true(i < count);
    return rh_graph_edge(g, out[i]);
}

static void test_calls(void **state)
{
    static const char *const callees[] = {
        "not_taken",       "first",           NULL,       NULL, "caller",
        "taken_by_itself", "taken_in_bundle", "not_taken"};
    struct rh_module *m = open_text(calls);
    struct rh_graph *g = rh_graph_build(m);
    struct rh_function *caller = get_function(m, "caller");
    uint32_t count;

    (void)state;
    rh_graph_out(g, caller, &count);
    assert_int_equal(count, sizeof callees / sizeof callees[0]);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_edge *edge = get_out(g, caller, i);

        assert_int_equal(edge->kind, RH_EDGE_CALL);
        assert_ptr_equal(edge->caller, caller);
        assert_ptr_equal(edge->target, edge->site->callee);
        assert_int_equal(edge->open, callees[i] == NULL);
        if (callees[i])
            assert_string_equal(edge->callee->name, callees[i]);
        else
            assert_null(edge->callee);
    }
    rh_graph_in(g, get_function(m, "not_taken"), &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(rh_graph_edge(g, *rh_graph_in(g, get_function(m, "external"), &count))->caller,
                     get_function(m, "first"));
    assert_int_equal(rh_graph_edge_count(g), 9);
    rh_graph_free(g);
    rh_ir_close(m);
}

static void test_address_taken(void **state)
{
    struct rh_module *m = open_text(calls);
    struct rh_graph *g = rh_graph_build(m);

    (void)state;
    assert_false(rh_graph_address_taken(g, get_function(m, "not_taken")));
    assert_false(rh_graph_address_taken(g, get_function(m, "caller")));
    assert_false(rh_graph_address_taken(g, get_function(m, "external")));
    assert_true(rh_graph_address_taken(g, get_function(m, "first"))); /* the resolver gives it */
    assert_true(rh_graph_address_taken(g, get_function(m, "resolver")));
    assert_true(rh_graph_address_taken(g, get_function(m, "taken_by_table")));
    assert_true(rh_graph_address_taken(g, get_function(m, "taken_by_argument")));
    assert_true(rh_graph_address_taken(g, get_function(m, "taken_by_itself")));
    assert_true(rh_graph_address_taken(g, get_function(m, "taken_in_bundle")));
    assert_true(rh_graph_address_taken(g, get_function(m, "personality")));
    rh_graph_free(g);
    rh_ir_close(m);
}

static const char threads[] =
    "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n"
    "declare i32 @pthread_join(i64, ptr)\n"
    "declare i32 @thrd_create(ptr, ptr, ptr)\n"
    "declare i32 @thrd_join(i64, ptr)\n"
    "declare void @" START_THREAD "(ptr, ptr, ptr)\n"
    "declare void @_ZNSt6thread4joinEv(ptr)\n"
    "@again = alias ptr (ptr), ptr @entry\n"
    "define ptr @entry(ptr %p) {\n"
    "  ret ptr %p\n"
    "}\n"
    "define i32 @simple(ptr %p) {\n"
    "  ret i32 0\n"
    "}\n"
    "define void @start(ptr %unknown, ptr %state) {\n"
    "  %t = alloca i64\n"
    "  call i32 @pthread_create(ptr %t, ptr null, ptr @again, ptr null)\n"
    "  call i32 @pthread_create(ptr %t, ptr null, ptr %unknown, ptr null)\n"
    "  call i32 @thrd_create(ptr %t, ptr @simple, ptr null)\n"
    "  call void @" START_THREAD "(ptr %t, ptr %state, ptr null)\n"
    "  ret void\n"
    "}\n"
    "define void @finish(ptr %t) {\n"
    "  %h = load i64, ptr %t\n"
    "  call i32 @pthread_join(i64 %h, ptr null)\n"
    "  call i32 @thrd_join(i64 %h, ptr null)\n"
    "  call void @_ZNSt6thread4joinEv(ptr %t)\n"
    "  ret void\n"
    "}\n";

/* Of the two edges of each site, the second is the thread's. */
static void test_creates(void **state)
{
    static const char *const entries[] = {"entry", NULL, "simple", NULL};
    struct rh_module *m = open_text(threads);
    struct rh_graph *g = rh_graph_build(m);
    struct rh_function *start = get_function(m, "start");

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const struct rh_edge *call = get_out(g, start, 2 * i);
        const struct rh_edge *create = get_out(g, start, 2 * i + 1);

        assert_int_equal(call->kind, RH_EDGE_CALL);
        assert_int_equal(create->kind, RH_EDGE_CREATE);
        assert_ptr_equal(create->site, call->site);
        assert_ptr_equal(create->handle, get_value(start, "t"));
        assert_int_equal(create->open, entries[i] == NULL);
        if (entries[i])
            assert_string_equal(create->callee->name, entries[i]);
    }
    assert_ptr_equal(get_out(g, start, 3)->target, get_value(start, "unknown"));
    assert_ptr_equal(get_out(g, start, 7)->target, get_value(start, "state"));
    rh_graph_free(g);
    rh_ir_close(m);
}

static void test_joins(void **state)
{
    struct rh_module *m = open_text(threads);
    struct rh_graph *g = rh_graph_build(m);
    struct rh_function *finish = get_function(m, "finish");

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        const struct rh_edge *join = get_out(g, finish, 2 * i + 1);

        assert_int_equal(join->kind, RH_EDGE_JOIN);
        assert_null(join->callee);
        assert_false(join->open);
        assert_ptr_equal(join->handle, get_value(finish, i < 2 ? "h" : "t"));
    }
    rh_graph_free(g);
    rh_ir_close(m);
}

/* A program's own function that happens to have the name. */
static void test_other_signature(void **state)
{
    struct rh_module *m = open_text("define void @thrd_create() {\n"
                                    "  call void @thrd_create()\n"
                                    "  ret void\n"
                                    "}\n");
    struct rh_graph *g = rh_graph_build(m);

    (void)state;
    assert_int_equal(rh_graph_edge_count(g), 1);
    assert_int_equal(rh_graph_edge(g, 0)->kind, RH_EDGE_CALL);
    rh_graph_free(g);
    rh_ir_close(m);
}

static void test_components(void **state)
{
    static const char text[] =
        "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n"
        "define void @main() {\n"
        "  call void @even()\n"
        "  call i32 @pthread_create(ptr null, ptr null, ptr @main, ptr null)\n"
        "  ret void\n"
        "}\n"
        "define void @even() {\n"
        "  call void @odd()\n"
        "  ret void\n"
        "}\n"
        "define void @odd() {\n"
        "  call void @even()\n"
        "  call void @leaf()\n"
        "  ret void\n"
        "}\n"
        "define void @leaf() {\n"
        "  ret void\n"
        "}\n";
    struct rh_module *m = open_text(text);
    struct rh_graph *g = rh_graph_build(m);
    uint32_t of[5], count;
    struct rh_function *order[5];
    uint32_t even = get_function(m, "even")->id, odd = get_function(m, "odd")->id;

    (void)state;
    assert_int_equal(rh_ir_function_count(m), 5);
    count = rh_graph_components(g, of, order);
    assert_int_equal(count, 4);
    assert_int_equal(of[even], of[odd]);
    assert_true(of[get_function(m, "leaf")->id] < of[odd]);
    assert_true(of[even] < of[get_function(m, "main")->id]);
    for (uint32_t i = 1; i < 5; i++)
        assert_true(of[order[i - 1]->id] <= of[order[i]->id]);
    rh_graph_free(g);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),           cmocka_unit_test(test_address_taken),
        cmocka_unit_test(test_creates),         cmocka_unit_test(test_joins),
        cmocka_unit_test(test_other_signature), cmocka_unit_test(test_components),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
