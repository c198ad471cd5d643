/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of an expression, put together from a base that has a name and an offset from it, for
 * the files of src/ir alone.
 */
#ifndef RH_IR_NAMES_EXPR_TEXT_H
#define RH_IR_NAMES_EXPR_TEXT_H

#include "ir/names/member_path.h"

/* The longest text that is given; longer ones are no help in a report. */
#define RH_TEXT_MAX  80
#define RH_TEXT_SIZE (RH_TEXT_MAX + 1)

enum rh_base_kind {
    RH_BASE_NONE,
    RH_BASE_OBJECT,    /* `text` is the memory */
    RH_BASE_POINTER,   /* `text` points to the memory */
    RH_BASE_CONTAINER, /* `text` is an object of the C++ library that keeps the memory */
};

struct rh_base {
    enum rh_base_kind kind;
    char text[RH_TEXT_SIZE]; /* "" if only the type is known */
    struct rh_ditype *type;  /* of the memory; NULL if unknown */
    bool is_array;           /* what is known of the memory even if the type is not */
};

/* How much a text says. */
enum rh_rank {
    RH_RANK_NONE,
    RH_RANK_TYPE,     /* a member, but not whose: `(struct item).next` */
    RH_RANK_INTERNAL, /* in names that only a library's implementation has: `*__mutex` */
    RH_RANK_VAGUE,    /* something that holds the memory */
    RH_RANK_EXACT,
};

struct rh_expr_text {
    enum rh_rank rank;
    char text[RH_TEXT_SIZE];
    /* The type of the memory, which may be known where it has no name; NULL if unknown. */
    struct rh_ditype *leaf;
    struct rh_ditype *library; /* as in struct rh_member_path */
};

/* Sets a text; one that is too long becomes "". */
void rh_base_set_text(struct rh_base *base, const char *text);
/* Makes `base` what a pointer or reference of this type, written `text`, leads to. */
void rh_base_set_pointer(struct rh_ditypes *types, struct rh_base *base, const char *text,
                         struct rh_ditype *type);

/* The text for bytes in or behind a base. If the compiler says that the access goes through another
 * struct than the base's type has there, the text shows the cast. */
void rh_expr_text_compose(struct rh_ditypes *types, const struct rh_base *base,
                          const struct rh_member_query *wanted, struct rh_expr_text *out);

/* The text by the hint alone: the base has no name. */
void rh_expr_text_by_hint(struct rh_ditypes *types, const struct rh_member_query *wanted,
                          struct rh_expr_text *out);

#endif
