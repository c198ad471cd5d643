/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a module's snapshot: gives everything its struct and id in the order of the bitcode, then
 * fills in operands, edges between blocks and users.
 */
#include "ir/read/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/mem.h"
#include "ir/read/ignored.h"
#include "ir/read/tags.h"

/* Debug intrinsics exist as calls or as records beside the code, by LLVM's version and settings;
 * leaving them out makes both the same to us. */
#define DEBUG_PREFIX "llvm.dbg."

/* A leading \1 keeps LLVM from mangling the name, which never happens on our targets. */
static const char *copy_name(struct rh_snapshot *s, LLVMValueRef handle)
{
    size_t len;
    const char *text = LLVMGetValueName2(handle, &len);

    if (len > 0 && text[0] == '\1') {
        text++;
        len--;
    }
    return len > 0 ? rh_arena_strndup(&s->m->arena, text, len) : "";
}

struct rh_value *rh_snapshot_add(struct rh_snapshot *s, LLVMValueRef handle,
                                 enum rh_value_kind kind)
{
    struct rh_value *v = rh_arena_new(&s->m->arena, struct rh_value);

    v->kind = kind;
    v->id = s->m->value_count++;
    v->type = rh_snapshot_type(s, LLVMTypeOf(handle));
    v->name = copy_name(s, handle);
    v->handle = handle;
    rh_map_put_ptr(&s->m->value_of, rh_map_key(handle), v);
    rh_vec_push(&s->values, v);
    return v;
}

static struct rh_value *add_symbol(struct rh_snapshot *s, LLVMValueRef handle,
                                   enum rh_value_kind kind)
{
    struct rh_value *v = rh_snapshot_add(s, handle, kind);

    if (*v->name)
        rh_strmap_put(&s->m->by_name, v->name, v);
    return v;
}

static bool is_local_linkage(LLVMValueRef handle)
{
    LLVMLinkage linkage = LLVMGetLinkage(handle);

    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static bool is_defined_elsewhere(LLVMValueRef handle)
{
    return LLVMIsDeclaration(handle) || LLVMGetLinkage(handle) == LLVMAvailableExternallyLinkage;
}

static const char *copy_section(struct rh_snapshot *s, LLVMValueRef handle)
{
    const char *section = LLVMGetSection(handle);

    return section && *section ? rh_arena_strdup(&s->m->arena, section) : "";
}

static void add_globals(struct rh_snapshot *s)
{
    struct rh_module *m = s->m;
    uint32_t count = 0;

    for (LLVMValueRef h = LLVMGetFirstGlobal(m->llvm); h; h = LLVMGetNextGlobal(h))
        count++;
    m->globals = rh_arena_array(&m->arena, struct rh_value *, count);
    for (LLVMValueRef h = LLVMGetFirstGlobal(m->llvm); h; h = LLVMGetNextGlobal(h)) {
        struct rh_value *v = add_symbol(s, h, RH_VALUE_GLOBAL);

        m->globals[m->global_count++] = v;
        v->align = LLVMGetAlignment(h);
        v->global = rh_arena_new(&m->arena, struct rh_global);
        v->global->value_type = rh_snapshot_type(s, LLVMGlobalGetValueType(h));
        v->global->section = copy_section(s, h);
        v->global->is_const = LLVMIsGlobalConstant(h);
        v->global->is_thread_local = LLVMIsThreadLocal(h);
        v->global->is_local = is_local_linkage(h);
        v->global->is_declaration = is_defined_elsewhere(h);
    }
}

static void add_aliases(struct rh_snapshot *s)
{
    LLVMModuleRef llvm = s->m->llvm;

    for (LLVMValueRef h = LLVMGetFirstGlobalAlias(llvm); h; h = LLVMGetNextGlobalAlias(h))
        add_symbol(s, h, RH_VALUE_ALIAS);
    for (LLVMValueRef h = LLVMGetFirstGlobalIFunc(llvm); h; h = LLVMGetNextGlobalIFunc(h))
        add_symbol(s, h, RH_VALUE_ALIAS)->is_ifunc = true;
}

static unsigned find_attribute(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    unsigned kind = find_attribute(name);

    return kind && LLVMGetEnumAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                               kind) != NULL;
}

static const char *copy_intrinsic(struct rh_snapshot *s, LLVMValueRef fn)
{
    unsigned id = LLVMGetIntrinsicID(fn);
    size_t len;
    const char *name;

    if (id == 0)
        return NULL;
    name = LLVMIntrinsicGetName(id, &len);
    return rh_arena_strndup(&s->m->arena, name, len);
}

