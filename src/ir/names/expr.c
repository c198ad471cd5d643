/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the memory that an access touches.
 *
 * An answer is put together from a base that has a name (a variable, or what a load found in
 * memory that has one) and a place relative to it. The variables met on the way back from the
 * pointer are tried first, then what the way ends at. Several answers may be right; the best is the
 * one that says the most in the words of the function that the access stands in.
 */
#include "ir/names/expr.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ir/debug/di.h"
#include "ir/names/expr_answer.h"
#include "ir/names/expr_names.h"
#include "ir/names/view.h"

/* How many loads and joins an expression may lead through. */
#define MAX_DEPTH 5
/* How many steps back a pointer is followed, and how many variable indices may be on the way. */
#define MAX_STEPS 32
#define MAX_TERMS 6
/* Larger numbers are no offsets, sizes or indices of anything; keeping below them also keeps sums
 * and products of a few from overflowing. */
#define MAX_NUMBER (INT64_C(1) << 30)
/* How many pointers are followed for one access before giving up, so that webs of joins and loads
 * cost no more than a little. */
#define MAX_WAYS 64
/* How many instructions are looked at for stores to memory that was loaded before. */
#define MAX_SCANNED 256
/* How many values one join may have. */
#define MAX_JOINED 8
/* Indices with longer names are left out. */
#define INDEX_SIZE 24

struct rh_expr {
    struct rh_module *m;
    struct rh_ditypes types;
    struct rh_names names;
    struct rh_views views;
    unsigned optnone; /* LLVM's number of the attribute */
};

/* One call of rh_expr_describe: everything is seen by `inst`. */
struct query {
    struct rh_expr *e;
    const struct rh_value *inst;
    struct rh_frames frames;
    int depth;
    int ways; /* followed so far */
    bool is_unoptimised;
    bool only_live; /* variables that were something else meanwhile do not count */
};

/* Memory to name; for the loads that an expression leads through, `inst` is the load. */
struct access {
    const struct rh_value *inst;
    struct rh_value *ptr;
    int64_t offset;
    uint64_t size;
};

/* A variable that names what a pointer was derived from: so many bytes and terms before it. */
struct choice {
    struct rh_name name;
    int64_t offset;
    uint64_t spread;
    uint32_t term_count;
};

#define MAX_CHOICES 24

/* Bytes that depend on a variable: (index + add) * scale. */
struct term {
    const struct rh_value *index; /* NULL if it is made of several */
    int64_t add;
    int64_t scale;
};

/* The way back from a pointer, which is `at` plus an offset plus terms. */
struct way {
    struct rh_value *at;
    int64_t offset;
    uint32_t term_count;
    struct term terms[MAX_TERMS];
    bool is_broken;  /* it had more terms or larger numbers than can be handled */
    uint64_t spread; /* the offset may also be up to so much more */
    uint32_t choice_count;
    struct choice choices[MAX_CHOICES]; /* nearest first */
};

/* The way's terms with their indices named. */
struct named_terms {
    struct rh_place_term terms[MAX_TERMS];
    char names[MAX_TERMS][INDEX_SIZE];
};

static void describe(struct query *q, const struct access *access, struct rh_answer *out);

static bool is_inst(const struct rh_value *v, enum rh_op op)
{
    return v->kind == RH_VALUE_INST && v->op == op;
}

static bool returns_argument(const struct rh_value *call)
{
    static const char *const intrinsics[] = {
        "llvm.threadlocal.address",
        "llvm.launder.invariant.group",
        "llvm.strip.invariant.group",
        "llvm.ptr.annotation",
        "llvm.ssa.copy",
    };

    for (size_t i = 0; call->intrinsic && i < sizeof intrinsics / sizeof intrinsics[0]; i++) {
        if (strcmp(call->intrinsic, intrinsics[i]) == 0)
            return true;
    }
    return false;
}

static bool joins_one_value(const struct rh_value *phi)
{
    for (uint32_t i = 1; i < phi->op_count; i++) {
        if (phi->ops[i] != phi->ops[0])
            return false;
    }
    return phi->op_count > 0 && phi->ops[0] != phi;
}

static bool is_small(int64_t number)
{
    return number >= -MAX_NUMBER && number <= MAX_NUMBER;
}

static bool has_constant(const struct rh_value *v)
{
    return v->op_count == 2 && v->ops[1]->kind == RH_VALUE_INT && is_small(v->ops[1]->num);
}

