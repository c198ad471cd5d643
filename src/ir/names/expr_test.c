/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of expr.c against annotated sources, compiled at several levels of optimisation.
 *
 * A comment `// EXPR read q->head; write n->next` says what the accesses of its line are called.
 * Without optimisation each listed expression must be given for an access of its kind, and no
 * access may be called anything else or have no name. With optimisation an access may have no name,
 * but what it is called must be listed: a wrong name is worse than none. `weak X` lists what may be
 * said but need not; `none` lets an access be nameless without optimisation too; an index `[*]`
 * stands for any. Accesses to whole local variables, which only exist without optimisation, do not
 * count.
 */
#include "base/testing.h"

#include "ir/testing.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ir/module.h"
#include "ir/names/expr.h"

#define TESTDATA(name) RH_SOURCE_DIR "/src/ir/testdata/" name

enum item_kind { ITEM_READ, ITEM_WRITE, ITEM_WEAK, ITEM_NONE };

/* One expression that a line lists. */
struct item {
    enum item_kind kind;
    uint32_t line;
    const char *text;
    bool was_seen;
};
struct items RH_VEC_BODY(struct item);

/* One side of an access: a copy reads and writes. */
struct side {
    struct rh_value *inst;
    struct rh_value *ptr;
    uint64_t size;
    bool is_write;
};
struct sides RH_VEC_BODY(struct side);

struct counts {
    uint32_t accesses, named;
};

static void add_item(struct rh_arena *arena, struct items *items, uint32_t line, char *text)
{
    static const char *const kinds[] = {"read ", "write ", "weak ", "none"};

    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t len = strlen(kinds[i]);

        if (strncmp(text, kinds[i], len) == 0) {
            struct item item = {(enum item_kind)i, line, rh_arena_strdup(arena, text + len), false};

            rh_vec_push(items, item);
            return;
        }
    }
    fail_msg("line %u: what is '%s'?", line, text);
}

static void read_items(const char *path, struct rh_arena *arena, struct items *items)
{
    struct rh_strbuf source = RH_STRBUF_INIT;
    char *rest, *line;
    uint32_t number = 0;

    assert_int_equal(rh_fs_read(path, &source), RH_OK);
    rest = source.data;
    while ((line = strsep(&rest, "\n"))) {
        char *listed = strstr(line, "// EXPR ");

        number++;
        if (!listed)
            continue;
        listed += strlen("// EXPR ");
        while (listed)
            add_item(arena, items, number, strsep(&listed, ";"));
    }
    rh_strbuf_release(&source);
    assert_true(items->len > 0);
}

static struct rh_module *compile(const char *dir, const char *source, const char *level,
                                 const char *option)
{
    char *bitcode = rh_format("%s/program.bc", dir);
    const char *argv[] = {RH_CLANG,     level,  "-g", option,  "-c",
                          "-emit-llvm", source, "-o", bitcode, NULL};
    struct rh_module *m;

    assert_int_equal(run_program(argv, NULL), 0);
    if (rh_ir_open(bitcode, &m) != RH_OK)
        fail_msg("%s", rh_error_text());
    free(bitcode);
    return m;
}

static bool is_block_copy(const struct rh_value *v)
{
    return v->intrinsic &&
           (strcmp(v->intrinsic, "llvm.memcpy") == 0 || strcmp(v->intrinsic, "llvm.memmove") == 0);
}

static void add_side(struct sides *sides, struct rh_value *inst, struct rh_value *ptr,
                     uint64_t size, bool is_write)
{
    struct side side = {inst, ptr, size, is_write};

    if (ptr->kind == RH_VALUE_INST && ptr->op == RH_OP_ALLOCA)
        return;
    rh_vec_push(sides, side);
}

static void add_sides(struct sides *sides, struct rh_value *inst)
{
    struct rh_value *ptr = rh_ir_pointer(inst);

    if (ptr) {
        add_side(sides, inst, ptr, inst->access->size, inst->op != RH_OP_LOAD);
    } else if (is_block_copy(inst) ||
               (inst->intrinsic && strcmp(inst->intrinsic, "llvm.memset") == 0)) {
        uint64_t size = inst->ops[2]->kind == RH_VALUE_INT ? (uint64_t)inst->ops[2]->num : 0;

        add_side(sides, inst, inst->ops[0], size, true);
        if (is_block_copy(inst))
            add_side(sides, inst, inst->ops[1], size, false);
    }
}

static void find_sides(const struct rh_module *m, struct sides *sides)
{
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        struct rh_function *f = rh_ir_function(m, i);

        for (uint32_t k = 0; k < f->block_count; k++) {
            for (struct rh_value *v = f->blocks[k]->first; v; v = v->next)
                add_sides(sides, v);
        }
    }
    assert_true(sides->len > 0);
}

