/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions and constants of the snapshot: what each operation keeps of LLVM's instruction, by
 * one table of readers, and the decoding of getelementptr.
 */
#include "ir/read/snapshot.h"

#include <limits.h>

#include <llvm-c/DebugInfo.h>
#include <llvm/Config/llvm-config.h>

#include "ir/read/tags.h"

#define OP(id) (RH_OP_##id + 1) /* so that 0 means "no row": RH_OP_OTHER */

static const unsigned char op_of[] = {
    [LLVMRet] = OP(RET),
    [LLVMBr] = OP(BR),
    [LLVMSwitch] = OP(SWITCH),
    [LLVMIndirectBr] = OP(INDIRECTBR),
    [LLVMInvoke] = OP(INVOKE),
    [LLVMCallBr] = OP(CALLBR),
    [LLVMResume] = OP(RESUME),
    [LLVMUnreachable] = OP(UNREACHABLE),
    [LLVMCall] = OP(CALL),
    [LLVMAlloca] = OP(ALLOCA),
    [LLVMLoad] = OP(LOAD),
    [LLVMStore] = OP(STORE),
    [LLVMFence] = OP(FENCE),
    [LLVMAtomicCmpXchg] = OP(CMPXCHG),
    [LLVMAtomicRMW] = OP(RMW),
    [LLVMGetElementPtr] = OP(GEP),
    [LLVMPHI] = OP(PHI),
    [LLVMSelect] = OP(SELECT),
    [LLVMICmp] = OP(ICMP),
    [LLVMFCmp] = OP(FCMP),
    [LLVMAdd] = OP(ADD),
    [LLVMSub] = OP(SUB),
    [LLVMMul] = OP(MUL),
    [LLVMUDiv] = OP(UDIV),
    [LLVMSDiv] = OP(SDIV),
    [LLVMURem] = OP(UREM),
    [LLVMSRem] = OP(SREM),
    [LLVMShl] = OP(SHL),
    [LLVMLShr] = OP(LSHR),
    [LLVMAShr] = OP(ASHR),
    [LLVMAnd] = OP(AND),
    [LLVMOr] = OP(OR),
    [LLVMXor] = OP(XOR),
    [LLVMFNeg] = OP(FNEG),
    [LLVMFAdd] = OP(FADD),
    [LLVMFSub] = OP(FSUB),
    [LLVMFMul] = OP(FMUL),
    [LLVMFDiv] = OP(FDIV),
    [LLVMFRem] = OP(FREM),
    [LLVMTrunc] = OP(TRUNC),
    [LLVMZExt] = OP(ZEXT),
    [LLVMSExt] = OP(SEXT),
    [LLVMFPToUI] = OP(FPTOUI),
    [LLVMFPToSI] = OP(FPTOSI),
    [LLVMUIToFP] = OP(UITOFP),
    [LLVMSIToFP] = OP(SITOFP),
    [LLVMFPTrunc] = OP(FPTRUNC),
    [LLVMFPExt] = OP(FPEXT),
    [LLVMPtrToInt] = OP(PTRTOINT),
#if LLVM_VERSION_MAJOR >= 22
    [LLVMPtrToAddr] = OP(PTRTOINT), /* the same on machines whose pointers are addresses */
#endif
    [LLVMIntToPtr] = OP(INTTOPTR),
    [LLVMBitCast] = OP(BITCAST),
    [LLVMAddrSpaceCast] = OP(ADDRSPACECAST),
    [LLVMFreeze] = OP(FREEZE),
    [LLVMExtractElement] = OP(EXTRACTELEMENT),
    [LLVMInsertElement] = OP(INSERTELEMENT),
    [LLVMShuffleVector] = OP(SHUFFLEVECTOR),
    [LLVMExtractValue] = OP(EXTRACTVALUE),
    [LLVMInsertValue] = OP(INSERTVALUE),
    [LLVMVAArg] = OP(VAARG),
    [LLVMLandingPad] = OP(LANDINGPAD),
};

static enum rh_op map_opcode(LLVMOpcode opcode)
{
    unsigned char row = (size_t)opcode < sizeof op_of ? op_of[opcode] : 0;

    return row ? (enum rh_op)(row - 1) : RH_OP_OTHER;
}