/* What an index is multiplied by; 0 if that is not known. */
static int64_t get_factor(const struct rh_value *v)
{
    int64_t number = has_constant(v) ? v->ops[1]->num : 0;

    if (v->op == RH_OP_SHL)
        return number > 0 && number < 30 ? INT64_C(1) << number : 0;
    return number;
}

/* Takes one operation with a constant off an index; false if there is none. */
static bool reduce_term(struct term *term, int64_t *offset)
{
    const struct rh_value *v = term->index;

    if (v->kind != RH_VALUE_INST)
        return false;
    switch (v->op) {
    case RH_OP_SEXT:
    case RH_OP_ZEXT:
    case RH_OP_TRUNC:
    case RH_OP_FREEZE:
        break;
    case RH_OP_PHI:
        if (!joins_one_value(v))
            return false;
        break;
    case RH_OP_ADD:
    case RH_OP_SUB:
    case RH_OP_OR:
        if (!has_constant(v) || (v->op == RH_OP_OR && !LLVMGetIsDisjoint(v->handle)))
            return false;
        term->add += v->op == RH_OP_SUB ? -v->ops[1]->num : v->ops[1]->num;
        if (!is_small(term->add))
            return false;
        break;
    case RH_OP_MUL:
    case RH_OP_SHL:
        if (get_factor(v) == 0 || !is_small(term->scale * get_factor(v)))
            return false;
        *offset += term->add * term->scale;
        term->add = 0;
        term->scale *= get_factor(v);
        break;
    default:
        return false;
    }
    term->index = v->ops[0];
    return true;
}

/* Takes multiplications into the scale. What is added to the index stays there, because the sum may
 * have a name of its own. */
static void scale_term(struct term *term, int64_t *offset)
{
    struct term reduced = *term;
    int64_t added = 0;

    for (int i = 0; i < MAX_STEPS && reduce_term(&reduced, &added); i++) {
        if (reduced.scale == term->scale)
            continue;
        *term = reduced;
        *offset += added;
        added = 0;
    }
}

/* An index that is one of two constants is no variable. */
static bool chooses_constant(const struct term *term, struct way *way)
{
    const struct rh_value *v = term->index;
    int64_t a, b;

    if (!is_inst(v, RH_OP_SELECT) || v->ops[1]->kind != RH_VALUE_INT ||
        v->ops[2]->kind != RH_VALUE_INT || !is_small(v->ops[1]->num) || !is_small(v->ops[2]->num))
        return false;
    a = (v->ops[1]->num + term->add) * term->scale;
    b = (v->ops[2]->num + term->add) * term->scale;
    way->offset += a < b ? a : b;
    way->spread += (uint64_t)(a < b ? b - a : a - b);
    return true;
}

static bool add_term(struct way *way, const struct rh_gep_term *from)
{
    struct term term = {.index = from->index, .scale = from->scale};

    if (way->term_count == MAX_TERMS || !is_small(term.scale))
        return false;
    scale_term(&term, &way->offset);
    if (!chooses_constant(&term, way))
        way->terms[way->term_count++] = term;
    return true;
}

static void add_gep(struct way *way, const struct rh_gep *gep)
{
    if (!is_small(gep->offset) || !is_small(way->offset)) {
        way->is_broken = true;
        return;
    }
    way->offset += gep->offset;
    for (uint32_t i = 0; i < gep->term_count && !way->is_broken; i++)
        way->is_broken = !add_term(way, &gep->terms[i]);
}

/* One step back; false if the way ends here. */
static bool step_back(struct way *way)
{
    struct rh_value *v = way->at;
    bool goes_on;

    if (v->kind == RH_VALUE_ALIAS) {
        goes_on = !v->is_ifunc && v->op_count > 0;
    } else if (v->kind != RH_VALUE_INST && v->kind != RH_VALUE_EXPR) {
        return false;
    } else {
        switch (v->op) {
        case RH_OP_GEP:
            goes_on = v->type->kind == RH_TYPE_PTR;
            if (goes_on)
                add_gep(way, v->gep);
            break;
        case RH_OP_BITCAST:
        case RH_OP_ADDRSPACECAST:
        case RH_OP_INTTOPTR: /* how atomic pointers are loaded */
        case RH_OP_FREEZE:
            goes_on = true;
            break;
        case RH_OP_PHI:
            goes_on = joins_one_value(v);
            break;
        default:
            goes_on = v->op == RH_OP_CALL && returns_argument(v);
        }
    }
    if (goes_on)
        way->at = v->ops[0];
    return goes_on;
}