/* Whether the text is what the item lists, where "[*]" stands for any index. */
static bool is_match(const char *listed, const char *text)
{
    while (*listed && *text) {
        if (strncmp(listed, "[*]", 3) == 0 && *text == '[') {
            listed += 3;
            text += strcspn(text, "]") + 1;
        } else if (*listed++ != *text++) {
            return false;
        }
    }
    return *listed == *text;
}

static bool is_at(const struct rh_value *inst, const char *source, uint32_t line)
{
    return inst->loc && inst->loc->line == line && strcmp(inst->loc->file, source) == 0;
}

/* Checks one side against the items of its line. */
static void check_side(const struct side *side, const char *text, const char *source,
                       bool is_optimised, struct items *items, struct counts *counts)
{
    enum item_kind kind = side->is_write ? ITEM_WRITE : ITEM_READ;
    bool is_listed = false, may_be_nameless = is_optimised, is_allowed = false;

    rh_vec_each (struct item, it, items) {
        if (!is_at(side->inst, source, it->line))
            continue;
        is_listed = true;
        may_be_nameless |= it->kind == ITEM_NONE;
        if (text && (it->kind == kind || it->kind == ITEM_WEAK) && is_match(it->text, text))
            is_allowed = it->was_seen = true;
    }
    if (!is_listed)
        return;
    counts->accesses++;
    counts->named += text != NULL;
    if (text ? !is_allowed : !may_be_nameless)
        fail_msg("%s:%u: a %s is called %s", source, side->inst->loc->line,
                 side->is_write ? "write" : "read", text ? text : "nothing");
}

static void check_all_seen(const struct items *items, const char *source)
{
    rh_vec_each (const struct item, it, items) {
        if ((it->kind == ITEM_READ || it->kind == ITEM_WRITE) && !it->was_seen)
            fail_msg("%s:%u: nothing is called %s", source, it->line, it->text);
    }
}

/* Every access of the program, annotated or not, must have a short name without the C++ library's
 * insides, or none. */
static void check_form(const struct rh_strbuf *text, bool is_named)
{
    assert_int_equal(text->len > 0, is_named);
    assert_true(text->len <= 80);
    if (strstr(rh_strbuf_text(text), "_M_"))
        fail_msg("an access is called %s", rh_strbuf_text(text));
}

static void check_source(const char *dir, const char *source, const char *level, const char *option,
                         uint32_t least_percent)
{
    bool is_optimised = strcmp(level, "-O0") != 0;
    struct rh_module *m = compile(dir, source, level, option);
    struct rh_expr *e = rh_expr_index(m);
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct items items = RH_VEC_INIT;
    struct sides sides = RH_VEC_INIT;
    struct rh_arena arena = RH_ARENA_INIT;
    struct counts counts = {0};

    read_items(source, &arena, &items);
    find_sides(m, &sides);
    rh_vec_each (struct side, it, &sides) {
        bool is_named;

        rh_strbuf_reset(&text);
        is_named = rh_expr_describe(e, it->inst, it->ptr, 0, it->size, &text);
        check_form(&text, is_named);
        check_side(it, is_named ? rh_strbuf_text(&text) : NULL, source, is_optimised, &items,
                   &counts);
    }
    if (!is_optimised)
        check_all_seen(&items, source);
    assert_true(counts.named * 100 >= counts.accesses * least_percent);
    rh_strbuf_release(&text);
    rh_vec_free(&items);
    rh_vec_free(&sides);
    rh_arena_release(&arena);
    rh_expr_free(e);
    rh_ir_close(m);
}

/* What clang does anyway. */
#define PLAIN "-fstrict-aliasing"

/* The percentages are what was reached less a little, so that losing many names is noticed. */
static void names_c(void **state)
{
    check_source(*state, TESTDATA("expr.c"), "-O0", PLAIN, 100);
    check_source(*state, TESTDATA("expr.c"), "-O1", PLAIN, 95);
    check_source(*state, TESTDATA("expr.c"), "-O2", PLAIN, 95);
    check_source(*state, TESTDATA("expr.c"), "-Os", PLAIN, 95);
    check_source(*state, TESTDATA("expr.c"), "-O2", "-fno-strict-aliasing", 90);
}

static void names_cpp(void **state)
{
    check_source(*state, TESTDATA("expr.cpp"), "-O0", PLAIN, 90);
    check_source(*state, TESTDATA("expr.cpp"), "-O1", PLAIN, 90);
    check_source(*state, TESTDATA("expr.cpp"), "-O2", PLAIN, 85);
}

