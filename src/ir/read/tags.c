/* SPDX-License-Identifier: Apache-2.0 */
/* Reads LLVM's type tags and says which of them may meet: see tags.h. */
#include "ir/read/tags.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/module.h"

/* A scalar at its offset in a struct, nested ones unfolded. */
struct leaf {
    uint64_t offset;
    const struct rh_tag_type *scalar;
};

/*
 * In LLVM a scalar looks like a struct of one member, the type it is a kind of: "int" is a kind of
 * "omnipotent char", which is a kind of the language's root.
 */
struct rh_tag_type {
    enum { TYPE_ROOT, TYPE_ANY, TYPE_SCALAR, TYPE_STRUCT } kind;
    const struct rh_tag_type *root;
    const char *name; /* of a struct, as the language's front end calls it; "" if it has none */
    enum rh_type_kind machine; /* of a scalar: how it lies in memory; OTHER if that is not known */
    uint32_t bytes;
    bool is_vtable; /* of a scalar: the word that leads to a class's virtual functions */
    uint32_t count;
    struct rh_tag_step *members; /* of a struct */
    RH_VEC(struct leaf) leaves;  /* of a struct */
};

/* --- reading --- */

enum { DEEPEST = 64 }; /* structs within structs; beyond, nothing is claimed */

static struct rh_tag_type *get_type(struct rh_tags *tags, LLVMValueRef node, unsigned depth);

static LLVMValueRef *read_operands(LLVMValueRef node, unsigned *count)
{
    *count = LLVMIsAMDNode(node) ? LLVMGetMDNodeNumOperands(node) : 0;
    LLVMValueRef *operands = rh_alloc_array(*count + 1, sizeof *operands);
    if (*count)
        LLVMGetMDNodeOperands(node, operands);
    return operands;
}

/* Both names are of 64 bits, and code that means 64 bits uses either. */
static const char *plain_name(const char *name)
{
    return strcmp(name, "long long") == 0 ? "long" : name;
}

/* How clang's scalars lie in memory on 64-bit machines. */
static const struct {
    const char *name;
    enum rh_type_kind kind;
    uint32_t bytes;
} machine_types[] = {
    {"any pointer", RH_TYPE_PTR, 8}, {"vtable pointer", RH_TYPE_PTR, 8},
    {"int", RH_TYPE_INT, 4},         {"long", RH_TYPE_INT, 8},
    {"short", RH_TYPE_INT, 2},       {"float", RH_TYPE_FLOAT, 4},
    {"double", RH_TYPE_FLOAT, 8},
};

static void find_machine_type(struct rh_tag_type *type, const char *name)
{
    type->machine = RH_TYPE_OTHER;
    for (size_t i = 0; i < sizeof machine_types / sizeof machine_types[0]; i++) {
        if (strcmp(machine_types[i].name, name) != 0)
            continue;
        type->machine = machine_types[i].kind;
        type->bytes = machine_types[i].bytes;
    }
}

static struct rh_tag_type *make_scalar(struct rh_tags *tags, const char *name,
                                       const struct rh_tag_type *root)
{
    struct rh_strbuf key = RH_STRBUF_INIT;
    rh_strbuf_addf(&key, "%p %s", (const void *)root, plain_name(name));
    struct rh_tag_type *type = rh_strmap_get(&tags->scalars, rh_strbuf_text(&key));
    if (!type) {
        type = rh_arena_new(&tags->arena, struct rh_tag_type);
        type->kind = TYPE_SCALAR;
        type->root = root;
        type->is_vtable = strcmp(name, "vtable pointer") == 0;
        find_machine_type(type, plain_name(name));
        rh_strmap_put(&tags->scalars, rh_strbuf_text(&key), type);
    }
    rh_strbuf_release(&key);
    return type;
}

/* The one type that stands for all scalars of the name. */
static struct rh_tag_type *replace_by_scalar(struct rh_tags *tags, struct rh_tag_type *type,
                                             const char *name)
{
    rh_vec_free(&type->leaves);
    return make_scalar(tags, name, type->root);
}