static void add_args(struct rh_snapshot *s, struct rh_function *f)
{
    uint32_t i = 0;

    f->arg_count = LLVMCountParams(f->handle);
    f->args = rh_arena_array(&s->m->arena, struct rh_value *, f->arg_count);
    for (LLVMValueRef h = LLVMGetFirstParam(f->handle); h; h = LLVMGetNextParam(h)) {
        struct rh_value *arg = rh_snapshot_add(s, h, RH_VALUE_ARG);

        arg->fn = f;
        f->args[i++] = arg;
        arg->is_by_value = LLVMGetEnumAttributeAtIndex(f->handle, i, s->byval) != NULL;
    }
}

static struct rh_function *add_function(struct rh_snapshot *s, LLVMValueRef handle,
                                        const char *intrinsic)
{
    struct rh_function *f = rh_arena_new(&s->m->arena, struct rh_function);

    f->id = s->m->function_count++;
    f->value = add_symbol(s, handle, RH_VALUE_FUNCTION);
    f->value->fn = f;
    f->value->intrinsic = intrinsic;
    f->name = f->value->name;
    f->type = rh_snapshot_type(s, LLVMGlobalGetValueType(handle));
    f->is_local = is_local_linkage(handle);
    f->is_naked = has_attribute(handle, "naked");
    f->no_instrument = rh_ignored_asks(s, handle);
    f->loc = rh_snapshot_function_loc(s, LLVMGetSubprogram(handle));
    f->handle = handle;
    return f;
}

static void add_functions(struct rh_snapshot *s)
{
    struct rh_module *m = s->m;
    uint32_t count = 0;

    for (LLVMValueRef h = LLVMGetFirstFunction(m->llvm); h; h = LLVMGetNextFunction(h))
        count++;
    m->functions = rh_arena_array(&m->arena, struct rh_function *, count);
    for (LLVMValueRef h = LLVMGetFirstFunction(m->llvm); h; h = LLVMGetNextFunction(h)) {
        const char *intrinsic = copy_intrinsic(s, h);
        struct rh_function *f;

        if (intrinsic && strncmp(intrinsic, DEBUG_PREFIX, sizeof DEBUG_PREFIX - 1) == 0)
            continue;
        f = add_function(s, h, intrinsic);
        m->functions[f->id] = f;
    }
}

static bool is_debug_call(LLVMValueRef inst)
{
    return LLVMGetInstructionOpcode(inst) == LLVMCall && LLVMIsADbgInfoIntrinsic(inst);
}

static void add_block(struct rh_snapshot *s, struct rh_function *f, LLVMBasicBlockRef handle)
{
    struct rh_block *b = rh_arena_new(&s->m->arena, struct rh_block);
    struct rh_value **link = &b->first;

    b->id = f->block_count++;
    b->fn = f;
    b->handle = handle;
    f->blocks[b->id] = b;
    rh_map_put_ptr(&s->block_of, rh_map_key(handle), b);
    for (LLVMValueRef h = LLVMGetFirstInstruction(handle); h; h = LLVMGetNextInstruction(h)) {
        struct rh_value *inst;

        if (is_debug_call(h))
            continue;
        inst = rh_snapshot_add(s, h, RH_VALUE_INST);
        inst->fn = f;
        inst->block = b;
        *link = inst;
        link = &inst->next;
        b->last = inst;
        f->inst_count++;
    }
}

static void add_body(struct rh_snapshot *s, struct rh_function *f)
{
    add_args(s, f);
    if (is_defined_elsewhere(f->handle))
        return;
    f->blocks = rh_arena_array(&s->m->arena, struct rh_block *, LLVMCountBasicBlocks(f->handle));
    for (LLVMBasicBlockRef h = LLVMGetFirstBasicBlock(f->handle); h; h = LLVMGetNextBasicBlock(h))
        add_block(s, f, h);
}

static void read_successors(struct rh_snapshot *s, struct rh_block *b, uint32_t *last_seen)
{
    LLVMValueRef terminator = b->last->handle;
    unsigned count = LLVMGetNumSuccessors(terminator);

    b->succs = rh_arena_array(&s->m->arena, struct rh_block *, count);
    for (unsigned i = 0; i < count; i++) {
        struct rh_block *to =
            rh_map_get_ptr(&s->block_of, rh_map_key(LLVMGetSuccessor(terminator, i)));

        if (last_seen[to->id] == b->id + 1)
            continue;
        last_seen[to->id] = b->id + 1;
        b->succs[b->succ_count++] = to;
        to->pred_count++;
    }
}

static void link_blocks(struct rh_snapshot *s, struct rh_function *f)
{
    uint32_t *last_seen = rh_calloc(f->block_count, sizeof *last_seen);

    for (uint32_t i = 0; i < f->block_count; i++)
        read_successors(s, f->blocks[i], last_seen);
    free(last_seen);
    for (uint32_t i = 0; i < f->block_count; i++) {
        struct rh_block *b = f->blocks[i];

        b->preds = rh_arena_array(&s->m->arena, struct rh_block *, b->pred_count);
        b->pred_count = 0;
    }
    for (uint32_t i = 0; i < f->block_count; i++) {
        struct rh_block *b = f->blocks[i];

        for (uint32_t k = 0; k < b->succ_count; k++)
            b->succs[k]->preds[b->succs[k]->pred_count++] = b;
    }
}

