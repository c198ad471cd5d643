/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a type down to the members and elements that lie at a place in it.
 */
#include "ir/names/member_path.h"

#include <stdio.h>
#include <string.h>

/* Types nest less deeply than this, except in broken input. */
#define MAX_DEPTH 24

/* What one walk works with. Terms are a set of bits: those not yet used for an index. */
struct walk {
    struct rh_ditypes *types;
    const struct rh_member_query *wanted;
    bool is_block;  /* whole objects are copied or filled: not a load or store of a scalar */
    bool is_behind; /* the place is behind a pointer */
    int depth;
};

static enum rh_member_fit resolve(struct walk *w, struct rh_ditype *type, int64_t offset,
                                  uint32_t terms, struct rh_member_path *path);

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool holds(uint64_t size, int64_t offset, uint64_t length)
{
    return offset >= 0 && (uint64_t)offset <= size && length <= size - (uint64_t)offset;
}

/* A size of 0 is an unknown one: at least a byte. */
static uint64_t get_size(const struct walk *w)
{
    return w->wanted->size ? w->wanted->size : 1;
}

static bool add_step(struct rh_member_path *path, const char *member)
{
    if (path->count == RH_MEMBER_STEPS)
        return false;
    path->steps[path->count++] = (struct rh_member_step){.member = member};
    return true;
}

static char *get_last_index(struct rh_member_path *path)
{
    return path->steps[path->count - 1].index;
}

static bool add_index(struct rh_member_path *path, const char *index)
{
    if (!add_step(path, NULL))
        return false;
    snprintf(get_last_index(path), RH_MEMBER_INDEX, "%s", index);
    return true;
}

/* The terms that move by whole elements of this size. */
static uint32_t pick_terms(const struct walk *w, uint32_t terms, uint64_t stride)
{
    uint32_t picked = 0;

    for (uint32_t i = 0; i < w->wanted->term_count; i++) {
        if ((terms & 1u << i) && w->wanted->terms[i].scale % (int64_t)stride == 0)
            picked |= 1u << i;
    }
    return picked;
}

/* Adds the index that the picked terms and a number of elements make. */
static bool add_terms(const struct walk *w, struct rh_member_path *path, uint32_t picked,
                      uint64_t stride, int64_t number)
{
    const struct rh_member_term *term;
    char text[RH_MEMBER_INDEX];
    int len;

    if (picked == 0) {
        snprintf(text, sizeof text, "%lld", (long long)number);
        return add_index(path, text);
    }
    term = &w->wanted->terms[__builtin_ctz(picked)];
    if ((picked & (picked - 1)) || term->scale != (int64_t)stride || !*term->name)
        return add_index(path, "...");
    number += term->add;
    if (number == 0)
        len = snprintf(text, sizeof text, "%s", term->name);
    else
        len = snprintf(text, sizeof text, "%s%+lld", term->name, (long long)number);
    return add_index(path, len < (int)sizeof text ? text : "...");
}

static bool has_name(const struct rh_ditype *type, const struct rh_struct_hint *hint)
{
    const char *open = strchr(type->name, '<');
    size_t len = open ? (size_t)(open - type->name) : strlen(type->name);
    const char *last, *colons;
    char sized[128];

    switch (hint->kind) {
    case RH_HINT_TAG:
        return strcmp(type->tag, hint->name) == 0;
    case RH_HINT_MANGLED:
        if (*type->mangled)
            return strcmp(type->mangled, hint->name) == 0;
        snprintf(sized, sizeof sized, "%zu%.*s", len, (int)len, type->name);
        return strstr(hint->name, sized);
    case RH_HINT_LLVM:
        for (last = hint->name; (colons = strstr(last, "::"));)
            last = colons + 2;
        return strncmp(last, type->name, len) == 0 && last[len] == '\0';
    default:
        return false;
    }
}

static void note_view(struct walk *w, const struct rh_ditype *type, int64_t offset,
                      struct rh_member_path *path)
{
    const struct rh_struct_hint *hint = &w->wanted->hint;

    if (hint->kind != RH_HINT_NONE && hint->offset == offset && has_name(type, hint))
        path->has_hint = true;
}

/* Of the members of the C++ library's types, users know those of std::pair. */
static bool is_left_out(const struct rh_ditype *record, const struct rh_dimember *member)
{
    return record->is_library && strcmp(member->name, "first") != 0 &&
           strcmp(member->name, "second") != 0;
}