static void add_leaves(struct rh_tag_type *type, const struct rh_tag_step *member)
{
    const struct rh_tag_type *inner = member->type;
    if (inner->kind != TYPE_STRUCT) {
        rh_vec_push(&type->leaves, (struct leaf){member->offset, inner});
        return;
    }
    rh_vec_each (const struct leaf, leaf, &inner->leaves)
        rh_vec_push(&type->leaves, (struct leaf){member->offset + leaf->offset, leaf->scalar});
}

static void read_members(struct rh_tags *tags, struct rh_tag_type *type,
                         const LLVMValueRef *operands, unsigned count, unsigned depth)
{
    type->members = rh_arena_alloc(&tags->arena, (count / 2 + 1) * sizeof *type->members);
    for (unsigned i = 1; i + 1 < count; i += 2) {
        if (!operands[i] || !operands[i + 1] || !LLVMIsAConstantInt(operands[i + 1]))
            continue;
        struct rh_tag_step member = {get_type(tags, operands[i], depth + 1),
                                     LLVMConstIntGetZExtValue(operands[i + 1])};
        type->members[type->count++] = member;
        add_leaves(type, &member);
    }
    type->root = type->count ? type->members[0].type->root : type;
}

static struct rh_tag_type *make_type(struct rh_tags *tags, LLVMValueRef node, unsigned depth)
{
    struct rh_tag_type *type = rh_arena_new(&tags->arena, struct rh_tag_type);
    unsigned count, len;
    LLVMValueRef *operands = read_operands(node, &count);
    const char *name = count && operands[0] ? LLVMGetMDString(operands[0], &len) : NULL;
    type->kind = TYPE_ANY;
    type->root = type;
    type->name = name ? name : "";
    if (!name || depth > DEEPEST)
        goto done;
    read_members(tags, type, operands, count, depth);
    const struct rh_tag_type *first = type->count ? type->members[0].type : NULL;
    bool is_kind_of = type->count == 1 && type->members[0].offset == 0;
    if (!first)
        type->kind = TYPE_ROOT;
    else if (is_kind_of && first->kind == TYPE_ROOT && strcmp(name, "vtable pointer") != 0)
        type->kind = TYPE_ANY;
    else if (!is_kind_of || (first->kind != TYPE_ANY && first->kind != TYPE_ROOT))
        type->kind = TYPE_STRUCT;
    else
        type = replace_by_scalar(tags, type, name);
done:
    free(operands);
    return type;
}

static struct rh_tag_type *get_type(struct rh_tags *tags, LLVMValueRef node, unsigned depth)
{
    struct rh_tag_type *type = rh_map_get_ptr(&tags->types, rh_map_key(node));
    if (!type) {
        type = make_type(tags, node, depth);
        rh_map_put_ptr(&tags->types, rh_map_key(node), type);
    }
    return type;
}

/* The member that the step lies in; false if there is none. */
static bool descend(struct rh_tag_step *step)
{
    const struct rh_tag_step *found = NULL;
    for (uint32_t i = 0; i < step->type->count; i++)
        if (step->type->members[i].offset <= step->offset)
            found = &step->type->members[i];
    if (!found)
        return false;
    *step = (struct rh_tag_step){found->type, step->offset - found->offset};
    return true;
}

/* The tag's path down to its scalar; false if it ends in a type that meets anything. */
static bool read_path(struct rh_tags *tags, struct rh_tag_step at, struct rh_tag *out)
{
    struct rh_tag_step steps[DEEPEST];
    *out = (struct rh_tag){0};
    while (at.type->kind == TYPE_STRUCT && out->count < DEEPEST) {
        steps[out->count++] = at;
        if (!descend(&at))
            return false;
    }
    if (at.type->kind != TYPE_SCALAR)
        return false;
    out->scalar = at.type;
    out->root = at.type->root;
    out->steps = rh_arena_alloc(&tags->arena, (out->count + 1) * sizeof *steps);
    memcpy(out->steps, steps, out->count * sizeof *steps);
    return true;
}

