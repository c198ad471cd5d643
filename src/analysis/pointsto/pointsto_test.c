/* SPDX-License-Identifier: Apache-2.0 */
/* What pointers point to, on small modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "analysis/pointsto/pointsto.h"

#define HEADER                                                                                     \
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:"  \
    "32:64-S128\"\n"                                                                               \
    "target triple = \"x86_64-pc-linux-gnu\"\n"                                                    \
    "%pair = type { ptr, ptr }\n"                                                                  \
    "@a = internal global i32 0\n@b = internal global i32 0\n"                                     \
    "@p = internal global %pair zeroinitializer\n@q = internal global %pair zeroinitializer\n"     \
    "@table = internal global [4 x ptr] zeroinitializer\n"                                         \
    "declare ptr @malloc(i64)\ndeclare void @unknown(ptr)\n"                                       \
    "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n"                                            \
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"

struct solved {
    struct rh_module *module;
    struct rh_pointsto *pointsto;
};

static struct solved solve_as(const char *body, bool is_coarse)
{
    struct solved s = {0};
    char *text = test_malloc(strlen(HEADER) + strlen(body) + 1);
    strcpy(text, HEADER);
    strcat(text, body);
    if (rh_ir_open_memory("test", text, strlen(text), &s.module) != RH_OK)
        fail_msg("%s", rh_error_text());
    test_free(text);
    s.pointsto = rh_pointsto_solve(s.module, &(struct rh_pointsto_options){.is_coarse = is_coarse});
    return s;
}

static struct solved solve(const char *body)
{
    return solve_as(body, false);
}

static void release(struct solved *s)
{
    rh_pointsto_free(s->pointsto);
    rh_ir_close(s->module);
}

static const struct rh_value *find_value(const struct rh_function *fn, const char *name)
{
    for (uint32_t i = 0; i < fn->arg_count; i++)
        if (strcmp(fn->args[i]->name, name) == 0)
            return fn->args[i];
    for (uint32_t b = 0; b < fn->block_count; b++)
        for (const struct rh_value *v = fn->blocks[b]->first; v; v = v->next)
            if (strcmp(v->name, name) == 0)
                return v;
    fail_msg("no value %s in %s", name, fn->name);
    return NULL;
}

/* May `value` of `function` (in any instance) point into the object of this name? The object of a
 * call is named after the call. */
static bool points_to(const struct solved *s, const char *function, const char *value,
                      const char *object)
{
    const struct rh_function *fn = rh_ir_find_function(s->module, function);
    const struct rh_value *v = find_value(fn, value);
    uint32_t count, cell;
    const uint32_t *instances = rh_pointsto_instances_of(s->pointsto, fn, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_idset *cells = rh_pointsto_of(s->pointsto, instances[i], v);
        for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);) {
            uint32_t id = rh_pointsto_cell(s->pointsto, cell)->object;
            const struct rh_object *o = rh_pointsto_object(s->pointsto, id);
            if (o->value && strcmp(o->value->name, object) == 0)
                return true;
        }
    }
    return false;
}