static enum rh_member_fit enter_member(struct walk *w, struct rh_ditype *record,
                                       const struct rh_dimember *member, int64_t offset,
                                       uint32_t terms, struct rh_member_path *path)
{
    if (is_left_out(record, member)) {
        if (!path->library)
            path->library = record;
    } else if (*member->name && !add_step(path, member->name)) {
        return RH_FIT_WRONG;
    }
    if (member->is_bitfield) {
        path->leaf = member->type;
        return RH_FIT_EXACT;
    }
    return resolve(w, member->type, offset - (int64_t)(member->bit_offset / 8), terms, path);
}

static bool is_open_array(const struct rh_ditype *type)
{
    return type && type->kind == RH_DITYPE_ARRAY && type->dim_count > 0 && type->dims[0] == 0;
}

static bool member_holds(const struct walk *w, const struct rh_dimember *member, int64_t offset)
{
    int64_t inside = offset - (int64_t)(member->bit_offset / 8);

    if (member->is_bitfield)
        return false;
    if (is_open_array(member->type))
        return inside >= 0;
    return holds(member->bit_size / 8, inside, get_size(w));
}

/* The distance of neighbouring elements, or 0 if unknown. */
static uint64_t get_stride(struct walk *w, struct rh_ditype *array, uint32_t dim)
{
    struct rh_ditype *element = rh_ditype_target(w->types, array);
    uint64_t stride = element ? element->size : 0;

    for (uint32_t i = dim + 1; i < array->dim_count; i++)
        stride *= array->dims[i];
    return stride;
}

/* Whether something in the type can be indexed by one of the terms. */
static bool takes_terms(struct walk *w, struct rh_ditype *type, uint32_t terms, int depth)
{
    if (!type || depth == 0)
        return false;
    if (type->kind == RH_DITYPE_ARRAY) {
        uint64_t stride = get_stride(w, type, type->dim_count ? type->dim_count - 1 : 0);

        return stride == 0 || pick_terms(w, terms, stride) ||
               takes_terms(w, rh_ditype_target(w->types, type), terms, depth - 1);
    }
    if (type->kind != RH_DITYPE_RECORD)
        return false;
    rh_ditype_read_members(w->types, type);
    for (uint32_t i = 0; i < type->member_count; i++) {
        if (takes_terms(w, type->members[i].type, terms, depth - 1))
            return true;
    }
    return false;
}

/* Where the variable part is added, the constant part may lie in a neighbour: `b[i - 1]` starts at
 * the end of what stands before b. Certain is the member that the place starts in if no other can
 * be indexed like this, or if it is the member's first element. */
static enum rh_member_fit enter_indexed(struct walk *w, struct rh_ditype *record, int64_t offset,
                                        uint32_t terms, struct rh_member_path *path)
{
    const struct rh_dimember *found = NULL;
    uint32_t able = 0, holding = 0;

    for (uint32_t i = 0; i < record->member_count; i++) {
        const struct rh_dimember *m = &record->members[i];

        if (m->is_bitfield || !takes_terms(w, m->type, terms, MAX_DEPTH))
            continue;
        able++;
        if (member_holds(w, m, offset)) {
            found = m;
            holding++;
        }
    }
    /* A pointer to a struct may be to one of several; an object ends where it ends. */
    if (holding == 0)
        return w->is_behind ? RH_FIT_WRONG : RH_FIT_VAGUE;
    if (holding == 1 && able > 1 && found->type->kind == RH_DITYPE_ARRAY) {
        uint64_t stride = get_stride(w, found->type, 0);

        if (offset - (int64_t)(found->bit_offset / 8) >= (int64_t)stride)
            holding++;
    }
    if (holding == 1)
        return enter_member(w, record, found, offset, terms, path);
    path->is_ambiguous = true;
    return RH_FIT_VAGUE;
}

/* The bit-field that the accessed bits belong to; NULL if it is not exactly one. */
static const struct rh_dimember *find_bitfield(struct walk *w, const struct rh_ditype *record,
                                               int64_t offset, uint32_t *touched)
{
    uint64_t bits = rh_member_bits(w->wanted->inst);
    uint64_t start = (uint64_t)offset * 8, end = start + get_size(w) * 8;
    const struct rh_dimember *found = NULL;
    uint32_t count = 0;

    *touched = 0;
    if (offset < 0)
        return NULL;
    for (uint32_t i = 0; i < record->member_count; i++) {
        const struct rh_dimember *m = &record->members[i];
        uint64_t first = m->bit_offset, last = first + m->bit_size;

        if (!m->is_bitfield || last <= start || first >= end)
            continue;
        ++*touched;
        if (bits) {
            uint64_t low = start + (uint64_t)__builtin_ctzll(bits);
            uint64_t high = start + 63 - (uint64_t)__builtin_clzll(bits);

            if (low < first || high >= last)
                continue;
        }
        found = m;
        count++;
    }
    return count == 1 ? found : NULL;
}