static void leaves_the_module_as_it_was(void **state)
{
    struct rh_module *m = compile(*state, TESTDATA("expr.cpp"), "-O2", "-g");
    char *before = LLVMPrintModuleToString(m->llvm), *after;
    struct rh_expr *e = rh_expr_index(m);

    after = LLVMPrintModuleToString(m->llvm);
    assert_true(strcmp(before, after) == 0);
    LLVMDisposeMessage(before);
    LLVMDisposeMessage(after);
    rh_expr_free(e);
    rh_ir_close(m);
}

static char *describe_side(struct rh_expr *e, const struct side *side)
{
    struct rh_strbuf text = RH_STRBUF_INIT;

    rh_expr_describe(e, side->inst, side->ptr, 0, side->size, &text);
    return rh_strbuf_detach(&text);
}

/* What was found out for one access is kept for the next; that must not show. */
static void does_not_depend_on_the_order(void **state)
{
    struct rh_module *m = compile(*state, TESTDATA("expr.c"), "-O2", "-g");
    struct rh_expr *e = rh_expr_index(m), *other = rh_expr_index(m);
    struct sides sides = RH_VEC_INIT;
    char **texts;

    find_sides(m, &sides);
    texts = rh_alloc_array(sides.len, sizeof *texts);
    for (size_t i = 0; i < sides.len; i++)
        texts[i] = describe_side(e, &sides.data[i]);
    for (size_t i = sides.len; i-- > 0;) {
        char *again = describe_side(other, &sides.data[i]);

        assert_string_equal(texts[i], again);
        free(texts[i]);
        free(again);
    }
    free(texts);
    rh_vec_free(&sides);
    rh_expr_free(e);
    rh_expr_free(other);
    rh_ir_close(m);
}

/* Without debug information only symbols have names. */
static void knows_little_without_debug_information(void **state)
{
    struct rh_module *m = compile(*state, TESTDATA("expr.c"), "-O1", "-g0");
    struct rh_expr *e = rh_expr_index(m);
    struct sides sides = RH_VEC_INIT;
    bool has_counter = false;

    find_sides(m, &sides);
    rh_vec_each (struct side, it, &sides) {
        char *text = describe_side(e, it);

        assert_null(strstr(text, "->"));
        has_counter |= strcmp(text, "counter") == 0;
        free(text);
    }
    assert_true(has_counter);
    rh_vec_free(&sides);
    rh_expr_free(e);
    rh_ir_close(m);
}

static void gives_no_name_to_nothing(void **state)
{
    static const char text[] = "define void @f(ptr %p, i64 %n) {\n"
                               "  store i32 1, ptr null\n"
                               "  store i32 1, ptr undef\n"
                               "  store i32 1, ptr inttoptr (i64 64 to ptr)\n"
                               "  store i32 1, ptr %p\n"
                               "  %q = getelementptr i8, ptr %p, i64 %n\n"
                               "  store i32 1, ptr %q\n"
                               "  %s = alloca i32\n"
                               "  store i32 1, ptr %s\n"
                               "  br label %loop\n"
                               "loop:\n"
                               "  %a = phi ptr [ %p, %0 ], [ %b, %loop ]\n"
                               "  %b = phi ptr [ %q, %0 ], [ %a, %loop ]\n"
                               "  store i32 1, ptr %a\n"
                               "  store i32 1, ptr %b\n"
                               "  br label %loop\n"
                               "dead:\n"
                               "  %c = phi ptr [ %d, %dead ]\n"
                               "  %d = getelementptr i8, ptr %c, i64 4\n"
                               "  store i32 1, ptr %d\n"
                               "  br label %dead\n"
                               "}\n";
    struct rh_module *m = open_text(text);
    struct rh_expr *e = rh_expr_index(m);
    struct rh_function *f = get_function(m, "f");
    struct rh_strbuf out = RH_STRBUF_INIT;

    (void)state;
    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *v = f->blocks[i]->first; v; v = v->next) {
            struct rh_value *ptr = rh_ir_pointer(v);

            if (ptr)
                assert_false(rh_expr_describe(e, v, ptr, 0, 4, &out));
        }
    }
    assert_int_equal(out.len, 0);
    rh_strbuf_release(&out);
    rh_expr_free(e);
    rh_ir_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_c),
        cmocka_unit_test(names_cpp),
        cmocka_unit_test(leaves_the_module_as_it_was),
        cmocka_unit_test(does_not_depend_on_the_order),
        cmocka_unit_test(knows_little_without_debug_information),
        cmocka_unit_test(gives_no_name_to_nothing),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