static void add_choices(struct query *q, struct way *way)
{
    struct rh_name_list list;

    rh_names_of(&q->e->names, &q->frames, q->inst, way->at, &list);
    for (uint32_t i = 0; i < list.count && way->choice_count < MAX_CHOICES; i++) {
        if (list.names[i].kind == RH_VARDEF_BEHIND ||
            (list.names[i].distance == RH_DISTANCE_OUTSIDE && q->depth > 1))
            continue;
        way->choices[way->choice_count++] = (struct choice){
            .name = list.names[i],
            .offset = way->offset - list.names[i].plus,
            .spread = way->spread,
            .term_count = way->term_count,
        };
    }
}

static void walk_back(struct query *q, struct rh_value *ptr, int64_t offset, struct way *way)
{
    int steps = 0;

    way->at = ptr;
    way->offset = offset;
    way->term_count = way->choice_count = 0;
    way->spread = 0;
    way->is_broken = q->ways++ >= MAX_WAYS || !is_small(offset);
    if (way->is_broken)
        return;
    do
        add_choices(q, way);
    while (!way->is_broken && steps++ < MAX_STEPS && step_back(way));
}

/* A variable as a base; of one that was taken apart, the part. */
static bool set_variable(struct query *q, const struct rh_name *name, struct rh_base *base)
{
    const struct rh_variable *v = name->variable;
    struct rh_base whole = {.kind = RH_BASE_OBJECT, .type = v->type};
    struct rh_place part = {
        .inst = q->inst,
        .offset = (int64_t)v->offset,
        .size = v->size,
        .is_unoptimised = q->is_unoptimised,
    };
    struct rh_answer answer;

    rh_base_set_text(&whole, v->name);
    if (!v->is_part && name->kind == RH_VARDEF_VALUE) {
        rh_base_set_pointer(&q->e->types, base, v->name, v->type);
    } else if (!v->is_part) {
        *base = whole;
    } else if (name->kind == RH_VARDEF_VALUE) {
        rh_answer_compose(&q->e->types, &whole, &part, &answer);
        rh_base_set_pointer(&q->e->types, base, answer.text, answer.leaf);
        return answer.rank == RH_RANK_EXACT;
    } else {
        return false;
    }
    return true;
}

/* In `*p++` the access may come after the new value of p, of which it is then said that it is the
 * old one plus something; nobody wrote `p[-1]`. */
static enum rh_name_grade get_grade(const struct choice *c)
{
    return c->offset < 0 && c->name.plus > 0 ? RH_NAME_PAST : c->name.grade;
}

static bool points_to_record(const struct choice *c)
{
    const struct rh_ditype *type = c->name.variable->type;

    return type && type->target && type->target->kind == RH_DITYPE_RECORD;
}

/* How far before the access the variable points. Very far is one that points behind it, and one to
 * numbers or characters that lies before it only by chance: after `end = buf + 8`, `buf[9]` is not
 * `end[1]`. */
static int64_t get_reach(const struct choice *c)
{
    bool is_chance = c->name.kind == RH_VARDEF_VALUE && c->name.plus != 0 && c->offset > 0;

    return c->offset < 0 || (is_chance && !points_to_record(c)) ? INT64_MAX : c->offset;
}

/* Better is: says more, is surer, is nearer in the source, points nearer to the access, is a
 * variable and not a part of one, points to more than bytes. */
static bool is_better(const struct rh_answer *answer, const struct choice *c,
                      const struct rh_answer *best, const struct choice *best_c)
{
    if (answer->rank != best->rank || !best_c)
        return answer->rank > best->rank;
    if (get_grade(c) != get_grade(best_c))
        return get_grade(c) > get_grade(best_c);
    if (c->name.distance != best_c->name.distance)
        return c->name.distance < best_c->name.distance;
    if (get_reach(c) != get_reach(best_c))
        return get_reach(c) < get_reach(best_c);
    if (c->name.variable->is_part != best_c->name.variable->is_part)
        return best_c->name.variable->is_part;
    return points_to_record(c) && !points_to_record(best_c);
}

/* The place relative to a base that lies so far before it. If it may lie at several offsets, it is
 * all of them together, and what the compiler says of one of them is no help. */
static struct rh_place move_place(const struct rh_place *place, int64_t offset, uint64_t spread,
                                  uint32_t term_count)
{
    struct rh_place moved = *place;

    moved.offset = offset;
    moved.term_count = term_count;
    if (spread > 0) {
        moved.size = spread + (place->size ? place->size : 1);
        moved.view.kind = RH_VIEW_NONE;
    }
    return moved;
}