static bool fits_value(const struct walk *w, const struct rh_ditype *leaf)
{
    const struct rh_type *access = w->wanted->inst->access;
    bool is_pointer = leaf->kind == RH_DITYPE_POINTER || leaf->kind == RH_DITYPE_REFERENCE;

    if (!access || leaf->kind == RH_DITYPE_RECORD || leaf->kind == RH_DITYPE_ARRAY)
        return false;
    switch (access->kind) {
    case RH_TYPE_PTR:
        return is_pointer;
    case RH_TYPE_FLOAT:
        return leaf->is_float;
    default:
        return !is_pointer && !leaf->is_float;
    }
}

/* How well a member that holds the place agrees with what else is known of the access. */
static int get_score(const struct walk *w, enum rh_member_fit fit,
                     const struct rh_member_path *path)
{
    if (fit == RH_FIT_WRONG)
        return 0;
    return (path->has_hint ? 16 : 0) + (fit == RH_FIT_EXACT ? 8 : 0) +
           (path->leaf && path->leaf->size == w->wanted->size ? 4 : 0) +
           (path->leaf && fits_value(w, path->leaf) ? 2 : 0) + 1;
}

/* The optimiser copies anything as integers: a whole union, or a number of another kind. */
static bool may_be_copied(const struct walk *w, const struct rh_ditype *record, int64_t offset,
                          const struct rh_member_path *before, const struct rh_member_path *path)
{
    bool has_said_member = path->has_hint && !before->has_hint;
    const struct rh_type *access = w->wanted->inst->access;

    if (!record->is_union || record->member_count < 2 || has_said_member || offset != 0 ||
        w->wanted->is_unoptimised || w->wanted->size != record->size)
        return false;
    return !access || (access->kind != RH_TYPE_FLOAT && access->kind != RH_TYPE_PTR &&
                       !rh_member_is_number(w->wanted->inst));
}

/* Tries all members that hold the place, which in a union are several. */
static enum rh_member_fit enter_best(struct walk *w, struct rh_ditype *record, int64_t offset,
                                     uint32_t terms, struct rh_member_path *path)
{
    struct rh_member_path best, trial;
    enum rh_member_fit best_fit = RH_FIT_WRONG;
    int best_score = 0;
    bool tie = false;

    for (uint32_t i = 0; i < record->member_count; i++) {
        enum rh_member_fit fit;
        int score;

        if (!member_holds(w, &record->members[i], offset))
            continue;
        trial = *path;
        fit = enter_member(w, record, &record->members[i], offset, terms, &trial);
        score = get_score(w, fit, &trial);
        if (score > best_score) {
            best = trial;
            best_fit = fit;
        }
        tie = score == best_score ? tie || score > 0 : tie && score < best_score;
        best_score = score > best_score ? score : best_score;
    }
    if (best_score == 0)
        return RH_FIT_WRONG;
    if (!tie && !may_be_copied(w, record, offset, path, &best)) {
        *path = best;
        return best_fit;
    }
    path->is_ambiguous = true;
    return RH_FIT_WRONG;
}

static enum rh_member_fit resolve_record(struct walk *w, struct rh_ditype *type, int64_t offset,
                                         uint32_t terms, struct rh_member_path *path)
{
    const struct rh_dimember *member;
    enum rh_member_fit fit;
    uint32_t touched;

    rh_ditype_read_members(w->types, type);
    note_view(w, type, offset, path);
    path->leaf = type;
    if (w->is_block && offset == 0 && (w->wanted->size == type->size || w->wanted->size == 0))
        return RH_FIT_EXACT;
    if (terms)
        return enter_indexed(w, type, offset, terms, path);
    fit = enter_best(w, type, offset, terms, path);
    if (fit != RH_FIT_WRONG)
        return fit;
    member = find_bitfield(w, type, offset, &touched);
    if (member)
        return enter_member(w, type, member, offset, terms, path);
    path->is_ambiguous |= touched > 1;
    return holds(type->size, offset, get_size(w)) ? RH_FIT_VAGUE : RH_FIT_WRONG;
}

