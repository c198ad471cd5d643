/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about a snapshot: its tables, and where pointers come from and go to.
 */
#include "ir/ir.h"

#include <string.h>

#include "base/map.h"
#include "ir/module.h"

uint32_t rh_ir_function_count(const struct rh_module *m)
{
    return m->function_count;
}

struct rh_function *rh_ir_function(const struct rh_module *m, uint32_t i)
{
    return m->functions[i];
}

static struct rh_value *find_symbol(const struct rh_module *m, const char *name,
                                    enum rh_value_kind kind)
{
    struct rh_value *v = rh_strmap_get(&m->by_name, name);

    return v && v->kind == kind ? v : NULL;
}

struct rh_function *rh_ir_find_function(const struct rh_module *m, const char *name)
{
    struct rh_value *v = find_symbol(m, name, RH_VALUE_FUNCTION);

    return v ? v->fn : NULL;
}

uint32_t rh_ir_global_count(const struct rh_module *m)
{
    return m->global_count;
}

struct rh_value *rh_ir_global(const struct rh_module *m, uint32_t i)
{
    return m->globals[i];
}

struct rh_value *rh_ir_find_global(const struct rh_module *m, const char *name)
{
    return find_symbol(m, name, RH_VALUE_GLOBAL);
}

const char *rh_ir_inline_asm(const struct rh_module *m)
{
    return m->inline_asm;
}

const char *rh_ir_asm_text(const struct rh_value *assembly, size_t *len)
{
    return LLVMGetInlineAsmAsmString(assembly->handle, len);
}

const char *rh_ir_string(const struct rh_value *global, size_t *len)
{
    LLVMValueRef init = global->kind == RH_VALUE_GLOBAL ? LLVMGetInitializer(global->handle) : NULL;
    if (!init || !LLVMIsAConstantDataArray(init) || !LLVMIsConstantString(init))
        return NULL;
    return LLVMGetAsString(init, len);
}

struct rh_value *rh_ir_pointer(const struct rh_value *inst)
{
    if (inst->kind != RH_VALUE_INST)
        return NULL;
    switch (inst->op) {
    case RH_OP_LOAD:
    case RH_OP_RMW:
    case RH_OP_CMPXCHG:
        return inst->ops[0];
    case RH_OP_STORE:
        return inst->ops[1];
    default:
        return NULL;
    }
}

static bool has_op(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INST || v->kind == RH_VALUE_EXPR;
}

/* The operand that `v` is the address of, or NULL if `v` is a base. */
static struct rh_value *strip(const struct rh_value *v)
{
    if (v->kind == RH_VALUE_ALIAS)
        return v->is_ifunc ? NULL : v->ops[0];
    if (!has_op(v))
        return NULL;
    switch (v->op) {
    case RH_OP_GEP:
    case RH_OP_BITCAST:
    case RH_OP_ADDRSPACECAST:
    case RH_OP_FREEZE:
        return v->ops[0];
    case RH_OP_CALL:
        return v->intrinsic && strcmp(v->intrinsic, "llvm.threadlocal.address") == 0 ? v->ops[0]
                                                                                     : NULL;
    default:
        return NULL;
    }
}

/* In code that is never reached a pointer may be made from itself; no real chain is this long. */
#define MAX_CHAIN 100000

struct rh_value *rh_ir_base(struct rh_value *ptr, int64_t *offset, bool *exact)
{
    uint64_t sum = 0;
    bool all = true;
    struct rh_value *from;

    for (int step = 0; step < MAX_CHAIN && (from = strip(ptr)) != NULL; step++) {
        if (ptr->gep) {
            sum += (uint64_t)ptr->gep->offset;
            all = all && ptr->gep->term_count == 0 && !ptr->gep->unknown;
        }
        ptr = from;
    }
    if (offset)
        *offset = (int64_t)sum;
    if (exact)
        *exact = all;
    return ptr;
}
