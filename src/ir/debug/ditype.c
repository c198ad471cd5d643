/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads debug-information types into plain structs, one step at a time.
 */
#include "ir/debug/ditype.h"

#include <stdlib.h>
#include <string.h>

#include "ir/debug/di.h"

/* The tags of DWARF that C and C++ types have. */
enum {
    TAG_ARRAY = 0x01,
    TAG_CLASS = 0x02,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_REFERENCE = 0x10,
    TAG_STRUCT = 0x13,
    TAG_TYPEDEF = 0x16,
    TAG_UNION = 0x17,
    TAG_INHERITANCE = 0x1c,
    TAG_CONST = 0x26,
    TAG_VOLATILE = 0x35,
    TAG_RESTRICT = 0x37,
    TAG_RVALUE_REFERENCE = 0x42,
    TAG_TEMPLATE_ALIAS = 0x43,
    TAG_ATOMIC = 0x47,
    TAG_IMMUTABLE = 0x4b,
    TAG_LLVM_PTRAUTH = 0x4300,
};

/* How many typedefs and qualifiers are followed; more are a cycle in broken input. */
#define MAX_ALIASES 64

void rh_ditypes_init(struct rh_ditypes *types, LLVMContextRef context)
{
    *types = (struct rh_ditypes){.context = context};
}

void rh_ditypes_release(struct rh_ditypes *types)
{
    rh_map_release(&types->by_node);
    rh_strmap_release(&types->by_name);
    rh_vec_free(&types->queue);
    rh_arena_release(&types->arena);
}

static bool is_type(LLVMMetadataRef node)
{
    switch (LLVMGetMetadataKind(node)) {
    case LLVMDIBasicTypeMetadataKind:
    case LLVMDIDerivedTypeMetadataKind:
    case LLVMDICompositeTypeMetadataKind:
    case LLVMDISubroutineTypeMetadataKind:
        return true;
    default:
        return false;
    }
}

static bool only_renames(LLVMMetadataRef node)
{
    switch (LLVMGetDINodeTag(node)) {
    case TAG_TYPEDEF:
    case TAG_TEMPLATE_ALIAS:
    case TAG_CONST:
    case TAG_VOLATILE:
    case TAG_RESTRICT:
    case TAG_ATOMIC:
    case TAG_IMMUTABLE:
    case TAG_LLVM_PTRAUTH:
        return true;
    default:
        return false;
    }
}

bool rh_ditype_is_library_scope(struct rh_ditypes *types, LLVMMetadataRef scope)
{
    const char *outermost = "";

    for (int i = 0; scope && i < MAX_ALIASES; i++) {
        if (LLVMGetMetadataKind(scope) == LLVMDINamespaceMetadataKind)
            outermost = rh_di_text(types->context, scope, RH_DI_NAME, NULL);
        scope = rh_di_get(types->context, scope, RH_DI_SCOPE);
    }
    return strcmp(outermost, "std") == 0 || strcmp(outermost, "__gnu_cxx") == 0;
}

static void read_record(struct rh_ditypes *types, struct rh_ditype *type, const char *keyword)
{
    type->kind = RH_DITYPE_RECORD;
    type->keyword = *type->name ? keyword : "";
    type->tag = type->name;
    type->mangled = rh_di_text(types->context, type->node, RH_DI_IDENTIFIER, NULL);
    type->is_union = strcmp(keyword, "union") == 0;
    type->is_library =
        rh_ditype_is_library_scope(types, rh_di_get(types->context, type->node, RH_DI_SCOPE));
    if (LLVMDITypeGetFlags(type->node) & LLVMDIFlagFwdDecl)
        type->kind = RH_DITYPE_OPAQUE;
}

static void read_array(struct rh_ditypes *types, struct rh_ditype *type)
{
    LLVMMetadataRef tuple = rh_di_get(types->context, type->node, RH_DI_ELEMENTS);
    size_t count;
    LLVMMetadataRef *ranges;

    if (LLVMDITypeGetFlags(type->node) & LLVMDIFlagVector)
        return;
    type->kind = RH_DITYPE_ARRAY;
    ranges = rh_di_tuple(types->context, tuple, &count);
    type->dims = rh_arena_array(&types->arena, uint64_t, count);
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef length = rh_di_constant(types->context, ranges[i], RH_DI_COUNT);
        int64_t elements =
            length && LLVMIsAConstantInt(length) ? LLVMConstIntGetSExtValue(length) : -1;

        type->dims[type->dim_count++] = elements > 0 ? (uint64_t)elements : 0;
    }
    free(ranges);
}

static bool is_float_name(const char *name)
{
    return strstr(name, "float") || strstr(name, "double") || strncmp(name, "_Float", 6) == 0;
}

static void read_kind(struct rh_ditypes *types, struct rh_ditype *type)
{
    type->kind = RH_DITYPE_SCALAR;
    switch (LLVMGetDINodeTag(type->node)) {
    case TAG_POINTER:
        type->kind = RH_DITYPE_POINTER;
        break;
    case TAG_REFERENCE:
    case TAG_RVALUE_REFERENCE:
        type->kind = RH_DITYPE_REFERENCE;
        break;
    case TAG_ARRAY:
        read_array(types, type);
        break;
    case TAG_STRUCT:
        read_record(types, type, "struct");
        break;
    case TAG_CLASS:
        read_record(types, type, "class");
        break;
    case TAG_UNION:
        read_record(types, type, "union");
        break;
    default:
        if (LLVMGetMetadataKind(type->node) == LLVMDISubroutineTypeMetadataKind)
            type->kind = RH_DITYPE_OPAQUE;
        type->is_float = is_float_name(type->name);
    }
}