/* A tag is (type gone through, type of the access, offset), and perhaps whether it is constant. */
static uint32_t read_tag(struct rh_tags *tags, LLVMValueRef node)
{
    enum { BASE, ACCESS, OFFSET, LEAST };
    unsigned count;
    LLVMValueRef *operands = read_operands(node, &count);
    struct rh_tag tag;
    bool good = count >= LEAST && operands[BASE] && operands[ACCESS] && operands[OFFSET] &&
                LLVMIsAMDNode(operands[BASE]) && LLVMIsAMDNode(operands[ACCESS]) &&
                LLVMIsAConstantInt(operands[OFFSET]);
    if (good) {
        struct rh_tag_step base = {get_type(tags, operands[BASE], 0),
                                   LLVMConstIntGetZExtValue(operands[OFFSET])};
        const struct rh_tag_type *access = get_type(tags, operands[ACCESS], 0);
        good = access->kind != TYPE_ANY && read_path(tags, base, &tag);
    }
    free(operands);
    if (!good)
        return 0;
    rh_vec_push(&tags->all, tag);
    return (uint32_t)tags->all.len - 1;
}

uint32_t rh_tags_of(struct rh_tags *tags, LLVMValueRef inst)
{
    LLVMValueRef node = LLVMGetMetadata(inst, tags->kind);
    uint64_t known;
    if (!node)
        return 0;
    if (rh_map_get(&tags->by_node, rh_map_key(node), &known))
        return (uint32_t)known;
    uint32_t tag = read_tag(tags, node);
    rh_map_put(&tags->by_node, rh_map_key(node), tag);
    return tag;
}

/* --- meeting --- */

static bool share_a_step(const struct rh_tag *a, const struct rh_tag *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (a->steps[i].type == b->steps[k].type && a->steps[i].offset == b->steps[k].offset)
                return true;
    return false;
}

/* Do the structs begin alike, up to the member in question and far enough to be no accident? */
static bool begin_alike(const struct rh_tag_step *a, const struct rh_tag_step *b)
{
    enum { NO_ACCIDENT = 3 };
    const struct rh_tag_type *s = a->type, *t = b->type;
    size_t shorter = s->leaves.len < t->leaves.len ? s->leaves.len : t->leaves.len, same = 0;
    if (a->offset != b->offset)
        return false;
    while (same < shorter && s->leaves.data[same].offset == t->leaves.data[same].offset &&
           s->leaves.data[same].scalar == t->leaves.data[same].scalar)
        same++;
    if (same < NO_ACCIDENT && same < shorter)
        return false;
    return same && a->offset <= s->leaves.data[same - 1].offset;
}

/* Answers are kept for as many tags as a large program has: a byte for each pair. */
enum { MOST_REMEMBERED = 10000 };

static bool meet(const struct rh_tag *a, const struct rh_tag *b)
{
    if (a->root != b->root)
        return true;
    if (a->scalar != b->scalar)
        return false;
    return !a->count || !b->count || share_a_step(a, b) || begin_alike(&a->steps[0], &b->steps[0]);
}

bool rh_ir_tags_meet(struct rh_module *m, uint32_t a, uint32_t b)
{
    enum { UNASKED, NO, YES };
    struct rh_tags *tags = m->tags;
    if (!a || !b || a == b)
        return true;
    if (tags->all.len > MOST_REMEMBERED)
        return meet(&tags->all.data[a], &tags->all.data[b]);
    if (tags->asked < tags->all.len) {
        tags->asked = tags->all.len;
        free(tags->answers);
        tags->answers = rh_calloc(tags->asked * tags->asked, 1);
    }
    uint8_t *answer = &tags->answers[a * tags->asked + b];
    if (*answer == UNASKED)
        *answer = meet(&tags->all.data[a], &tags->all.data[b]) ? YES : NO;
    return *answer == YES;
}