static bool is_record(const struct rh_ditype *type)
{
    return type && type->kind == RH_DITYPE_RECORD;
}

static enum rh_member_fit end_at_elements(struct rh_member_path *path, struct rh_ditype *element)
{
    path->leaf = element;
    if (!add_index(path, "..."))
        return RH_FIT_WRONG;
    return is_record(element) ? RH_FIT_VAGUE : RH_FIT_EXACT;
}

/* An array of length 1 at the end of a struct may stand for more. */
static bool is_in_bounds(const struct rh_ditype *array, uint32_t dim, int64_t number)
{
    uint64_t count = array->dims[dim];

    return number >= 0 && (count <= 1 || (uint64_t)number < count);
}

static enum rh_member_fit resolve_array(struct walk *w, struct rh_ditype *type, int64_t offset,
                                        uint32_t terms, struct rh_member_path *path)
{
    struct rh_ditype *element = rh_ditype_target(w->types, type);

    for (uint32_t dim = 0; dim < type->dim_count; dim++) {
        uint64_t stride = get_stride(w, type, dim);
        uint32_t picked;
        int64_t number;

        path->leaf = type;
        if (stride == 0)
            return end_at_elements(path, element);
        if (w->is_block && !terms && offset == 0 && w->wanted->size == stride * type->dims[dim])
            return RH_FIT_EXACT;
        if (w->wanted->size > stride || (w->is_block && w->wanted->size == 0))
            return end_at_elements(path, element);
        picked = pick_terms(w, terms, stride);
        number = divide_down(offset, (int64_t)stride);
        if (!picked && !terms && !is_in_bounds(type, dim, number))
            return RH_FIT_WRONG;
        if (!add_terms(w, path, picked, stride, number))
            return RH_FIT_WRONG;
        offset -= number * (int64_t)stride;
        terms &= ~picked;
    }
    if (terms && !takes_terms(w, element, terms, MAX_DEPTH)) {
        snprintf(get_last_index(path), RH_MEMBER_INDEX, "...");
        path->leaf = element;
        return is_record(element) ? RH_FIT_VAGUE : RH_FIT_EXACT;
    }
    return resolve(w, element, offset, terms, path);
}

/* Of a struct that is only declared, all that is known is that it may reach so far. */
static bool is_declared(const struct rh_ditype *type, int64_t offset)
{
    return type && *type->tag && offset > 0;
}

static enum rh_member_fit resolve_kind(struct walk *w, struct rh_ditype *type, int64_t offset,
                                       uint32_t terms, struct rh_member_path *path)
{
    path->leaf = type;
    if (!type || type->kind == RH_DITYPE_OPAQUE)
        return !terms && (offset == 0 || is_declared(type, offset)) ? RH_FIT_VAGUE : RH_FIT_WRONG;
    if (type->kind == RH_DITYPE_RECORD)
        return resolve_record(w, type, offset, terms, path);
    if (type->kind == RH_DITYPE_ARRAY)
        return resolve_array(w, type, offset, terms, path);
    return !terms && holds(type->size, offset, get_size(w)) ? RH_FIT_EXACT : RH_FIT_WRONG;
}

static enum rh_member_fit resolve(struct walk *w, struct rh_ditype *type, int64_t offset,
                                  uint32_t terms, struct rh_member_path *path)
{
    enum rh_member_fit fit;

    if (w->depth == MAX_DEPTH)
        return RH_FIT_WRONG;
    w->depth++;
    fit = resolve_kind(w, type, offset, terms, path);
    w->depth--;
    return fit;
}

static struct walk start_walk(struct rh_ditypes *types, const struct rh_member_query *wanted)
{
    const struct rh_value *inst = wanted->inst;
    struct walk w = {.types = types, .wanted = wanted};

    w.is_block = inst->op == RH_OP_CALL || inst->op == RH_OP_INVOKE || inst->op == RH_OP_CALLBR;
    return w;
}

enum rh_member_fit rh_member_path_in_object(struct rh_ditypes *types, struct rh_ditype *type,
                                            const struct rh_member_query *wanted,
                                            struct rh_member_path *path)
{
    struct walk w = start_walk(types, wanted);

    *path = (struct rh_member_path){.top = type};
    return resolve(&w, type, wanted->offset, (1u << wanted->term_count) - 1, path);
}