/* Tries the variables on the way that are surely meant, or those that once were. */
static void try_variables(struct query *q, const struct way *way, const struct rh_place *place,
                          bool is_live, struct rh_answer *best)
{
    const struct choice *best_c = NULL;

    for (uint32_t i = 0; i < way->choice_count; i++) {
        const struct choice *c = &way->choices[i];
        struct rh_answer answer;
        struct rh_place moved;
        struct rh_base base;

        if ((get_grade(c) == RH_NAME_LIVE) != is_live || (q->only_live && !is_live) ||
            !set_variable(q, &c->name, &base))
            continue;
        moved = move_place(place, c->offset, c->spread, c->term_count);
        rh_answer_compose(&q->e->types, &base, &moved, &answer);
        if (is_better(&answer, c, best, best_c)) {
            *best = answer;
            best_c = c;
        }
    }
}

static const struct rh_name *pick_index(const struct rh_name_list *list, bool is_live)
{
    const struct rh_name *best = NULL;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct rh_name *n = &list->names[i];

        if (n->kind != RH_VARDEF_VALUE || n->variable->is_part ||
            (n->grade == RH_NAME_LIVE) != is_live)
            continue;
        if (!best || n->grade > best->grade ||
            (n->grade == best->grade && n->distance < best->distance))
            best = n;
    }
    return best;
}

/* What is read from memory to be an index was read before; if the variables that lead there have
 * changed since, it is not found there any more. */
static void describe_now(struct query *q, const struct rh_value *load, struct rh_answer *out)
{
    struct access access = {.inst = load, .ptr = load->ops[0], .size = load->access->size};
    bool was = q->only_live;

    q->only_live = true;
    describe(q, &access, out);
    q->only_live = was;
}

static bool copy_index(char text[INDEX_SIZE], const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len >= INDEX_SIZE)
        return false;
    memcpy(text, name, len + 1);
    return true;
}

/* Names what the index is without the constants that are added to it, or as little of them taken
 * off as gives a name. */
static void name_index(struct query *q, const struct term *from, struct rh_place_term *out,
                       char text[INDEX_SIZE])
{
    struct term term = *from;
    int64_t offset = 0;
    struct rh_name_list list;
    const struct rh_name *name;

    *out = (struct rh_place_term){.scale = term.scale, .name = text};
    text[0] = '\0';
    do {
        rh_names_of(&q->e->names, &q->frames, q->inst, term.index, &list);
        name = pick_index(&list, true);
    } while (!name && reduce_term(&term, &offset) && term.scale == out->scale);
    out->add = term.add;
    if (!name && is_inst(term.index, RH_OP_LOAD) && term.index->access->kind == RH_TYPE_INT) {
        struct rh_answer answer;

        describe_now(q, term.index, &answer);
        if (answer.rank == RH_RANK_EXACT)
            copy_index(text, answer.text);
        return;
    }
    if (!name)
        name = pick_index(&list, false);
    if (name && copy_index(text, name->variable->name))
        out->add -= name->plus;
}

static void set_global(struct query *q, const struct rh_value *global, struct way *way,
                       struct rh_base *base)
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

    if (!is_inst(store, RH_OP_STORE))
        return false;
    if (is_inst(store->ops[0], RH_OP_GEP) && store->ops[0]->ops[0] == load)
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

static void set_loaded(struct query *q, const struct rh_value *load, struct rh_base *base)
{
    struct access access = {.inst = load, .ptr = load->ops[0], .size = load->access->size};
    struct rh_name_list list;
    struct rh_answer answer;

    rh_names_of(&q->e->names, &q->frames, q->inst, load->ops[0], &list);
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.names[i].kind == RH_VARDEF_BEHIND && !list.names[i].variable->is_part) {
            *base = (struct rh_base){.kind = RH_BASE_OBJECT, .type = list.names[i].variable->type};
            rh_base_set_text(base, list.names[i].variable->name);
            return;
        }
    }
    describe(q, &access, &answer);
    if (answer.rank != RH_RANK_EXACT || is_outdated(load, q->inst))
        answer.text[0] = '\0';
    if (!answer.text[0] && !answer.leaf)
        return;
    rh_base_set_pointer(&q->e->types, base, answer.text, answer.leaf);
    if (answer.library && base->kind == RH_BASE_POINTER)
        base->kind = get_library_kind(answer.library);
}

