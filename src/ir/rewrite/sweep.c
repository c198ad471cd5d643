/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembly before a loop that stands for what an instruction does in all its rounds: see rewrite.h.
 *
 * How it works: what the address and the number of rounds are made of is computed once more before
 * the loop, as it will be in the first round: the phis of the header are what comes into the loop.
 */
#include <llvm-c/DebugInfo.h>

#include "base/vec.h"
#include "ir/module.h"
#include "ir/rewrite/llvm_kit.h"
#include "ir/rewrite/rewrite.h"
#include "ir/sweep.h"

struct before {
    const struct rh_sweep *sweep;
    const struct rh_twin *twin;
    LLVMContextRef context;
    LLVMBuilderRef builder; /* at the end of the block before the loop */
    LLVMMetadataRef loc;
};

static LLVMValueRef in_twin(const struct before *b, const struct rh_value *value)
{
    void *copy = b->twin ? rh_twin_of(b->twin, value) : NULL;
    return copy ? copy : value->handle;
}

static bool is_in_loop(const struct before *b, const struct rh_value *value)
{
    if (value->kind != RH_VALUE_INST)
        return false;
    for (uint32_t i = 0; i < b->sweep->block_count; i++)
        if (b->sweep->blocks[i] == value->block)
            return true;
    return false;
}

/* What the value is in the first round. */
static LLVMValueRef first_of(const struct before *b, struct rh_value *value)
{
    if (!is_in_loop(b, value))
        return in_twin(b, value);
    if (value->op == RH_OP_PHI) {
        uint32_t i = 0;
        while (value->targets[i] != b->sweep->before)
            i++;
        return in_twin(b, value->ops[i]);
    }
    LLVMValueRef copy = LLVMInstructionClone(value->handle);
    for (uint32_t i = 0; i < value->op_count; i++)
        LLVMSetOperand(copy, i, first_of(b, value->ops[i]));
    LLVMInsertIntoBuilder(b->builder, copy);
    LLVMInstructionSetDebugLoc(copy, b->loc);
    return copy;
}

static LLVMValueRef number(LLVMTypeRef type, uint64_t value)
{
    return LLVMConstInt(type, value, false);
}

static LLVMValueRef as_number(const struct before *b, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind)
        return value;
    return LLVMBuildPtrToInt(b->builder, value, LLVMInt64TypeInContext(b->context), "");
}

/* Rounds behind the first one: how many steps it is from `left` to `right`, or to behind it. */
static LLVMValueRef build_rounds(const struct before *b)
{
    const struct rh_sweep_count *count = &b->sweep->count;
    bool is_up = count->step > 0;
    uint64_t size = is_up ? (uint64_t)count->step : 0 - (uint64_t)count->step;
    LLVMValueRef left = as_number(b, first_of(b, count->left));
    LLVMValueRef right = as_number(b, first_of(b, count->right));
    LLVMTypeRef type = LLVMTypeOf(left), i64 = LLVMInt64TypeInContext(b->context);
    LLVMValueRef way = LLVMBuildSub(b->builder, is_up ? right : left, is_up ? left : right, "");
    LLVMValueRef rounds;
    if (count->predicate == RH_PREDICATE_NE) {
        rounds = LLVMBuildUDiv(b->builder, way, number(type, size), "");
    } else {
        /* (way - 1) / size + 1 if it goes on at all */
        LLVMIntPredicate predicate = (LLVMIntPredicate)count->predicate;
        LLVMValueRef goes_on = LLVMBuildICmp(b->builder, predicate, left, right, "");
        LLVMValueRef less = LLVMBuildSub(b->builder, way, number(type, 1), "");
        LLVMValueRef steps = LLVMBuildUDiv(b->builder, less, number(type, size), "");
        steps = LLVMBuildAdd(b->builder, steps, number(type, 1), "");
        rounds = LLVMBuildSelect(b->builder, goes_on, steps, number(type, 0), "");
    }
    return LLVMGetIntTypeWidth(type) < 64 ? LLVMBuildZExt(b->builder, rounds, i64, "") : rounds;
}

/* The lowest of the addresses, if they go down. */
static LLVMValueRef move_down(const struct before *b, LLVMValueRef address, LLVMValueRef rounds)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(b->context);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(b->context);
    LLVMValueRef stride = number(i64, (uint64_t)b->sweep->stride);
    LLVMValueRef distance = LLVMBuildMul(b->builder, rounds, stride, "");
    return LLVMBuildGEP2(b->builder, i8, address, &distance, 1, "");
}

enum rh_status rh_rewrite_insert_sweep(struct rh_module *m, const struct rh_twin *twin,
                                       const struct rh_sweep *sweep, struct rh_value *inst,
                                       struct rh_value *pointer, const struct rh_sweep_text *text)
{
    LLVMValueRef place = twin ? rh_twin_of(twin, sweep->before->last) : sweep->before->last->handle;
    if (!place)
        return rh_fail(RH_ERR_UNSUPPORTED, "the block before the loop is not in the twin");
    struct before b = {
        .sweep = sweep,
        .twin = twin,
        .context = m->context,
        .builder = LLVMCreateBuilderInContext(m->context),
        .loc = LLVMInstructionGetDebugLoc(inst->handle),
    };
    LLVMTypeRef i64 = LLVMInt64TypeInContext(m->context);
    LLVMPositionBuilderBefore(b.builder, place);
    LLVMValueRef args[2] = {first_of(&b, pointer)};
    unsigned arg_count = 1;
    if (sweep->stride) {
        LLVMValueRef rounds = build_rounds(&b);
        if (sweep->stride < 0)
            args[0] = move_down(&b, args[0], rounds);
        LLVMValueRef count = LLVMBuildAdd(b.builder, rounds, number(i64, 1), "");
        count = LLVMBuildMul(b.builder, count, number(i64, text->run), "");
        count = LLVMBuildShl(b.builder, count, number(i64, text->count_at), "");
        args[arg_count++] = LLVMBuildOr(b.builder, count, number(i64, text->shape), "");
    }
    LLVMTypeRef types[2] = {LLVMTypeOf(args[0]), i64};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), types, arg_count, false);
    LLVMValueRef call = LLVMBuildCall2(
        b.builder, type, rh_llvm_asm(type, text->text, text->constraints), args, arg_count, "");
    LLVMInstructionSetDebugLoc(call, b.loc);
    rh_llvm_mark_nounwind(m->context, call);
    rh_llvm_mark_inserted(m->context, call);
    LLVMDisposeBuilder(b.builder);
    return RH_OK;
}
