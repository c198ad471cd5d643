/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads location expressions from their printed form.
 */
#include "ir/debug/diexpr.h"

#include <stdlib.h>
#include <string.h>

/* Where the reader stands in a list such as "DW_OP_plus_uconst, 8, DW_OP_stack_value)". */
struct cursor {
    const char *at;
};

/* Takes the next item if it is `word`. */
static bool take_word(struct cursor *c, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(c->at, word, len) != 0 || (c->at[len] != ',' && c->at[len] != ')'))
        return false;
    c->at += len;
    if (c->at[0] == ',')
        c->at += strspn(c->at, ", ");
    return true;
}

static bool take_number(struct cursor *c, uint64_t *number)
{
    char *end;

    if (c->at[0] < '0' || c->at[0] > '9')
        return false;
    *number = strtoull(c->at, &end, 10);
    c->at = end + strspn(end, ", ");
    return true;
}

/* Additions beyond this are no offsets of members. */
#define MAX_PLUS INT32_MAX

static bool add(struct rh_diexpr *e, uint64_t number, int sign)
{
    int64_t sum;

    if (number > MAX_PLUS || e->derefs)
        return false;
    sum = e->plus + sign * (int64_t)number;
    if (sum > MAX_PLUS || sum < -MAX_PLUS)
        return false;
    e->plus = sum;
    return true;
}

/* A change of the number's width, which leaves it the same variable. */
static bool take_convert(struct cursor *c)
{
    uint64_t bits;

    return take_word(c, "DW_OP_LLVM_convert") && take_number(c, &bits) &&
           (take_word(c, "DW_ATE_signed") || take_word(c, "DW_ATE_unsigned"));
}

static bool take_part(struct cursor *c, struct rh_diexpr *e)
{
    uint64_t offset, size;

    if (!take_word(c, "DW_OP_LLVM_fragment") || !take_number(c, &offset) || !take_number(c, &size))
        return false;
    e->is_part = true;
    e->offset = offset / 8;
    e->size = size / 8;
    return offset % 8 == 0 && size % 8 == 0;
}

static bool take_operation(struct cursor *c, struct rh_diexpr *e)
{
    uint64_t number;

    if (take_word(c, "DW_OP_plus_uconst"))
        return take_number(c, &number) && add(e, number, 1);
    if (take_word(c, "DW_OP_constu")) {
        if (!take_number(c, &number))
            return false;
        return take_word(c, "DW_OP_minus") ? add(e, number, -1)
                                           : take_word(c, "DW_OP_plus") && add(e, number, 1);
    }
    if (take_word(c, "DW_OP_deref")) {
        bool first = !e->derefs;

        e->derefs = true;
        return first;
    }
    if (take_word(c, "DW_OP_stack_value"))
        return e->is_stack_value = true;
    return take_convert(c) || take_part(c, e);
}

static void parse(struct rh_diexpr *e, const char *text)
{
    const char *open = strchr(text, '(');
    struct cursor c = {open ? open + 1 : ""};

    while (*c.at && *c.at != ')') {
        if (!take_operation(&c, e))
            return;
    }
    e->is_known = *c.at == ')';
}

void rh_diexprs_init(struct rh_diexprs *exprs, LLVMContextRef context)
{
    *exprs = (struct rh_diexprs){.context = context};
}

void rh_diexprs_release(struct rh_diexprs *exprs)
{
    rh_map_release(&exprs->by_node);
    rh_arena_release(&exprs->arena);
}

const struct rh_diexpr *rh_diexpr_of(struct rh_diexprs *exprs, LLVMMetadataRef node)
{
    struct rh_diexpr *e = rh_map_get_ptr(&exprs->by_node, rh_map_key(node));
    char *text;

    if (e)
        return e;
    e = rh_arena_new(&exprs->arena, struct rh_diexpr);
    text = LLVMPrintValueToString(LLVMMetadataAsValue(exprs->context, node));
    parse(e, text);
    LLVMDisposeMessage(text);
    rh_map_put_ptr(&exprs->by_node, rh_map_key(node), e);
    return e;
}
