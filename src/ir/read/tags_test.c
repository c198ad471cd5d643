/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of type tags: which accesses may meet by the rules of C and the habits of its users. */
#include "ir/testing.h"

/* Each load's name says what it reads. */
static const char accesses[] = "%struct.node = type { ptr, i32 }\n"
                               "@node = global %struct.node zeroinitializer\n"
                               "@number = global i32 0\n"
                               "define void @f(ptr %p) {\n"
                               "  %node_next = load ptr, ptr %p, !tbaa !10\n"
                               "  %node_count = load i32, ptr %p, !tbaa !11\n"
                               "  %outer_count = load i32, ptr %p, !tbaa !12\n"
                               "  %outer_other = load i32, ptr %p, !tbaa !13\n"
                               "  %bare_int = load i32, ptr %p, !tbaa !14\n"
                               "  %bare_char = load i8, ptr %p, !tbaa !15\n"
                               "  %bare_pointer = load ptr, ptr %p, !tbaa !16\n"
                               "  %unmarked = load i32, ptr %p\n"
                               "  %header_refs = load i32, ptr %p, !tbaa !17\n"
                               "  %derived_refs = load i32, ptr %p, !tbaa !18\n"
                               "  %derived_size = load i32, ptr %p, !tbaa !19\n"
                               "  %foreign_refs = load i32, ptr %p, !tbaa !20\n"
                               "  %as_long = load i64, ptr %p, !tbaa !21\n"
                               "  %as_long_long = load i64, ptr %p, !tbaa !22\n"
                               "  %cplusplus_refs = load i32, ptr %p, !tbaa !35\n"
                               "  ret void\n"
                               "}\n"
                               "!0 = !{!\"Simple C/C++ TBAA\"}\n"
                               "!1 = !{!\"omnipotent char\", !0, i64 0}\n"
                               "!2 = !{!\"int\", !1, i64 0}\n"
                               "!3 = !{!\"any pointer\", !1, i64 0}\n"
                               "!4 = !{!\"node\", !3, i64 0, !2, i64 8}\n"
                               "!5 = !{!\"outer\", !2, i64 0, !4, i64 8}\n"
                               "!6 = !{!\"header\", !2, i64 0, !2, i64 4}\n"
                               "!7 = !{!\"derived\", !2, i64 0, !2, i64 4, !2, i64 8}\n"
                               "!8 = !{!\"foreign\", !3, i64 0, !2, i64 8, !2, i64 12}\n"
                               "!9 = !{!\"long\", !1, i64 0}\n"
                               "!10 = !{!4, !3, i64 0}\n"
                               "!11 = !{!4, !2, i64 8}\n"
                               "!12 = !{!5, !2, i64 16}\n"
                               "!13 = !{!5, !2, i64 0}\n"
                               "!14 = !{!2, !2, i64 0}\n"
                               "!15 = !{!1, !1, i64 0}\n"
                               "!16 = !{!3, !3, i64 0}\n"
                               "!17 = !{!6, !2, i64 4}\n"
                               "!18 = !{!7, !2, i64 4}\n"
                               "!19 = !{!7, !2, i64 8}\n"
                               "!20 = !{!8, !2, i64 12}\n"
                               "!21 = !{!9, !9, i64 0}\n"
                               "!22 = !{!23, !23, i64 0}\n"
                               "!23 = !{!\"long long\", !1, i64 0}\n"
                               "!31 = !{!\"Simple C++ TBAA\"}\n"
                               "!32 = !{!\"omnipotent char\", !31, i64 0}\n"
                               "!33 = !{!\"int\", !32, i64 0}\n"
                               "!34 = !{!\"_ZTS6header\", !33, i64 0, !33, i64 4}\n"
                               "!35 = !{!34, !33, i64 4}\n";

static bool ask(struct rh_module *m, const char *a, const char *b)
{
    const struct rh_function *f = get_function(m, "f");
    uint32_t first = get_value(f, a)->tag, second = get_value(f, b)->tag;
    bool meet = rh_ir_tags_meet(m, first, second);
    assert_int_equal(meet, rh_ir_tags_meet(m, second, first));
    return meet;
}

static void paths_meet_where_they_pass_one_place(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask(m, "node_count", "node_count"));
    assert_true(ask(m, "node_count", "outer_count")); /* a node within */
    assert_false(ask(m, "node_count", "outer_other"));
    assert_false(ask(m, "node_count", "node_next"));
    assert_false(ask(m, "node_count", "foreign_refs"));
    rh_ir_close(m);
}

static void bare_scalars_meet_their_like(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask(m, "bare_int", "node_count"));
    assert_true(ask(m, "bare_int", "outer_other"));
    assert_false(ask(m, "bare_int", "node_next"));
    assert_true(ask(m, "bare_pointer", "node_next"));
    assert_false(ask(m, "bare_pointer", "bare_int"));
    assert_true(ask(m, "as_long", "as_long_long"));
    assert_false(ask(m, "as_long", "bare_int"));
    rh_ir_close(m);
}

static void characters_and_unmarked_accesses_meet_anything(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask(m, "bare_char", "node_count"));
    assert_true(ask(m, "unmarked", "node_next"));
    assert_int_equal(get_value(get_function(m, "f"), "bare_char")->tag, 0);
    rh_ir_close(m);
}

static void headers_repeated_instead_of_nested_meet(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask(m, "header_refs", "derived_refs"));
    assert_false(ask(m, "header_refs", "derived_size"));
    assert_false(ask(m, "header_refs", "foreign_refs"));
    rh_ir_close(m);
}

static void two_languages_may_meet(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask(m, "cplusplus_refs", "header_refs"));
    assert_true(ask(m, "cplusplus_refs", "node_next"));
    rh_ir_close(m);
}

static bool ask_fit(struct rh_module *m, const char *access, const char *global, uint64_t offset)
{
    const struct rh_type *type = rh_ir_find_global(m, global)->global->value_type;
    return rh_ir_tag_fits(m, get_value(get_function(m, "f"), access)->tag, type, offset);
}

static void accesses_fit_memory_of_their_type(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask_fit(m, "node_next", "node", 0));
    assert_true(ask_fit(m, "node_count", "node", 8));
    assert_false(ask_fit(m, "header_refs", "node", 4)); /* it would begin where the pointer is */
    assert_false(ask_fit(m, "bare_int", "node", 0));
    assert_true(ask_fit(m, "bare_int", "node", 8));
    assert_true(ask_fit(m, "unmarked", "node", 0));
    assert_true(ask_fit(m, "bare_char", "node", 0));
    rh_ir_close(m);
}

static void nothing_is_claimed_beyond_the_type(void **state)
{
    (void)state;
    struct rh_module *m = open_text(accesses);
    assert_true(ask_fit(m, "bare_pointer", "node", 16));
    assert_true(ask_fit(m, "node_count", "number", 0)); /* a struct that was taken apart */
    assert_false(ask_fit(m, "node_next", "number", 0));
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_meet_where_they_pass_one_place),
        cmocka_unit_test(bare_scalars_meet_their_like),
        cmocka_unit_test(characters_and_unmarked_accesses_meet_anything),
        cmocka_unit_test(headers_repeated_instead_of_nested_meet),
        cmocka_unit_test(two_languages_may_meet),
        cmocka_unit_test(accesses_fit_memory_of_their_type),
        cmocka_unit_test(nothing_is_claimed_beyond_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
