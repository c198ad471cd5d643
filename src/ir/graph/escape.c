/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a pointer leaves its function. All rules that let a use pass stand here; a use that no
 * rule knows is an escape.
 */
#include <string.h>

#include <llvm-c/Core.h>

#include "base/map.h"
#include "base/vec.h"
#include "ir/ir.h"

/* Intrinsics that do not keep a pointer: bits of the arguments that they only look at or touch the
 * memory of, and bits of those that come back as the result. */
static const struct intrinsic_row {
    const char *name;
    unsigned touched;
    unsigned returned;
} intrinsics[] = {
    {"llvm.lifetime.start", 3, 0},
    {"llvm.lifetime.end", 3, 0},
    {"llvm.invariant.start", 2, 0},
    {"llvm.memset", 1, 0},
    {"llvm.memset.inline", 1, 0},
    {"llvm.memset.element.unordered.atomic", 1, 0},
    {"llvm.memcpy", 3, 0},
    {"llvm.memcpy.inline", 3, 0},
    {"llvm.memcpy.element.unordered.atomic", 3, 0},
    {"llvm.memmove", 3, 0},
    {"llvm.memmove.element.unordered.atomic", 3, 0},
    {"llvm.masked.load", 1, 0},
    {"llvm.masked.store", 2, 0},
    {"llvm.prefetch", 1, 0},
    {"llvm.objectsize", 1, 0},
    {"llvm.va_start", 1, 0},
    {"llvm.va_end", 1, 0},
    {"llvm.va_copy", 3, 0},
    {"llvm.launder.invariant.group", 0, 1},
    {"llvm.strip.invariant.group", 0, 1},
    {"llvm.ptrmask", 0, 1},
    {"llvm.ssa.copy", 0, 1},
};

static const struct intrinsic_row *find_intrinsic(const char *name)
{
    for (size_t i = 0; name && i < sizeof intrinsics / sizeof intrinsics[0]; i++) {
        if (strcmp(intrinsics[i].name, name) == 0)
            return &intrinsics[i];
    }
    return NULL;
}

static LLVMAttributeRef find_parameter_attribute(const struct rh_value *call, uint32_t arg,
                                                 const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAttributeRef found;

    if (kind == 0)
        return NULL;
    found = LLVMGetCallSiteEnumAttribute(call->handle, arg + 1, kind);
    if (!found && call->callee->kind == RH_VALUE_FUNCTION && arg < call->callee->fn->arg_count)
        found = LLVMGetEnumAttributeAtIndex(call->callee->handle, arg + 1, kind);
    return found;
}

/* OpenMP's regions: what is given to them is not kept when they are over, but until then several
 * threads use it. */
static bool runs_team(const struct rh_value *call)
{
    static const char prefix[] = "__kmpc_fork_";

    return call->callee->kind == RH_VALUE_FUNCTION &&
           strncmp(call->callee->fn->name, prefix, sizeof prefix - 1) == 0;
}

/* LLVM 21 replaced nocapture by captures(...), whose value is the set of ways to be captured: none
 * is 0, and without the attribute all are possible. A byval argument is a copy. */
static bool is_captured(const struct rh_value *call, uint32_t arg)
{
    LLVMAttributeRef captures = find_parameter_attribute(call, arg, "captures");

    if (runs_team(call))
        return true;
    if (captures && LLVMGetEnumAttributeValue(captures) == 0)
        return false;
    return !find_parameter_attribute(call, arg, "nocapture") &&
           !find_parameter_attribute(call, arg, "byval");
}

static enum rh_use judge_argument(const struct rh_value *call, uint32_t arg)
{
    const struct intrinsic_row *row = find_intrinsic(call->intrinsic);

    if (row && arg < 32 && row->touched >> arg & 1)
        return RH_USE_HARMLESS;
    if (row && arg < 32 && row->returned >> arg & 1)
        return RH_USE_DERIVES;
    if (call->callee->kind == RH_VALUE_ASM)
        return RH_USE_ESCAPES;
    return is_captured(call, arg) ? RH_USE_ESCAPES : RH_USE_HARMLESS;
}

static enum rh_use judge_call(const struct rh_value *v, const struct rh_value *call)
{
    enum rh_use worst = RH_USE_HARMLESS;
    bool found = false;

    if (call->callee == v)
        return RH_USE_ESCAPES;
    for (uint32_t i = 0; i < call->op_count; i++) {
        if (call->ops[i] == v) {
            enum rh_use use = judge_argument(call, i);

            found = true;
            worst = use > worst ? use : worst;
        }
    }
    /* What is no argument is in an operand bundle. Those of llvm.assume only state facts. */
    if (!found && !(call->intrinsic && strcmp(call->intrinsic, "llvm.assume") == 0))
        return RH_USE_ESCAPES;
    return worst;
}

enum rh_use rh_ir_judge_use(const struct rh_value *v, const struct rh_value *user)
{
    if (user->kind != RH_VALUE_INST)
        return RH_USE_ESCAPES;
    switch (user->op) {
    case RH_OP_LOAD:
    case RH_OP_VAARG:
        return RH_USE_HARMLESS;
    case RH_OP_STORE:
        return user->ops[0] == v ? RH_USE_ESCAPES : RH_USE_HARMLESS;
    case RH_OP_RMW:
        return user->ops[1] == v ? RH_USE_ESCAPES : RH_USE_HARMLESS;
    case RH_OP_CMPXCHG:
        return user->ops[1] == v || user->ops[2] == v ? RH_USE_ESCAPES : RH_USE_HARMLESS;
    case RH_OP_ICMP:
        return RH_USE_COMPARES;
    case RH_OP_GEP:
    case RH_OP_BITCAST:
    case RH_OP_ADDRSPACECAST:
    case RH_OP_FREEZE:
    case RH_OP_PHI:
    case RH_OP_SELECT:
        return RH_USE_DERIVES;
    case RH_OP_CALL:
    case RH_OP_INVOKE:
    case RH_OP_CALLBR:
        return judge_call(v, user);
    default:
        return RH_USE_ESCAPES;
    }
}

struct derived RH_VEC_BODY(const struct rh_value *);

static bool is_own(const struct rh_map *seen, const struct rh_value *v)
{
    return v->kind == RH_VALUE_NULL || rh_map_has(seen, rh_map_key(v));
}

bool rh_ir_escapes(const struct rh_value *ptr)
{
    struct rh_map seen = RH_MAP_INIT;
    struct derived work = RH_VEC_INIT, compares = RH_VEC_INIT;
    bool escapes = false;

    rh_map_put(&seen, rh_map_key(ptr), 0);
    rh_vec_push(&work, ptr);
    while (work.len > 0 && !escapes) {
        const struct rh_value *v = rh_vec_pop(&work);

        for (uint32_t i = 0; i < v->user_count && !escapes; i++) {
            enum rh_use use = rh_ir_judge_use(v, v->users[i]);

            escapes = use == RH_USE_ESCAPES;
            if (use == RH_USE_COMPARES)
                rh_vec_push(&compares, v->users[i]);
            else if (use == RH_USE_DERIVES && rh_map_put(&seen, rh_map_key(v->users[i]), 0))
                rh_vec_push(&work, v->users[i]);
        }
    }
    for (size_t i = 0; i < compares.len && !escapes; i++)
        escapes =
            !is_own(&seen, compares.data[i]->ops[0]) || !is_own(&seen, compares.data[i]->ops[1]);
    rh_vec_free(&work);
    rh_vec_free(&compares);
    rh_map_release(&seen);
    return escapes;
}