static struct rh_ditype *read_type(struct rh_ditypes *types, LLVMMetadataRef node)
{
    struct rh_ditype *type = rh_arena_new(&types->arena, struct rh_ditype);

    type->node = node;
    type->name = rh_di_text(types->context, node, RH_DI_NAME, NULL);
    type->keyword = type->tag = type->mangled = "";
    type->size = LLVMDITypeGetSizeInBits(node) / 8;
    read_kind(types, type);
    return type;
}

struct rh_ditype *rh_ditype_of(struct rh_ditypes *types, LLVMMetadataRef node)
{
    LLVMMetadataRef start = node;
    const char *alias = "";
    struct rh_ditype *type;

    type = start ? rh_map_get_ptr(&types->by_node, rh_map_key(start)) : NULL;
    if (type)
        return type;
    for (int i = 0; node && is_type(node) && only_renames(node) && i < MAX_ALIASES; i++) {
        if (LLVMGetDINodeTag(node) == TAG_TYPEDEF)
            alias = rh_di_text(types->context, node, RH_DI_NAME, NULL);
        node = rh_di_get(types->context, node, RH_DI_TYPE);
    }
    if (!node || !is_type(node))
        return NULL;
    type = rh_map_get_ptr(&types->by_node, rh_map_key(node));
    if (!type) {
        type = read_type(types, node);
        rh_map_put_ptr(&types->by_node, rh_map_key(node), type);
    }
    if (!*type->name)
        type->name = alias;
    rh_map_put_ptr(&types->by_node, rh_map_key(start), type);
    return type;
}

struct rh_ditype *rh_ditype_target(struct rh_ditypes *types, struct rh_ditype *type)
{
    if (!type->has_target) {
        type->has_target = true;
        type->target = rh_ditype_of(types, rh_di_get(types->context, type->node, RH_DI_TYPE));
    }
    return type->target;
}

/* Whether an element of a record takes room in every object of it, at a place known in advance. */
static bool takes_room(LLVMMetadataRef element)
{
    uint16_t tag;

    if (!element || LLVMGetMetadataKind(element) != LLVMDIDerivedTypeMetadataKind)
        return false;
    tag = LLVMGetDINodeTag(element);
    if (tag == TAG_INHERITANCE)
        return !(LLVMDITypeGetFlags(element) & LLVMDIFlagVirtual);
    return tag == TAG_MEMBER && !(LLVMDITypeGetFlags(element) & LLVMDIFlagStaticMember);
}

static void read_member(struct rh_ditypes *types, struct rh_dimember *member, LLVMMetadataRef node)
{
    member->name = rh_di_text(types->context, node, RH_DI_NAME, NULL);
    member->bit_offset = LLVMDITypeGetOffsetInBits(node);
    member->bit_size = LLVMDITypeGetSizeInBits(node);
    member->is_bitfield = LLVMDITypeGetFlags(node) & LLVMDIFlagBitField;
    member->type = rh_ditype_of(types, rh_di_get(types->context, node, RH_DI_TYPE));
    if (LLVMGetDINodeTag(node) == TAG_INHERITANCE) {
        member->name = "";
        member->bit_size = member->type ? member->type->size * 8 : 0;
    } else if (strncmp(member->name, "_vptr$", 6) == 0) {
        member->name = "_vptr"; /* what follows is the class, which the expression says already */
    }
}

void rh_ditype_read_members(struct rh_ditypes *types, struct rh_ditype *type)
{
    size_t count;
    LLVMMetadataRef *elements;

    if (type->has_members)
        return;
    type->has_members = true;
    elements =
        rh_di_tuple(types->context, rh_di_get(types->context, type->node, RH_DI_ELEMENTS), &count);
    type->members = rh_arena_array(&types->arena, struct rh_dimember, count);
    for (size_t i = 0; i < count; i++) {
        if (takes_room(elements[i]))
            read_member(types, &type->members[type->member_count++], elements[i]);
    }
    free(elements);
}

static void add_name(struct rh_ditypes *types, struct rh_ditype *type, const char *name)
{
    struct rh_ditype *first = rh_strmap_get(&types->by_name, name);

    if (!first) {
        rh_strmap_put(&types->by_name, name, type);
        return;
    }
    type->next = first->next;
    first->next = type;
}

void rh_ditype_reach(struct rh_ditypes *types, struct rh_ditype *type)
{
    if (!type || type->was_queued)
        return;
    type->was_queued = true;
    rh_vec_push(&types->queue, type);
}

static void look_into(struct rh_ditypes *types, struct rh_ditype *type)
{
    switch (type->kind) {
    case RH_DITYPE_POINTER:
    case RH_DITYPE_REFERENCE:
    case RH_DITYPE_ARRAY:
        rh_ditype_reach(types, rh_ditype_target(types, type));
        break;
    case RH_DITYPE_RECORD:
        rh_ditype_read_members(types, type);
        for (uint32_t i = 0; i < type->member_count; i++)
            rh_ditype_reach(types, type->members[i].type);
        if (*type->mangled)
            add_name(types, type, type->mangled);
        else if (*type->name)
            add_name(types, type, type->name);
        break;
    default:
        break;
    }
}

struct rh_ditype *rh_ditype_find(struct rh_ditypes *types, const char *name)
{
    while (types->queue.len > 0)
        look_into(types, rh_vec_pop(&types->queue));
    return rh_strmap_get(&types->by_name, name);
}