static enum rh_memory_order map_order(LLVMAtomicOrdering ordering)
{
    static const enum rh_memory_order orders[] = {
        [LLVMAtomicOrderingNotAtomic] = RH_MO_PLAIN,
        [LLVMAtomicOrderingUnordered] = RH_MO_UNORDERED,
        [LLVMAtomicOrderingMonotonic] = RH_MO_RELAXED,
        [LLVMAtomicOrderingAcquire] = RH_MO_ACQUIRE,
        [LLVMAtomicOrderingRelease] = RH_MO_RELEASE,
        [LLVMAtomicOrderingAcquireRelease] = RH_MO_ACQ_REL,
        [LLVMAtomicOrderingSequentiallyConsistent] = RH_MO_SEQ_CST,
    };

    return orders[ordering];
}

void rh_snapshot_set_ops(struct rh_snapshot *s, struct rh_value *v, const LLVMValueRef *handles,
                         uint32_t count)
{
    if (count == 0)
        return;
    v->op_count = count;
    v->ops = rh_arena_array(&s->m->arena, struct rh_value *, count);
    for (uint32_t i = 0; i < count; i++)
        v->ops[i] = rh_snapshot_value(s, handles[i]);
}

static void read_ops(struct rh_snapshot *s, struct rh_value *v)
{
    uint32_t count = (uint32_t)LLVMGetNumOperands(v->handle);

    v->ops = rh_arena_array(&s->m->arena, struct rh_value *, count);
    v->op_count = count;
    for (uint32_t i = 0; i < count; i++)
        v->ops[i] = rh_snapshot_value(s, LLVMGetOperand(v->handle, i));
}

static void read_ops_without_blocks(struct rh_snapshot *s, struct rh_value *v)
{
    unsigned count = (unsigned)LLVMGetNumOperands(v->handle);

    v->ops = rh_arena_array(&s->m->arena, struct rh_value *, count);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(v->handle, i);

        if (operand && !LLVMValueIsBasicBlock(operand))
            v->ops[v->op_count++] = rh_snapshot_value(s, operand);
    }
}

static struct rh_block *find_block(struct rh_snapshot *s, LLVMBasicBlockRef handle)
{
    return rh_map_get_ptr(&s->block_of, rh_map_key(handle));
}

/* The value of a switch's i-th successor, of which number 0 is the default and has none. */
static LLVMValueRef get_case_value(LLVMValueRef inst, unsigned i)
{
#if LLVM_VERSION_MAJOR >= 22
    return LLVMGetSwitchCaseValue(inst, i);
#else
    return LLVMGetOperand(inst, 2 * i);
#endif
}

static void read_switch(struct rh_snapshot *s, struct rh_value *v)
{
    unsigned count = LLVMGetNumSuccessors(v->handle);

    v->op_count = count;
    v->ops = rh_arena_array(&s->m->arena, struct rh_value *, count);
    v->targets = rh_arena_array(&s->m->arena, struct rh_block *, count);
    for (unsigned i = 0; i < count; i++) {
        v->ops[i] = rh_snapshot_value(s, i == 0 ? LLVMGetOperand(v->handle, 0)
                                                : get_case_value(v->handle, i));
        v->targets[i] = find_block(s, LLVMGetSuccessor(v->handle, i));
    }
}

static void read_phi(struct rh_snapshot *s, struct rh_value *v)
{
    unsigned count = LLVMCountIncoming(v->handle);

    v->op_count = count;
    v->ops = rh_arena_array(&s->m->arena, struct rh_value *, count);
    v->targets = rh_arena_array(&s->m->arena, struct rh_block *, count);
    for (unsigned i = 0; i < count; i++) {
        v->ops[i] = rh_snapshot_value(s, LLVMGetIncomingValue(v->handle, i));
        v->targets[i] = find_block(s, LLVMGetIncomingBlock(v->handle, i));
    }
}

static void read_bundles(struct rh_snapshot *s, struct rh_value *v)
{
    unsigned count = LLVMGetNumOperandBundles(v->handle);

    for (unsigned i = 0; i < count; i++) {
        LLVMOperandBundleRef bundle = LLVMGetOperandBundleAtIndex(v->handle, i);
        unsigned args = LLVMGetNumOperandBundleArgs(bundle);

        for (unsigned k = 0; k < args; k++) {
            LLVMValueRef arg = LLVMGetOperandBundleArgAtIndex(bundle, k);
            struct rh_snapshot_use use = {v, rh_snapshot_value(s, arg)};

            rh_vec_push(&s->bundle_uses, use);
        }
        LLVMDisposeOperandBundle(bundle);
    }
}

