/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts bases and paths together to expressions.
 */
#include "ir/names/expr_text.h"

#include <stdlib.h>
#include <string.h>

/* How many records of one name are compared. */
#define MAX_NAMESAKES 64

static void set_text(char to[RH_TEXT_SIZE], const char *text)
{
    size_t len = strlen(text);

    if (len > RH_TEXT_MAX)
        len = 0;
    memcpy(to, text, len);
    to[len] = '\0';
}

void rh_base_set_text(struct rh_base *base, const char *text)
{
    set_text(base->text, text);
}

void rh_base_set_pointer(struct rh_ditypes *types, struct rh_base *base, const char *text,
                         struct rh_ditype *type)
{
    *base = (struct rh_base){.kind = RH_BASE_POINTER};
    set_text(base->text, text);
    if (type && type->kind == RH_DITYPE_REFERENCE)
        base->kind = RH_BASE_OBJECT;
    if (type && (type->kind == RH_DITYPE_REFERENCE || type->kind == RH_DITYPE_POINTER))
        base->type = rh_ditype_target(types, type);
}

static void drop_first_step(struct rh_member_path *path)
{
    path->count--;
    memmove(path->steps, path->steps + 1, path->count * sizeof path->steps[0]);
}

static void print_named(const struct rh_base *base, const struct rh_member_path *path,
                        struct rh_strbuf *out)
{
    struct rh_member_path element;
    char *text;

    switch (base->kind) {
    case RH_BASE_OBJECT:
        rh_member_path_print_object(path, base->text, out);
        if (!path->top && base->is_array)
            rh_strbuf_add(out, "[...]");
        break;
    case RH_BASE_POINTER:
        rh_member_path_print_pointer(path, base->text, out);
        break;
    default:
        element = *path;
        if (element.indexes_pointer) {
            text = rh_format("%s[%s]", base->text, element.steps[0].index);
            drop_first_step(&element);
        } else {
            text = rh_format("%s[...]", base->text);
        }
        rh_member_path_print_object(&element, text, out);
        free(text);
    }
}

static void print_type(const struct rh_ditype *type, struct rh_strbuf *out)
{
    rh_strbuf_addf(out, "%s%s%s", type->keyword, *type->keyword ? " " : "", type->name);
}

static void print_typed(const struct rh_member_path *path, struct rh_strbuf *out)
{
    struct rh_member_path member = *path;
    struct rh_strbuf base = RH_STRBUF_INIT;

    if (member.indexes_pointer)
        drop_first_step(&member);
    if (!path->top || path->top->kind != RH_DITYPE_RECORD || !*path->top->name || !member.count)
        return;
    rh_strbuf_addc(&base, '(');
    print_type(path->top, &base);
    rh_strbuf_addc(&base, ')');
    rh_member_path_print_object(&member, rh_strbuf_text(&base), out);
    rh_strbuf_release(&base);
}

static void print_cast(const struct rh_base *base, const struct rh_member_path *path,
                       struct rh_strbuf *out)
{
    struct rh_strbuf cast = RH_STRBUF_INIT;

    rh_strbuf_add(&cast, "((");
    print_type(path->top, &cast);
    rh_strbuf_addf(&cast, " *)%s%s)", base->kind == RH_BASE_OBJECT ? "&" : "", base->text);
    rh_member_path_print_pointer(path, rh_strbuf_text(&cast), out);
    rh_strbuf_release(&cast);
}

/* Takes the text if it is one and none was taken yet. */
static void offer(struct rh_expr_text *out, enum rh_rank rank, struct rh_strbuf *text)
{
    if (out->rank == RH_RANK_NONE && text->len > 0 && text->len <= RH_TEXT_MAX) {
        out->rank = rank;
        set_text(out->text, rh_strbuf_text(text));
    }
    rh_strbuf_reset(text);
}

/* The path that a hint means. Records of one name, of which each source file has its own, must
 * agree on it. */
