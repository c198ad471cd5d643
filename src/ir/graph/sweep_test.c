/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of sweeps: which addresses change by how much each time round a loop, and how often.
 */
#include "ir/graph/sweep.h"

#include <stdlib.h>

#include "ir/testing.h"

/* Loops named after what is found: the first access of each is looked at. */
#define LOOP(name, head, body, tail)                                                               \
    "define void @" name "(ptr %p, ptr %q, i64 %n, i64 %by) {\n"                                   \
    "start:\n"                                                                                     \
    "  br label %loop\n"                                                                           \
    "loop:\n" head body "  store i64 1, ptr %at\n" tail "end:\n"                                   \
    "  ret void\n"                                                                                 \
    "}\n"
#define UP                                                                                         \
    "  %i = phi i64 [ 0, %start ], [ %next, %loop ]\n"                                             \
    "  %next = add nuw nsw i64 %i, 1\n"
#define AT        "  %at = getelementptr inbounds i64, ptr %p, i64 %i\n"
#define ON(test)  "  %more = icmp " test "\n  br i1 %more, label %loop, label %end\n"
#define OFF(test) "  %over = icmp " test "\n  br i1 %over, label %end, label %loop\n"

static const char text[] = LOOP("up", UP, AT, OFF("eq i64 %next, %n")) LOOP("up_less", UP, AT,
                                                                            ON("ult i64 %next, %n"))
    LOOP("same", UP, "  %at = getelementptr i8, ptr %p, i64 %n\n", ON("ult i64 %next, %n"))
        LOOP("pairs",
             "  %i = phi i64 [ %by, %start ], [ %next, %loop ]\n  %next = add nuw nsw i64 %i, 2\n",
             AT, ON("slt i64 %next, %n"))
            LOOP("down",
                 "  %i = phi i64 [ %n, %start ], [ %next, %loop ]\n  %next = add nsw i64 %i, -1\n",
                 AT, ON("sgt i64 %i, 0"))
                LOOP("pointer",
                     "  %at = phi ptr [ %p, %start ], [ %next, %loop ]\n"
                     "  %next = getelementptr inbounds i8, ptr %at, i64 24\n",
                     "", OFF("eq ptr %next, %q"))
                    LOOP("scaled", UP,
                         "  %twice = shl nuw i64 %i, 1\n  %odd = or disjoint i64 %twice, 1\n"
                         "  %at = getelementptr [4 x i64], ptr %p, i64 %by, i64 %odd\n",
                         ON("ne i64 %n, %next"))
    /* what is not known before the loop */
    LOOP("none_by", "  %i = phi i64 [ 0, %start ], [ %next, %loop ]\n  %next = add i64 %i, %by\n",
         AT, ON("ult i64 %next, %n"))
        LOOP("none_loaded", UP, "  %at = load ptr, ptr %p\n", ON("ult i64 %next, %n"))
            LOOP("none_threes",
                 "  %i = phi i64 [ 0, %start ], [ %next, %loop ]\n  %next = add i64 %i, 3\n", AT,
                 ON("ne i64 %next, %n"))
                LOOP("none_wraps",
                     "  %i = phi i64 [ 0, %start ], [ %next, %loop ]\n  %next = add i64 %i, 2\n",
                     AT, ON("ult i64 %next, %n"))
                    LOOP("none_wide",
                         "  %s = phi i32 [ 0, %start ], [ %t, %loop ]\n  %t = add i32 %s, 1\n"
                         "  %i = sext i32 %s to i64\n",
                         AT, ON("ne i32 %t, 7")) LOOP("none_below", UP, AT, ON("ule i64 %next, %n"))
                        LOOP("none_turned", UP, AT, ON("ugt i64 %next, %n"))
                            LOOP("none_moving", UP, "  %end_ = load i64, ptr %q\n" AT,
                                 ON("ult i64 %next, %end_"));

static bool find(struct rh_module *m, const char *name, struct rh_sweep *out)
{
    struct rh_function *f = get_function(m, name);
    struct rh_cfg *cfg = rh_cfg_build(f);
    struct rh_value *store = get_first(f, RH_OP_STORE);
    bool found = rh_sweep_find(cfg, store, rh_ir_pointer(store), out);
    rh_cfg_free(cfg);
    return found;
}

static void strides_and_counts_are_found(void **state)
{
    static const struct {
        const char *name;
        int64_t stride, step;
        uint8_t predicate;
    } wanted[] = {
        {"up", 8, 1, RH_PREDICATE_NE},
        {"up_less", 8, 1, RH_PREDICATE_ULT},
        {"same", 0, 0, 0},
        {"pairs", 16, 2, RH_PREDICATE_SLT},
        {"down", -8, -1, RH_PREDICATE_SGT},
        {"pointer", 24, 24, RH_PREDICATE_NE},
        {"scaled", 16, 1, RH_PREDICATE_NE},
    };
    (void)state;
    struct rh_module *m = open_text(text);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct rh_sweep sweep;
        if (!find(m, wanted[i].name, &sweep))
            fail_msg("%s: not found", wanted[i].name);
        assert_int_equal(sweep.stride, wanted[i].stride);
        assert_int_equal(sweep.count.step, wanted[i].step);
        assert_int_equal(sweep.count.predicate, wanted[i].predicate);
        assert_string_equal(sweep.before->succs[0]->first->fn->name, wanted[i].name);
    }
    rh_ir_close(m);
}

static void what_is_not_known_before_is_not_found(void **state)
{
    (void)state;
    struct rh_module *m = open_text(text);
    unsigned none = 0;
    for (uint32_t f = 0; f < rh_ir_function_count(m); f++) {
        const char *name = rh_ir_function(m, f)->name;
        struct rh_sweep sweep;
        if (strncmp(name, "none_", 5) != 0)
            continue;
        none++;
        if (find(m, name, &sweep))
            fail_msg("%s: found", name);
    }
    assert_int_equal(none, 8);
    rh_ir_close(m);
}

/* An access that not every round makes, or after which the loop may end. */
static void only_what_each_round_does_is_found(void **state)
{
    static const char loops[] = "define void @some(ptr %p, i64 %n, i1 %c) {\n"
                                "start:\n"
                                "  br label %loop\n"
                                "loop:\n" UP AT "  br i1 %c, label %now, label %last\n"
                                "now:\n"
                                "  store i64 1, ptr %at\n"
                                "  br label %last\n"
                                "last:\n" ON("ult i64 %next, %n") "end:\n"
                                                                  "  ret void\n"
                                                                  "}\n";
    (void)state;
    char *program = strdup(loops);
    for (char *at = program; (at = strstr(at, "%next, %loop ]"));)
        memcpy(at, "%next, %last ]", 14);
    struct rh_module *m = open_text(program);
    struct rh_sweep sweep;
    assert_false(find(m, "some", &sweep));
    rh_ir_close(m);
    free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_and_counts_are_found),
        cmocka_unit_test(what_is_not_known_before_is_not_found),
        cmocka_unit_test(only_what_each_round_does_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