static LLVMAttributeRef find_call_attribute(const struct rh_value *call, unsigned kind)
{
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMAttributeRef found = LLVMGetCallSiteEnumAttribute(call->handle, index, kind);

    if (!found && call->callee->kind == RH_VALUE_FUNCTION)
        found = LLVMGetEnumAttributeAtIndex(call->callee->handle, index, kind);
    return found;
}

/* The attribute's value is a set of effects; operand bundles may add to it. */
static bool touches_no_memory(const struct rh_snapshot *s, const struct rh_value *call)
{
    LLVMAttributeRef memory = find_call_attribute(call, s->memory);

    return memory && LLVMGetEnumAttributeValue(memory) == 0 &&
           LLVMGetNumOperandBundles(call->handle) == 0;
}

static void read_call(struct rh_snapshot *s, struct rh_value *v)
{
    unsigned count = LLVMGetNumArgOperands(v->handle);

    v->op_count = count;
    v->ops = rh_arena_array(&s->m->arena, struct rh_value *, count);
    for (unsigned i = 0; i < count; i++)
        v->ops[i] = rh_snapshot_value(s, LLVMGetOperand(v->handle, i));
    v->callee = rh_snapshot_value(s, LLVMGetCalledValue(v->handle));
    if (v->callee->kind == RH_VALUE_FUNCTION)
        v->intrinsic = v->callee->intrinsic;
    v->no_memory = touches_no_memory(s, v);
    if (find_call_attribute(v, s->returns_twice))
        v->fn->returns_twice = true;
    read_bundles(s, v);
}

static void read_alloca(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    v->access = rh_snapshot_type(s, LLVMGetAllocatedType(v->handle));
    v->align = LLVMGetAlignment(v->handle);
}

static void read_memory(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    v->access = v->op == RH_OP_LOAD    ? v->type
                : v->op == RH_OP_STORE ? v->ops[0]->type
                                       : v->ops[1]->type;
    v->align = LLVMGetAlignment(v->handle);
    v->tag = rh_tags_of(s->m->tags, v->handle);
    v->is_volatile = LLVMGetVolatile(v->handle);
    if (v->op == RH_OP_CMPXCHG) {
        v->order = map_order(LLVMGetCmpXchgSuccessOrdering(v->handle));
        v->fail_order = map_order(LLVMGetCmpXchgFailureOrdering(v->handle));
    } else {
        v->order = map_order(LLVMGetOrdering(v->handle));
    }
    if (v->op == RH_OP_RMW)
        v->predicate = (uint8_t)LLVMGetAtomicRMWBinOp(v->handle);
    if (v->order != RH_MO_PLAIN)
        v->single_thread = LLVMIsAtomicSingleThread(v->handle);
}

static void read_fence(struct rh_snapshot *s, struct rh_value *v)
{
    (void)s;
    v->order = map_order(LLVMGetOrdering(v->handle));
    v->single_thread = LLVMIsAtomicSingleThread(v->handle);
}

static void read_icmp(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    v->predicate = (uint8_t)LLVMGetICmpPredicate(v->handle);
}

static void read_fcmp(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    v->predicate = (uint8_t)LLVMGetFCmpPredicate(v->handle);
}

static void read_wrapping(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    v->never_wraps = LLVMGetNSW(v->handle) || (v->type->bits >= 64 && LLVMGetNUW(v->handle));
}

static void read_or(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    v->never_wraps = LLVMGetIsDisjoint(v->handle);
}

static void read_indices(struct rh_snapshot *s, struct rh_value *v)
{
    const unsigned *indices = LLVMGetIndices(v->handle);
    unsigned *copy;

    read_ops(s, v);
    v->index_count = LLVMGetNumIndices(v->handle);
    v->indices = copy = rh_arena_array(&s->m->arena, unsigned, v->index_count);
    for (uint32_t i = 0; i < v->index_count; i++)
        copy[i] = indices[i];
}

static void read_shuffle(struct rh_snapshot *s, struct rh_value *v)
{
    unsigned *mask;

    read_ops(s, v);
    v->index_count = LLVMGetNumMaskElements(v->handle);
    v->indices = mask = rh_arena_array(&s->m->arena, unsigned, v->index_count);
    for (uint32_t i = 0; i < v->index_count; i++) {
        int element = LLVMGetMaskValue(v->handle, i);

        mask[i] = element == LLVMGetUndefMaskElem() ? UINT_MAX : (unsigned)element;
    }
}

