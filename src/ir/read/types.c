/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of the snapshot, each LLVM type once, with the sizes and offsets of the module's layout.
 */
#include "ir/read/snapshot.h"

/* What LLVM's kinds are to us; kinds without a row are RH_TYPE_OTHER. */
static const struct kind_row {
    bool known;
    enum rh_type_kind kind;
    uint32_t bits;
} kinds[] = {
    [LLVMVoidTypeKind] = {true, RH_TYPE_VOID, 0},
    [LLVMHalfTypeKind] = {true, RH_TYPE_FLOAT, 16},
    [LLVMBFloatTypeKind] = {true, RH_TYPE_FLOAT, 16},
    [LLVMFloatTypeKind] = {true, RH_TYPE_FLOAT, 32},
    [LLVMDoubleTypeKind] = {true, RH_TYPE_FLOAT, 64},
    [LLVMX86_FP80TypeKind] = {true, RH_TYPE_FLOAT, 80},
    [LLVMFP128TypeKind] = {true, RH_TYPE_FLOAT, 128},
    [LLVMPPC_FP128TypeKind] = {true, RH_TYPE_FLOAT, 128},
    [LLVMIntegerTypeKind] = {true, RH_TYPE_INT, 0},
    [LLVMFunctionTypeKind] = {true, RH_TYPE_FUNC, 0},
    [LLVMStructTypeKind] = {true, RH_TYPE_STRUCT, 0},
    [LLVMArrayTypeKind] = {true, RH_TYPE_ARRAY, 0},
    [LLVMPointerTypeKind] = {true, RH_TYPE_PTR, 0},
    [LLVMVectorTypeKind] = {true, RH_TYPE_VECTOR, 0},
    [LLVMScalableVectorTypeKind] = {true, RH_TYPE_VECTOR, 0},
};

static void set_elems(struct rh_snapshot *s, struct rh_type *t, const LLVMTypeRef *handles,
                      uint32_t count)
{
    t->elems = rh_arena_array(&s->m->arena, struct rh_type *, count);
    for (uint32_t i = 0; i < count; i++)
        t->elems[i] = rh_snapshot_type(s, handles[i]);
}

static void read_struct(struct rh_snapshot *s, struct rh_type *t, LLVMTypeRef handle)
{
    unsigned count = LLVMCountStructElementTypes(handle);
    LLVMTypeRef *elems = rh_arena_array(&s->m->arena, LLVMTypeRef, count);
    const char *name = LLVMIsLiteralStruct(handle) ? NULL : LLVMGetStructName(handle);

    LLVMGetStructElementTypes(handle, elems);
    t->count = count;
    t->name = name ? rh_arena_strdup(&s->m->arena, name) : NULL;
    set_elems(s, t, elems, count);
}

static void read_function(struct rh_snapshot *s, struct rh_type *t, LLVMTypeRef handle)
{
    unsigned count = LLVMCountParamTypes(handle);
    LLVMTypeRef *params = rh_arena_array(&s->m->arena, LLVMTypeRef, count);

    LLVMGetParamTypes(handle, params);
    t->count = count;
    t->ret = rh_snapshot_type(s, LLVMGetReturnType(handle));
    t->variadic = LLVMIsFunctionVarArg(handle);
    set_elems(s, t, params, count);
}

static void read_sequence(struct rh_snapshot *s, struct rh_type *t, LLVMTypeRef handle)
{
    LLVMTypeRef elem = LLVMGetElementType(handle);

    t->count = t->kind == RH_TYPE_ARRAY ? LLVMGetArrayLength2(handle) : LLVMGetVectorSize(handle);
    set_elems(s, t, &elem, 1);
}

/* A type of known size has an alignment. A scalable vector has none, nor has what it is part of:
 * LLVM ends the process when asked for such a size. */
static bool has_known_size(const struct rh_type *t, LLVMTypeRef handle)
{
    uint64_t elems = t->kind == RH_TYPE_STRUCT ? t->count : 1;

    if (t->kind == RH_TYPE_OTHER || t->kind == RH_TYPE_FUNC || !LLVMTypeIsSized(handle) ||
        LLVMGetTypeKind(handle) == LLVMScalableVectorTypeKind)
        return false;
    for (uint64_t i = 0; t->elems && i < elems; i++) {
        if (t->elems[i]->align == 0)
            return false;
    }
    return true;
}

static void read_layout(struct rh_snapshot *s, struct rh_type *t, LLVMTypeRef handle)
{
    t->size = LLVMStoreSizeOfType(s->layout, handle);
    t->alloc_size = LLVMABISizeOfType(s->layout, handle);
    t->align = LLVMABIAlignmentOfType(s->layout, handle);
    if (t->kind != RH_TYPE_STRUCT)
        return;
    t->offsets = rh_arena_array(&s->m->arena, uint64_t, t->count);
    for (uint64_t i = 0; i < t->count; i++)
        t->offsets[i] = LLVMOffsetOfElement(s->layout, handle, (unsigned)i);
}

struct rh_type *rh_snapshot_type(struct rh_snapshot *s, LLVMTypeRef handle)
{
    struct rh_type *t = rh_map_get_ptr(&s->m->type_of, rh_map_key(handle));
    LLVMTypeKind kind = LLVMGetTypeKind(handle);

    if (t)
        return t;
    t = rh_arena_new(&s->m->arena, struct rh_type);
    t->id = s->m->type_count++;
    t->kind = RH_TYPE_OTHER;
    if ((size_t)kind < sizeof kinds / sizeof kinds[0] && kinds[kind].known) {
        t->kind = kinds[kind].kind;
        t->bits = kinds[kind].bits;
    }
    rh_map_put_ptr(&s->m->type_of, rh_map_key(handle), t);
    if (t->kind == RH_TYPE_INT)
        t->bits = LLVMGetIntTypeWidth(handle);
    else if (t->kind == RH_TYPE_PTR)
        t->address_space = LLVMGetPointerAddressSpace(handle);
    else if (t->kind == RH_TYPE_STRUCT)
        read_struct(s, t, handle);
    else if (t->kind == RH_TYPE_FUNC)
        read_function(s, t, handle);
    else if (t->kind == RH_TYPE_ARRAY || t->kind == RH_TYPE_VECTOR)
        read_sequence(s, t, handle);
    if (has_known_size(t, handle))
        read_layout(s, t, handle);
    return t;
}