/* Whether the struct ends in an array of any length, which then holds all that lies behind. */
static bool has_open_end(struct walk *w, struct rh_ditype *type, int64_t offset)
{
    const struct rh_dimember *last;

    if (type->kind != RH_DITYPE_RECORD)
        return false;
    rh_ditype_read_members(w->types, type);
    last = type->member_count ? &type->members[type->member_count - 1] : NULL;
    return last && is_open_array(last->type) && offset >= (int64_t)(last->bit_offset / 8);
}

/* More is touched than one of what the pointer points to. */
static bool spans_elements(const struct walk *w, const struct rh_ditype *pointee)
{
    if (w->wanted->size == 0)
        return w->is_block && pointee->kind != RH_DITYPE_RECORD;
    return w->wanted->size > pointee->size;
}

enum rh_member_fit rh_member_path_behind_pointer(struct rh_ditypes *types,
                                                 struct rh_ditype *pointee,
                                                 const struct rh_member_query *wanted,
                                                 struct rh_member_path *path)
{
    struct walk w = start_walk(types, wanted);
    uint32_t terms = (1u << wanted->term_count) - 1, picked;
    enum rh_member_fit fit;
    int64_t number;

    w.is_behind = true;
    *path = (struct rh_member_path){.top = pointee};
    if (!pointee || pointee->size == 0 || has_open_end(&w, pointee, wanted->offset))
        return resolve(&w, pointee, wanted->offset, terms, path);
    picked = pick_terms(&w, terms, pointee->size);
    if (terms != picked && !takes_terms(&w, pointee, terms & ~picked, MAX_DEPTH)) {
        path->indexes_pointer = true;
        return is_record(pointee) ? RH_FIT_WRONG : end_at_elements(path, pointee);
    }
    if (spans_elements(&w, pointee)) {
        path->indexes_pointer = true;
        fit = end_at_elements(path, pointee);
        return fit == RH_FIT_EXACT && !w.is_block ? RH_FIT_VAGUE : fit;
    }
    number = divide_down(wanted->offset, (int64_t)pointee->size);
    if (picked || number != 0) {
        path->indexes_pointer = true;
        add_terms(&w, path, picked, pointee->size, number);
    }
    fit = resolve(&w, pointee, wanted->offset - number * (int64_t)pointee->size, terms & ~picked,
                  path);
    /* Behind one struct may lie another like it, or what the struct is the beginning of. */
    if (pointee->kind == RH_DITYPE_RECORD && number != 0 && !picked && !path->has_hint)
        return RH_FIT_WRONG;
    return fit;
}

bool rh_member_path_equal(const struct rh_member_path *a, const struct rh_member_path *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct rh_member_step *x = &a->steps[i], *y = &b->steps[i];

        if (!x->member != !y->member || strcmp(x->index, y->index) != 0 ||
            (x->member && strcmp(x->member, y->member) != 0))
            return false;
    }
    return true;
}

static void print_steps(const struct rh_member_path *path, uint32_t from, struct rh_strbuf *out)
{
    for (uint32_t i = from; i < path->count; i++) {
        rh_strbuf_addc(out, path->steps[i].member ? '.' : '[');
        rh_strbuf_add(out, path->steps[i].member ? path->steps[i].member : path->steps[i].index);
        if (!path->steps[i].member)
            rh_strbuf_addc(out, ']');
    }
}

static void print_base(const char *base, bool binds, struct rh_strbuf *out)
{
    rh_strbuf_addf(out, binds && *base == '*' ? "(%s)" : "%s", base);
}

void rh_member_path_print_object(const struct rh_member_path *path, const char *base,
                                 struct rh_strbuf *out)
{
    print_base(base, path->count > 0, out);
    print_steps(path, 0, out);
}

void rh_member_path_print_pointer(const struct rh_member_path *path, const char *base,
                                  struct rh_strbuf *out)
{
    const char *member = path->count > 0 ? path->steps[0].member : NULL;

    if (path->count == 0) {
        rh_strbuf_addf(out, "*%s", base);
    } else if (member && strcmp(base, "this") == 0 && path->top && !*path->top->name) {
        rh_strbuf_add(out, member); /* in a lambda, a captured variable */
        print_steps(path, 1, out);
    } else if (member) {
        print_base(base, true, out);
        rh_strbuf_addf(out, "->%s", member);
        print_steps(path, 1, out);
    } else {
        if (path->indexes_pointer)
            print_base(base, true, out);
        else
            rh_strbuf_addf(out, "(*%s)", base);
        print_steps(path, 0, out);
    }
}