/* The number that a constant index has in every lane; false if it varies or is no constant. */
static bool get_constant_index(const struct rh_value *index, int64_t *number)
{
    LLVMValueRef first;

    *number = index->num;
    if (index->kind == RH_VALUE_INT)
        return true;
    *number = 0;
    if (index->kind == RH_VALUE_NULL)
        return true;
    if (index->kind != RH_VALUE_DATA && index->kind != RH_VALUE_AGGREGATE)
        return false;
    first = LLVMGetAggregateElement(index->handle, 0);
    for (uint64_t i = 0; i < index->type->count; i++) {
        if (!first || !LLVMIsAConstantInt(first) ||
            LLVMGetAggregateElement(index->handle, (unsigned)i) != first)
            return false;
    }
    *number = LLVMConstIntGetSExtValue(first);
    return true;
}

/* Adds index * scale. LLVM's address arithmetic wraps at the pointer's width. */
/* An array of one element or none often ends a struct whose memory goes on behind it: its size says
 * nothing. */
static void add_index(struct rh_gep *gep, struct rh_value *index, uint64_t scale,
                      const struct rh_type *array)
{
    uint64_t extent = array ? array->alloc_size : 0;
    int64_t number;

    if (get_constant_index(index, &number)) {
        gep->offset = (int64_t)((uint64_t)gep->offset + (uint64_t)number * scale);
    } else if (scale != 0) {
        gep->terms[gep->term_count++] = (struct rh_gep_term){
            .index = index,
            .scale = (int64_t)scale,
            .start = gep->offset,
            .extent = extent > scale ? extent : 0,
            .is_pointer = !array,
        };
    }
}

static void decode_gep(struct rh_snapshot *s, struct rh_value *v)
{
    struct rh_gep *gep = rh_arena_new(&s->m->arena, struct rh_gep);
    struct rh_type *type = rh_snapshot_type(s, LLVMGetGEPSourceElementType(v->handle));
    struct rh_type *within = NULL;

    gep->source = type;
    gep->terms = rh_arena_array(&s->m->arena, struct rh_gep_term, v->op_count);
    for (uint32_t i = 1; i < v->op_count; i++) {
        if (within && within->kind == RH_TYPE_STRUCT) {
            int64_t field = 0;

            get_constant_index(v->ops[i], &field);
            type = within->elems[field];
            if (within->offsets)
                gep->offset = (int64_t)((uint64_t)gep->offset + within->offsets[field]);
            else
                gep->unknown = true;
        } else {
            if (within)
                type = within->elems[0];
            gep->unknown |= type->align == 0;
            add_index(gep, v->ops[i],
                      within && within->kind == RH_TYPE_VECTOR ? type->size : type->alloc_size,
                      within);
        }
        within = type;
    }
    gep->is_loose = !LLVMIsInBounds(v->handle);
    v->gep = gep;
}

static void read_gep(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    decode_gep(s, v);
}

/* How each operation is read; the ones without a row have plain operands and no more. */
static void (*const readers[RH_OP_COUNT])(struct rh_snapshot *, struct rh_value *) = {
    [RH_OP_BR] = read_ops_without_blocks,
    [RH_OP_SWITCH] = read_switch,
    [RH_OP_INDIRECTBR] = read_ops_without_blocks,
    [RH_OP_INVOKE] = read_call,
    [RH_OP_CALLBR] = read_call,
    [RH_OP_CALL] = read_call,
    [RH_OP_ALLOCA] = read_alloca,
    [RH_OP_LOAD] = read_memory,
    [RH_OP_STORE] = read_memory,
    [RH_OP_FENCE] = read_fence,
    [RH_OP_CMPXCHG] = read_memory,
    [RH_OP_RMW] = read_memory,
    [RH_OP_GEP] = read_gep,
    [RH_OP_PHI] = read_phi,
    [RH_OP_ICMP] = read_icmp,
    [RH_OP_FCMP] = read_fcmp,
    [RH_OP_ADD] = read_wrapping,
    [RH_OP_SUB] = read_wrapping,
    [RH_OP_MUL] = read_wrapping,
    [RH_OP_SHL] = read_wrapping,
    [RH_OP_OR] = read_or,
    [RH_OP_SHUFFLEVECTOR] = read_shuffle,
    [RH_OP_EXTRACTVALUE] = read_indices,
    [RH_OP_INSERTVALUE] = read_indices,
    [RH_OP_OTHER] = read_ops_without_blocks,
};