bool rh_ir_tag_is_vtable(struct rh_module *m, uint32_t tag)
{
    return tag && m->tags->all.data[tag].scalar->is_vtable;
}

const char *rh_ir_tag_struct(struct rh_module *m, uint32_t tag, uint64_t *offset)
{
    const struct rh_tag *t = &m->tags->all.data[tag];
    if (!tag || !t->count)
        return "";
    *offset = t->steps[0].offset;
    return t->steps[0].type->name;
}

/* --- fitting --- */

enum verdict { SAME, UNKNOWN, OTHER };

/* What lies at the offset of a value of the type, compared with a scalar. Unions, unnamed structs
 * and bytes say nothing. */
static enum verdict compare(const struct rh_type *type, uint64_t offset,
                            const struct rh_tag_type *scalar)
{
    enum { WORD = 8 };
    if (offset >= type->alloc_size || scalar->kind != TYPE_SCALAR ||
        scalar->machine == RH_TYPE_OTHER)
        return UNKNOWN;
    switch (type->kind) {
    case RH_TYPE_ARRAY:
        return type->elems[0]->alloc_size
                   ? compare(type->elems[0], offset % type->elems[0]->alloc_size, scalar)
                   : UNKNOWN;
    case RH_TYPE_STRUCT:
        if (!type->name || strncmp(type->name, "union.", 6) == 0 || !type->offsets)
            return UNKNOWN;
        for (uint64_t i = type->count; i-- > 0;)
            if (type->offsets[i] <= offset)
                return compare(type->elems[i], offset - type->offsets[i], scalar);
        return UNKNOWN;
    case RH_TYPE_PTR:
    case RH_TYPE_INT:
    case RH_TYPE_FLOAT:
        if (type->kind != scalar->machine)
            return type->size > 1 && type->size <= WORD ? OTHER : UNKNOWN;
        return offset == 0 && type->size == scalar->bytes ? SAME : UNKNOWN; /* bits of one */
    default:
        return UNKNOWN;
    }
}

bool rh_ir_tag_fits(struct rh_module *m, uint32_t tag, const struct rh_type *type, uint64_t offset)
{
    enum { NO_ACCIDENT = 3 };
    const struct rh_tag *t = &m->tags->all.data[tag];
    uint32_t same = 0;
    if (!tag)
        return true;
    if (!t->count)
        return compare(type, offset, t->scalar) != OTHER;
    const struct rh_tag_step *outer = &t->steps[0];
    rh_vec_each (const struct leaf, leaf, &outer->type->leaves) {
        if (offset + leaf->offset < outer->offset) /* the optimiser takes structs apart */
            continue;
        enum verdict verdict = compare(type, offset + leaf->offset - outer->offset, leaf->scalar);
        if (verdict == OTHER)
            return leaf->offset > outer->offset && same >= NO_ACCIDENT;
        same += verdict == SAME;
    }
    return true;
}

/* --- life --- */

struct rh_tags *rh_tags_new(LLVMContextRef context)
{
    struct rh_tags *tags = rh_calloc(1, sizeof *tags);
    tags->context = context;
    tags->kind = LLVMGetMDKindIDInContext(context, "tbaa", 4);
    rh_arena_init(&tags->arena);
    rh_vec_push(&tags->all, (struct rh_tag){0});
    return tags;
}

void rh_tags_free(struct rh_tags *tags)
{
    uint64_t key, type;
    if (!tags)
        return;
    for (size_t at = 0; rh_map_next(&tags->types, &at, &key, &type);)
        rh_vec_free(&((struct rh_tag_type *)(uintptr_t)type)->leaves);
    rh_map_release(&tags->by_node);
    rh_map_release(&tags->types);
    free(tags->answers);
    rh_strmap_release(&tags->scalars);
    rh_vec_free(&tags->all);
    rh_arena_release(&tags->arena);
    free(tags);
}
