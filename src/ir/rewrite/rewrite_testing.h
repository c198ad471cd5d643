/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of rewriting and code generation: build a program, change it, run it. */
#ifndef RH_IR_REWRITE_REWRITE_TESTING_H
#define RH_IR_REWRITE_REWRITE_TESTING_H

#include "base/testing.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ir/module.h"
#include "ir/rewrite/debug_vars.h"
#include "ir/rewrite/rewrite.h"

#define TESTDATA(name) RH_SOURCE_DIR "/src/ir/testdata/" name

/* A folder for one test's files, and the memory of the strings around it. */
struct workshop {
    char *dir;
    struct rh_arena arena;
};

static inline int open_workshop(void **state)
{
    struct workshop *w = rh_calloc(1, sizeof *w);
    if (rh_fs_make_temp_dir(&w->dir) != RH_OK)
        return -1;
    *state = w;
    return 0;
}

static inline int close_workshop(void **state)
{
    struct workshop *w = *state;
    enum rh_status status = rh_fs_remove_tree(w->dir);
    free(w->dir);
    rh_arena_release(&w->arena);
    free(w);
    return status == RH_OK ? 0 : -1;
}

static inline const char *at(struct workshop *w, const char *name)
{
    return rh_arena_printf(&w->arena, "%s/%s", w->dir, name);
}

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != RH_OK)                                                                       \
            fail_msg("%s: %s", #call, rh_error_text());                                            \
    } while (0)

/* Runs a program that must succeed; gives its standard output. */
static inline const char *run_argv(struct workshop *w, const char *const *argv)
{
    struct rh_strbuf out = RH_STRBUF_INIT;
    int status = run_program(argv, &out);
    if (status)
        fail_msg("%s: exit status %d, and said: %s", argv[0], status, rh_strbuf_text(&out));
    const char *text = rh_arena_strdup(&w->arena, rh_strbuf_text(&out));
    rh_strbuf_release(&out);
    return text;
}

#define run(w, ...) run_argv((w), (const char *const[]){__VA_ARGS__, NULL})

/* Compiles a source to bitcode; C++ too, by its name. */
static inline const char *compile(struct workshop *w, const char *source, const char *opt)
{
    const char *bitcode = at(w, "program.bc");
    run(w, RH_CLANG, "-fwrapv", "-g", opt, "-c", "-emit-llvm", source, "-o", bitcode);
    return bitcode;
}

/* Links an object, a C++ one too, and runs the program. */
static inline const char *link_and_run(struct workshop *w, const char *object)
{
    const char *program = at(w, "program");
    run(w, RH_CLANG, "--driver-mode=g++", object, "-o", program);
    return run(w, program);
}

static inline const char *compile_and_run(struct workshop *w, const char *source, const char *opt)
{
    const char *object = at(w, "plain.o");
    run(w, RH_CLANG, "-fwrapv", "-g", opt, "-c", source, "-o", object);
    return link_and_run(w, object);
}

static inline struct rh_module *open_file(const char *path)
{
    struct rh_module *m;
    assert_ok(rh_ir_open(path, &m));
    return m;
}

static inline struct rh_module *open_text(const char *text)
{
    struct rh_module *m;
    assert_ok(rh_ir_open_memory("test", text, strlen(text), &m));
    return m;
}

/* Generates code and closes the module. */
static inline const char *generate(struct workshop *w, struct rh_module *m, unsigned opt_level)
{
    const char *object = at(w, "program.o");
    struct rh_codegen cg = {.opt_level = opt_level, .pic = true};
    assert_ok(rh_ir_write_object(m, &cg, object));
    rh_ir_close(m);
    return object;
}

/* The module, or one of its functions, as text, in the form that is written. */
static inline const char *print_module(struct workshop *w, struct rh_module *m)
{
    rh_debug_vars_pack(m->llvm);
    char *text = LLVMPrintModuleToString(m->llvm);
    const char *copy = rh_arena_strdup(&w->arena, text);
    LLVMDisposeMessage(text);
    return copy;
}

static inline const char *print_function(struct workshop *w, struct rh_module *m, const char *name)
{
    rh_debug_vars_pack(m->llvm);
    struct rh_function *f = rh_ir_find_function(m, name);
    assert_non_null(f);
    char *text = LLVMPrintValueToString(f->handle);
    const char *copy = rh_arena_strdup(&w->arena, text);
    LLVMDisposeMessage(text);
    return copy;
}

struct inst_vec RH_VEC_BODY(struct rh_value *);

/* The instructions of the whole module, in order. */
static inline void list_instructions(const struct rh_module *m, struct inst_vec *out)
{
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        struct rh_function *f = rh_ir_function(m, i);
        for (uint32_t k = 0; k < f->block_count; k++) {
            for (struct rh_value *v = f->blocks[k]->first; v; v = v->next)
                rh_vec_push(out, v);
        }
    }
}

/* The only instruction of a function with this operation and, unless NULL, this name. */
static inline struct rh_value *find_inst(struct rh_module *m, const char *function, enum rh_op op,
                                         const char *name)
{
    struct rh_function *f = rh_ir_find_function(m, function);
    assert_non_null(f);
    struct rh_value *found = NULL;
    for (uint32_t k = 0; k < f->block_count; k++) {
        for (struct rh_value *v = f->blocks[k]->first; v; v = v->next) {
            if (v->op != op || (name && strcmp(v->name, name) != 0))
                continue;
            assert_null(found);
            found = v;
        }
    }
    assert_non_null(found);
    return found;
}

static inline size_t count_text(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at_text = text; (at_text = strstr(at_text, what)); at_text++)
        count++;
    return count;
}

static inline unsigned line_of(LLVMValueRef inst)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
    return loc ? LLVMDILocationGetLine(loc) : 0;
}

/* How often debug information says something about a variable, in either form. */
static inline size_t count_said(const char *text)
{
    return count_text(text, "#dbg_") + count_text(text, "call void @llvm.dbg.");
}

/* Fails unless the texts are found in this order. */
static inline void assert_order_argv(const char *text, const char *const *parts)
{
    const char *rest = text;
    for (; *parts; parts++) {
        const char *found = strstr(rest, *parts);
        if (!found)
            fail_msg("\"%s\" is not where it belongs in:\n%s", *parts, text);
        rest = found + strlen(*parts);
    }
}

#define assert_order(text, ...) assert_order_argv((text), (const char *const[]){__VA_ARGS__, NULL})

/* Checks the debug information of an object. */
static inline void check_dwarf(struct workshop *w, const char *object)
{
    run(w, RH_DWARFDUMP, "--verify", "--quiet", object);
}

#endif