/* Of what a function returns only the type is known. */
static void set_returned(struct query *q, const struct rh_value *call, struct rh_base *base)
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

static bool set_base(struct query *q, struct way *way, struct rh_base *base);

/* The base of a pointer by itself, before it is known what is accessed through it. */
static bool set_pointer_base(struct query *q, struct way *way, struct rh_base *base)
{
    const struct choice *best = NULL;

    for (uint32_t i = 0; i < way->choice_count; i++) {
        const struct choice *c = &way->choices[i];

        if (c->name.grade == RH_NAME_LIVE && (!best || c->name.distance < best->name.distance))
            best = c;
    }
    if (best && set_variable(q, &best->name, base)) {
        way->offset = best->offset;
        way->spread = best->spread;
        way->term_count = best->term_count;
        return true;
    }
    return set_base(q, way, base);
}

static int64_t find_common_step(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* What the values of a phi or select have in common. */
struct join {
    struct rh_base base;
    bool is_empty;     /* no value yet */
    int64_t low, high; /* the offsets of the values from the base */
    int64_t step;      /* by what multiples they may move on besides; 0 if they do not */
};

static void add_steps(struct join *join, const struct way *way)
{
    for (uint32_t i = 0; i < way->term_count; i++)
        join->step = find_common_step(join->step, way->terms[i].scale);
    join->step = find_common_step(join->step, (int64_t)way->spread);
}

/* Takes one value in: the name stays if it is the same, else the type; false if neither is. */
static bool join_value(struct join *join, const struct rh_base *base, const struct way *way)
{
    struct rh_base *common = &join->base;

    if (join->is_empty) {
        join->is_empty = false;
        join->low = join->high = way->offset;
        *common = *base;
    }
    if (common->type != base->type ||
        (common->kind == RH_BASE_OBJECT && !common->type && strcmp(common->text, base->text) != 0))
        return false;
    if (common->kind != base->kind || strcmp(common->text, base->text) != 0)
        common->text[0] = '\0';
    join->low = way->offset < join->low ? way->offset : join->low;
    join->high = way->offset > join->high ? way->offset : join->high;
    add_steps(join, way);
    return *common->text || common->type;
}

static bool join_values(struct query *q, struct rh_value *root, struct join *join)
{
    uint32_t first = is_inst(root, RH_OP_SELECT) ? 1 : 0;
    struct way way;

    if (root->op_count - first > MAX_JOINED)
        return false;
    for (uint32_t i = first; i < root->op_count; i++) {
        enum rh_value_kind kind = root->ops[i]->kind;
        struct rh_base base;

        if (kind == RH_VALUE_NULL || kind == RH_VALUE_UNDEF)
            continue;
        walk_back(q, root->ops[i], 0, &way);
        if (way.at == root) { /* the loop moves the pointer on */
            join->step = find_common_step(join->step, way.offset);
            add_steps(join, &way);
        } else if (!set_pointer_base(q, &way, &base) || !join_value(join, &base, &way)) {
            return false;
        }
    }
    return !join->is_empty;
}

/* What all values of a phi or select lead to. That they lead to different places in it becomes a
 * term without a name if the difference may be any, else the way's spread. */
static void set_joined(struct query *q, struct rh_value *root, struct way *way,
                       struct rh_base *base)
{
    struct join join = {.is_empty = true};
    bool is_known;

    if (q->depth >= MAX_DEPTH || way->term_count == MAX_TERMS || !is_small(way->offset))
        return;
    q->depth++;
    is_known = join_values(q, root, &join);
    q->depth--;
    if (!is_known)
        return;
    *base = join.base;
    way->offset += join.low;
    if (join.step == 0) {
        way->spread += (uint64_t)(join.high - join.low);
        return;
    }
    way->terms[way->term_count++] =
        (struct term){.scale = find_common_step(join.step, join.high - join.low)};
}

/* What the way ends at, if that has a name or at least a type; the way's offset and terms become
 * relative to it. */
static bool set_base(struct query *q, struct way *way, struct rh_base *base)
{
    struct rh_value *root = way->at;

    *base = (struct rh_base){.kind = RH_BASE_NONE};
    if (way->is_broken)
        return false;
    if (root->kind == RH_VALUE_GLOBAL)
        set_global(q, root, way, base);
    else if (is_inst(root, RH_OP_LOAD) && root->access->size == sizeof(uint64_t))
        set_loaded(q, root, base);
    else if (is_inst(root, RH_OP_PHI) || is_inst(root, RH_OP_SELECT))
        set_joined(q, root, way, base);
    else if (is_inst(root, RH_OP_CALL) || is_inst(root, RH_OP_INVOKE))
        set_returned(q, root, base);
    return base->kind != RH_BASE_NONE;
}

static void name_terms(struct query *q, const struct way *way, struct named_terms *named)
{
    for (uint32_t i = 0; i < way->term_count; i++) {
        if (way->terms[i].index)
            name_index(q, &way->terms[i], &named->terms[i], named->names[i]);
        else
            named->terms[i] = (struct rh_place_term){.scale = way->terms[i].scale, .name = ""};
    }
}

static void try_base(struct query *q, struct way *way, const struct rh_place *place,
                     struct rh_answer *best)
{
    uint32_t known_terms = way->term_count;
    struct rh_answer answer;
    struct rh_place moved;
    struct rh_base base;

    if (!set_base(q, way, &base))
        return;
    for (uint32_t i = known_terms; i < way->term_count; i++)
        place->terms[i] = (struct rh_place_term){.scale = way->terms[i].scale, .name = ""};
    moved = move_place(place, way->offset, way->spread, way->term_count);
    rh_answer_compose(&q->e->types, &base, &moved, &answer);
    if (answer.rank > best->rank || (best->rank == RH_RANK_NONE && answer.leaf))
        *best = answer;
}

/* Whether what the way ends at can be written without a variable's name, so that a variable that
 * it once was is the worse choice. */
static bool speaks_for_itself(const struct rh_value *root)
{
    return root->kind == RH_VALUE_GLOBAL || is_inst(root, RH_OP_LOAD);
}

static void describe_way(struct query *q, const struct access *access, struct way *way,
                         struct rh_answer *out)
{
    struct named_terms named;
    struct rh_place place = {
        .inst = access->inst,
        .size = access->size,
        .terms = named.terms,
        .view = rh_view_of(&q->e->views, access->inst, access->ptr, access->offset),
        .is_unoptimised = q->is_unoptimised,
    };
    struct rh_answer seen;

    if (!way->is_broken) {
        name_terms(q, way, &named);
        try_variables(q, way, &place, true, out);
        if (out->rank < RH_RANK_EXACT && !speaks_for_itself(way->at))
            try_variables(q, way, &place, false, out);
        if (out->rank < RH_RANK_EXACT)
            try_base(q, way, &place, out);
        if (out->rank < RH_RANK_VAGUE && speaks_for_itself(way->at))
            try_variables(q, way, &place, false, out);
    }
    if (out->rank == RH_RANK_NONE) {
        rh_answer_by_view(&q->e->types, &place, &seen);
        if (seen.rank != RH_RANK_NONE || !out->leaf)
            *out = seen;
    }
}

static void describe(struct query *q, const struct access *access, struct rh_answer *out)
{
    struct way way;

    *out = (struct rh_answer){.rank = RH_RANK_NONE};
    if (q->depth >= MAX_DEPTH)
        return;
    q->depth++;
    walk_back(q, access->ptr, access->offset, &way);
    describe_way(q, access, &way, out);
    q->depth--;
}

struct rh_expr *rh_expr_index(struct rh_module *m)
{
    static const char optnone[] = "optnone";
    struct rh_expr *e = rh_calloc(1, sizeof *e);

    e->m = m;
    e->optnone = LLVMGetEnumAttributeKindForName(optnone, sizeof optnone - 1);
    rh_ditypes_init(&e->types, m->context);
    rh_names_init(&e->names, m, &e->types);
    rh_views_init(&e->views, m);
    return e;
}

void rh_expr_free(struct rh_expr *e)
{
    if (!e)
        return;
    rh_views_release(&e->views);
    rh_names_release(&e->names);
    rh_ditypes_release(&e->types);
    free(e);
}

bool rh_expr_describe(struct rh_expr *e, const struct rh_value *inst, struct rh_value *ptr,
                      int64_t offset, uint64_t size, struct rh_strbuf *out)
{
    struct access access = {.inst = inst, .ptr = ptr, .offset = offset, .size = size};
    struct query q = {.e = e, .inst = inst};
    struct rh_answer answer;

    q.is_unoptimised = LLVMGetEnumAttributeAtIndex(
        inst->fn->handle, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, e->optnone);
    rh_frames_of(&e->names.scopes, inst, &q.frames);
    describe(&q, &access, &answer);
    if (answer.rank != RH_RANK_NONE)
        rh_strbuf_add(out, answer.text);
    return answer.rank != RH_RANK_NONE;
}