static bool find_hinted(struct rh_ditypes *types, const struct rh_member_query *wanted,
                        struct rh_member_path *path)
{
    struct rh_ditype *record = rh_ditype_find(types, wanted->hint.name);
    struct rh_member_query seen = *wanted;
    int left = MAX_NAMESAKES;

    seen.offset = wanted->hint.offset;
    seen.term_count = 0;
    if (!record || rh_member_path_in_object(types, record, &seen, path) != RH_FIT_EXACT)
        return false;
    while ((record = record->next) && left-- > 0) {
        struct rh_member_path other;

        if (rh_member_path_in_object(types, record, &seen, &other) != RH_FIT_EXACT ||
            !rh_member_path_equal(path, &other))
            return false;
    }
    return true;
}

static bool can_cast(const struct rh_base *base, const struct rh_member_query *wanted,
                     const struct rh_member_path *path)
{
    return *base->text && base->kind != RH_BASE_CONTAINER && *path->top->name &&
           wanted->term_count == 0 && wanted->offset == wanted->hint.offset;
}

static void put_cast(const struct rh_base *base, const struct rh_member_query *wanted,
                     const struct rh_member_path *path, struct rh_expr_text *out)
{
    struct rh_strbuf text = RH_STRBUF_INIT;

    out->leaf = path->leaf;
    out->library = path->library;
    if (can_cast(base, wanted, path))
        print_cast(base, path, &text);
    offer(out, RH_RANK_EXACT, &text);
    if (out->rank == RH_RANK_NONE)
        print_typed(path, &text);
    offer(out, RH_RANK_TYPE, &text);
    rh_strbuf_release(&text);
}

void rh_expr_text_by_hint(struct rh_ditypes *types, const struct rh_member_query *wanted,
                          struct rh_expr_text *out)
{
    static const struct rh_base nothing = {.kind = RH_BASE_NONE};
    struct rh_member_path path;

    *out = (struct rh_expr_text){.rank = RH_RANK_NONE};
    if (wanted->hint.kind != RH_HINT_NONE && find_hinted(types, wanted, &path))
        put_cast(&nothing, wanted, &path, out);
}

static void put_path(const struct rh_base *base, const struct rh_member_path *path,
                     enum rh_member_fit fit, struct rh_expr_text *out)
{
    struct rh_strbuf text = RH_STRBUF_INIT;

    if (fit == RH_FIT_EXACT) {
        out->leaf = path->leaf;
        out->library = path->library;
    }
    if (*base->text)
        print_named(base, path, &text);
    offer(out, fit == RH_FIT_EXACT ? RH_RANK_EXACT : RH_RANK_VAGUE, &text);
    if (out->rank == RH_RANK_NONE)
        print_typed(path, &text);
    offer(out, RH_RANK_TYPE, &text);
    rh_strbuf_release(&text);
}

void rh_expr_text_compose(struct rh_ditypes *types, const struct rh_base *base,
                          const struct rh_member_query *wanted, struct rh_expr_text *out)
{
    struct rh_member_path path;
    enum rh_member_fit fit;

    *out = (struct rh_expr_text){.rank = RH_RANK_NONE};
    fit = base->kind == RH_BASE_OBJECT
              ? rh_member_path_in_object(types, base->type, wanted, &path)
              : rh_member_path_behind_pointer(types, base->type, wanted, &path);
    if (base->kind == RH_BASE_OBJECT && !base->type)
        fit = RH_FIT_VAGUE;
    if (wanted->hint.kind != RH_HINT_NONE && !path.has_hint && !path.is_ambiguous) {
        struct rh_member_path hinted;
        bool is_known = find_hinted(types, wanted, &hinted);

        if (is_known)
            put_cast(base, wanted, &hinted, out);
        /* LLVM's own names of C++ types cannot be looked up; that proves nothing. */
        if (is_known || wanted->hint.kind != RH_HINT_LLVM)
            return;
    }
    if (fit != RH_FIT_WRONG)
        put_path(base, &path, fit, out);
}