void rh_snapshot_fill(struct rh_snapshot *s, struct rh_value *inst)
{
    inst->op = map_opcode(LLVMGetInstructionOpcode(inst->handle));
    inst->loc = rh_snapshot_loc(s, LLVMInstructionGetDebugLoc(inst->handle));
    if (readers[inst->op])
        readers[inst->op](s, inst);
    else
        read_ops(s, inst);
}

/* What constants are to us. LLVM's C interface calls what it has no name for an instruction:
 * dso_local_equivalent and no_cfi, which stand for the function that is their operand. */
static enum rh_value_kind classify_constant(LLVMValueRef handle)
{
    switch (LLVMGetValueKind(handle)) {
    case LLVMConstantIntValueKind:
        return RH_VALUE_INT;
    case LLVMConstantFPValueKind:
        return RH_VALUE_FP;
    case LLVMConstantPointerNullValueKind:
    case LLVMConstantAggregateZeroValueKind:
        return RH_VALUE_NULL;
    case LLVMUndefValueValueKind:
    case LLVMPoisonValueValueKind:
        return RH_VALUE_UNDEF;
    case LLVMConstantExprValueKind:
    case LLVMConstantPtrAuthValueKind:
    case LLVMInstructionValueKind:
        return RH_VALUE_EXPR;
    case LLVMConstantArrayValueKind:
    case LLVMConstantStructValueKind:
    case LLVMConstantVectorValueKind:
        return RH_VALUE_AGGREGATE;
    case LLVMConstantDataArrayValueKind:
    case LLVMConstantDataVectorValueKind:
        return RH_VALUE_DATA;
    case LLVMBlockAddressValueKind:
        return RH_VALUE_BLOCK;
    case LLVMInlineAsmValueKind:
        return RH_VALUE_ASM;
    default:
        return RH_VALUE_OTHER;
    }
}

static int64_t read_number(struct rh_snapshot *s, LLVMValueRef handle, const struct rh_type *type)
{
    if (type->kind == RH_TYPE_INT && type->bits > 64)
        handle = LLVMConstTrunc(handle, LLVMInt64TypeInContext(s->m->context));
    return LLVMConstIntGetSExtValue(handle);
}

struct rh_value *rh_snapshot_value(struct rh_snapshot *s, LLVMValueRef handle)
{
    struct rh_value *v = rh_map_get_ptr(&s->m->value_of, rh_map_key(handle));

    if (v)
        return v;
    v = rh_snapshot_add(s, handle, classify_constant(handle));
    if (v->kind == RH_VALUE_INT)
        v->num = read_number(s, handle, v->type);
    else if (v->kind == RH_VALUE_EXPR || v->kind == RH_VALUE_AGGREGATE || v->kind == RH_VALUE_BLOCK)
        rh_vec_push(&s->pending, v);
    return v;
}

static void fill_expr(struct rh_snapshot *s, struct rh_value *v)
{
    read_ops(s, v);
    switch (LLVMGetValueKind(v->handle)) {
    case LLVMConstantExprValueKind:
        v->op = map_opcode(LLVMGetConstOpcode(v->handle));
        break;
    case LLVMInstructionValueKind:
        v->op = RH_OP_BITCAST;
        break;
    default:
        v->op = RH_OP_OTHER;
        break;
    }
    if (v->op == RH_OP_GEP)
        decode_gep(s, v);
}

void rh_snapshot_fill_constants(struct rh_snapshot *s)
{
    while (s->pending.len > 0) {
        struct rh_value *v = rh_vec_pop(&s->pending);

        if (v->kind == RH_VALUE_EXPR) {
            fill_expr(s, v);
        } else if (v->kind == RH_VALUE_AGGREGATE) {
            read_ops(s, v);
        } else {
            struct rh_value *fn = rh_snapshot_value(s, LLVMGetBlockAddressFunction(v->handle));

            v->fn = fn->fn;
            v->block = find_block(s, LLVMGetBlockAddressBasicBlock(v->handle));
        }
    }
}
