/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a way back ends at, as a base that has a name or at least a type: a variable, a global, what
 * was loaded from memory that has a name, what a function returned.
 */
#include "ir/debug/di.h"
#include "ir/names/internal.h"

#include <stdlib.h>
#include <string.h>

/* How many instructions are looked at for stores to memory that was loaded before. */
#define MAX_SCANNED 256

bool rh_expr_set_variable(struct rh_expr_query *q, const struct rh_name *name, struct rh_base *base)
{
    const struct rh_variable *v = name->variable;
    struct rh_base whole = {.kind = RH_BASE_OBJECT, .type = v->type};
    struct rh_member_query part = {
        .inst = q->inst,
        .offset = (int64_t)v->offset,
        .size = v->size,
        .is_unoptimised = q->is_unoptimised,
    };
    struct rh_expr_text found;

    rh_base_set_text(&whole, v->name);
    if (!v->is_part && name->kind == RH_VARDEF_VALUE) {
        rh_base_set_pointer(&q->e->types, base, v->name, v->type);
    } else if (!v->is_part) {
        *base = whole;
    } else if (name->kind == RH_VARDEF_VALUE) {
        rh_expr_text_compose(&q->e->types, &whole, &part, &found);
        rh_base_set_pointer(&q->e->types, base, found.text, found.leaf);
        return found.rank == RH_RANK_EXACT;
    } else {
        return false;
    }
    return true;
}

static void set_global(struct rh_expr_query *q, const struct rh_value *global,
                       struct rh_expr_way *way, struct rh_base *base)
{
    const struct rh_global_name *name = rh_names_global(&q->e->names, global);

    if (!name->text)
        return;
    *base = (struct rh_base){
        .kind = RH_BASE_OBJECT,
        .type = name->type,
        .is_array = global->global->value_type->kind == RH_TYPE_ARRAY && !name->is_literal,
    };
    rh_base_set_text(base, name->text);
    way->offset += name->offset;
}

/* An object of the C++ library stands for the pointer in it that was loaded. */
static enum rh_base_kind get_library_kind(const struct rh_ditype *record)
{
    static const char *const pointers[] = {"unique_ptr<", "shared_ptr<", "weak_ptr<", "atomic<"};

    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        if (strncmp(record->name, pointers[i], strlen(pointers[i])) == 0)
            return RH_BASE_POINTER;
    }
    return RH_BASE_CONTAINER;
}

/* Whether a store puts something else where a load found its value. A pointer that only moves on
 * (`*q->next++`) is still thought of as the same. */
static bool overwrites(const struct rh_value *store, const struct rh_value *load)
{
    int64_t to_offset = 0, from_offset = 0;
    bool to_exact = true, from_exact = true;
    struct rh_value *to, *from;

    if (!rh_expr_is_inst(store, RH_OP_STORE))
        return false;
    if (rh_expr_is_inst(store->ops[0], RH_OP_GEP) && store->ops[0]->ops[0] == load)
        return false;
    to = rh_ir_base(store->ops[1], &to_offset, &to_exact);
    from = rh_ir_base(load->ops[0], &from_offset, &from_exact);
    return to == from && to_exact && from_exact && to_offset == from_offset;
}

/* Whether memory was surely given another value since it was loaded, as far as the blocks of the
 * two show: what was loaded then is not found there any more. */
static bool is_outdated(const struct rh_value *load, const struct rh_value *inst)
{
    const struct rh_value *v = load->next;
    int left = MAX_SCANNED;

    for (; v && v != inst && left-- > 0; v = v->next) {
        if (overwrites(v, load))
            return true;
    }
    for (v = v == inst ? inst : inst->block->first; v != inst && left-- > 0; v = v->next) {
        if (overwrites(v, load))
            return true;
    }
    return false;
}

static void set_loaded(struct rh_expr_query *q, const struct rh_value *load, struct rh_base *base)
{
    struct rh_expr_access access = {.inst = load, .ptr = load->ops[0], .size = load->access->size};
    struct rh_name_list list;
    struct rh_expr_text found;

    rh_names_of(&q->e->names, &q->frames, q->inst, load->ops[0], &list);
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.names[i].kind == RH_VARDEF_INDIRECT && !list.names[i].variable->is_part) {
            *base = (struct rh_base){.kind = RH_BASE_OBJECT, .type = list.names[i].variable->type};
            rh_base_set_text(base, list.names[i].variable->name);
            return;
        }
    }
    rh_expr_find_text(q, &access, &found);
    if (found.rank != RH_RANK_EXACT || is_outdated(load, q->inst))
        found.text[0] = '\0';
    if (!found.text[0] && !found.leaf)
        return;
    rh_base_set_pointer(&q->e->types, base, found.text, found.leaf);
    if (found.library && base->kind == RH_BASE_POINTER)
        base->kind = get_library_kind(found.library);
}

/* Of what a function returns only the type is known. */
static void set_returned(struct rh_expr_query *q, const struct rh_value *call, struct rh_base *base)
{
    LLVMContextRef context = q->e->m->context;
    LLVMMetadataRef type, *signature;
    size_t count;

    if (!call->callee || call->callee->kind != RH_VALUE_FUNCTION)
        return;
    type = rh_di_get(context, LLVMGetSubprogram(call->callee->handle), RH_DI_TYPE);
    signature = rh_di_tuple(context, rh_di_get(context, type, RH_DI_ELEMENTS), &count);
    if (count > 0)
        rh_base_set_pointer(&q->e->types, base, "", rh_ditype_of(&q->e->types, signature[0]));
    free(signature);
}

bool rh_expr_set_base(struct rh_expr_query *q, struct rh_expr_way *way, struct rh_base *base)
{
    struct rh_value *root = way->at;

    *base = (struct rh_base){.kind = RH_BASE_NONE};
    if (way->is_broken)
        return false;
    if (root->kind == RH_VALUE_GLOBAL)
        set_global(q, root, way, base);
    else if (rh_expr_is_inst(root, RH_OP_LOAD) && root->access->size == sizeof(uint64_t))
        set_loaded(q, root, base);
    else if (rh_expr_is_inst(root, RH_OP_PHI) || rh_expr_is_inst(root, RH_OP_SELECT))
        rh_expr_set_joined(q, root, way, base);
    else if (rh_expr_is_inst(root, RH_OP_CALL) || rh_expr_is_inst(root, RH_OP_INVOKE))
        set_returned(q, root, base);
    return base->kind != RH_BASE_NONE;
}