static void fields_are_told_apart(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main() {\n"
                            "  store ptr @a, ptr @p\n"
                            "  %second = getelementptr i8, ptr @p, i64 8\n"
                            "  store ptr @b, ptr %second\n"
                            "  %x = load ptr, ptr @p\n"
                            "  %y = load ptr, ptr %second\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "x", "b"));
    assert_true(points_to(&s, "main", "y", "b"));
    assert_false(points_to(&s, "main", "y", "a"));
    release(&s);
}

/* libstdc++ has such distances in code that never runs. Seen by the sanitizers of SANITIZE=1. */
static void a_distance_may_be_the_longest_there_is(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main() {\n"
                            "  %e = getelementptr i8, ptr @table, i64 16\n"
                            "  %f = getelementptr i8, ptr %e, i64 9223372036854775807\n"
                            "  store ptr @a, ptr %f\n"
                            "  %x = load ptr, ptr %e\n"
                            "  ret i32 0\n}\n");
    assert_false(points_to(&s, "main", "x", "a"));
    release(&s);
}

static void an_index_reaches_every_element(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main(i64 %i) {\n"
                            "  %e = getelementptr i8, ptr @table, i64 16\n"
                            "  store ptr @a, ptr %e\n"
                            "  %f = getelementptr [4 x ptr], ptr @table, i64 0, i64 %i\n"
                            "  %x = load ptr, ptr %f\n"
                            "  %y = load ptr, ptr @table\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "y", "a"));
    release(&s);
}

/* table[i + 3], of which the optimiser makes (table + i) + 3: i may be -2. With `inbounds` it is an
 * element behind one that there is. */
static void a_sum_of_indices_reaches_every_element(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main(i64 %i) {\n"
                            "  %e = getelementptr [4 x ptr], ptr @table, i64 0, i64 %i\n"
                            "  %f = getelementptr i8, ptr %e, i64 24\n"
                            "  store ptr @a, ptr %f\n"
                            "  %g = getelementptr inbounds i8, ptr %e, i64 24\n"
                            "  store ptr @b, ptr %g\n"
                            "  %second = getelementptr i8, ptr @table, i64 8\n"
                            "  %x = load ptr, ptr %second\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "x", "b"));
    release(&s);
}

static void a_sum_of_indices_reaches_every_inner_element(void **state)
{
    (void)state;
    struct solved s =
        solve("%row = type { i64, [6 x ptr], i64 }\n"
              "@rows = internal global [4 x %row] zeroinitializer\n"
              "define i32 @main(i64 %i, i64 %j) {\n"
              "  %r = getelementptr inbounds [4 x %row], ptr @rows, i64 0, i64 %i, i32 1\n"
              "  %e = getelementptr ptr, ptr %r, i64 %j\n"
              "  %f = getelementptr i8, ptr %e, i64 8\n"
              "  store ptr @a, ptr %f\n"
              "  %first = getelementptr i8, ptr @rows, i64 72\n"
              "  %x = load ptr, ptr %first\n"
              "  %back = getelementptr i8, ptr %r, i64 -8\n"
              "  store ptr @b, ptr %back\n"
              "  %y = load ptr, ptr @rows\n"
              "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_true(points_to(&s, "main", "y", "b"));
    release(&s);
}

/* A pointer to the third element, whose index may be below zero, or never is. */
static void an_index_below_zero_reaches_earlier_elements(void **state)
{
    (void)state;
    struct solved s = solve("%box = type { ptr, [6 x ptr] }\n"
                            "@box = internal global %box zeroinitializer\n"
                            "@middle = internal global ptr null\n"
                            "define i32 @main(i64 %i, i32 %n) {\n"
                            "  %third = getelementptr i8, ptr @box, i64 24\n"
                            "  store ptr %third, ptr @middle\n"
                            "  store ptr @a, ptr @box\n"
                            "  %second = getelementptr i8, ptr @box, i64 16\n"
                            "  store ptr @b, ptr %second\n"
                            "  %from = load ptr, ptr @middle\n"
                            "  %any = getelementptr ptr, ptr %from, i64 %i\n"
                            "  %x = load ptr, ptr %any\n"
                            "  %up = zext i32 %n to i64\n"
                            "  %later = getelementptr ptr, ptr %from, i64 %up\n"
                            "  %y = load ptr, ptr %later\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "b"));
    assert_false(points_to(&s, "main", "x", "a")); /* before the array */
    assert_false(points_to(&s, "main", "y", "b"));
    release(&s);
}

static void structs_are_copied_member_by_member(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main() {\n"
                            "  store ptr @a, ptr @p\n"
                            "  %second = getelementptr i8, ptr @p, i64 8\n"
                            "  store ptr @b, ptr %second\n"
                            "  call void @llvm.memcpy.p0.p0.i64(ptr @q, ptr @p, i64 16, i1 false)\n"
                            "  %x = load ptr, ptr @q\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "x", "b"));
    release(&s);
}

static void copies_of_unknown_length_mix(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main(i64 %n) {\n"
                            "  store ptr @a, ptr @p\n"
                            "  call void @llvm.memcpy.p0.p0.i64(ptr @q, ptr @p, i64 %n, i1 false)\n"
                            "  %x = load ptr, ptr @q\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    release(&s);
}

/* Two copies from one place: each destination gets what was there, and not what the other one held
 * before. */
static void copies_from_one_place_stay_apart(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main(i64 %n) {\n"
                            "  %one = alloca ptr\n"
                            "  %two = alloca ptr\n"
                            "  store ptr @a, ptr @p\n"
                            "  store ptr @b, ptr %one\n"
                            "  call void @llvm.memcpy.p0.p0.i64(ptr %one, ptr @p, i64 %n, i1 0)\n"
                            "  call void @llvm.memcpy.p0.p0.i64(ptr %two, ptr @p, i64 %n, i1 0)\n"
                            "  %x = load ptr, ptr %one\n"
                            "  %y = load ptr, ptr %two\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_true(points_to(&s, "main", "x", "b"));
    assert_true(points_to(&s, "main", "y", "a"));
    assert_false(points_to(&s, "main", "y", "b"));
    release(&s);
}

/* Arrays in the elements of arrays, in a struct that is copied whole: a pointer stored at any place
 * is found at any place that may be the same, and nowhere behind the arrays. */
static void arrays_are_copied_with_their_struct(void **state)
{
    (void)state;
    struct solved s = solve(
        "%item = type { [4 x ptr], i64 }\n%box = type { [8 x %item], ptr }\n"
        "@from = internal global %box zeroinitializer\n@to = internal global %box zeroinitializer\n"
        "define i32 @main(i64 %i, i64 %j) {\n"
        "  %any = getelementptr %box, ptr @from, i64 0, i32 0, i64 %i, i32 0, i64 %j\n"
        "  store ptr @a, ptr %any\n"
        "  %last = getelementptr %box, ptr @from, i64 0, i32 1\n"
        "  store ptr @b, ptr %last\n"
        "  call void @llvm.memcpy.p0.p0.i64(ptr @to, ptr @from, i64 328, i1 false)\n"
        "  %third = getelementptr %box, ptr @to, i64 0, i32 0, i64 3, i32 0, i64 2\n"
        "  %x = load ptr, ptr %third\n"
        "  %behind = getelementptr %box, ptr @to, i64 0, i32 1\n"
        "  %y = load ptr, ptr %behind\n"
        "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "x", "b"));
    assert_true(points_to(&s, "main", "y", "b"));
    assert_false(points_to(&s, "main", "y", "a"));
    release(&s);
}

/* The indices of LLVM 22, which name the elements' type and not the array's. */
static void the_elements_say_which_array_is_indexed(void **state)
{
    (void)state;
    struct solved s =
        solve("%item = type { [4 x ptr], i64 }\n%box = type { [2 x [4 x %item]], ptr }\n"
              "%outer = type { i64, %box }\n"
              "@box = internal global %box zeroinitializer\n"
              "@outer = internal global %outer zeroinitializer\n"
              "define i32 @main(i64 %i, i64 %j, i64 %k) {\n"
              "  %item = getelementptr inbounds nuw %item, ptr @box, i64 %i\n"
              "  %any = getelementptr inbounds nuw ptr, ptr %item, i64 %j\n"
              "  store ptr @a, ptr %any\n"
              "  %in = getelementptr i8, ptr @outer, i64 8\n"
              "  %row = getelementptr inbounds nuw [4 x %item], ptr %in, i64 %k\n"
              "  %other = getelementptr inbounds nuw %item, ptr %row, i64 %i\n"
              "  store ptr @b, ptr %other\n"
              "  %last = getelementptr i8, ptr @box, i64 304\n"
              "  %x = load ptr, ptr %last\n"
              "  %behind = getelementptr i8, ptr @box, i64 320\n"
              "  %y = load ptr, ptr %behind\n"
              "  %first = getelementptr i8, ptr @outer, i64 288\n"
              "  %z = load ptr, ptr %first\n"
              "  %after = getelementptr i8, ptr @outer, i64 328\n"
              "  %w = load ptr, ptr %after\n"
              "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "y", "a"));
    assert_true(points_to(&s, "main", "z", "b"));
    assert_false(points_to(&s, "main", "w", "b"));
    release(&s);
}

static void elements_are_copied_with_their_arrays(void **state)
{
    (void)state;
    struct solved s =
        solve("%item = type { [40 x ptr], ptr }\n"
              "@from = internal global [4 x %item] zeroinitializer\n"
              "@to = internal global %item zeroinitializer\n"
              "define i32 @main(i64 %i, i64 %j, i64 %k) {\n"
              "  %any = getelementptr [4 x %item], ptr @from, i64 0, i64 %i, i32 0, i64 %j\n"
              "  store ptr @a, ptr %any\n"
              "  %last = getelementptr [4 x %item], ptr @from, i64 0, i64 %i, i32 1\n"
              "  store ptr @b, ptr %last\n"
              "  %item = getelementptr [4 x %item], ptr @from, i64 0, i64 %k\n"
              "  call void @llvm.memcpy.p0.p0.i64(ptr @to, ptr %item, i64 328, i1 false)\n"
              "  %third = getelementptr %item, ptr @to, i64 0, i32 0, i64 2\n"
              "  %x = load ptr, ptr %third\n"
              "  %behind = getelementptr %item, ptr @to, i64 0, i32 1\n"
              "  %y = load ptr, ptr %behind\n"
              "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "x", "b"));
    assert_true(points_to(&s, "main", "y", "b"));
    assert_false(points_to(&s, "main", "y", "a"));
    release(&s);
}

/* A member of every element of two arrays, one within the other, in a struct that is copied to one
 * of several: the last is copied, too. */
static void the_last_elements_are_copied(void **state)
{
    (void)state;
    struct solved s = solve(
        "%item = type { ptr, ptr, [40 x i64] }\n%box = type { ptr, [2 x [4 x %item]], i64 }\n"
        "@from = internal global %box zeroinitializer\n"
        "@to = internal global [2 x %box] zeroinitializer\n"
        "define i32 @main(i64 %i, i64 %j, i64 %k) {\n"
        "  %any = getelementptr %box, ptr @from, i64 0, i32 1, i64 %i, i64 %j, i32 1\n"
        "  store ptr @a, ptr %any\n"
        "  %box = getelementptr [2 x %box], ptr @to, i64 0, i64 %k\n"
        "  call void @llvm.memcpy.p0.p0.i64(ptr %box, ptr @from, i64 2704, i1 false)\n"
        "  %last = getelementptr [2 x %box], ptr @to, i64 0, i64 1, i32 1, i64 1, i64 3, i32 1\n"
        "  %x = load ptr, ptr %last\n"
        "  %behind = getelementptr [2 x %box], ptr @to, i64 0, i64 1, i32 2\n"
        "  %y = load ptr, ptr %behind\n"
        "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "y", "a"));
    release(&s);
}

static void blocks_of_wrappers_differ_by_caller(void **state)
{
    (void)state;
    struct solved s = solve("define internal ptr @make(ptr %v) {\n"
                            "  %m = call ptr @malloc(i64 8)\n"
                            "  store ptr %v, ptr %m\n"
                            "  ret ptr %m\n}\n"
                            "define i32 @main() {\n"
                            "  %first = call ptr @make(ptr @a)\n"
                            "  %second = call ptr @make(ptr @b)\n"
                            "  %x = load ptr, ptr %first\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "x", "b"));
    release(&s);
}

static void pointers_survive_integers(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main() {\n"
                            "  %i = ptrtoint ptr @a to i64\n"
                            "  %j = xor i64 %i, 1\n"
                            "  %x = inttoptr i64 %j to ptr\n"
                            "  %k = ptrtoint ptr @b to i64\n"
                            "  %d = sub i64 %i, %k\n"
                            "  %y = inttoptr i64 %d to ptr\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    assert_false(points_to(&s, "main", "y", "b"));
    release(&s);
}

static void threads_begin_where_pointers_say(void **state)
{
    (void)state;
    struct solved s = solve("@entry = internal global ptr @work\n"
                            "define internal ptr @work(ptr %arg) {\n  ret ptr %arg\n}\n"
                            "define i32 @main() {\n"
                            "  %t = alloca i64\n"
                            "  %f = load ptr, ptr @entry\n"
                            "  %r = call i32 @pthread_create(ptr %t, ptr null, ptr %f, ptr @a)\n"
                            "  ret i32 0\n}\n");
    const struct rh_function *fn = rh_ir_find_function(s.module, "main");
    uint32_t instances, count;
    const uint32_t *main = rh_pointsto_instances_of(s.pointsto, fn, &instances);
    const uint32_t *entries = rh_pointsto_entries(s.pointsto, main[0], find_value(fn, "r"), &count);
    assert_int_equal(count, 1);
    assert_string_equal(rh_pointsto_instance(s.pointsto, entries[0])->fn->name, "work");
    assert_true(points_to(&s, "work", "arg", "a"));
    release(&s);
}

static void unknown_functions_know_what_they_are_given(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main() {\n"
                            "  store ptr @a, ptr @p\n"
                            "  call void @unknown(ptr @p)\n"
                            "  ret i32 0\n}\n");
    size_t count;
    const struct rh_unknown_function *unknown = rh_pointsto_unknown(s.pointsto, &count);
    uint32_t known = 0;
    assert_int_equal(count, 1);
    assert_string_equal(unknown[0].fn->name, "unknown");
    for (uint32_t i = 0; i < rh_pointsto_object_count(s.pointsto); i++) {
        const struct rh_object *o = rh_pointsto_object(s.pointsto, i);
        if (!o->value || !rh_pointsto_is_outside(s.pointsto, i))
            continue;
        known++;
        assert_true(strcmp(o->value->name, "p") == 0 || strcmp(o->value->name, "a") == 0);
    }
    assert_int_equal(known, 2);
    release(&s);
}

static void walking_pointers_end(void **state)
{
    (void)state;
    struct solved s = solve("define i32 @main(i1 %c) {\n"
                            "  br label %loop\n"
                            "loop:\n"
                            "  %at = phi ptr [ @table, %0 ], [ %next, %loop ]\n"
                            "  %next = getelementptr i8, ptr %at, i64 8\n"
                            "  %x = load ptr, ptr %at\n"
                            "  br i1 %c, label %loop, label %end\n"
                            "end:\n"
                            "  %e = getelementptr i8, ptr @table, i64 24\n"
                            "  store ptr @a, ptr %e\n"
                            "  ret i32 0\n}\n");
    assert_true(points_to(&s, "main", "x", "a"));
    release(&s);
}

static void a_coarse_answer_has_objects_but_no_members(void **state)
{
    (void)state;
    struct solved s = solve_as("define i32 @main() {\n"
                               "  store ptr @a, ptr @p\n"
                               "  %second = getelementptr %pair, ptr @p, i64 0, i32 1\n"
                               "  store ptr @b, ptr %second\n"
                               "  %first = load ptr, ptr @p\n"
                               "  %other = load ptr, ptr @q\n"
                               "  ret i32 0\n}\n",
                               true);
    assert_true(points_to(&s, "main", "second", "p"));
    assert_true(points_to(&s, "main", "first", "a"));
    assert_true(points_to(&s, "main", "first", "b")); /* any member of the object */
    assert_false(points_to(&s, "main", "second", "q"));
    assert_false(points_to(&s, "main", "other", "a"));
    release(&s);
}

static void cells_overlap_by_offset_and_stride(void **state)
{
    (void)state;
    struct rh_cell four = {.object = 1, .offset = 4, .end = INT64_MAX};
    struct rh_cell every = {.object = 1, .stride = 16, .offset = 8, .end = 72};
    struct rh_cell inside = {.object = 1, .offset = 24, .end = INT64_MAX};
    struct rh_cell beyond = {.object = 1, .offset = 72, .end = INT64_MAX};
    struct rh_cell other = {.object = 2, .offset = 4, .end = INT64_MAX};
    assert_true(rh_cells_overlap(&four, 8, &every, 4));
    assert_false(rh_cells_overlap(&four, 4, &every, 4));
    assert_true(rh_cells_overlap(&every, 4, &inside, 1));
    assert_false(rh_cells_overlap(&every, 4, &beyond, 8));
    assert_false(rh_cells_overlap(&four, 8, &other, 8));
    assert_true(rh_cells_overlap(&four, 0, &inside, 1)); /* as far as it goes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_told_apart),
        cmocka_unit_test(a_distance_may_be_the_longest_there_is),
        cmocka_unit_test(an_index_reaches_every_element),
        cmocka_unit_test(a_sum_of_indices_reaches_every_element),
        cmocka_unit_test(a_sum_of_indices_reaches_every_inner_element),
        cmocka_unit_test(an_index_below_zero_reaches_earlier_elements),
        cmocka_unit_test(structs_are_copied_member_by_member),
        cmocka_unit_test(copies_of_unknown_length_mix),
        cmocka_unit_test(copies_from_one_place_stay_apart),
        cmocka_unit_test(arrays_are_copied_with_their_struct),
        cmocka_unit_test(the_elements_say_which_array_is_indexed),
        cmocka_unit_test(elements_are_copied_with_their_arrays),
        cmocka_unit_test(the_last_elements_are_copied),
        cmocka_unit_test(blocks_of_wrappers_differ_by_caller),
        cmocka_unit_test(pointers_survive_integers),
        cmocka_unit_test(threads_begin_where_pointers_say),
        cmocka_unit_test(unknown_functions_know_what_they_are_given),
        cmocka_unit_test(walking_pointers_end),
        cmocka_unit_test(a_coarse_answer_has_objects_but_no_members),
        cmocka_unit_test(cells_overlap_by_offset_and_stride),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