static void fill_body(struct rh_snapshot *s, struct rh_function *f)
{
    link_blocks(s, f);
    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *inst = f->blocks[i]->first; inst; inst = inst->next)
            rh_snapshot_fill(s, inst);
    }
    rh_snapshot_fill_constants(s);
}

static void fill_function(struct rh_snapshot *s, struct rh_function *f)
{
    LLVMValueRef extras[3];
    uint32_t count = 0;

    if (LLVMHasPersonalityFn(f->handle))
        extras[count++] = LLVMGetPersonalityFn(f->handle);
    if (LLVMHasPrefixData(f->handle))
        extras[count++] = LLVMGetPrefixData(f->handle);
    if (LLVMHasPrologueData(f->handle))
        extras[count++] = LLVMGetPrologueData(f->handle);
    rh_snapshot_set_ops(s, f->value, extras, count);
    fill_body(s, f);
}

static void fill_symbols(struct rh_snapshot *s)
{
    struct rh_module *m = s->m;

    for (uint32_t i = 0; i < m->global_count; i++) {
        struct rh_value *v = m->globals[i];
        LLVMValueRef init = LLVMGetInitializer(v->handle);

        if (!init)
            continue;
        rh_snapshot_set_ops(s, v, &init, 1);
        v->global->init = v->ops[0];
    }
    for (LLVMValueRef h = LLVMGetFirstGlobalAlias(m->llvm); h; h = LLVMGetNextGlobalAlias(h)) {
        LLVMValueRef aliasee = LLVMAliasGetAliasee(h);

        rh_snapshot_set_ops(s, rh_snapshot_value(s, h), &aliasee, 1);
    }
    for (LLVMValueRef h = LLVMGetFirstGlobalIFunc(m->llvm); h; h = LLVMGetNextGlobalIFunc(h)) {
        LLVMValueRef resolver = LLVMGetGlobalIFuncResolver(h);

        rh_snapshot_set_ops(s, rh_snapshot_value(s, h), &resolver, 1);
    }
    rh_snapshot_fill_constants(s);
}

/* Calls `visit` for every value that `v` uses; `bundle` walks s->bundle_uses along. */
static void visit_uses(struct rh_snapshot *s, struct rh_value *v, size_t *bundle,
                       void (*visit)(struct rh_value *used, struct rh_value *user))
{
    for (uint32_t i = 0; i < v->op_count; i++)
        visit(v->ops[i], v);
    if (v->callee)
        visit(v->callee, v);
    while (*bundle < s->bundle_uses.len && s->bundle_uses.data[*bundle].user == v)
        visit(s->bundle_uses.data[(*bundle)++].value, v);
}

static void count_user(struct rh_value *used, struct rh_value *user)
{
    (void)user;
    used->user_count++;
}

static void put_user(struct rh_value *used, struct rh_value *user)
{
    used->users[used->user_count++] = user;
}

static void build_users(struct rh_snapshot *s)
{
    size_t bundle = 0;

    rh_vec_each (struct rh_value *, it, &s->values)
        visit_uses(s, *it, &bundle, count_user);
    rh_vec_each (struct rh_value *, it, &s->values) {
        (*it)->users = rh_arena_array(&s->m->arena, struct rh_value *, (*it)->user_count);
        (*it)->user_count = 0;
    }
    bundle = 0;
    rh_vec_each (struct rh_value *, it, &s->values)
        visit_uses(s, *it, &bundle, put_user);
}

void rh_snapshot_take(struct rh_module *m)
{
    struct rh_snapshot s = {
        .m = m,
        .layout = LLVMGetModuleDataLayout(m->llvm),
        .returns_twice = find_attribute("returns_twice"),
        .memory = find_attribute("memory"),
        .byval = find_attribute("byval"),
    };

    m->tags = rh_tags_new(m->context);
    rh_ignored_read(&s);
    add_globals(&s);
    add_functions(&s);
    add_aliases(&s);
    for (uint32_t i = 0; i < m->function_count; i++)
        add_body(&s, m->functions[i]);
    fill_symbols(&s);
    for (uint32_t i = 0; i < m->function_count; i++)
        fill_function(&s, m->functions[i]);
    build_users(&s);
    for (uint32_t i = 0; i < m->function_count; i++)
        rh_snapshot_find_lines(&s, m->functions[i]);
    rh_map_release(&s.block_of);
    rh_map_release(&s.loc_of);
    rh_map_release(&s.scope_of);
    rh_map_release(&s.file_of);
    rh_map_release(&s.near_of);
    rh_map_release(&s.ignored_functions);
    rh_strmap_release(&s.ignored);
    rh_vec_free(&s.values);
    rh_vec_free(&s.pending);
    rh_vec_free(&s.bundle_uses);
}
